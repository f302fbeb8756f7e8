"""devices, session, capabilities, doctor: what there is, and how it is."""

from __future__ import annotations

import platform
from typing import Any, Literal

import anyio
import anyio.to_thread
from pydantic import Field

from anydevice_schemas import Device, DeviceRef, Example
from anydevice_schemas.errors import AnydeviceError, InvalidArgument

from .. import __version__, plans
from ..catalogue import Input, command
from ..configuration import passed_over
from ..context import Context, Outcome
from ..discovery import BACKENDS, PLUGINS, describe, discover
from ..hearing import concerned, resolved, silent
from ..inventory import remedy
from ..leases.refusals import iso
from ..programs import FIX, unseen
from ..resolution import Request, pin

CHECK_DEADLINE = 8.0


class DevicesInput(Input):
    """Inputs of `devices`."""

    state: Literal["all", "ready"] = Field(default="all", description="ready: only those that can be driven now.")


@command(
    name="devices",
    summary="Lists every device, usable or not: phones, TVs, desktops, browsers, each with its id, state, what to do "
    "if it is not ready, and who holds it. Narrow with platform or deviceTarget. Start here.",
    effect="read",
    idempotent=True,
    scope="host",
    observe=True,
    batchable=True,
    deadline=70.0,
    input=DevicesInput,
    output={
        "devices": {"type": "array", "description": "id, name, platform, state, selectors, lease."},
        "missing": {"type": "array", "description": "Backends that gave no listing, and why."},
    },
    examples=[
        Example(why="Everything", arguments={}),
        Example(why="Only browsers and desktops", arguments={"deviceTarget": "desktop"}),
    ],
)
async def devices(ctx: Context, args: DevicesInput) -> Outcome:
    """Lists devices."""
    backends, selector = ctx.services.backends, ctx.parsed.selector
    only = concerned(selector, backends)
    inventory = await backends.listed(ctx.environment, fresh=True, only=only)
    found = inventory.matching(selector)
    if not found and only is not None and selector.device is not None:  # it may be somebody else's id or name
        inventory = await backends.listed(ctx.environment, fresh=True)
        found, only = inventory.matching(selector), None
    viewer = _viewer(ctx)
    held = ctx.services.desk.held(viewer)
    mine = {session.name for session in ctx.services.sessions.visible(ctx.caller, ctx.parsed.selector.tenant)}
    rows = []
    for device in found:
        if args.state == "ready" and device.state != "ready":
            continue
        row = _row(device, ctx.level, ctx.services.desk.health(device))
        selectors = pin(device, inventory)
        if selectors is not None:
            row["selectors"] = selectors
        lease = held.get(device.key)
        if lease is not None:
            yours = lease.session is not None and lease.session in mine
            row["lease"] = {"until": lease.until, "yours": yours} | ({"session": lease.session} if yours else {})
        rows.append(row)
    data: dict[str, Any] = {"devices": rows}
    missing = [
        {"backend": gone.backend, "reason": gone.reason, "fix": gone.fix}
        for gone in (inventory.missing if only is None else silent(inventory, selector, backends))
    ]
    missing += await _unseen(ctx, [name for name in only or backends.entries if inventory.backends.get(name) == 0])
    if missing:
        data["missing"] = missing
    return Outcome(data=data)


async def _unseen(ctx: Context, names: list[str]) -> list[dict[str, str]]:
    """Backends that list nothing, perhaps as the daemon does not see a program that the caller has."""
    manifests = [ctx.services.backends.manifest(name) for name in names]
    found = await unseen(manifests, ctx.environment)
    return [{"backend": name, "reason": "; ".join(said), "fix": FIX} for name, said in sorted(found.items())]


def _viewer(ctx: Context) -> Any:
    from anydevice_schemas import Holder

    return Holder(principal=ctx.caller.principal, session="", tenant=ctx.parsed.selector.tenant or "default")


def _row(device: Device, level: str, health: tuple[str, str]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": device.id, "name": device.name, "platform": device.platform, "class": device.device_class,
        "kind": device.kind, "state": device.state,
    }  # fmt: skip
    if device.state != "ready":
        row |= {key: value for key, value in (("reason", device.reason), ("fix", device.fix)) if value}
    if health[0] not in ("good", "unknown"):
        row |= {"health": health[0], "healthReason": health[1]}
    if device.aliases:
        row["aliases"] = device.aliases
    if level != "digest":
        row |= {key: value for key, value in (("osVersion", device.os_version), ("model", device.model)) if value}
    if level == "full":
        row |= {
            "key": device.key,
            "target": device.device_target,
            "shares": device.shares,
            "facts": device.facts,
        }
    return row


class SessionInput(Input):
    """Inputs of `session`."""

    action: Literal["list", "show", "end"] = Field(default="list", description="list all of yours; show or end one.")
    name: str | None = Field(default=None, min_length=1, max_length=128, description="Which one, for show and end.")
    tenant: str | None = Field(default=None, min_length=1, max_length=128, description="Of which tenant.")


