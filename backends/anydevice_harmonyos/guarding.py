"""Before an action: a dialog that has to be answered refuses everything else, and says what it asks.

HarmonyOS draws an app's dialogs into the app's own window, so only the layout tells of them. Dialogs that hold more
than a question (lists, several fields) are screens like any other. What its buttons mean only their words say.
"""

from __future__ import annotations

from typing import Final

from anydevice.driver import Dialog, TreeScope
from anydevice_schemas import Node, Tree
from anydevice_schemas.errors import AnydeviceError

from .looking import Looking
from .reading.types import DIALOGS
from .tree import build

WHOLE: Final = TreeScope(max_nodes=20_000, max_text=1_000_000)
SYSTEM: Final = "com.ohos.amsdialog"
"""The system's own questions: which app is meant, what to do with one that hangs."""
PERMISSION: Final = "permissionmanager"
YES: Final = frozenset(
    {"ok", "yes", "allow", "allow while using app", "allow this time", "confirm", "accept", "agree", "continue", "open",
     "wait", "确定", "确认", "允许", "是", "同意", "继续", "好", "好的", "打开", "等待", "知道了", "got it", "done"}
)  # fmt: skip
NO: Final = frozenset(
    {"cancel", "no", "deny", "don't allow", "dismiss", "reject", "not now", "later", "close", "disallow", "decline",
     "取消", "否", "不允许", "禁止", "拒绝", "关闭", "以后再说", "暂不", "不同意"}
)  # fmt: skip
"""What the buttons of such dialogs are called, in the languages whose words are known here."""


class Guard:
    """Watches for dialogs of one device."""

    def __init__(self, looking: Looking) -> None:
        self._looking = looking

    async def check(self) -> None:
        """Refuses while a dialog has to be answered.

        Raises:
            DialogOpen: One has.
            AnydeviceError: As `Looking.take`.
        """
        refuse(await self.tree())

    async def told(self) -> Dialog | None:
        """The dialog that is open; None also where the screen cannot be read."""
        try:
            return dialog_of(await self.tree())
        except AnydeviceError:
            return None

    async def tree(self) -> Tree:
        """The whole screen, dialogs and all.

        Raises:
            AnydeviceError: As `Looking.take`.
        """
        layout, view = await self._looking.take()
        return build(layout, view, WHOLE)


def refuse(tree: Tree) -> None:
    """Refuses a screen whose dialog has to be answered.

    Raises:
        DialogOpen: It has one.
    """
    dialog = dialog_of(tree)
    if dialog is not None:
        raise dialog.refusal()


def dialog_of(tree: Tree) -> Dialog | None:
    """The question that is open on a screen; None where there is none.

    One that holds more to act on than a few buttons and one field is no question.
    """
    inside = _inside(tree)
    buttons = buttons_of(inside)
    if not inside or not buttons:
        return None
    fields = [node for node in inside if "editable" in node.states]
    others = [node for node in inside if node.actions and node not in buttons and node not in fields]
    if len(fields) > 1 or len(buttons) > 3 or others:
        return None
    texts = [node.name for node in inside if node.role in ("text", "heading") and node.name]
    labels = [node.name for node in buttons]
    kind = "prompt" if fields else "alert" if len(buttons) == 1 else "confirm"
    if PERMISSION in inside[0].app:
        kind = "permission"
    said = [text for text in texts if text not in labels]
    return Dialog(kind, "\n".join(said), labels, bool(fields))


def field_of(tree: Tree) -> Node | None:
    """The field of the question that is open."""
    return next((node for node in _inside(tree) if "editable" in node.states), None)


def button_for(tree: Tree, yes: bool) -> Node | None:
    """The button of the open question that says yes, or no; None where none clearly does."""
    buttons = [node for node in buttons_of(_inside(tree)) if "disabled" not in node.states]
    if len(buttons) == 1:
        return buttons[0]  # what has one answer is dismissed by giving it
    wanted, other = (YES, NO) if yes else (NO, YES)
    found = [node for node in buttons if _word(node) in wanted]
    if len(found) == 1:
        return found[0]
    left = [node for node in buttons if _word(node) not in other]
    return left[0] if len(left) == 1 and len(buttons) == 2 else None


def buttons_of(nodes: list[Node]) -> list[Node]:
    """The buttons among nodes."""
    return [node for node in nodes if node.role == "button" and "press" in node.actions and node.name]


def _inside(tree: Tree) -> list[Node]:
    """Everything in the dialog that lies on top; empty where there is none."""
    place = -1
    for at, node in enumerate(tree.nodes):
        if node.native_role in DIALOGS or (node.role == "window" and (node.app == SYSTEM or PERMISSION in node.app)):
            place = at
    if place < 0:
        return []
    members = {place}
    found = []
    for at in range(place + 1, len(tree.nodes)):
        if tree.nodes[at].parent in members:
            members.add(at)
            found.append(tree.nodes[at])
    return found


def _word(node: Node) -> str:
    return node.name.strip().casefold().replace("’", "'")
