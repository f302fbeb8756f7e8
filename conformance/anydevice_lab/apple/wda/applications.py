"""Apps: launched, brought to the front, ended; and what is in front."""

from __future__ import annotations

from typing import Any

import anyio

from .errors import WdaError
from .session import Request, Route

NOT_INSTALLED = "The application '{}' is not installed on the device under test"
NOT_RUNNING, SUSPENDED, BEHIND, FRONT = 1, 2, 3, 4


def _bundle(request: Request) -> str:
    bundle = str(request.given("bundleId"))
    if bundle not in request.machine.apps:
        raise WdaError("invalid argument", NOT_INSTALLED.format(bundle))
    return bundle


async def launch(request: Request) -> Any:
    """`POST S/wda/apps/launch {bundleId, arguments, environment}`: one that runs is brought to the front."""
    bundle = _bundle(request)
    if request.device.faults.active("launch_denied", bundle):
        raise WdaError("invalid argument", "The request was denied by service delegate (SBMainWorkspace).")
    arguments = tuple(str(word) for word in request.body.get("arguments") or ())
    environment = {str(k): str(v) for k, v in (request.body.get("environment") or {}).items()}
    request.device.launch(bundle, arguments, environment, fresh=False)
    if request.session is not None and request.session.bundle == bundle:
        request.session.expects = True
    return None


async def launch_unattached(request: Request) -> Any:
    """`POST /wda/apps/launchUnattached {bundleId}`."""
    bundle = str(request.body.get("bundleId") or "")
    if bundle not in request.machine.apps or request.device.faults.active("launch_denied", bundle):
        raise WdaError("unknown error", "LSApplicationWorkspace failed to launch app")
    request.device.launch(bundle, (), {}, fresh=False)


async def activate(request: Request) -> Any:
    """`POST S/wda/apps/activate {bundleId}`."""
    request.device.launch(_bundle(request), (), {}, fresh=False)
    return None


async def terminate(request: Request) -> Any:
    """`POST S/wda/apps/terminate {bundleId}`: whether it ran."""
    bundle = str(request.given("bundleId"))
    app = request.machine.apps.get(bundle)
    if request.session is not None and request.session.bundle == bundle:
        request.session.expects = False
    if app is None or not app.running:
        return False
    request.device.terminate(app)
    return True


async def state(request: Request) -> Any:
    """`POST S/wda/apps/state {bundleId}`: 1 not running, 2 suspended, 3 behind, 4 in front."""
    app = request.machine.apps.get(str(request.given("bundleId")))
    if app is None or not app.running:
        return NOT_RUNNING
    return FRONT if request.machine.front is app else BEHIND if app.system else SUSPENDED


async def listing(request: Request) -> Any:
    """`GET S/wda/apps/list`: those that are active."""
    return [{"pid": request.machine.front.pid, "bundleId": request.machine.front.id}]


async def active(request: Request) -> Any:
    """`GET /wda/activeAppInfo`."""
    app = request.machine.front
    if request.machine.system is not None and request.setting("respectSystemAlerts"):
        app = request.machine.apps[request.machine.launcher]
    arguments = {"args": list(app.arguments), "env": app.environment}
    return {"pid": app.pid, "bundleId": app.id, "name": "", "processArguments": arguments}


async def url(request: Request) -> Any:
    """`POST S/url {url, bundleId?}`."""
    wanted = str(request.given("url"))
    if not request.machine.open_url(wanted):
        raise WdaError("unknown error", f"The URL '{wanted}' cannot be opened. Did you provide a valid scheme?")


async def deactivate(request: Request) -> Any:
    """`POST S/wda/deactivateApp {duration}`: to the home screen, and back after so many seconds."""
    front = request.machine.front.id
    request.machine.home()
    await anyio.sleep(request.number("duration", 3))
    request.machine.bring(front)


async def reset_permission(request: Request) -> Any:
    """`POST S/wda/resetAppAuth {resource}`: of the app of the session."""
    assert request.session is not None
    app = request.machine.apps.get(request.session.bundle)
    if app is None:
        raise WdaError("invalid argument", "Session must be created with a bundle identifier to reset permissions")
    app.granted = {}
    request.device.journal.add("reset_permission", resource=request.number("resource"), bundle=app.id)


S = "/session/:session"
ROUTES: dict[tuple[str, str], Route] = {
    ("POST", f"{S}/wda/apps/launch"): launch,
    ("POST", "/wda/apps/launchUnattached"): launch_unattached,
    ("POST", f"{S}/wda/apps/activate"): activate,
    ("POST", f"{S}/wda/apps/terminate"): terminate,
    ("POST", f"{S}/wda/apps/state"): state,
    ("GET", f"{S}/wda/apps/list"): listing,
    ("GET", "/wda/activeAppInfo"): active,
    ("GET", f"{S}/wda/activeAppInfo"): active,
    ("POST", f"{S}/url"): url,
    ("POST", f"{S}/wda/deactivateApp"): deactivate,
    ("POST", f"{S}/wda/resetAppAuth"): reset_permission,
}
