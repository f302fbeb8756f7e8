"""Windows of a session: where they are by sway's own socket, what belongs to what by the foreign-toplevel protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from anydevice_schemas import Point, Rect

from ..x11.windows import Window, gone
from .ipc import Container, SwayIpc, inside
from .toplevels import Toplevel, Toplevels

STACKED: Final = frozenset({"stacked", "tabbed"})
"""Layouts whose title bars lie apart from the windows."""
SCRATCHPAD: Final = "__i3_scratch"
XWAYLAND: Final = "xwayland"
"""State of the windows of X programs."""
FLOATING: Final = "floating"
"""Kind of a window that floats beside another one of its program: a dialog, as a rule. Sway does not say so."""

WindowList = list[Window]


class Windows:
    """The windows of a session under sway."""

    def __init__(self, ipc: SwayIpc, toplevels: Toplevels | None) -> None:
        """`toplevels` says which windows are dialogs of others; None where the compositor does not."""
        self.ipc = ipc
        self._toplevels = toplevels

    async def list(self) -> WindowList:
        """All windows of programs, the uppermost first; those of other workspaces are among them, not shown.

        Raises:
            ConnectionLost, CallTimeout: Sway is gone, or does not answer.
        """
        found = [_window(container, around) for container, around in _stacked(await self.ipc.tree())]
        found = [replace(one, kind=FLOATING) if _beside(one, found) else one for one in found]
        known = await self._toplevels.list() if self._toplevels is not None else []
        return [_related(window, found, known) for window in found] if known else found

    async def get(self, id: int) -> Window:
        """One window.

        Raises:
            AppNotFound: There is none with this id.
            ConnectionLost, CallTimeout: As `list`.
        """
        for window in await self.list():
            if window.id == id:
                return window
        raise gone()

    async def active(self) -> Window | None:
        """The window that has the keyboard, or None. Raises as `list`."""
        return next((window for window in await self.list() if "focused" in window.state), None)

    async def typing(self) -> bool | None:
        """Whether a window has the keyboard; None where nobody can tell. Raises as `list`."""
        return any(container.get("focused") for container, _ in _stacked(await self.ipc.tree()))

    async def at(self, point: Point) -> Window | None:
        """The window that is uppermost at a point; menus, bars and notifications are not known to sway's socket.

        Raises:
            ConnectionLost, CallTimeout: As `list`.
        """
        shown = (window for window in await self.list() if window.shown)
        return next((window for window in shown if window.frame.contains(point)), None)


def _stacked(tree: Container) -> Iterator[tuple[Container, Sequence[Container]]]:
    """Every window with what it is in, the uppermost first: full screen, then floating, then tiled."""
    found: list[tuple[int, int, Container, Sequence[Container]]] = []

    def walk(container: Container, around: Sequence[Container], layer: int) -> None:
        if container.get("pid") and container.get("type") in ("con", "floating_con"):
            level = 3 if container.get("fullscreen_mode") else layer
            found.append((level, len(found), container, around))
        line = (*around, container)
        for inner in inside(container):
            walk(inner, line, 2 if inner.get("type") == "floating_con" else layer)

    walk(tree, (), 1)
    for _, _, container, around in sorted(found, key=lambda one: (one[0], bool(one[2].get("focused")), one[1]))[::-1]:
        yield container, around


def _window(container: Container, around: Sequence[Container]) -> Window:
    rect, inner = _rect(container["rect"]), _rect(container.get("window_rect") or {})
    client = Rect(rect.x + inner.x, rect.y + inner.y, inner.width, inner.height)
    bar = _rect(container.get("deco_rect") or {}).height
    if around and around[-1].get("layout") in STACKED:
        bar = 0.0
    frame = Rect(rect.x, rect.y - bar, rect.width, rect.height + bar)
    hidden = any(one.get("name") == SCRATCHPAD for one in around)
    state = {name for name, is_so in (
        ("fullscreen", container.get("fullscreen_mode")), ("sticky", container.get("sticky")),
        ("floating", any(one.get("type") == "floating_con" for one in (*around, container))),
        ("minimized", hidden), ("focused", container.get("focused")),
        (XWAYLAND, container.get("shell") == XWAYLAND),
    ) if is_so}  # fmt: skip
    properties: dict[str, Any] = container.get("window_properties") or {}
    left, top = client.x - frame.x, client.y - frame.y
    return Window(
        id=int(container["id"]),
        title=str(container.get("name") or ""),
        pid=int(container["pid"]) or None,
        client=client,
        frame=frame,
        extents=(int(left), int(frame.width - client.width - left), int(top), int(frame.height - client.height - top)),
        gtk_extents=None,
        state=frozenset(state),
        desktop=next(
            (one["num"] for one in around if one.get("type") == "workspace" and one.get("num", -1) >= 0), None
        ),
        kind="normal",
        app=str(container.get("app_id") or properties.get("class") or ""),
        shown=bool(container.get("visible")) and not hidden,
    )


def _related(window: Window, windows: Sequence[Window], known: Sequence[Toplevel]) -> Window:
    """The window with what it belongs to, where that is sure: the two protocols know each other's windows by title."""
    same = [one for one in known if (one.app, one.title) == (window.app, window.title)]
    if not same or not all(one.parent is not None for one in same):
        return window
    parents = {(one.parent.app, one.parent.title) for one in same if one.parent is not None}
    leaders = [one.id for one in windows if (one.app, one.title) in parents and one.pid == window.pid]
    return replace(window, kind="dialog", leader=leaders[0] if len(leaders) == 1 else None)


def _beside(window: Window, windows: Sequence[Window]) -> bool:
    """Whether a window floats, and its program had another one before."""
    return "floating" in window.state and any(one.pid == window.pid and one.id < window.id for one in windows)


def may_ask(window: Window) -> bool:
    """Whether a window may be a dialog."""
    return window.kind in ("dialog", FLOATING)


def _rect(box: Container) -> Rect:
    return Rect(*(float(box.get(side, 0)) for side in ("x", "y", "width", "height")))
