"""Callers who come back after the daemon was restarted: they go on with what was kept, and are told what was not."""

from __future__ import annotations

from urllib.parse import urlsplit

import anyio

from anydevice_schemas.errors import AppNotRunning

from .driver import Apps, Driver, Environment
from .losses import news, origin, refusal, sessions_lost
from .reply import Trail
from .resolution import Inventory
from .services import Services
from .session import Session
from .text import fold_text

LOOK_DEADLINE = 3.0
"""Seconds a device has to say whether what was open on it still is."""


class Returning:
    """What the router asks of sessions of an earlier daemon; nothing where there are none.

    Args:
        services: Of this host.
    """

    def __init__(self, services: Services) -> None:
        self.services = services
        services.backends.heard.append(self._hear)

    def _hear(self, inventory: Inventory) -> None:
        """Every listing is looked at, so that the first one is, before anything is started on a device."""
        if self.services.sessions.unjudged:
            self.services.sessions.judge(inventory)

    async def judge(self, found: list[Session], env: Environment) -> None:
        """Sees whether these sessions still have their device, before anything is done in them."""
        services = self.services
        waiting = [session for session in found if session in services.sessions.unjudged]
        if not waiting:
            return
        of = {session: session.device_key.partition(":")[0] for session in waiting}
        inventory = await services.backends.listed(env, only=set(of.values()), sick=False)
        silent = {gone.backend for gone in inventory.missing}
        answered = services.backends.entries.keys() - silent
        services.sessions.judge(inventory, unlisted=[session for session in waiting if of[session] in answered])

    def tell(self, trail: Trail, session: Session | None) -> None:
        """Tells, once, that the session survived a restart."""
        if session is not None and session.news is not None:
            trail.tell(session.news)
            session.news = None

    async def look(self, trail: Trail, session: Session, driver: Driver) -> None:
        """As `tell`, with whether what was open in it still is; to be called before anything is done on the device."""
        self.tell(trail, session)
        if not session.unseen:
            return
        app, session.unseen = session.app, False
        if app is None:
            return
        there = await still_open(driver, app, session.seen)
        notice = next((n for n in trail.told or () if n.get("kind") == "daemon_restarted"), None)
        if notice is None:  # the restart itself was told with a refusal, before anybody could look
            notice = news(session.name, session.device_key, refs=False, notes={})
            trail.tell(notice)
        notice["app"] = app
        place = {True: "kept", False: "lost", None: "unsure"}[there]
        notice[place] = [*notice.get(place, ()), "app"]
        if there is False:
            session.app = None

    def tell_lost(self, trail: Trail) -> None:
        """Sessions that are lost to this caller: told once, with the next answer."""
        lost = self.services.sessions.losses_for(trail.caller, _tenant(trail))
        if lost:
            trail.tell(sessions_lost(lost))

    def refuse_lost(self, trail: Trail) -> None:
        """A call that relies on a session which did not survive is told so instead of guessing a device.

        Raises:
            ConnectionLost: There is such a session; told once.
        """
        lost = self.services.sessions.losses_for(trail.caller, _tenant(trail))
        if lost:
            raise refusal(lost)


def _tenant(trail: Trail) -> str | None:
    return trail.parsed.selector.tenant if trail.parsed is not None else None


async def still_open(driver: Driver, app: str, seen: str | None) -> bool | None:
    """Whether what a session had opened is still there; None where the device cannot say.

    Args:
        driver: Of the session's device, which is read and not changed.
        app: What was opened: an app, or an address.
        seen: Origin of the address that was in front last, where one was seen.
    """
    try:
        with anyio.fail_after(LOOK_DEADLINE):
            apps = driver.capability(Apps)
            if urlsplit(app).scheme:
                location = (await apps.state()).get("location")
                return None if location is None else origin(str(location)) in (origin(app), seen)
            return await _runs(driver, apps, app)
    except AppNotRunning:
        return False
    except Exception:  # whatever is wrong with the device is told by the command that comes next
        return None


async def _runs(driver: Driver, apps: Apps, app: str) -> bool | None:
    if driver.has("apps.list"):
        for found in await apps.list():
            if fold_text(app) in (fold_text(found.id), fold_text(found.name)) and found.running is not None:
                return found.running
    if driver.has("apps.state"):
        now = (await apps.state()).get("app")
        if now is not None and fold_text(str(now)) == fold_text(app):
            return True
    return None
