"""Notifications to an app, by broadcast: the way that needs no key of its server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from anydevice.driver import Acted, Notifications
from anydevice_adb import line
from anydevice_schemas.errors import AppNotFound, UpstreamUnavailable

from .packages import Packages
from .reach import Reach


class AndroidNotifications(Notifications):
    """See `Notifications`.

    Google's own messages need Google's key, so the app is sent a broadcast instead, as its test builds listen for: the
    action is `action` of the payload, else `APP.TEST_PUSH`; `extras` of the payload go along as texts, and the whole
    payload as JSON in the extra `payload`.
    """

    def __init__(self, reach: Reach, packages: Packages) -> None:
        self._reach, self._packages = reach, packages

    async def push(self, app: str, payload: Mapping[str, Any]) -> Acted:
        """See `Notifications.push`. Whether the app listened, Android does not tell.

        Raises:
            AppNotFound: The app is not installed.
            OutcomeUnknown: Android did not answer.
            UpstreamUnavailable: Android did not take it.
        """
        if not await self._packages.installed(app):
            raise AppNotFound(
                "No such app is installed.", hint="Call apps to see what is installed.", nearest_matches=[], app=app
            )
        action = payload.get("action")
        extras = payload.get("extras")
        words = ["am", "broadcast", "-a", action if isinstance(action, str) else f"{app}.TEST_PUSH", "-p", app]
        for name, value in extras.items() if isinstance(extras, Mapping) else ():
            words += ["--es", str(name), str(value)]
        words += ["--es", "payload", json.dumps(payload, ensure_ascii=False, separators=(",", ":"))]
        done = await self._reach.act(line(*words))
        if "Broadcast completed" not in done.both:
            raise UpstreamUnavailable(
                "Android did not take it.", upstream="am broadcast", enable_hint="See details.", said=done.both[-1000:]
            )
        return Acted("broadcast", verified=None)
