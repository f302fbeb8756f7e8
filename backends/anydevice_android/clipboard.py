"""The clipboard, where Android lets the shell at it; where it does not, that is said, and never an empty success."""

from __future__ import annotations

import re

from anydevice.driver import Acted, Clip, Clipboard, ClipKind
from anydevice_schemas.errors import PermissionMissing, Unsupported

from .reach import Reach

ABSENT = ("No shell command implementation", "Can't find service", "Unknown command", "not found")
DENIED = ("SecurityException", "Denying clipboard access", "Permission Denial")
_READ_BY_OTHERS_UNTIL = 29
"""API level from which only the app in front may read the clipboard."""


class AndroidClipboard(Clipboard):
    """See `Clipboard`. Text only."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def read(self, kind: ClipKind | None = None) -> Clip:
        """See `Clipboard.read`.

        Raises:
            Unsupported: The device's shell has no clipboard, or `kind` is not text.
            PermissionMissing: It has one, and does not let it be read.
        """
        if kind not in (None, "text"):
            raise _absent("clipboard.read", "Android's shell reads text only")
        said = await self._do("get", "text")
        text = said.rstrip("\n")
        if not text and self._reach.sdk >= _READ_BY_OTHERS_UNTIL:
            # A denied read looks exactly like an empty clipboard, so an empty answer is no witness.
            raise PermissionMissing(
                "Android lets only the app in front read the clipboard; an empty answer may be a refusal.",
                permission="clipboard",
                fix="Paste into a field (key ctrl+v) and read that, or use a device with an older Android.",
            )
        return Clip(frozenset({"text"}) if text else frozenset(), text=text or None)

    async def write_text(self, text: str) -> Acted:
        """See `Clipboard.write_text`; read back where Android lets one.

        Raises:
            Unsupported: The device's shell has no clipboard.
            PermissionMissing: It does not let it be written.
        """
        await self._do("set", "text", text)
        try:
            back = (await self._do("get", "text")).rstrip("\n")
        except (PermissionMissing, Unsupported):
            return Acted("shell", verified=None)
        return Acted("shell", verified=True if back == text else None if not back else False)

    async def _do(self, *words: str) -> str:
        done = await self._reach.run("cmd", "clipboard", *words)
        said = done.both
        if any(word in said for word in DENIED):
            raise PermissionMissing(
                "Android does not let the shell at the clipboard.",
                permission="clipboard",
                fix="Type or paste into a field instead.",
                said=said[-500:],
            )
        if done.status != 0 or any(re.match(rf"(cmd: )?{re.escape(word)}", said.strip()) for word in ABSENT):
            raise _absent(
                f"clipboard.{'read' if words[0] == 'get' else 'write_text'}", "this Android's shell has no clipboard"
            )
        return done.text


def _absent(operation: str, reason: str) -> Unsupported:
    return Unsupported(
        "This device has no such clipboard for tools.",
        hint="Use fill or type to get text into a field.",
        operation=operation,
        alternatives=["keys.type_text"],
        reason=reason,
    )
