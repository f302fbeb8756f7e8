"""Forwards: ports of this host that lead to a device, and ports of a device that lead to this host."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
from anyio.abc import SocketStream, TaskGroup

from ..guest.ports import Link, Listener, SocketLink, relay

if TYPE_CHECKING:
    from .device import HarmonyDevice

REACHED_WITHIN = 5.0


@dataclass
class Forward:
    """One rule.

    Attributes:
        key: Of the device.
        rule: Both ends as they were given.
        forward: Whether it leads from this host to the device.
    """

    key: str
    rule: str
    forward: bool
    scope: anyio.CancelScope | None = None
    closed: anyio.Event = field(default_factory=anyio.Event)
    device: HarmonyDevice | None = None


class Forwards:
    """All rules of a server. One rule there is only once, whatever its device: so it is in the real server."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._rules: dict[str, Forward] = {}

    def rows(self) -> str:
        """The list of them."""
        return "".join(
            f"{one.key}    {one.rule}    {'[Forward]' if one.forward else '[Reverse]'}\n"
            for _, one in sorted(self._rules.items())
        )

    async def remove(self, rule: str) -> bool:
        """Takes a rule away, and nobody listens there any more; False where there is none."""
        found = self._rules.pop(rule, None)
        if found is None:
            return False
        if found.scope is not None:
            found.scope.cancel()
            await found.closed.wait()
        if not found.forward and found.device is not None:
            found.device.ports.close(rule.partition(" ")[0])
        return True

    async def drop(self, key: str) -> None:
        """The rules of a device go."""
        for rule in [rule for rule, one in self._rules.items() if one.key == key]:
            await self.remove(rule)

    async def clear(self) -> None:
        """All rules go."""
        for rule in list(self._rules):
            await self.remove(rule)

    async def add(self, device: HarmonyDevice, key: str, rule: str, *, forward: bool) -> str:
        """Adds a rule for a device that was called by a key; why that fails, or nothing."""
        here, _, there = rule.strip().partition(" ")
        if not there or not _node(here) or not _node(there) or rule in self._rules:
            return "Forward parament failed"
        made = Forward(key, f"{here} {there}", forward, device=device)
        if not forward:
            if not here.startswith("tcp:") or not device.ports.listen(here, _to_host(there)):
                return f"TCP Port listen failed at {here.partition(':')[2]}"
            self._rules[made.rule] = made
            return ""
        kind, _, port = here.partition(":")
        if kind != "tcp":
            return "Forward parament failed"
        try:
            listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=int(port))
        except OSError:
            return f"TCP Port listen failed at {port}"
        made.scope = anyio.CancelScope()

        async def serve(scope: anyio.CancelScope) -> None:
            with scope:
                try:
                    await listener.serve(lambda stream: _to_device(device, there, stream))
                finally:
                    with anyio.CancelScope(shield=True):
                        await listener.aclose()
                    made.closed.set()

        self._tasks.start_soon(serve, made.scope)
        self._rules[made.rule] = made
        return ""


def _node(text: str) -> bool:
    """Whether hdc takes an end: a kind and a name; of tcp a port (`CheckNodeInfo` in its forward.cpp)."""
    kind, _, name = text.partition(":")
    if kind == "tcp":
        return name.isascii() and name.isdigit() and 0 < int(name) < 65536
    return bool(kind and name)


async def _to_device(device: HarmonyDevice, address: str, stream: SocketStream) -> None:
    """Carries one connection to what listens on the device; for tcp else to this host, which its programs share."""
    device.journal.add("connect", address=address)
    async with stream:
        listener = device.ports.at(address)
        if listener is not None:
            await listener(SocketLink(stream))
            return
        kind, _, port = address.partition(":")
        if kind == "tcp" and port.isdigit():
            await _join(SocketLink(stream), int(port))


def _to_host(address: str) -> Listener:
    """What serves connections to a port of the device that leads to this host."""

    async def serve(link: Link) -> None:
        kind, _, port = address.partition(":")
        if kind == "tcp" and port.isdigit():
            await _join(link, int(port))

    return serve


async def _join(link: Link, port: int) -> None:
    try:
        with anyio.fail_after(REACHED_WITHIN):
            other = await anyio.connect_tcp("127.0.0.1", port)
    except (OSError, TimeoutError):
        return
    async with other:
        await relay(link, SocketLink(other))
