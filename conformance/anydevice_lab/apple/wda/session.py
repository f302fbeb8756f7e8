"""A session, and a request inside it or without one."""

from __future__ import annotations

import itertools
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..model.apps import new_id
from ..model.nodes import XNode
from .errors import WdaError, stale, unknown

if TYPE_CHECKING:
    from ..device import LabDevice
    from ..model.machine import Machine
    from .http import Message
    from .server import Server

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_numbers = itertools.count(42)
SETTINGS: dict[str, Any] = {
    "shouldUseCompactResponses": True, "elementResponseAttributes": "type,label", "mjpegServerScreenshotQuality": 25,
    "mjpegServerFramerate": 10, "screenshotQuality": 3, "keyboardAutocorrection": False, "keyboardPrediction": False,
    "snapshotMaxDepth": 50, "snapshotMaxChildren": 2147483647, "useFirstMatch": False, "boundElementsByIndex": False,
    "reduceMotion": False, "defaultActiveApplication": "auto", "activeAppDetectionPoint": "64.00,64.00",
    "defaultAlertAction": "", "acceptAlertButtonSelector": "", "dismissAlertButtonSelector": "",
    "autoClickAlertSelector": "", "waitForIdleTimeout": 10, "animationCoolOffTimeout": 2, "maxTypingFrequency": 60,
    "respectSystemAlerts": False, "useClearTextShortcut": True, "limitXPathContextScope": True,
    "includeNonModalElements": False, "screenshotOrientation": "auto", "includeHittableInPageSource": False,
    "includeNativeFrameInPageSource": False, "includeCustomActionsInPageSource": False,
    "includeMinMaxValueInPageSource": False, "enforceCustomSnapshots": False,
}  # fmt: skip


@dataclass
class Session:
    """One session; there is one at a time.

    Attributes:
        bundle: The app it is about; empty = whatever is in front.
        waits: Whether it waits until an app is at rest.
        alert_action: What it does with alerts by itself: `accept`, `dismiss` or nothing.
        ends_app: Whether the app ends with it.
        expects: Whether its app is held to run; False once it was asked to end it.
        settings: As `/appium/settings` has them.
        known: Keys of elements that were found, by their reference, with what they were called.
    """

    bundle: str = ""
    waits: bool = True
    alert_action: str = ""
    ends_app: bool = True
    expects: bool = True
    id: str = field(default_factory=new_id)
    settings: dict[str, Any] = field(default_factory=lambda: dict(SETTINGS))
    known: dict[str, tuple[str, str]] = field(default_factory=dict)
    _by_key: dict[str, str] = field(default_factory=dict)

    def reference(self, node: XNode) -> dict[str, str]:
        """The reference of an element, always the same for the same one."""
        found = self._by_key.get(node.key)
        if found is None:
            found = f"{next(_numbers):08X}-0000-0000-0B10-000000000000"
            self._by_key[node.key] = found
            self.known[found] = (node.key, f'"{node.name or node.label}" {node.type}')
        return {"ELEMENT": found, ELEMENT: found}


@dataclass
class Request:
    """One request.

    Attributes:
        session: The session its path names, or the one there is; None = there is none.
        params: What the path holds in its places.
    """

    server: Server
    message: Message
    session: Session | None
    params: dict[str, str]

    @property
    def device(self) -> LabDevice:
        """On which it runs."""
        return self.server.device

    @property
    def machine(self) -> Machine:
        """What the device is and shows."""
        return self.server.device.machine

    @property
    def body(self) -> dict[str, Any]:
        """What came with it."""
        return self.message.body

    def setting(self, name: str) -> Any:
        """A setting of the session, or what it is without one."""
        return (self.session.settings if self.session is not None else SETTINGS)[name]

    def given(self, name: str) -> Any:
        """A value of the body that has to be there.

        Raises:
            WdaError: It is not.
        """
        if self.body.get(name) is None:
            raise WdaError("invalid argument", f"The '{name}' argument is mandatory. Got {json.dumps(self.body)}")
        return self.body[name]

    def number(self, name: str, default: float | None = None) -> float:
        """A number of the body.

        Raises:
            WdaError: It is not there, or is none.
        """
        value = self.body.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise WdaError("invalid argument", f"The '{name}' argument has to be a number, not {value!r}")
        return float(value)

    def tree(self) -> XNode:
        """What is shown, as the session sees it."""
        from .source import tree

        return tree(self)

    def element(self, reference: str = "") -> XNode:
        """The element of a reference: of the path, unless one is given.

        Raises:
            WdaError: It is gone.
        """
        reference = reference or self.params.get("element", "")
        assert self.session is not None
        known = self.session.known.get(reference)
        if known is None:
            raise unknown(reference)
        key, name = known
        found = next((node for node in self.tree().walk() if node.key == key), None)
        if found is None:
            raise stale(name)
        return found


Route = Callable[[Request], Awaitable[Any]]
