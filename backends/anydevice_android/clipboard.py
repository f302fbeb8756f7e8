"""The clipboard, where Android lets the shell at it; where it does not, that is said, and never an empty success.

Stock shells have no clipboard; where the configuration allows the automation server, that one has.
"""

from __future__ import annotations

import re

from anydevice.driver import Acted, Clip, Clipboard, ClipKind
from anydevice_schemas.errors import PermissionMissing, Unsupported, UpstreamUnavailable

from .automation import Automation, Refusal
from .reach import Reach

ABSENT = ("No shell command implementation", "Can't find service", "Unknown command", "not found")
_NOT_THERE = re.compile(rf"(?:cmd: |[^:\n]*: )?(?:{'|'.join(map(re.escape, ABSENT))}|inaccessible or not found)")
DENIED = ("SecurityException", "Denying clipboard access", "Permission Denial")
_READ_BY_OTHERS_UNTIL = 29
"""API level from which only the app in front may read the clipboard."""


class AndroidClipboard(Clipboard):
    """See `Clipboard`. Text only."""

    def __init__(self, reach: Reach, automation: Automation | None = None) -> None:
        self._reach, self._automation = reach, automation

    async def read(self, kind: ClipKind | None = None) -> Clip:
        """See `Clipboard.read`.

        Raises:
            Unsupported: The device's shell has no clipboard, or `kind` is not text.
            PermissionMissing: It has one, and does not let it be read.
        """
        if kind not in (None, "text"):
            raise _absent("clipboard.read", "Android's shell reads text only")
        text, _ = await self._get()
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
        road = await self._set(text)
        try:
            back, _ = await self._get()
        except (PermissionMissing, Unsupported):
            return Acted(road, verified=None)
        return Acted(road, verified=True if back == text else None if not back else False)

    async def _get(self) -> tuple[str, str]:
        """The text, and the road it was read by."""
        try:
            return (await self._do("get", "text")).removesuffix("\n"), "shell"
        except Unsupported:
            if self._automation is None:
                raise
            return str(await self._ask(self._automation, "getClipboard") or ""), "automation"

    async def _set(self, text: str) -> str:
        """Writes the text; returns the road."""
        try:
            await self._do("set", "text", text)
            return "shell"
        except Unsupported:
            if self._automation is None:
                raise
            await self._ask(self._automation, "setClipboard", None, text)
            return "automation"

    async def _ask(self, automation: Automation, method: str, *params: object) -> object:
        async with self._reach.slot:
            try:
                return await automation.ask(method, *params)
            except Refusal as refusal:
                raise PermissionMissing(
                    "Android does not let the automation server at the clipboard.",
                    permission="clipboard",
                    fix="Type or paste into a field instead.",
                    said=str(refusal),
                ) from None

    async def _do(self, *words: str) -> str:
        done = await self._reach.run("cmd", "clipboard", *words)
        said = done.both
        # What it holds is on stdout, and may be any of these words; what is wrong is told on stderr, or with a status.
        wrong = said if done.status != 0 else done.complaint
        if words[0] == "set":
            wrong = said
        if any(word in wrong for word in DENIED):
            raise PermissionMissing(
                "Android does not let the shell at the clipboard.",
                permission="clipboard",
                fix="Type or paste into a field instead.",
                said=(wrong.replace(words[-1], "…") if words[0] == "set" and words[-1] else wrong)[-500:],
            )
        if done.status == 127 or _NOT_THERE.match(wrong.strip()) or said.strip() == ABSENT[0] + ".":
            raise _absent(
                f"clipboard.{'read' if words[0] == 'get' else 'write_text'}", "this Android's shell has no clipboard"
            )
        if done.status != 0 or "Exception occurred" in wrong:
            raise UpstreamUnavailable(
                "The device's clipboard failed.",
                upstream="cmd clipboard",
                enable_hint="Use a shorter text, or type it into a field.",
                status=done.status,
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
