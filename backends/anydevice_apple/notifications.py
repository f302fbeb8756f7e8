"""Push notifications to an app of a simulator."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from anydevice.driver import Acted, Notifications

from .bundles import ID, unknown
from .reach import Reach


class AppleNotifications(Notifications):
    """See `Notifications`. What holds no `aps` is given an empty one, without which nothing is delivered."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def push(self, app: str, payload: Mapping[str, Any]) -> Acted:
        """See `Notifications.push`. Whether the app listened, nobody tells.

        Raises:
            AppNotFound: The app is not installed.
        """
        bundles = await self._reach.bundles.all()
        if not ID.fullmatch(app) or app not in bundles:
            raise unknown(app, bundles)
        whole = dict(payload) if "aps" in payload else {"aps": {}, **payload}
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
        await self._reach.sim.do("push", app, "-", stdin=text.encode())
        return Acted("simctl", verified=None, data={} if "aps" in payload else {"added": "aps"})