@command(
    name="session",
    summary="Lists your sessions, shows one (device, app, lease, last use), or ends one and gives its device back. "
    "open starts a session; close ends it and closes its app.",
    effect="mutate",
    reads_when={"action": ["list", "show", "*absent*"]},
    idempotent=True,
    scope="host",
    selectors=False,
    input=SessionInput,
    output={"sessions": {"type": "array"}, "session": {"type": "object"}},
    examples=[Example(why="What do I hold", arguments={})],
)
async def session(ctx: Context, args: SessionInput) -> Outcome:
    """Lists, shows or ends sessions."""
    sessions = ctx.services.sessions
    if args.action == "list":
        if args.name is not None:
            raise ctx.bad_argument("name", "goes with show and end", "no name")
        return Outcome(data={"sessions": [_session(ctx, found) for found in sessions.visible(ctx.caller, args.tenant)]})
    if args.name is None:
        raise ctx.bad_argument("name", f"action {args.action} needs a name", "the name of a session")
    found = sessions.named(ctx.caller, args.name, args.tenant)
    shown = _session(ctx, found)
    if args.action == "end":
        sessions.end(found, "ended by its caller")
        return Outcome(data={"session": shown, "ended": True}, verified=found.ended)
    return Outcome(data={"session": shown})


def _session(ctx: Context, found: Any) -> dict[str, Any]:
    now = ctx.services.clock.monotonic()
    shown = {
        "name": found.name,
        "device": found.device_key,
        "deviceName": found.device_name,
        "implicit": found.implicit,
        "idleSeconds": round(now - found.used, 1),
        "app": found.app,
        "fence": ".".join(map(str, found.fence)) if found.fence else None,
    }
    if not found.attached:
        shown["attached"] = False
    lease = ctx.services.desk.held().get(found.device_key)
    if lease is not None and found.lease_id is not None:
        shown["leaseUntil"] = lease.until
    return {key: value for key, value in shown.items() if value is not None}


class CapabilitiesInput(Input):
    """Inputs of `capabilities`."""


@command(
    name="capabilities",
    summary="Tells which commands and operations a device has now, and what is missing and why; without a device, what "
    "each platform's backend declares. Ask before relying on something unusual.",
    effect="read",
    idempotent=True,
    scope="host",
    observe=True,
    deadline=40.0,
    input=CapabilitiesInput,
    output={"commands": {"type": "array"}, "missing": {"type": "object"}, "platforms": {"type": "array"}},
    examples=[Example(why="Of one device", arguments={"device": "phone-1"})],
)
async def capabilities(ctx: Context, args: CapabilitiesInput) -> Outcome:
    """Tells what can be done."""
    selector = ctx.parsed.selector
    bound = None
    if selector.session is not None:
        found = ctx.services.sessions.named(ctx.caller, selector.session, selector.tenant)
        bound = (found.name, found.device_key)
    if not selector.names_a_device() and bound is None:
        return Outcome(data={"platforms": _by_platform(ctx)})
    backends = ctx.services.backends
    only = concerned(selector, backends, bound[1] if bound is not None else None)
    inventory = await backends.listed(ctx.environment, only=only)
    request = Request(selector=selector, bound=bound, boots=True, lock=ctx.services.settings.session_lock)
    chosen, _ = await resolved(request, inventory, only, backends, ctx.environment)
    return Outcome(data=await _of_device(ctx, chosen.device))


async def _of_device(ctx: Context, device: Device) -> dict[str, Any]:
    driver = await ctx.services.connections.get(device, ctx.environment)
    manifest = ctx.services.backends.manifest(device.backend)
    offered: list[str] = []
    missing: dict[str, Any] = {}
    for descriptor in ctx.services.catalogue.commands():
        if descriptor.scope == "host" and descriptor.backend is None:
            continue
        can, lacking = plans.offered(descriptor, manifest, device, driver)
        if can:
            offered.append(descriptor.name)
        elif descriptor.backend in (None, device.backend):
            missing[descriptor.name] = lacking
    operations = {
        operation: (
            {"available": True}
            if plans.available(manifest, device, driver, operation)
            else {"available": False, "reason": plans.why_not(manifest, device, driver, operation)}
        )
        for operation in sorted(manifest.operations)
    }
    return {
        "device": DeviceRef.model_dump(device.ref(), by_alias=True),
        "state": device.state,
        "commands": offered,
        "missing": missing,
        "operations": operations,
    }


def _by_platform(ctx: Context) -> list[dict[str, Any]]:
    wanted = ctx.parsed.selector.platform
    words = {word.name: word.platform for word in ctx.services.backends.platforms}
    if wanted is not None and wanted.casefold() not in words:
        raise InvalidArgument(
            "capabilities: platform: there is no such platform.",
            param="platform",
            expected=", ".join(sorted(words)),
        )
    rows = []
    for name, entry in sorted(ctx.services.backends.entries.items()):
        platforms = {p.platform or p.name for p in entry.manifest.platforms}
        if wanted is not None and words[wanted.casefold()] not in platforms:
            continue
        declared = set(entry.manifest.operations)
        commands = [
            c.name
            for c in ctx.services.catalogue.commands()
            if ((c.scope == "device" and c.backend is None) or c.backend == name)
            and (not c.plans or any(declared.issuperset(plan.operations) for plan in c.plans))
        ]
        rows.append(
            {
                "backend": name,
                "platforms": sorted(platforms),
                "classes": entry.manifest.device_classes,
                "commands": commands,
                "operations": sorted(declared),
            }
        )
    return rows


