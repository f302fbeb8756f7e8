"""Dialogs: an app's own, and the system's questions. None is ever answered unless it is asked for."""

from __future__ import annotations

from typing import Final

import anyio

from anydevice.driver import Acted, Alerts, Dialog
from anydevice_schemas.errors import ActionUnverified, AppNotRunning, InvalidArgument

from .engine import named
from .reach import Reach

GONE: Final = 3.0
"""Seconds a dialog may take to go away."""
STEP: Final = 0.05


class AppleAlerts(Alerts):
    """See `Alerts`."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def get(self) -> Dialog | None:
        """See `Alerts.get`."""
        return await (await self._reach.engine()).dialog()

    async def accept(self, text: str | None = None) -> Acted:
        """See `Alerts.accept`.

        Raises:
            AppNotRunning: No dialog is open.
            InvalidArgument: `text` is given and the dialog takes none.
            ActionUnverified: The dialog is still there.
        """
        return await self._answer(True, text)

    async def dismiss(self) -> Acted:
        """See `Alerts.dismiss`; errors as `accept`."""
        return await self._answer(False, None)

    async def _answer(self, yes: bool, text: str | None) -> Acted:
        engine = await self._reach.engine()
        before = await engine.dialog()
        if before is None:
            raise AppNotRunning("No dialog is open.", app="dialog", hint="Call snapshot to see what is on the screen.")
        if text is not None and not before.takes_text:
            raise InvalidArgument("The dialog takes no text.", param="text", expected="no text")
        self._reach.acted += 1
        await engine.answer(yes=yes, text=text)
        with anyio.move_on_after(GONE):
            while await engine.dialog() == before:  # noqa: ASYNC110 - the device tells nobody when it goes
                await anyio.sleep(STEP)
            return Acted("alert", verified=True, data=named(engine))
        raise ActionUnverified("The dialog is still open.", expected="closed", actual="open")
