"""The desktop around a fake screen: windows in their order, and a clipboard; both tell what was really done to them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from anydevice_schemas import Node, Point, Rect, Tree
from anydevice_schemas.errors import AppNotFound, PermissionMissing

from .. import driver as d

if TYPE_CHECKING:
    from .driver import FakeDriver
    from .screen import FakeElement, FakeScreen

OPERATIONS = [
    "windows.list", "windows.move", "windows.resize", "windows.minimize", "windows.unminimize", "windows.maximize",
    "windows.unmaximize", "windows.bring_up", "windows.close", "clipboard.read", "clipboard.write_text",
    "clipboard.write_image", "clipboard.write_files",
]  # fmt: skip
"""What is here."""
MINE = "win-app"
"""Id of the window the app of the screen itself is in."""
_numbers = itertools.count(1)


@dataclass(eq=False)
class FakeWindow:
    """A window of a fake desktop.

    Attributes:
        title, app, rect, kind, pid, owner: As `driver.Window` has them.
        states: `minimized` and `maximized`; which one is active follows from the order.
        asks: What it asks instead of closing: its text and buttons; None where it closes.
        least: Smallest width and height it takes.
        elements: What is in it, for windows of other apps than the screen's own; places are points of the desktop.
    """

    title: str
    app: str = "editor"
    rect: Rect = field(default_factory=lambda: Rect(100, 100, 400, 300))
    states: set[str] = field(default_factory=set)
    kind: str = "normal"
    pid: int | None = None
    owner: str | None = None
    asks: tuple[str, tuple[str, ...]] | None = None
    least: tuple[float, float] = (1, 1)
    elements: list[FakeElement] = field(default_factory=list)
    before: Rect | None = None
    id: str = field(default_factory=lambda: f"win-{next(_numbers)}")


class FakeDesk:
    """Windows, the topmost first, and the clipboard. What is done is in the journal of the screen.

    Attributes:
        others: Windows of other apps.
        clip: What is on the clipboard.
        closed_book: The platform does not let the clipboard be read.
    """

    def __init__(self, screen: FakeScreen) -> None:
        self._screen = screen
        self.mine = FakeWindow("", "practice", id=MINE)
        self._placed = False
        self.others: list[FakeWindow] = []
        self._order: list[FakeWindow] = [self.mine]
        self.clip = d.Clip()
        self.closed_book = False

    def add(self, window: FakeWindow) -> FakeWindow:
        """Opens a window over those that are there."""
        self.others.append(window)
        self._order.insert(0, window)
        return window

    def opened(self) -> None:
        """The screen's app starts anew: its window is in front, as large as the screen."""
        self._placed = False
        self.mine.states.clear()
        self.mine.before = None
        self._up(self.mine)

    @property
    def runs(self) -> bool:
        """Whether the screen's own app has a window."""
        return bool(getattr(self._screen, "running", True))

    @property
    def shown(self) -> list[FakeWindow]:
        """All windows, the topmost first."""
        return [one for one in self._order if one is not self.mine or self.runs]

    @property
    def away(self) -> bool:
        """Whether the screen's own app is off the screen: its window is minimized."""
        return "minimized" in self.mine.states

    @property
    def frame(self) -> Rect:
        """Where the screen's own app is: all of the screen, until its window was placed otherwise."""
        return self.mine.rect if self._placed else self._screen.viewport

    def told(self, window: FakeWindow) -> d.Window:
        """A window as a driver tells it."""
        states = set(window.states)
        if window is next((one for one in self.shown if "minimized" not in one.states), None):
            states.add("active")
        title = self._screen.title if window is self.mine else window.title
        rect = self.frame if window is self.mine else window.rect
        return d.Window(window.id, title, window.app, rect, frozenset(states), window.kind, window.pid, window.owner)

    def window(self, id: str) -> FakeWindow:
        """The window of an id.

        Raises:
            AppNotFound: It is gone.
        """
        for one in self.shown:
            if one.id == id:
                return one
        raise AppNotFound("There is no such window.", nearest_matches=[])

    def tree(self, scope: d.TreeScope) -> Tree:
        """One window of the desktop, or all of them; each with its own app's words on its nodes."""
        whole = self._screen.tree(replace(scope, reach="app", window=None))
        if scope.window is not None:
            self.window(scope.window)
        chosen = [one for one in self.shown if scope.window in (None, one.id)]
        nodes: list[Node] = []
        for window in chosen:
            told, first = self.told(window), len(nodes)
            own = whole.nodes if window is self.mine else self._inside(window)
            for node in own:
                parent = node.parent + first if node.parent >= 0 else -1
                nodes.append(replace(node, parent=parent, app=told.app, window=told.title))
        return replace(whole, nodes=nodes, title=self.told(chosen[0]).title if chosen else "")

    def _inside(self, window: FakeWindow) -> list[Node]:
        root = Node(role="window", name=window.title, key=window.id, rect=window.rect)
        return [root, *(self._screen.node(element) for element in window.elements)]

    # --- what is done to windows ---

    def do(self, verb: str, id: str, **details: Any) -> d.Window:
        """Carries out one verb of `driver.Windows` but close, and writes it down."""
        window = self.window(id)
        self._screen.log(f"window.{verb}", None, window=id, **details)
        if window is self.mine and verb in ("move", "resize", "maximize", "unmaximize"):
            window.rect, self._placed = self.frame, True
        if verb == "move":
            window.rect = replace(window.rect, x=details["to"].x, y=details["to"].y)
        elif verb == "resize":
            width, height = max(details["width"], window.least[0]), max(details["height"], window.least[1])
            window.rect = replace(window.rect, width=width, height=height)
        elif verb == "minimize":
            window.states.add("minimized")
            self._order.remove(window)
            self._order.append(window)
        elif verb == "maximize" and "maximized" not in window.states:
            window.before, window.rect = window.rect, self._screen.viewport
            window.states.add("maximized")
        elif verb == "unmaximize" and "maximized" in window.states:
            window.rect, window.before = window.before or window.rect, None
            window.states.discard("maximized")
        elif verb in ("unminimize", "bring_up"):
            window.states.discard("minimized")
            self._up(window)
        return self.told(window)

    def close(self, id: str) -> d.Acted:
        """A window is asked to close: it does, or asks something."""
        window = self.window(id)
        self._screen.log("window.close", None, window=id)
        if window.asks is not None:
            text, buttons = window.asks
            told = {"dialog": "alert", "text": text, "buttons": list(buttons)}
            return d.Acted("close", [d.Happening("dialog", told)], verified=False)
        if window is self.mine:
            self._screen.close(None, False)
        else:
            self.others.remove(window)
            self._order.remove(window)
        return d.Acted("close", verified=True)

    def _up(self, window: FakeWindow) -> None:
        self._order.remove(window)
        self._order.insert(0, window)

    # --- the clipboard ---

    def read(self, kind: d.ClipKind | None) -> d.Clip:
        """What is on the clipboard.

        Raises:
            PermissionMissing: The platform forbids it.
        """
        if self.closed_book:
            raise PermissionMissing(
                "This device does not let its clipboard be read.", permission="clipboard", fix="Nothing can be done."
            )
        chosen = kind or next((one for one in ("text", "files", "image") if one in self.clip.kinds), None)
        had = {name: getattr(self.clip, name) for name in ("text", "files", "image") if name == chosen}
        return d.Clip(self.clip.kinds, **had)

    def pastes(self, chord: str) -> None:
        """A chord that pastes puts the clipboard's text into what has the focus."""
        if chord in ("ctrl+v", "meta+v") and self.clip.text:
            self._screen.type(self.clip.text)

    def write(self, kind: d.ClipKind, content: Any) -> d.Acted:
        """Something is put on the clipboard."""
        size = len(content)
        self._screen.log("clipboard", None, kind=kind, size=size)
        self.clip = d.Clip(frozenset({kind}), **{kind: content})
        return d.Acted("clipboard", verified=True)


