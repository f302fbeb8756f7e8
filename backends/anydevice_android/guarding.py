"""Before an action: a dialog that has to be answered refuses everything else, and says what it asks.

Whether one is open is told by the window manager in one question: the window with the focus is then not an activity's
own (`ty=BASE_APPLICATION`) but one that lies over it (`ty=APPLICATION`), or belongs to who asks for permissions. Only
then is the screen read. Dialogs that hold more than a question (lists, fields to fill in) are screens like any other.
"""

from __future__ import annotations

import re

from anydevice.driver import Dialog, TreeScope
from anydevice_schemas import Node, Tree
from anydevice_schemas.errors import AnydeviceError

from .dumping import Dumping
from .reach import Reach
from .reading import windows
from .reading.dump import Dump
from .tree import build

YES = (
    "android:id/button1", "permission_allow_button", "permission_allow_foreground_only_button",
    "permission_allow_one_time_button", "android:id/aerr_restart", "android:id/aerr_wait",
)  # fmt: skip
NO = (
    "android:id/button2", "permission_deny_button", "permission_deny_and_dont_ask_again_button",
    "android:id/aerr_close",
)  # fmt: skip
BUTTONS = frozenset((*YES, *NO))
MORE = ("android:id/button3", "android:id/aerr_mute", "android:id/aerr_app_info", "permission_allow_always_button")
"""Buttons of such dialogs that are neither."""
TEXTS = ("android:id/alertTitle", "android:id/message", "permission_message", "detail_message")
PERMISSION = ("permissioncontroller", "packageinstaller")
WHOLE = TreeScope(max_nodes=20_000, max_text=1_000_000)
_FOCUS = re.compile(r"^\s*mCurrentFocus=Window\{(?P<hash>[0-9a-f]+) u\d+ (?P<name>[^}]*)\}", re.M)
_TROUBLE = re.compile(
    r"^\s*mCurrentFocus=Window\{[^}]*(?:Application Error|Application Not Responding|AppErrorDialog)", re.M
)


def may_ask(text: str) -> bool:
    """Whether `dumpsys window` lets one expect a dialog; where it says nothing of types, not."""
    if _TROUBLE.search(text):
        return True
    for found in _FOCUS.finditer(text):
        if any(word in found["name"] for word in PERMISSION):
            return True
        window = re.search(rf"Window #\d+ Window\{{{found['hash']} .*?\bty=(?P<type>\w+)", text, re.S)
        if window is not None and window["type"] in ("APPLICATION", "2"):
            return True
    return False


def may_hold_dialog(dump: Dump) -> bool:
    """Whether anything in a dump has an id of a dialog's buttons; most screens need no closer look."""
    for window in dump.windows:
        for one in window.elements:
            if one.id and (one.id in BUTTONS or one.id.rpartition("/")[2] in BUTTONS):
                return True
    return False


class Guard:
    """Watches for dialogs of one device."""

    def __init__(self, reach: Reach, dumping: Dumping) -> None:
        self._reach, self._dumping = reach, dumping

    async def check(self) -> None:
        """Refuses while a dialog has to be answered.

        Raises:
            DialogOpen: One has.
        """
        if may_ask((await self._reach.adb.shell("dumpsys window", deadline=5.0)).text):
            refuse(await self._tree())

    async def open(self) -> Dialog | None:
        """The dialog that is open, or None."""
        return dialog_of(await self._tree())

    async def told(self, front: str) -> tuple[Dialog | None, list[str]]:
        """As `open`, where it costs little or is likely; and the apps behind the one in `front` that have one open.

        No dialog also where the screen cannot be read. What waits behind can be answered once its app is in front.
        """
        waiting: list[str] = []
        try:
            text = (await self._reach.adb.shell("dumpsys window", deadline=5.0)).text
            waiting = windows.waiting(text, front)
            return (await self.open() if may_ask(text) else None), waiting
        except AnydeviceError:
            return None, waiting

    async def tree(self) -> Tree:
        """The whole screen, dialogs and all."""
        return await self._tree()

    async def _tree(self) -> Tree:
        dump, focus, _ = await self._dumping.take()
        return build(dump, await self._reach.view(focus), WHOLE)


def refuse(tree: Tree) -> None:
    """Refuses a screen whose dialog has to be answered.

    Raises:
        DialogOpen: It has one.
    """
    dialog = dialog_of(tree)
    if dialog is not None:
        raise dialog.refusal()


def dialog_of(tree: Tree) -> Dialog | None:
    """The dialog of a screen, by the ids that every Android gives the parts of its dialogs; None where there is none.

    One that holds more to act on than its buttons and one field is no question, and none either.
    """
    buttons = [node for node in tree.nodes if named(node, (*YES, *NO, *MORE))]
    if not any(named(node, (*YES, *NO)) for node in buttons):
        return None
    window = buttons[0].window, buttons[0].app
    inside = [node for node in tree.nodes if (node.window, node.app) == window and not node.root]
    acting = [node for node in inside if ("press" in node.actions or "editable" in node.states) and node.hittable]
    others = [node for node in acting if node not in buttons]
    fields = [node for node in others if "editable" in node.states]
    if len(others) > len(fields) or len(fields) > 1:
        return None
    texts = [node.name for node in inside if named(node, TEXTS) and node.name]
    kind = "confirm" if any(named(node, NO) for node in buttons) else "alert"
    if any(word in buttons[0].app for word in PERMISSION):
        kind = "permission"
    elif any("aerr_" in node.identifier for node in buttons):
        kind = "crash"
    return Dialog("prompt" if fields else kind, "\n".join(texts), [node.name for node in buttons], bool(fields))


def button_of(tree: Tree, ids: tuple[str, ...]) -> Node | None:
    """The first button, in the order of the ids, that can be pressed."""
    for wanted in ids:
        found = next((node for node in tree.nodes if named(node, (wanted,)) and "disabled" not in node.states), None)
        if found is not None:
            return found
    return None


def named(node: Node, ids: tuple[str, ...]) -> bool:
    """Whether a node has one of the ids; those without a package are anybody's."""
    return node.identifier in ids or node.identifier.rpartition("/")[2] in ids
