"""What a client may ask of the daemon itself, besides making calls."""

from __future__ import annotations

import base64
import difflib
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

import anydevice
from anydevice.leases.machine import iso
from anydevice_schemas import Caller
from anydevice_schemas.errors import InvalidArgument, Refused, UnknownCommand

if TYPE_CHECKING:
    from .daemon import Daemon

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
            alternative=f"Have a person run: anydevice {name}",
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
    held = {lease.device: lease for lease in services.desk.store.leases(services.clock.now())}
    return {
        "pid": os.getpid(),
        "version": anydevice.__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "started": daemon.started_at,
        "uptime": round(anyio.current_time() - daemon.started, 3),
        "catalogue": daemon.published.digest,
        "commands": len(services.catalogue.commands()),
        "facades": sorted(daemon.facades),
        "idleExit": daemon.idle,
        "connections": [info.to_wire() for info in daemon.connections.values()],
        "sessions": [
            {
                "name": session.name,
                "device": session.device_key,
                "implicit": session.implicit,
                "idle": round(now - session.used, 1),
                "cwd": session.cwd,
                "app": session.app,
            }
            for session in sorted(services.sessions.all(), key=lambda s: s.name)
        ],
        "held": [
            {"device": key, "until": iso(lease.expires_at), "session": lease.holder.session}
            for key, lease in sorted(held.items())
        ],
        "plugins": [record.to_wire() for record in services.plugins if record.state != "ready"],
        "calls": sum(info.running for info in daemon.connections.values()),
    }


async def _catalogue(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The document of `published`."""
    return daemon.published.document


async def _approve(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A person says yes to a confirmation token."""
    return dict(daemon.router.services.policy.approve(arguments["token"]))


async def _pending(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Confirmation tokens that wait for a person."""
    return {"pending": daemon.router.services.policy.pending()}


async def _stop(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Announces the end; the conversation sets it off once this answer is on its way."""
    return {
        "pid": os.getpid(),
        "sessions": len(daemon.router.services.sessions.all()),
        "calls": sum(info.running for info in daemon.connections.values()),
    }


async def _artefact(daemon: Daemon, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The bytes of a file a call made."""
    read = daemon.router.services.artefacts.read
    data = await anyio.to_thread.run_sync(read, arguments["name"])
    return {"name": arguments["name"], "size": len(data), "data": base64.b64encode(data).decode()}


_OPERATIONS: dict[str, tuple[Operation, dict[str, type], bool]] = {
    "status": (_status, {}, False),
    "catalogue": (_catalogue, {}, False),
    "artefact": (_artefact, {"name": str}, False),
    "approve": (_approve, {"token": str}, True),
    "pending": (_pending, {}, True),
    "stop": (_stop, {}, True),
}
"""By name: the function, the arguments it takes, and whether only the command line and the library may ask."""
