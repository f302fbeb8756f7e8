"""Forwarded ports, both ways; those of ours are taken away when the device is given back."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from anydevice.driver import Acted, Forward, Forwards
from anydevice_schemas.errors import AnydeviceError, InvalidArgument, Refused

from .device import AdbDevice

DEVICE_ENDS = ("tcp", "localabstract", "localreserved", "localfilesystem", "local", "jdwp")
"""Kinds of a device's end. adb would take any of its services for one, and a port that is a root shell is none."""
LISTENING_ENDS = DEVICE_ENDS[:-1]


class AdbForwards(Forwards):
    """See `Forwards`. Addresses are adb's: `tcp:8080`, `localabstract:name`."""

    def __init__(self, adb: AdbDevice) -> None:
        self._adb = adb
        self._ours: list[Forward] = []

    async def list(self) -> Sequence[Forward]:
        """See `Forwards.list`."""
        forwards = [Forward(host, device) for host, device in await self._adb.forwards()]
        return [*forwards, *(Forward(host, device, reverse=True) for device, host in await self._adb.reverses())]

    async def add(self, forward: Forward) -> Forward:
        """See `Forwards.add`.

        Raises:
            InvalidArgument: An end is no socket.
        """
        ends = LISTENING_ENDS if forward.reverse else DEVICE_ENDS
        if forward.device.partition(":")[0] not in ends or ";" in forward.device:
            raise InvalidArgument(
                "This is no socket of such a device.",
                param="deviceSocket",
                expected=" or ".join(f"{end}:NAME" for end in ends[1:]),
            )
        if forward.host.partition(":")[0] != "tcp" or ";" in forward.host:
            raise InvalidArgument("The host's end is a TCP port.", param="hostPort", expected="a port of this host")
        if forward.reverse:
            made = Forward(forward.host, await self._adb.reverse(forward.device, forward.host), reverse=True)
        else:
            made = Forward(await self._adb.forward(forward.host, forward.device), forward.device)
        self._ours.append(made)
        return made

    async def remove(self, forward: Forward) -> Acted:
        """See `Forwards.remove`.

        Raises:
            Refused: It is not one that was added here.
        """
        mine = next((f for f in self._ours if _end(f) == _end(forward) and f.reverse == forward.reverse), None)
        if mine is None:
            raise Refused(
                "This forward was not added here.",
                reason="somebody else's",
                alternative="Remove it where it was added.",
            )
        await self._undo(mine)
        self._ours.remove(mine)
        left = await self.list()
        return Acted("adb", verified=all(_end(f) != _end(mine) or f.reverse != mine.reverse for f in left))

    async def clean(self) -> None:
        """Takes away everything that was added here."""
        while self._ours:
            with suppress(AnydeviceError):
                await self._undo(self._ours[-1])
            self._ours.pop()

    async def _undo(self, forward: Forward) -> None:
        if forward.reverse:
            await self._adb.unreverse(forward.device)
        else:
            await self._adb.unforward(forward.host)


def _end(forward: Forward) -> str:
    """The end by which adb names a forward."""
    return forward.device if forward.reverse else forward.host
