"""The clipboard: of simulators by simctl, of physical devices by the agent. Text only."""

from __future__ import annotations

import base64
import binascii

from anydevice.driver import Acted, Clip, Clipboard, ClipKind
from anydevice_schemas.errors import PermissionMissing, Unsupported

from .reach import Reach


class AppleClipboard(Clipboard):
    """See `Clipboard`."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def read(self, kind: ClipKind | None = None) -> Clip:
        """See `Clipboard.read`.

        Raises:
            Unsupported: `kind` is not text.
            PermissionMissing: The system lets only the app in front read it, which an agent behind it is not.
        """
        if kind not in (None, "text"):
            raise Unsupported(
                "Only text is read from this clipboard.", operation="clipboard.read", alternatives=[], kind=kind
            )
        if self._reach.simctl is not None:
            text = (await self._reach.simctl.do("pbpaste")).text
            return Clip(frozenset({"text"}) if text else frozenset(), text=text or None)
        found = await self._reach.tell("clipboard.read", "/wda/getPasteboard", {"contentType": "plaintext"})
        text = _decoded(found)
        if not text:
            raise PermissionMissing(
                "The device lets only the app in front read the clipboard; an empty answer may be a refusal.",
                permission="clipboard",
                fix="Paste into a field and read that.",
            )
        return Clip(frozenset({"text"}), text=text)

    async def write_text(self, text: str) -> Acted:
        """See `Clipboard.write_text`."""
        if self._reach.simctl is not None:
            await self._reach.simctl.do("pbcopy", stdin=text.encode(), secret=text)
            back = (await self._reach.simctl.do("pbpaste")).text
            return Acted("simctl", verified=back == text)
        content = base64.b64encode(text.encode()).decode()
        await self._reach.tell(
            "clipboard.write_text", "/wda/setPasteboard", {"contentType": "plaintext", "content": content}
        )
        return Acted("wda", verified=None)


def _decoded(value: object) -> str:
    try:
        return base64.b64decode(str(value or ""), validate=False).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""