class Part:
    """Base of the capabilities here."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    @property
    def desk(self) -> FakeDesk:
        """The desktop acted on."""
        return self.driver.model.desk


class FakeWindows(Part, d.Windows):
    """The windows of a fake desktop."""

    async def list(self) -> Sequence[d.Window]:
        await self.driver.enter("windows.list", page=False)
        return [self.desk.told(one) for one in self.desk.shown]

    async def move(self, id: str, to: Point) -> d.Window:
        return await self._do("move", id, to=to)

    async def resize(self, id: str, width: float, height: float) -> d.Window:
        return await self._do("resize", id, width=width, height=height)

    async def minimize(self, id: str) -> d.Window:
        return await self._do("minimize", id)

    async def unminimize(self, id: str) -> d.Window:
        return await self._do("unminimize", id)

    async def maximize(self, id: str) -> d.Window:
        return await self._do("maximize", id)

    async def unmaximize(self, id: str) -> d.Window:
        return await self._do("unmaximize", id)

    async def bring_up(self, id: str) -> d.Window:
        return await self._do("bring_up", id)

    async def close(self, id: str) -> d.Acted:
        if await self.driver.enter("windows.close", page=False):
            return self.desk.close(id)
        return d.Acted("close", verified=True)

    async def _do(self, verb: str, id: str, **details: Any) -> d.Window:
        if await self.driver.enter(f"windows.{verb}", page=False):
            return self.desk.do(verb, id, **details)
        return self.desk.told(self.desk.window(id))


class FakeClipboard(Part, d.Clipboard):
    """The clipboard of a fake device."""

    async def read(self, kind: d.ClipKind | None = None) -> d.Clip:
        await self.driver.enter("clipboard.read", page=False)
        return self.desk.read(kind)

    async def write_text(self, text: str) -> d.Acted:
        return await self._write("text", text)

    async def write_image(self, png: bytes) -> d.Acted:
        return await self._write("image", png)

    async def write_files(self, paths: Sequence[str]) -> d.Acted:
        return await self._write("files", list(paths))

    async def _write(self, kind: d.ClipKind, content: Any) -> d.Acted:
        if await self.driver.enter(f"clipboard.write_{kind}", page=False):
            return self.desk.write(kind, content)
        return d.Acted("clipboard", verified=True)
