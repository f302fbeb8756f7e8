"""What a client may ask of the daemon itself, besides making calls."""

from __future__ import annotations

import base64
import difflib
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

import anydevice
from anydevice import ownership
from anydevice.database import StoreBusy
from anydevice.driver import Environment
from anydevice.leases.desk import CLEAN_DEADLINE
from anydevice.leases.refusals import iso
from anydevice.resolution import Request, resolve
from anydevice_schemas import Caller, Device, DeviceSelector
from anydevice_schemas.errors import InvalidArgument, Refused, UnknownCommand, UpstreamUnavailable

from .overview import knows, overview, session_row

if TYPE_CHECKING:
    from .daemon import Daemon

CLEAN_STEP = 0.02
"""Seconds between two looks whether the devices are in order."""
Operation = Callable[["Daemon", Caller, Mapping[str, Any]], Awaitable[dict[str, Any]]]


async def run(daemon: Daemon, caller: Caller, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Carries one operation out.

    Raises:
        UnknownCommand: There is no such operation.
        InvalidArgument: It does not take these arguments.
        Refused: This caller may not ask for it.
        AnydeviceError: Whatever the operation itself raises.
    """
    entry = _OPERATIONS.get(name)
    if entry is None:
        raise UnknownCommand(
            f"The daemon has no operation {name[:60]!r}.",
            nearest=difflib.get_close_matches(name, _OPERATIONS, n=3, cutoff=0.5),
        )
    operation, takes, local_only = entry
    if local_only and caller.transport not in ("cli", "python"):
        raise Refused(
            f"{name} is for a person at this host.",
            reason=f"asked over {caller.transport}",
            alternative=f"Have a person run: anydevice {_TYPED.get(name, name)}",
        )
    for given in (*arguments, *(field for field, kind in takes.items() if field not in arguments)):
        kind = takes.get(given)
        if kind is None or not isinstance(arguments.get(given), kind):
            expected = ", ".join(f"{field} ({kind.__name__})" for field, kind in takes.items()) or "no arguments"
            raise InvalidArgument(f"{name} takes {expected}.", param=given[:60], expected=expected)
    return await operation(daemon, caller, arguments)


async def _status(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Who runs, since when, and what it holds. Keeps its form in every version."""
    services = daemon.router.services
    now = services.clock.monotonic()
    held = sorted(services.desk.store.leases(services.clock.now()), key=lambda lease: lease.device)
    return {
        "pid": os.getpid(),
        "version": anydevice.__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "started": daemon.started_at,
        "uptime": round(anyio.current_time() - daemon.started, 3),
        "catalogue": daemon.published.digest,
        "commands": len(services.catalogue.commands()),
        "facades": sorted(daemon.facades),
        "told": {
            name: dict(told) for name, facade in daemon.facades.items() if (told := getattr(facade, "told", None))
        },
        "idleExit": daemon.idle,
        "connections": [info.to_wire() for info in daemon.connections.values()],
        "sessions": [
            session_row(session, now)
            for session in sorted(services.sessions.all(), key=lambda s: s.name)
            if knows(caller, session.principal, session.tenant)
        ],
        "held": [
            {
                "device": lease.device,
                "until": iso(lease.expires_at),
                "session": lease.holder.session if knows(caller, lease.holder.principal, lease.holder.tenant) else None,
                "kind": lease.kind,
            }
            for lease in held
        ],
        "plugins": [record.to_wire() for record in services.plugins if record.state != "ready"],
        "calls": sum(info.running for info in daemon.connections.values()),
    }


async def _devices(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Who drives what and who waits; with `ask`, backends are asked what there is, under a short deadline."""
    return await overview(daemon.router.services, caller, ask=arguments["ask"])


async def _catalogue(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The document of `published`."""
    return daemon.published.document


async def _approve(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A person says yes to a confirmation token."""
    _only_a_person(caller, "approve")
    return dict(daemon.router.services.policy.approve(arguments["token"]))


async def _pending(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Confirmation tokens that wait for a person."""
    _only_a_person(caller, "pending")
    return {"pending": daemon.router.services.policy.pending()}


def _only_a_person(caller: Caller, name: str) -> None:
    if "admin" not in caller.scopes:
        raise Refused(
            f"{name} is for a person at this host.",
            reason=f"asked over {caller.transport}",
            alternative=f"Have a person run: anydevice {_TYPED.get(name, name)}",
        )


async def _stop(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Announces the end, and ends all sessions; the conversation sets it off once this answer is on its way."""
    services = daemon.router.services
    taken = [lease.device for lease in services.desk.store.leases(services.clock.now()) if lease.kind == "human"]
    if taken and "admin" not in caller.scopes:
        raise Refused(
            "A person has taken a device over; only a person stops the daemon now.",
            reason=f"asked over {caller.transport}",
            alternative="anydevice give-back, or anydevice stop",
        )
    ended = services.sessions.all()
    for session in ended:  # who stops the daemon means it; one that is killed or replaced keeps them
        services.sessions.end(session, "the daemon was stopped")
    # What a holder changed is put back by the daemon, or by nobody.
    held = {session.device_key for session in ended}
    with anyio.move_on_after(CLEAN_DEADLINE):
        while any(services.desk.cleaning(key) for key in held):  # noqa: ASYNC110 - nothing tells when it is in order
            await anyio.sleep(CLEAN_STEP)
    return {
        "pid": os.getpid(),
        "sessions": len(ended),
        "calls": sum(info.running for info in daemon.connections.values()),
    }


async def _take_over(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A person takes a device over; what runs on it ends at once."""
    services = daemon.router.services
    device = await _named(daemon, caller, arguments["device"])
    reason, seconds = arguments["reason"], float(arguments["seconds"])
    return await _written(partial(ownership.take_over, services, caller, device, reason=reason, seconds=seconds))


async def _give_back(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A person ends a takeover; whoever was interrupted goes on."""
    services, key = daemon.router.services, arguments["device"]
    room = services.desk.room
    if room is None or room.state.of_device(key) is None:  # else it need not be listed any more
        key = (await _named(daemon, caller, key)).key
    return await _written(partial(ownership.give_back, services, caller, key))


async def _mark(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A person says how a device is; one that is marked already need not be listed for that."""
    services, key = daemon.router.services, arguments["device"]
    room = services.desk.room
    if room is None or key not in room.state.marks:
        key = (await _named(daemon, caller, key)).key
    health, reason = arguments["health"], arguments["reason"]
    return await _written(partial(ownership.mark, services, caller, key, health=health, reason=reason))


async def _written(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a piece of work that writes to the store of leases returns; waits while another process writes.

    Raises:
        UpstreamUnavailable: It does not let go of the store.
    """
    until = anyio.current_time() + ownership.STORE_PATIENCE
    while True:
        try:
            return work()
        except StoreBusy:
            if anyio.current_time() > until:
                raise UpstreamUnavailable(
                    "Another process does not let go of the store of leases.",
                    upstream="state.db",
                    enable_hint="anydevice status",
                    hint="Repeat the call in a moment.",
                ) from None
        await anyio.sleep(ownership.PAUSE)


async def _named(daemon: Daemon, caller: Caller, device: str) -> Device:
    """The one device a person names, whatever its state.

    A key asks only the backend it is of, so that another one that hangs keeps nobody from taking a device over.

    Raises:
        AmbiguousDevice, DeviceNotFound, DeviceOffline: As resolution refuses.
    """
    services, env = daemon.router.services, Environment(caller.cwd, caller.env)
    backend, colon, _ = device.partition(":")
    only = [backend] if colon and backend in services.backends.entries else None
    inventory = await services.backends.listed(env, sick=False, only=only)
    if (row := inventory.by_key(device)) is not None:
        return row
    wanted = Request(selector=DeviceSelector(device=device), bound=None, explicit_device=True, boots=True, held={})
    return resolve(wanted, inventory).device


async def _artefact(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The bytes of a file a call made."""
    read = daemon.router.services.artefacts.read
    data = await anyio.to_thread.run_sync(read, arguments["name"])
    return {"name": arguments["name"], "size": len(data), "data": base64.b64encode(data).decode()}


_OPERATIONS: dict[str, tuple[Operation, dict[str, type], bool]] = {
    "status": (_status, {}, False),
    "devices": (_devices, {"ask": bool}, False),
    "catalogue": (_catalogue, {}, False),
    "artefact": (_artefact, {"name": str}, False),
    "approve": (_approve, {"token": str}, True),
    "pending": (_pending, {}, True),
    "stop": (_stop, {}, True),
    "takeover": (_take_over, {"device": str, "reason": str, "seconds": int}, True),
    "give-back": (_give_back, {"device": str}, True),
    "mark": (_mark, {"device": str, "health": str, "reason": str}, True),
}
"""By name: the function, the arguments it takes, and whether only the command line and the library may ask."""

_TYPED = {
    "approve": "approve TOKEN",
    "takeover": "takeover DEVICE --reason TEXT",
    "give-back": "give-back DEVICE",
    "mark": "mark DEVICE good",
}
"""Operations as a person types them, where the name alone is not enough."""
