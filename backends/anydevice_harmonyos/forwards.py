"""Forwarded ports, both ways; those of ours are taken away when the device is given back."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import anyio.to_thread

from anydevice.driver import Acted, Forward, Forwards
from anydevice_schemas.errors import AnydeviceError, InvalidArgument, Refused

from .reach import Reach

ENDS: Final = ("tcp", "localabstract", "localfilesystem", "localreserved", "dev", "jdwp", "ark")
"""Kinds of a device's end."""
LISTENING: Final = ("tcp", "localabstract", "localfilesystem", "localreserved")
TRIES: Final = 5
"""Free ports that are tried: hdc has no word for any one."""
_END = re.compile(r"[a-z]+:[A-Za-z0-9_./@:-]{1,200}", re.ASCII)


class HarmonyosForwards(Forwards):
    """See `Forwards`. Addresses are hdc's: `tcp:8080`, `localabstract:name`."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._ours: list[Forward] = []

    async def list(self) -> Sequence[Forward]:
        """See `Forwards.list`."""
        rows = await self._reach.hdc.forwards()
        # What listens comes first in hdc's list: the host of a forward, the device of a reverse one.
        return [
            Forward(second, first, reverse=True) if back else Forward(first, second) for first, second, back in rows
        ]

    async def add(self, forward: Forward) -> Forward:
        """See `Forwards.add`.

        Raises:
            InvalidArgument: An end is no socket.
            UpstreamUnavailable: The server did not do it.
        """
        kinds = LISTENING if forward.reverse else ENDS
        if forward.device.partition(":")[0] not in kinds or not _END.fullmatch(forward.device):
            raise InvalidArgument(
                "This is no socket of a HarmonyOS device.",
                param="deviceSocket",
                expected=" or ".join(f"{kind}:NAME" for kind in kinds[1:]),
            )
        if forward.host.partition(":")[0] != "tcp" or not _END.fullmatch(forward.host):
            raise InvalidArgument("The host's end is a TCP port.", param="hostPort", expected="a port of this host")
        made = await (self._reverse(forward) if forward.reverse else self._forward(forward))
        self._ours.append(made)
        return made

    async def remove(self, forward: Forward) -> Acted:
        """See `Forwards.remove`.

        Raises:
            Refused: It is not one that was added here.
        """
        mine = next((one for one in self._ours if _same(one, forward)), None)
        if mine is None:
            raise Refused(
                "This forward was not added here.",
                reason="somebody else's",
                alternative="Remove it where it was added.",
            )
        await self._undo(mine)
        self._ours.remove(mine)
        return Acted("hdc", verified=not any(_same(one, mine) for one in await self.list()))

    async def clean(self) -> None:
        """Takes away everything that was added here."""
        while self._ours:
            with suppress(AnydeviceError):
                await self._undo(self._ours[-1])
            self._ours.pop()

    async def _forward(self, forward: Forward) -> Forward:
        if forward.host != "tcp:0":
            await self._reach.hdc.forward(forward.host, forward.device)
            return forward
        for tries in range(TRIES):
            host = f"tcp:{await anyio.to_thread.run_sync(_free)}"
            try:
                await self._reach.hdc.forward(host, forward.device)
            except AnydeviceError:
                if tries == TRIES - 1:
                    raise
            else:
                return Forward(host, forward.device)
        raise AssertionError("unreachable")

    async def _reverse(self, forward: Forward) -> Forward:
        device = forward.device
        if device == "tcp:0":
            # The device has no word for any free port either: one that is free here is as good as any.
            device = f"tcp:{await anyio.to_thread.run_sync(_free)}"
        await self._reach.hdc.forward(forward.host, device, reverse=True)
        return Forward(forward.host, device, reverse=True)

    async def _undo(self, forward: Forward) -> None:
        ends = (forward.device, forward.host) if forward.reverse else (forward.host, forward.device)
        await self._reach.hdc.unforward(*ends)


def _same(one: Forward, other: Forward) -> bool:
    if one.reverse != other.reverse:
        return False
    return one.device == other.device if one.reverse else one.host == other.host


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
