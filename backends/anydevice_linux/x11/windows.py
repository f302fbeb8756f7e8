"""Windows as the window manager tells them (EWMH): listing them, and which one is at a point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from Xlib import X
from Xlib import error as xerror

from anydevice_schemas import Point, Rect
from anydevice_schemas.errors import AppNotFound

from .connection import Connection
from .display import DEADLINE, XDisplay
from .owners import pids_of
from .properties import Ask, Reply, names

MOST = 500
"""Windows that are looked at."""
ICONIC = 3
"""`WM_STATE` of a minimized window."""
EVERYWHERE = 0xFFFFFFFF
"""`_NET_WM_DESKTOP` of a window that is on all desktops."""
DEPTH = 3
"""How far below the root a window manager may hide a client."""

Ids = list[int]
Extents = tuple[int, int, int, int]
"""Left, right, top, bottom."""


@dataclass(slots=True, frozen=True)
class Window:
    """A top-level window.

    Attributes:
        id: The client's X id. Windows of other programs may get it once this one is gone.
        title: Untrusted text.
        pid: Of its program, as the program says, else as the server knows.
        client: The client area in screen points.
        frame: What a person sees as the window: with the window manager's border, without the program's own shadow.
        extents: Width of the window manager's border.
        gtk_extents: Width of the shadow a program draws around itself; None where it says nothing.
        state: Lower case: `minimized`, `maximized_vert`, `modal`, `fullscreen`, `above`, …
        desktop: Number of the virtual desktop; None on all, or where there are none.
        kind: `normal`, `dialog`, `utility`, `dock`, `popup_menu`, `tooltip`, …; `popup` for what no manager manages.
        leader: Id of the window it belongs to (its parent, for a dialog).
        app: Its class, by which programs group their windows. Untrusted text.
        pings: Whether it answers when asked whether it is alive.
        shown: Whether it is on the screen now, if perhaps behind others.
    """

    id: int
    title: str
    pid: int | None
    client: Rect
    frame: Rect
    extents: Extents
    gtk_extents: Extents | None
    state: frozenset[str]
    desktop: int | None
    kind: str
    leader: int | None = None
    app: str = ""
    pings: bool = False
    shown: bool = True


WindowList = list[Window]


class Windows:
    """The windows of a display."""

    def __init__(self, display: XDisplay) -> None:
        self.display = display
        self._atoms: dict[int, str] = {}

    async def list(self, deadline: float = DEADLINE) -> WindowList:
        """All windows of programs, the uppermost first; minimized ones are among them.

        Raises:
            DeviceOffline, ConnectionLost, CallTimeout: As `XDisplay.do`.
        """
        return await self.display.do(self.read_all, deadline)

    async def get(self, id: int, deadline: float = DEADLINE) -> Window:
        """One window.

        Raises:
            AppNotFound: There is none with this id.
            DeviceOffline, ConnectionLost, CallTimeout: As `XDisplay.do`.
        """
        found = await self.display.do(lambda connection: self.read_one(connection, id), deadline)
        if found is None:
            raise gone()
        return found

    async def active(self, deadline: float = DEADLINE) -> Window | None:
        """The window that has the keyboard, or None.

        Raises:
            DeviceOffline, ConnectionLost, CallTimeout: As `XDisplay.do`.
        """
        return await self.display.do(self._read_active, deadline)

    async def at(self, point: Point, deadline: float = DEADLINE) -> Window | None:
        """The window that is uppermost at a point and would get a click there: menus and tooltips count.

        Raises:
            DeviceOffline, ConnectionLost, CallTimeout: As `XDisplay.do`.
        """
        return await self.display.do(lambda connection: self._read_at(connection, point), deadline)

    async def popups(self, deadline: float = DEADLINE) -> WindowList:
        """The windows on screen that no manager manages, the uppermost first: open menus and lists, tooltips.

        Raises:
            DeviceOffline, ConnectionLost, CallTimeout: As `XDisplay.do`.
        """
        return await self.display.do(self._read_popups, deadline)

    # --- in the display's thread -------------------------------------------------------------------------

    def ids(self, connection: Connection) -> Ids:
        """Ids of all managed windows, the uppermost first; without a window manager, of those that want one."""
        ask = Ask(connection)
        root = connection.screen().root.id
        if not self.manager(connection):
            return self._unmanaged(connection)
        stacked, listed = ask.property(root, "_NET_CLIENT_LIST_STACKING"), ask.property(root, "_NET_CLIENT_LIST")
        found = stacked.numbers()
        known = set(found)
        # A window that is just being mapped may be in one list only.
        found += [id for id in listed.numbers() if id not in known]
        return [*dict.fromkeys(reversed(found))][:MOST]

    def manager(self, connection: Connection) -> bool:
        """Whether a window manager runs: the window it has announced has to be there, and to say the same."""
        ask = Ask(connection)
        check = ask.property(connection.screen().root.id, "_NET_SUPPORTING_WM_CHECK").number()
        return bool(check) and ask.property(check or 0, "_NET_SUPPORTING_WM_CHECK").number() == check

    def _unmanaged(self, connection: Connection) -> Ids:
        ask = Ask(connection)
        tree = ask.tree(connection.screen().root.id).get()
        asked = [(child.id, ask.attributes(child.id)) for child in tree.children[-MOST:]] if tree is not None else []
        return [
            id
            for id, reply in reversed(asked)
            if (got := reply.get()) is not None and got.map_state == X.IsViewable and not got.override_redirect
        ]

    def read_all(self, connection: Connection) -> WindowList:
        """All managed windows, the uppermost first."""
        return self.read(connection, self.ids(connection))

    def read_one(self, connection: Connection, id: int) -> Window | None:
        """A managed window, or None."""
        if id not in self.ids(connection):
            return None
        return next(iter(self.read(connection, [id])), None)

    def active_id(self, connection: Connection) -> int | None:
        """Id of the window that has the keyboard."""
        return Ask(connection).property(connection.screen().root.id, "_NET_ACTIVE_WINDOW").number() or None

    def read(self, connection: Connection, ids: Sequence[int], *, managed: bool = True) -> WindowList:
        """What is known of some windows, in their order; those that are gone are left out."""
        ask = Ask(connection)
        root = connection.screen().root.id
        asked = [
            (
                id,
                ask.geometry(id),
                ask.origin(id, root),
                ask.attributes(id),
                ask.tree(id),
                ask.property(id, "_NET_WM_NAME"),
                ask.property(id, "WM_NAME"),
                ask.property(id, "_NET_WM_PID"),
                ask.property(id, "_NET_FRAME_EXTENTS"),
                ask.property(id, "_GTK_FRAME_EXTENTS"),
                ask.property(id, "_NET_WM_STATE"),
                ask.property(id, "WM_STATE"),
                ask.property(id, "_NET_WM_DESKTOP"),
                ask.property(id, "_NET_WM_WINDOW_TYPE"),
                ask.property(id, "WM_TRANSIENT_FOR"),
                ask.property(id, "WM_CLASS"),
                ask.property(id, "WM_PROTOCOLS"),
            )
            for id in ids
        ]
        around = self._around(ask, [(id, tree) for id, _, _, _, tree, *_ in asked], root)
        found = []
        for id, geometry, origin, attributes, _tree, *properties in asked:
            size, place, drawn = geometry.get(), origin.get(), attributes.get()
            if size is None or place is None or drawn is None:
                continue
            title, old, pid, border, shadow, states, wm, desktop, types, leader, app, protocols = properties
            client = Rect(place.x, place.y, size.width, size.height)
            extents = _extents(border.numbers()) or (0, 0, 0, 0)
            gtk = _extents(shadow.numbers())
            state_atoms, type_atoms, spoken = states.numbers(), types.numbers(), protocols.numbers()
            known = names(connection, [*state_atoms, *type_atoms, *spoken], self._atoms)
            state = {_short(known.get(atom, "")) for atom in state_atoms}
            if wm.number() == ICONIC:
                state.add("minimized")
            state -= {"", "hidden"}
            number = desktop.number()
            class_ = app.value()
            named = title.text()
            found.append(
                Window(
                    id=id,
                    title=named if named is not None else old.text() or "",
                    pid=pid.number(),
                    client=client,
                    frame=framed(client, extents, gtk),
                    extents=extents,
                    gtk_extents=gtk,
                    state=frozenset(state),
                    desktop=None if number in (None, EVERYWHERE) else number,
                    kind=_kind([known.get(atom, "") for atom in type_atoms], managed, leader.number()),
                    leader=leader.number() or None,
                    app=_class(bytes(class_[2])) if class_ is not None and class_[1] == 8 else "",
                    pings="_NET_WM_PING" in (known.get(atom) for atom in spoken),
                    shown=drawn.map_state == X.IsViewable and _holds(around.get(id), client),
                )
            )
        owners = pids_of(connection, [window.id for window in found if window.pid is None])
        return [replace(window, pid=owners[window.id]) if window.id in owners else window for window in found]

    def _around(self, ask: Ask, trees: Sequence[tuple[int, Reply]], root: int) -> dict[int, Reply]:
        """Size of what a window manager has put each window in; managers shrink it when they animate."""
        parents = {id: answer.parent.id for id, tree in trees if (answer := tree.get()) is not None}
        return {id: ask.geometry(parent) for id, parent in parents.items() if parent != root}

    def _read_active(self, connection: Connection) -> Window | None:
        id = self.active_id(connection)
        return next(iter(self.read(connection, [id])), None) if id is not None else None

    def _read_popups(self, connection: Connection) -> WindowList:
        ask = Ask(connection)
        tree = ask.tree(connection.screen().root.id).get()
        asked = [(child.id, ask.attributes(child.id)) for child in tree.children[-MOST:]] if tree is not None else []
        shown = [
            id
            for id, reply in reversed(asked)
            if (got := reply.get()) is not None and got.map_state == X.IsViewable and got.override_redirect
        ]
        return self.read(connection, shown, managed=False)

    def _read_at(self, connection: Connection, point: Point) -> Window | None:
        root = connection.screen().root
        x, y = math.floor(point.x), math.floor(point.y)
        try:
            top = root.translate_coords(root, x, y).child
        except xerror.XError:
            return None
        if top == X.NONE:
            return None
        managed = set(self.ids(connection))
        level = [top.id if hasattr(top, "id") else int(top)]
        outermost = level[0]
        ask = Ask(connection)
        for _ in range(DEPTH):
            found = next((id for id in level if id in managed), None)
            if found is not None:
                return next(iter(self.read(connection, [found])), None)
            trees = [ask.tree(id) for id in level]
            level = [child.id for tree in trees if (answer := tree.get()) is not None for child in answer.children]
        return next(iter(self.read(connection, [outermost], managed=False)), None)


def _holds(around: Reply | None, client: Rect) -> bool:
    size = around.get() if around is not None else None
    return size is None or (size.width >= client.width and size.height >= client.height)


def framed(client: Rect, extents: Extents, gtk: Extents | None) -> Rect:
    """What a person sees as the window: the client area with the manager's border, without the program's shadow."""
    left, right, top, bottom = extents
    if gtk is not None and 0 <= gtk[0] + gtk[1] < client.width and 0 <= gtk[2] + gtk[3] < client.height:
        left, right, top, bottom = left - gtk[0], right - gtk[1], top - gtk[2], bottom - gtk[3]
    return Rect(client.x - left, client.y - top, client.width + left + right, client.height + top + bottom)


def gone() -> AppNotFound:
    """The error for a window that is not there."""
    return AppNotFound(
        "There is no such window.",
        hint="Call window with action list for the windows there are.",
        nearest_matches=[],
    )


def _extents(numbers: Sequence[int]) -> Extents | None:
    if len(numbers) < 4 or any(number > 10_000 for number in numbers[:4]):
        return None
    return numbers[0], numbers[1], numbers[2], numbers[3]


def _short(name: str) -> str:
    return name.removeprefix("_NET_WM_STATE_").lower() if name.startswith("_NET_WM_STATE_") else ""


def _kind(types: Sequence[str], managed: bool, leader: int | None) -> str:
    prefix = "_NET_WM_WINDOW_TYPE_"
    known = next((name.removeprefix(prefix).lower() for name in types if name.startswith(prefix)), None)
    if known is not None and (managed or known != "normal"):
        return known
    if not managed:
        return "popup"
    return "dialog" if leader else "normal"


def _class(raw: bytes) -> str:
    """The second of the two words of WM_CLASS: the class."""
    words = raw.split(b"\0")
    return (words[1] if len(words) > 1 else words[0]).decode("utf-8", "replace")
