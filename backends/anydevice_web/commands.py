"""The commands this backend brings: `tabs` and `browser-profile`."""

from __future__ import annotations

from typing import Any

import anyio.to_thread

from anydevice.context import Context, Outcome
from anydevice_schemas.errors import InvalidArgument, Refused

from .backend import WebBackend
from .endpoint import check_url
from .profiles import Profile
from .tabs import Tabs


async def tabs(ctx: Context, args: Any) -> Outcome:
    """Lists, selects or closes tabs.

    Raises:
        InvalidArgument: A tab is missing, or given where none belongs.
        AppNotFound: No such tab.
    """
    capability = ctx.use(Tabs)
    action = args.action or "list"
    if action == "list":
        if args.tab is not None:
            raise ctx.bad_argument("tab", "goes with action select or close only", "no tab")
        return Outcome(data={"tabs": await capability.list()})
    if args.tab is None:
        raise ctx.bad_argument("tab", f"action {action} needs a tab", "a tab id such as t2")
    acted = await (capability.select(args.tab) if action == "select" else capability.close(args.tab))
    data: dict[str, Any] = dict(acted.data)
    if acted.happenings:
        data["happened"] = [{"kind": one.kind, **dict(one.data)} for one in acted.happenings]
    return Outcome(data=data, verified=bool(acted.verified), method=acted.method)


async def browser_profile(ctx: Context, args: Any) -> Outcome:
    """Lists, adds or removes named profiles and endpoints.

    Raises:
        InvalidArgument: The name is missing, taken, or names nothing; or options that do not go together.
        Refused: The profile's browser is running.
    """
    assert isinstance(ctx.backend, WebBackend)
    backend = ctx.backend
    action = args.action or "list"
    _check(ctx, args, action)
    if action == "list":
        return Outcome(data=await _listed(backend))
    if action == "add":
        return await _add(backend, args)
    return await _remove(backend, args)


def _check(ctx: Context, args: Any, action: str) -> None:
    if action == "list":
        for param in ("name", "browser", "endpoint"):
            if getattr(args, param) is not None:
                raise ctx.bad_argument(param, "goes with action add or remove only", "nothing")
    elif args.name is None:
        raise ctx.bad_argument("name", f"action {action} needs a name", "letters, digits, . _ -")
    if action != "add" and (args.browser is not None or args.endpoint is not None):
        raise ctx.bad_argument("browser", "browser and endpoint go with action add only", "nothing")
    if args.browser is not None and args.endpoint is not None:
        raise ctx.bad_argument("endpoint", "browser and endpoint are both given", "one of the two")
    if args.delete_data and action != "remove":
        raise ctx.bad_argument("deleteData", "goes with action remove only", "false")


async def _listed(backend: WebBackend) -> dict[str, Any]:
    profiles, endpoints = await anyio.to_thread.run_sync(backend.profiles.read)
    return {
        "profiles": [
            {"name": one.name, "browser": one.browser, "device": f"{one.browser}:{one.name}"} for one in profiles
        ],
        "endpoints": [{"name": one.name, "address": one.url, "device": f"endpoint:{one.name}"} for one in endpoints],
    }


async def _add(backend: WebBackend, args: Any) -> Outcome:
    store = backend.profiles
    if args.endpoint is not None:
        url = check_url(args.endpoint)
        await anyio.to_thread.run_sync(store.add_endpoint, args.name, url)
        device = f"endpoint:{args.name}"
    else:
        browser = args.browser or "chromium"
        await anyio.to_thread.run_sync(store.add_profile, args.name, browser)
        device = f"{browser}:{args.name}"
    data = await _listed(backend)
    found = any(row["device"] == device for row in [*data["profiles"], *data["endpoints"]])
    return Outcome(data={**data, "device": device}, verified=found, method="profiles-file")


async def _remove(backend: WebBackend, args: Any) -> Outcome:
    store = backend.profiles
    profiles, _ = await anyio.to_thread.run_sync(store.read)
    for profile in profiles:
        instance = backend.instance(f"{profile.browser}:{profile.name}")
        if profile.name == args.name and instance is not None and instance.alive:
            raise Refused(
                "The profile's browser is running.",
                hint=f"Call shutdown with device={instance.plan.id} first.",
                reason="in use",
                alternative="shutdown",
            )
    gone = await anyio.to_thread.run_sync(lambda: store.remove(args.name, delete_data=args.delete_data))
    if isinstance(gone, Profile):
        device = f"{gone.browser}:{gone.name}"
        deleted = args.delete_data and not await anyio.Path(store.folder(gone)).exists()
        if args.delete_data and not deleted:
            raise InvalidArgument(
                "The profile is forgotten, but its data could not be deleted.", param="name", expected="a free folder"
            )
    else:
        device, deleted = f"endpoint:{gone.name}", False
    data = await _listed(backend)
    return Outcome(data={**data, "device": device, "data_deleted": deleted}, verified=True, method="profiles-file")
