"""Dialogs: an app's own, permission questions, and the system's questions about apps."""

from __future__ import annotations

import anyio

from anydevice.driver import Acted, Alerts, Dialog
from anydevice_schemas import Tree
from anydevice_schemas.errors import ActionUnverified, AppNotRunning, InvalidArgument, Unsupported

from .guarding import Guard, button_for, dialog_of, field_of
from .keys import HarmonyosKeys
from .presses import Presses

GONE = 5.0
"""Seconds a dialog may take to go away."""
STEP = 0.05


class HarmonyosAlerts(Alerts):
    """See `Alerts`."""

    def __init__(self, guard: Guard, presses: Presses, keys: HarmonyosKeys) -> None:
        self._guard, self._presses, self._keys = guard, presses, keys

    async def get(self) -> Dialog | None:
        """See `Alerts.get`."""
        return dialog_of(await self._guard.tree())

    async def accept(self, text: str | None = None) -> Acted:
        """See `Alerts.accept`.

        Raises:
            AppNotRunning: No dialog is open.
            InvalidArgument: `text` is given and the dialog takes none.
            Unsupported: None of its buttons clearly means yes.
            ActionUnverified: The dialog is still there.
        """
        tree = await self._guard.tree()
        if text is not None and dialog_of(tree) is not None:
            field = field_of(tree)
            if field is None:
                raise InvalidArgument("The dialog takes no text.", param="text", expected="no text")
            await self._presses.press(field)
            await self._keys.press("ctrl+a")
            await self._keys.type_text(text)
            tree = await self._guard.tree()
        return await self._answer(tree, True)

    async def dismiss(self) -> Acted:
        """See `Alerts.dismiss`.

        Raises:
            AppNotRunning: No dialog is open.
            Unsupported: None of its buttons clearly means no.
            ActionUnverified: The dialog is still there.
        """
        return await self._answer(await self._guard.tree(), False)

    async def _answer(self, tree: Tree, yes: bool) -> Acted:
        before = dialog_of(tree)
        if before is None:
            raise AppNotRunning("No dialog is open.", app="dialog", hint="Call snapshot to see what is on the screen.")
        button = button_for(tree, yes)
        if button is None or button.rect is None:
            raise Unsupported(
                "The dialog has no button that clearly means this.",
                hint="Call snapshot, then press the button that is meant.",
                operation="alerts.accept" if yes else "alerts.dismiss",
                alternatives=["touch.tap"],
                buttons=list(before.buttons),
            )
        await self._presses.press(button)
        with anyio.move_on_after(GONE):
            while True:
                if dialog_of(await self._guard.tree()) != before:
                    return Acted(self._presses.method, verified=True, data={"button": button.name})
                await anyio.sleep(STEP)
        raise ActionUnverified("The dialog is still open.", expected="closed", actual="open")
