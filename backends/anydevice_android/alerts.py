"""Dialogs: an app's own, permission questions of the system, and the system's word that an app crashed or hangs."""

from __future__ import annotations

import anyio

from anydevice.driver import Acted, Alerts, Dialog, TreeScope
from anydevice_schemas import Node, Tree
from anydevice_schemas.errors import ActionUnverified, AppNotRunning, InvalidArgument, Unsupported

from .dumping import Dumping
from .keys import AndroidKeys
from .reach import Reach
from .touch import AndroidTouch
from .tree import build

YES = (
    "android:id/button1", "permission_allow_button", "permission_allow_foreground_only_button",
    "permission_allow_one_time_button", "android:id/aerr_restart", "android:id/aerr_wait",
)  # fmt: skip
NO = (
    "android:id/button2", "permission_deny_button", "permission_deny_and_dont_ask_again_button",
    "android:id/aerr_close",
)  # fmt: skip
TEXTS = ("android:id/alertTitle", "android:id/message", "permission_message", "detail_message")
PERMISSION = ("permissioncontroller", "packageinstaller")
GONE = 3.0
"""Seconds a dialog may take to go away."""
STEP = 0.05


class AndroidAlerts(Alerts):
    """See `Alerts`."""

    def __init__(self, reach: Reach, dumping: Dumping, touch: AndroidTouch, keys: AndroidKeys) -> None:
        self._reach, self._dumping, self._touch, self._keys = reach, dumping, touch, keys

    async def get(self) -> Dialog | None:
        """See `Alerts.get`."""
        return _dialog(await self._tree())

    async def accept(self, text: str | None = None) -> Acted:
        """See `Alerts.accept`.

        Raises:
            AppNotRunning: No dialog is open.
            InvalidArgument: `text` is given and the dialog takes none.
            ActionUnverified: The dialog is still there.
        """
        tree = await self._tree()
        if text is not None:
            field = next((node for node in tree.nodes if "editable" in node.states), None)
            if field is None or field.rect is None:
                raise InvalidArgument("The dialog takes no text.", param="text", expected="no text")
            await self._touch.tap(field.rect.center)
            await self._keys.press("ctrl+a")
            await self._keys.type_text(text)
            tree = await self._tree()
        return await self._answer(tree, YES, "accept")

    async def dismiss(self) -> Acted:
        """See `Alerts.dismiss`.

        Raises:
            AppNotRunning: No dialog is open.
            ActionUnverified: The dialog is still there.
        """
        return await self._answer(await self._tree(), NO, "dismiss")

    async def _answer(self, tree: Tree, ids: tuple[str, ...], what: str) -> Acted:
        before = _dialog(tree)
        if before is None:
            raise AppNotRunning("No dialog is open.", app="dialog", hint="Call snapshot to see what is on the screen.")
        button = _button(tree, ids)
        if button is None and what == "dismiss" and len(before.buttons) == 1:
            button = _button(tree, YES)  # what has one answer is dismissed by giving it
        if button is None or button.rect is None:
            raise Unsupported(
                "The dialog has no button that clearly means this.",
                hint="Call snapshot, then press the button that is meant.",
                operation=f"alerts.{what}",
                alternatives=["touch.tap"],
                buttons=list(before.buttons),
            )
        await self._touch.tap(button.rect.center)
        with anyio.move_on_after(GONE):
            while True:
                if _dialog(await self._tree()) != before:
                    return Acted("touch", verified=True, data={"button": button.name})
                await anyio.sleep(STEP)
        raise ActionUnverified("The dialog is still open.", expected="closed", actual="open")

    async def _tree(self) -> Tree:
        dump, focus, _ = await self._dumping.take()
        return build(dump, await self._reach.view(focus), TreeScope(max_nodes=20_000))


def _dialog(tree: Tree) -> Dialog | None:
    """The dialog of a tree, by the ids that every Android gives the parts of its dialogs."""
    buttons = [node for node in tree.nodes if _named(node, (*YES, *NO))]
    if not buttons:
        return None
    texts = [node.name for node in tree.nodes if _named(node, TEXTS) and node.name]
    kind = "permission" if any(word in buttons[0].app for word in PERMISSION) else "alert"
    if any("aerr_" in node.identifier for node in buttons):
        kind = "crash"
    elif kind == "alert" and _button(tree, NO) is not None:
        kind = "confirm"
    takes = kind in ("alert", "confirm") and any("editable" in node.states for node in tree.nodes)
    return Dialog("prompt" if takes else kind, "\n".join(texts), [node.name for node in buttons], takes)


def _button(tree: Tree, ids: tuple[str, ...]) -> Node | None:
    for wanted in ids:
        found = next((node for node in tree.nodes if _named(node, (wanted,)) and "disabled" not in node.states), None)
        if found is not None:
            return found
    return None


def _named(node: Node, ids: tuple[str, ...]) -> bool:
    return node.identifier in ids or node.identifier.rpartition("/")[2] in ids
