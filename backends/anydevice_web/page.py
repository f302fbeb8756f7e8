"""One tab we are attached to: its sessions, its dialog, its health, and the waiting for what it does.

Every call on a page goes through `Page.call`. It is refused at once while a dialog is open, after a crash and
after the tab or the browser is gone; and what is in flight when one of these happens fails at once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from anydevice.driver import Dialog
from anydevice_schemas.errors import AnydeviceError, AppCrashed, AppNotRunning, CallTimeout, DialogOpen

from . import inpage
from .cdp import CALL_DEADLINE, Gone, Pending, ProtocolError, Session, finish
from .frames import Frame
from .navigations import NavigationMark, Navigations

if TYPE_CHECKING:
    from .browser import Browser, Tab

ATTACH_DEADLINE = 5.0
"""Seconds a tab may take to let us attach; a discarded or frozen one is refused, not waited for."""
BUTTONS: Mapping[str, Sequence[str]] = {
    "alert": ("OK",), "confirm": ("OK", "Cancel"), "prompt": ("OK", "Cancel"), "beforeunload": ("Leave", "Stay"),
}  # fmt: skip


@dataclass(slots=True, frozen=True)
class Mark:
    """The moment before an action: what happens later came of it."""

    log: int
    navigation: NavigationMark


@dataclass(slots=True, frozen=True)
class OpenDialog:
    """A dialog, and the session that answers it."""

    dialog: Dialog
    session: Session


class Page:
    """A tab, attached. Made by `Page.attach`.

    Attributes:
        frames: Documents that are looked into on their own, by the browser's frame id.
        foreign: Sessions of frames that live in another process, by frame id; `resting` are those of a page that is
            kept for going back.
        documents: Which frame shows a document, by the document part of a key.
        opening: Address of the last window the page asked for; the browser tells it of the tab much later.
        deaf: Input does not reach the page: a dialog of the browser itself is in the way.
    """

    def __init__(self, browser: Browser, tab: Tab, session: Session) -> None:
        self.browser = browser
        self.tab = tab
        self.session = session
        self.dialog: OpenDialog | None = None
        self.crashed = False
        self.deaf = False
        self.main = Frame(self, tab.target, session, None, 0)
        self.frames: dict[str, Frame] = {tab.target: self.main}
        self.foreign: dict[str, Session] = {}
        self.resting: dict[str, Session] = {}
        self._dead: set[Session] = set()
        self.documents: dict[str, Frame] = {}
        self.navigations = Navigations(tab.target, browser.log)
        self.drag: dict[str, Any] | None = None
        self.opening = ""
        self._changed = anyio.Event()

    @classmethod
    async def attach(cls, browser: Browser, tab: Tab) -> Page:
        """Attaches to one tab.

        Raises:
            CallTimeout: The tab does not answer (discarded or frozen).
            AppNotRunning: It is gone.
        """
        try:
            answer = await browser.call(
                "Target.attachToTarget", {"targetId": tab.target, "flatten": True}, deadline=ATTACH_DEADLINE
            )
            page = cls(browser, tab, browser.connection.session(answer["sessionId"]))
        except (ProtocolError, Gone) as error:
            raise AppNotRunning("The tab is gone.", app=tab.id) from error
        try:
            await page._adopt(page.session)
        except BaseException as error:
            page.session.end("the tab does not answer")
            browser.background(page._detach)
            if isinstance(error, (ProtocolError, Gone)):
                raise AppNotRunning("The tab is gone.", app=tab.id) from error
            if isinstance(error, CallTimeout):
                raise CallTimeout(
                    "The tab does not answer: it is frozen or busy, or a dialog was open on it before we came.",
                    hint="Answer its dialog on the screen, or go on in another tab: tabs with action select.",
                    after=ATTACH_DEADLINE,
                    waiting_for="tab",
                    tab=tab.id,
                ) from error
            raise
        return page

    async def _detach(self) -> None:
        with contextlib.suppress(Gone, ProtocolError, AnydeviceError):
            await self.browser.call("Target.detachFromTarget", {"sessionId": self.session.id}, deadline=1.0)

    async def _adopt(self, session: Session) -> None:
        """Prepares a session of this page: its events, and what input and reading depend on."""
        self.listen(session)
        await self._enable(session)

    def listen(self, session: Session) -> None:
        """Follows the events of a session of this page."""
        on = session.on
        on("Page.javascriptDialogOpening", lambda params: self._on_dialog(session, params))
        on("Page.javascriptDialogClosed", lambda _: self._on_dialog_closed())
        on("Page.frameNavigated", lambda params: self._on_navigated(session, params))
        on("Page.frameDetached", self._on_detached)
        on("Target.attachedToTarget", self._on_foreign)
        on("Target.detachedFromTarget", self._on_foreign_gone)
        on("Page.fileChooserOpened", self._on_chooser)
        on("Page.windowOpen", self._on_window)
        on("Inspector.targetCrashed", lambda _: self._on_crash(session))
        if session is self.session:
            follow = self.navigations
            for name, handler in (
                ("Page.frameRequestedNavigation", follow.on_requested),
                ("Page.frameStartedNavigating", follow.on_started),
                ("Page.frameStartedLoading", follow.on_loading),
                ("Page.frameStoppedLoading", follow.on_stopped),
                ("Page.navigatedWithinDocument", follow.on_within),
                ("Page.lifecycleEvent", follow.on_lifecycle),
            ):
                on(name, handler)
                on(name, lambda _: self.stir())
            on("Input.dragIntercepted", self._on_drag)

    async def _enable(self, session: Session) -> None:
        calls: list[tuple[str, dict[str, Any]]] = []
        if self.browser.downloads is not None:  # a browser of ours
            keeper = {"source": inpage.KEEPER, "worldName": inpage.WORLD, "runImmediately": True}
            calls.append(("Page.addScriptToEvaluateOnNewDocument", keeper))
            # A file dialog of the system would wait for a person for ever.
            calls.append(("Page.setInterceptFileChooserDialog", {"enabled": True, "cancel": True}))
        await session.gather(
            [
                ("Page.enable", {}),
                ("DOM.enable", {}),
                ("Inspector.enable", {}),
                ("Page.setLifecycleEventsEnabled", {"enabled": session is self.session}),
                # Without it, input to a tab in the background is never answered.
                ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
                (
                    "Target.setAutoAttach",
                    {
                        "autoAttach": True,
                        "waitForDebuggerOnStart": False,
                        "flatten": True,
                        "filter": [{"type": "iframe"}],
                    },
                ),
                *calls,
            ],
            deadline=ATTACH_DEADLINE,
        )

    # --- calls ---------------------------------------------------------------------------------------

    def guard(self) -> None:
        """Refuses at once what cannot be done now.

        Raises:
            ConnectionLost, DeviceNotReady: The browser is gone.
            AppNotRunning: The tab is closed.
            AppCrashed: The page crashed and was not opened again.
            DialogOpen: A dialog blocks it.
        """
        self.browser.guard()
        if self.session.gone is not None:
            raise AppNotRunning("The tab was closed.", app=self.tab.id)
        if self.crashed:
            raise self.crash_error()
        if self.dialog is not None:
            raise self.dialog_error(self.dialog.dialog)

    async def call(
        self,
        session: Session,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        deadline: float = CALL_DEADLINE,
    ) -> dict[str, Any]:
        """One call on one session of this page, guarded.

        Raises:
            Gone: The session (a frame of another process) is gone while the page is not.
            ProtocolError: The browser refused.
            AnydeviceError: As `guard`, or the deadline passed.
        """
        self.guard()
        if session in self._dead:
            raise Gone("the frame crashed")
        try:
            return await session.call(method, params, deadline=deadline)
        except Gone:
            self.guard()
            raise

    async def send(self, calls: Sequence[tuple[str, Mapping[str, Any]]], *, deadline: float) -> None:
        """Sends input events together and waits until the page took them all.

        Raises:
            Gone: The tab closed.
            AnydeviceError: What else ended the wait: a dialog, a crash, a lost browser, the deadline.
        """
        try:
            pendings: list[Pending] = [await self.session.post(method, params) for method, params in calls]
            await finish(pendings, deadline)
        except Gone:
            self.browser.guard()
            raise

    def dialog_error(self, dialog: Dialog) -> DialogOpen:
        """The refusal while a dialog is open."""
        return dialog.refusal("A dialog is open on the page.")

    def crash_error(self) -> AppCrashed:
        """The refusal after a crash."""
        return AppCrashed("The page crashed.", app=self.tab.id, reason="its renderer process ended")

    # --- events --------------------------------------------------------------------------------------

    def stir(self) -> None:
        """Wakes everybody who waits for something on this page to change."""
        self._changed.set()
        self._changed = anyio.Event()

    async def change(self, deadline: float) -> None:
        """Returns when something changed, or after `deadline` seconds."""
        with anyio.move_on_after(max(deadline, 0)):
            await self._changed.wait()

    def sessions(self) -> list[Session]:
        """Its own session and those of its frames in other processes."""
        return [self.session, *self.foreign.values(), *self.resting.values()]

    def _fail_all(self, error: AnydeviceError) -> None:
        for session in self.sessions():
            session.fail(error)
        self.stir()

    def _on_dialog(self, session: Session, params: dict[str, Any]) -> None:
        kind = params["type"]
        dialog = Dialog(
            kind=kind, text=params["message"], buttons=BUTTONS.get(kind, ("OK",)), takes_text=kind == "prompt"
        )
        self.dialog = OpenDialog(dialog, session)
        self.browser.log.add("dialog", dialog=kind, text=dialog.text, buttons=list(dialog.buttons), tab=self.tab.id)
        self._fail_all(self.dialog_error(dialog))

    def _on_dialog_closed(self) -> None:
        self.dialog = None
        self.stir()

    def _on_navigated(self, session: Session, params: dict[str, Any]) -> None:
        self._dead.discard(session)
        frame = params["frame"]
        known = self.frames.get(frame["id"])
        if frame["id"] == self.tab.target:
            self.crashed = False
            for other in list(self.frames.values()):
                other.forget_document()
            self.frames = {self.main.id: self.main}
            # A page kept for going back keeps its frames' processes, and those their sessions.
            self.resting |= self.foreign
            self.foreign = {}
            self.navigations.on_navigated(frame, restored=params.get("type") == "BackForwardCacheRestore")
        elif known is not None:
            known.forget_document()
        self.stir()

    def _on_detached(self, params: dict[str, Any]) -> None:
        if params.get("reason") != "swap":
            self._drop_frame(params["frameId"])

    def _drop_frame(self, frame_id: str) -> None:
        frame = self.frames.get(frame_id)
        if frame is not None and frame is not self.main:
            frame.forget_document()
            del self.frames[frame_id]

    def _on_foreign(self, params: dict[str, Any]) -> None:
        target = params["targetInfo"]
        if target["type"] != "iframe":
            return
        session = self.browser.connection.session(params["sessionId"])
        self._drop_frame(target["targetId"])
        self.foreign[target["targetId"]] = session
        self.browser.background(self._adopt_quietly, session)

    async def _adopt_quietly(self, session: Session) -> None:
        try:
            await self._adopt(session)
        except (ProtocolError, Gone, AnydeviceError):
            return  # it went away again, or a dialog came first; the next look finds what is there

    def session_of(self, frame_id: str) -> Session | None:
        """The session of a frame that lives in another process; None for the others."""
        if frame_id not in self.foreign and frame_id in self.resting:
            self.foreign[frame_id] = self.resting.pop(frame_id)
        return self.foreign.get(frame_id)

    def _on_foreign_gone(self, params: dict[str, Any]) -> None:
        for frame_id, session in list(self.resting.items()):
            if session.id == params["sessionId"]:
                del self.resting[frame_id]
                session.end("the frame is gone")
        for frame_id, session in list(self.foreign.items()):
            if session.id == params["sessionId"]:
                del self.foreign[frame_id]
                self._drop_frame(frame_id)
                session.end("the frame is gone")
        self.stir()

    def _on_crash(self, session: Session) -> None:
        if session is self.session:
            self.crashed = True
            self.dialog = None
            for frame in list(self.frames.values()):
                frame.forget_document()
            self.browser.log.add("crashed", tab=self.tab.id)
            self._fail_all(self.crash_error())
            return
        for frame_id, other in list(self.foreign.items()):
            if other is session:
                self._drop_frame(frame_id)
                self._dead.add(session)
                session.fail(Gone("the frame crashed"))
                self.browser.log.add("crashed", tab=self.tab.id, frame=True)
        self.stir()

    def _on_window(self, params: dict[str, Any]) -> None:
        self.opening = params.get("url", "")

    def _on_chooser(self, params: dict[str, Any]) -> None:
        self.browser.log.add("file_chooser", multiple=params.get("mode") == "selectMultiple", opened=False)

    def _on_drag(self, params: dict[str, Any]) -> None:
        self.drag = params["data"]
        self.stir()

    def end(self, reason: str) -> None:
        """The tab is gone: everything on it fails, now and later."""
        self.dialog = None
        for session in self.sessions():
            session.end(reason)
        self.documents.clear()
        self.stir()

    # --- waiting -------------------------------------------------------------------------------------

    def mark(self) -> Mark:
        """The moment now, before an action."""
        return Mark(self.browser.log.mark, self.navigations.mark())

    def guard_for_wait(self) -> None:
        """As `guard`, but a dialog is an answer, not an error."""
        if self.dialog is None:
            self.guard()