class DoctorInput(Input):
    """Inputs of `doctor`."""


@command(
    name="doctor",
    summary="Checks the host: which plugins are ready, broken or in conflict, which tools and permissions are missing, "
    "and what to type to mend it. Call it when devices lacks something or an answer names a missing tool.",
    effect="read",
    idempotent=True,
    scope="host",
    selectors=False,
    observe=True,
    deadline=60.0,
    input=DoctorInput,
    output={
        "ok": {"type": "boolean", "description": "Nothing is wrong; what is only not installed (optional) may lack."},
        "checks": {"type": "array", "description": "name, ok, detail, fix, optional."},
        "plugins": {"type": "array"},
    },
    examples=[Example(why="What is wrong here", arguments={})],
)
async def doctor(ctx: Context, args: DoctorInput) -> Outcome:
    """Checks the host."""
    checks: list[dict[str, Any]] = [
        {"name": "anydevice", "ok": True, "detail": f"{__version__} on Python {platform.python_version()}"}
    ]
    async with anyio.create_task_group() as group:
        for name in ctx.services.backends.entries:
            group.start_soon(_check_backend, ctx, name, checks)
    checks.extend(
        {"name": f"command {refused['command']}", "ok": False, "detail": refused["reason"]}
        for refused in ctx.services.catalogue.refused
    )
    checks.extend(
        {"name": f"plugin {record.name}", "ok": False, "detail": record.reason, "fix": record.remedy}
        for record in ctx.services.plugins
        if record.state not in ("ready", "disabled")
    )
    checks.extend(_passed_over(ctx))
    manifests = [entry.manifest for entry in ctx.services.backends.entries.values()]
    checks.extend(
        {"name": f"{name}: PATH", "ok": False, "detail": "; ".join(said), "fix": FIX, "optional": True}
        for name, said in (await unseen(manifests, ctx.environment)).items()
    )
    checks.extend(await _installed_since(ctx))
    plugins = [record.to_wire() for record in ctx.services.plugins]
    checks.sort(key=lambda check: (bool(check["ok"]), "optional" in check, str(check["name"])))
    data = {
        "ok": all(check["ok"] or "optional" in check for check in checks),
        "checks": checks,
        "plugins": plugins,
        "policy": {"profile": ctx.services.policy.profile, "confirm": ctx.services.policy.confirm},
        "time": iso(ctx.services.clock.now()),
    }
    return Outcome(data=data)


def _passed_over(ctx: Context) -> list[dict[str, Any]]:
    """What of the configuration file has no effect."""
    found = [record for record in ctx.services.plugins if record.group]
    if not found:
        return []
    return [
        {"name": f"config.toml: {passed.where}", "ok": False, "detail": passed.detail, "fix": passed.fix}
        | ({} if passed.likely else {"optional": True})
        for passed in passed_over(ctx.services.settings, found)
    ]


async def _installed_since(ctx: Context) -> list[dict[str, Any]]:
    """Plugins that came, went or changed since the daemon looked for them."""
    then = {(r.group, r.name, r.distribution, r.version) for r in ctx.services.plugins if r.group}
    if not then:
        return []
    found = [r for group in (BACKENDS, PLUGINS) for r in await anyio.to_thread.run_sync(discover, group)]
    now = {(r.group, r.name, r.distribution, r.version) for r in found}
    states = {(r.group, r.name, r.distribution): r.state for r in ctx.services.plugins}
    mended = {
        (r.group, r.name, r.distribution, r.version)
        for r in found
        if r.state == "ready" and states.get((r.group, r.name, r.distribution)) in ("broken", "refused")
    }
    return [
        {
            "name": f"plugin {name}",
            "ok": False,
            "detail": f"{distribution} {version} was installed, removed or repaired after the daemon started",
            "fix": "anydevice stop ; the next call starts a daemon that sees it",
        }
        for _, name, distribution, version in sorted((then ^ now) | mended)
    ]


async def _check_backend(ctx: Context, name: str, checks: list[dict[str, Any]]) -> None:
    """One backend's own findings; a backend that hangs or fails is a finding itself."""
    try:
        with anyio.fail_after(CHECK_DEADLINE):
            backend = await ctx.services.backends.instance(name)
            found = await backend.check(ctx.environment)
        for check in found:
            row: dict[str, Any] = {"name": f"{name}: {check.name}", "ok": check.ok, "detail": check.detail}
            if check.optional and not check.ok:
                row["optional"] = True
            checks.append(row | ({"fix": check.fix} if check.fix else {}))
    except TimeoutError:
        checks.append({"name": name, "ok": False, "detail": f"gave no answer within {CHECK_DEADLINE:g} s"})
    except AnydeviceError as error:
        checks.append({"name": name, "ok": False, "detail": error.message, "fix": remedy(error)})
    except Exception as error:
        checks.append({"name": name, "ok": False, "detail": describe(error)})
