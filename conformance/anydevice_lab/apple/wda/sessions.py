"""Sessions: a new one ends the one before; and what they are set to."""

from __future__ import annotations

import time
from typing import Any

from ..model.apps import RUNNER
from .errors import WdaError
from .session import Request, Route, Session

NO_CAPABILITIES = "'capabilities' is mandatory to create a new session"
NO_APP = (
    "Cannot launch {} application. Make sure the correct bundle identifier has been provided in capabilities and check "
    "the device log for possible crash report occurrences"
)
AGENT = "16.7.0"


def _device(request: Request) -> str:
    return {"iPad": "ipad", "Apple TV": "apple tv"}.get(request.device.kind.family, "iphone")


async def status(request: Request) -> Any:
    """`GET /status`."""
    kind = request.device.kind
    inner: dict[str, Any] = {"ip": None} if not kind.physical else {"ip": "192.0.2.10"}
    if not kind.physical:
        inner["simulatorVersion"] = kind.os
    return {
        "ready": True,
        "message": "WebDriverAgent is ready to accept commands",
        "state": "success",
        "os": {"name": kind.platform, "version": kind.os, "sdkVersion": "26.5", "testmanagerdVersion": 65535},
        "ios": inner,
        "build": {"time": "Aug 22 2026 09:00:00", "productBundleIdentifier": RUNNER.removesuffix(".xctrunner"),
                  "version": AGENT},
        "device": _device(request),
    }  # fmt: skip


async def health(request: Request) -> Any:
    """`GET /wda/healthcheck`: only that it is well."""
    return None


async def create(request: Request) -> Any:
    """`POST /session`: starts the app it names, and ends the session before with the app that one was about."""
    _end(request)  # before anything is looked at: what follows may fail, and the session before is gone all the same
    given = request.body.get("capabilities")
    if not isinstance(given, dict):
        raise WdaError("session not created", NO_CAPABILITIES)
    asked: dict[str, Any] = {**(given.get("alwaysMatch") or {}), **((given.get("firstMatch") or [{}])[0] or {})}
    asked = {name.removeprefix("appium:"): value for name, value in asked.items()}
    bundle, machine = str(asked.get("bundleId") or ""), request.machine
    session = Session(bundle, waits=bool(asked.get("shouldWaitForQuiescence", True)))
    session.alert_action = str(asked.get("defaultAlertAction") or "")
    session.ends_app = bool(asked.get("shouldTerminateApp", True))
    if "waitForIdleTimeout" in asked:
        session.settings["waitForIdleTimeout"] = asked["waitForIdleTimeout"]
    for name in ("reduceMotion", "respectSystemAlerts", "maxTypingFrequency"):
        if name in asked:
            session.settings[name] = asked[name]
    if bundle:
        app = machine.apps.get(bundle)
        if app is None or request.device.faults.active("launch_denied", bundle):
            raise WdaError("session not created", NO_APP.format(bundle))
        arguments = tuple(str(word) for word in asked.get("arguments") or ())
        environment = {str(k): str(v) for k, v in (asked.get("environment") or {}).items()}
        request.device.launch(bundle, arguments, environment, fresh=bool(asked.get("forceAppLaunch", True)))
        if url := asked.get("initialUrl"):
            machine.open_url(str(url))
    request.server.session = session
    request.device.journal.add("session", id=session.id, bundle=bundle)
    return _facts(request, session)


def _facts(request: Request, session: Session) -> dict[str, Any]:
    facts = {"device": _device(request), "sdkVersion": request.device.kind.os}
    return {"sessionId": session.id, "capabilities": facts}


def _end(request: Request) -> None:
    """The session there is ends, and with it the app it was about, unless it was told not to."""
    session, request.server.session = request.server.session, None
    if session is None:
        return
    app = request.machine.apps.get(session.bundle)
    if session.ends_app and app is not None and app.running and not app.system:
        request.device.terminate(app)
    request.server.video = None
    request.device.journal.add("session_end", id=session.id)


async def describe(request: Request) -> Any:
    """`GET S`."""
    assert request.session is not None
    return _facts(request, request.session)


async def delete(request: Request) -> Any:
    """`DELETE S`."""
    _end(request)
    return None


async def settings(request: Request) -> Any:
    """`GET S/appium/settings`."""
    assert request.session is not None
    return request.session.settings


async def change(request: Request) -> Any:
    """`POST S/appium/settings`: those it does not know it leaves alone."""
    assert request.session is not None
    given = request.body.get("settings") or {}
    if not isinstance(given, dict):
        raise WdaError("invalid argument", "settings must be a dictionary")
    known = request.session.settings
    known.update({name: value for name, value in given.items() if name in known})
    if "defaultAlertAction" in given:
        request.session.alert_action = str(given["defaultAlertAction"] or "")
    request.device.journal.add("settings", at_=time.time(), values=given)
    return known


async def timeouts(request: Request) -> Any:
    """`POST S/timeouts`: accepted."""
    return None


async def shutdown(request: Request) -> Any:
    """`GET /wda/shutdown`: the runner ends."""
    app = request.machine.apps.get(RUNNER)
    if app is not None:
        request.device.terminate(app)
    return None


S = "/session/:session"
ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "/status"): status,
    ("GET", "/wda/healthcheck"): health,
    ("POST", "/session"): create,
    ("GET", S): describe,
    ("DELETE", S): delete,
    ("GET", f"{S}/appium/settings"): settings,
    ("POST", f"{S}/appium/settings"): change,
    ("POST", f"{S}/timeouts"): timeouts,
    ("GET", "/wda/shutdown"): shutdown,
}
