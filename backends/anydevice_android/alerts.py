"""Dialogs: an app's own, permission questions of the system, and the system's word that an app crashed or hangs."""

from __future__ import annotations

import anyio

from anydevice.driver import Acted, Alerts, Dialog
from anydevice_schemas import Tree
from anydevice_schemas.errors import ActionUnverified, AppNotRunning, InvalidArgument, Unsupported

from .guarding import NO, YES, Guard, button_of, dialog_of
from .keys import AndroidKeys
from .touch import AndroidTouch

GONE = 3.0
"""Seconds a dialog may take to go away."""
STEP = 0.05


class AndroidAlerts(Alerts):
    """See `Alerts`."""

    def __init__(self, guard: Guard, touch: AndroidTouch, keys: AndroidKeys) -> None:
        self._guard, self._touch, self._keys = guard, touch, keys

    async def get(self) -> Dialog | None:
        """See `Alerts.get`."""
        return dialog_of(await self._guard.tree())

    async def accept(self, text: str | None = None) -> Acted:
        """See `Alerts.accept`.

        Raises:
            AppNotRunning: No dialog is open.
            InvalidArgument: `text` is given and the dialog takes none.
            ActionUnverified: The dialog is still there.
        """
        tree = await self._guard.tree()
        if text is not None:
            field = next((node for node in tree.nodes if "editable" in node.states), None)
            if field is None or field.rect is None:
                raise InvalidArgument("The dialog takes no text.", param="text", expected="no text")
            await self._touch.tap(field.rect.center)
            await self._keys.press("ctrl+a")
            await self._keys.type_text(text)
            tree = await self._guard.tree()
        return await self._answer(tree, YES, "accept")

    async def dismiss(self) -> Acted:
        """See `Alerts.dismiss`.

        Raises:
            AppNotRunning: No dialog is open.
            ActionUnverified: The dialog is still there.
        """
        return await self._answer(await self._guard.tree(), NO, "dismiss")

    async def _answer(self, tree: Tree, ids: tuple[str, ...], what: str) -> Acted:
        before = dialog_of(tree)
        if before is None:
            raise AppNotRunning("No dialog is open.", app="dialog", hint="Call snapshot to see what is on the screen.")
        button = button_of(tree, ids)
        if button is None and what == "dismiss" and len(before.buttons) == 1:
            button = button_of(tree, YES)  # what has one answer is dismissed by giving it
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
                if dialog_of(await self._guard.tree()) != before:
                    return Acted("touch", verified=True, data={"button": button.name})
                await anyio.sleep(STEP)
        raise ActionUnverified("The dialog is still open.", expected="closed", actual="open")
