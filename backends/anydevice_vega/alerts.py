"""Answering a dialog: by the button that means it, seen to close."""

from __future__ import annotations

import re
from typing import Final

import anyio

from anydevice.driver import Acted, Alerts, Dialog
from anydevice_schemas import Tree
from anydevice_schemas.errors import ActionUnverified, AppNotRunning, InvalidArgument, Unsupported

from .codes import BACK
from .elements import VegaElements
from .guarding import NO, YES, button_of, dialog_of, field_of
from .reach import Reach
from .routes import Routes

GONE: Final = 3.0
"""Seconds a dialog may take to go away."""
STEP: Final = 0.05


class VegaAlerts(Alerts):
    """See `Alerts`."""

    def __init__(self, reach: Reach, routes: Routes, elements: VegaElements) -> None:
        self._reach, self._routes, self._elements = reach, routes, elements

    async def get(self) -> Dialog | None:
        """See `Alerts.get`."""
        return dialog_of(await self._reach.tree())

    async def accept(self, text: str | None = None) -> Acted:
        """See `Alerts.accept`.

        Raises:
            AppNotRunning: No dialog is open.
            InvalidArgument: `text` is given and the dialog takes none.
            Unsupported: No button clearly means yes.
            ActionUnverified: The dialog is still there, or its field did not take the text.
        """
        tree = await self._open()
        if text is not None:
            field = field_of(tree)
            if field is None or field.key is None:
                raise InvalidArgument("The dialog takes no text.", param="text", expected="no text")
            acted = await self._elements.write(field, text)
            if acted.verified is False:
                raise ActionUnverified("The field did not take the text.", expected=text, actual="something else")
            tree = await self._open()
        return await self._answer(tree, YES, "accept")

    async def dismiss(self) -> Acted:
        """See `Alerts.dismiss`: by the button that means no, else by Back.

        Raises:
            AppNotRunning: No dialog is open.
            ActionUnverified: The dialog is still there.
        """
        return await self._answer(await self._open(), NO, "dismiss")

    async def _open(self) -> Tree:
        tree = await self._reach.tree()
        if dialog_of(tree) is None:
            raise AppNotRunning("No dialog is open.", app="dialog", hint="Call snapshot to see what is on the screen.")
        return tree

    async def _answer(self, tree: Tree, means: re.Pattern[str], what: str) -> Acted:
        before = dialog_of(tree)
        button = button_of(tree, means)
        if button is not None:
            acted = await self._elements.press(tree, button)
        elif what == "dismiss":
            await self._routes.press(BACK)
            acted = Acted("back")
        else:
            raise Unsupported(
                "The dialog has no button that clearly means this.",
                hint="Call tv-remote to put the focus on the button that is meant, then press select.",
                operation=f"alerts.{what}",
                alternatives=["remote.press"],
                buttons=list(before.buttons) if before is not None else [],
            )
        with anyio.move_on_after(GONE):
            while True:
                if dialog_of(await self._reach.tree()) != before:
                    return Acted(acted.method, verified=True, data={"button": button.name} if button else {})
                await anyio.sleep(STEP)
        raise ActionUnverified("The dialog is still open.", expected="closed", actual="open")
