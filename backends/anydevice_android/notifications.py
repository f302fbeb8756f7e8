"""Notifications: Android's own can be posted by the shell; a push of an app goes to its receiver, where it has one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anydevice.driver import Acted, Notifications
from anydevice_adb import line
from anydevice_schemas.errors import InvalidArgument, UpstreamUnavailable

from .reach import Reach

TAG = "anydevice"


class AndroidNotifications(Notifications):
    """See `Notifications`.

    A payload with `action` is a broadcast to the app, its `extras` the texts that go with it. Any other payload needs a
    `title` or a `body`, and is posted as a notification of the shell: the app itself hears nothing of it, and the
    answer says so (`data["to"]`).
    """

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def push(self, app: str, payload: Mapping[str, Any]) -> Acted:
        """See `Notifications.push`.

        Raises:
            InvalidArgument: The payload says neither.
            UpstreamUnavailable: Android did not take it.
        """
        action = payload.get("action")
        if isinstance(action, str):
            extras = payload.get("extras") or {}
            words = ["am", "broadcast", "-a", action, "-p", app]
            for name, value in extras.items():
                words += ["--es", str(name), str(value)]
            done = await self._reach.adb.shell(line(*words))
            if "Broadcast completed" not in done.both:
                raise _refused("am broadcast", done.both)
            return Acted("broadcast", data={"to": "app"})
        title, body = str(payload.get("title") or ""), str(payload.get("body") or "")
        if not title and not body:
            raise InvalidArgument(
                "The payload says neither what to show nor what to broadcast.",
                param="payload",
                expected='{"title": …, "body": …} or {"action": …, "extras": {…}}',
            )
        words = ["cmd", "notification", "post", "-S", "bigtext", "-t", title or body, TAG, body or title]
        done = await self._reach.adb.shell(line(*words))
        if done.status != 0 or "Exception" in done.both or "Unknown command" in done.both:
            raise _refused("cmd notification", done.both)
        shown = (await self._reach.run("dumpsys", "notification", "--noredact", deadline=20.0)).text
        return Acted("notification", verified=TAG in shown, data={"to": "shade"})


def _refused(what: str, said: str) -> UpstreamUnavailable:
    return UpstreamUnavailable("Android did not take it.", upstream=what, enable_hint="See details.", said=said[-1000:])
