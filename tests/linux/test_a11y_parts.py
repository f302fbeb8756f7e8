"""The parts of reading accessibility that need no desktop: names, states, places, caches, keys, single calls."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from anydevice_linux.a11y.apps import App
from anydevice_linux.a11y.bus import Call, Lost, Refusal, Silence
from anydevice_linux.a11y.coords import NOWHERE, Shift, match, shift_of
from anydevice_linux.a11y.keys import Key, parse
from anydevice_linux.a11y.names import name_of
from anydevice_linux.a11y.peer import ask_peer
from anydevice_linux.a11y.places import HIDDEN, OFFSCREEN, SHOWN, by_rect, by_state
from anydevice_linux.a11y.popups import Popup, opened, opened_around, popup_of
from anydevice_linux.a11y.roles import NATIVE, OURS, role_of
from anydevice_linux.a11y.shape import ROOT, Item, Shape, decode, shape_of
from anydevice_linux.a11y.states import CHECKED, EDITABLE, ENABLED, SENSITIVE, SHOWING, VISIBLE, bits, states_of
from anydevice_schemas import ROLES, Rect
from anydevice_schemas.errors import StaleRef

ON = ENABLED | SENSITIVE | VISIBLE


# --- names and states -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "toolkit", "name"),
    [
        ("7 7", "GTK", "7"),
        ("Save As Save As", "GTK", "Save As"),
        ("GtkMenuButton", "GTK", ""),
        ("AdwGizmo", "GTK", ""),
        ("HistoryView", "GTK", ""),
        ("Undo", "GTK", "Undo"),
        ("JavaScript", "GTK", "JavaScript"),
        ("New York", "GTK", "New York"),
        ("7 7", "gtk", "7 7"),
        ("GtkMenuButton", "Chromium", "GtkMenuButton"),
        ("Go      ", "gtk", "Go"),
        ("", "GTK", ""),
        (" ", "GTK", ""),
    ],
)
def test_names_are_what_a_person_would_say(said: str, toolkit: str, name: str) -> None:
    assert name_of(said, toolkit) == name


def test_all_roles_are_of_the_vocabulary() -> None:
    assert set(OURS.values()) <= ROLES
    assert sorted(NATIVE) == list(range(len(NATIVE)))
    assert role_of(9999) == "generic"


def test_disabled_is_what_is_neither_enabled_nor_sensitive() -> None:
    assert "disabled" in states_of(VISIBLE, "button")
    assert "disabled" not in states_of(VISIBLE | SENSITIVE, "button")  # GTK 4 says no more than this
    assert "disabled" not in states_of(0, "window")
    assert states_of(ON | CHECKED, "checkbox") == {"checked"}
    assert states_of(ON, "radio") == {"unchecked"}
    assert states_of(ON, "textbox") == {"readonly"}
    assert states_of(ON | EDITABLE, "textbox") == {"editable"}
    assert bits([1 << 25, 1 << 9]) == 1 << 25 | 1 << 41


# --- caches ---------------------------------------------------------------------------------------

NONE = ("", "/org/a11y/atspi/null")


def _row(path: str, parent: str, index: int, count: int, name: str = "") -> list[object]:
    return [
        (":1.2", path),
        (":1.2", ROOT),
        (":1.2", parent),
        index,
        count,
        ["org.a11y.atspi.Action"],
        name,
        43,
        "",
        [0, 0],
    ]


def test_cache_is_put_in_order_and_its_holes_are_found() -> None:
    rows = [
        _row("/w", ROOT, 0, 2),
        _row("/b", "/w", 1, 0, "second"),
        _row("/a", "/w", 0, 3, "first"),
        _row("/a/1", "/a", 0, 0),
        _row("/lost", "/nowhere", 0, 0),
        [(":1.9", "/other"), (":1.9", ROOT), (":1.9", ROOT), 0, 0, [], "", 43, "", [0, 0]],
    ]
    items = decode(rows, ":1.2")
    assert "/other" not in items
    shape, holes = shape_of(items, ["/w"])
    assert shape.kids["/w"] == ["/a", "/b"]
    assert holes == ["/a"]  # it says three children, one is known
    assert [item.path for item in shape.line("/a/1")] == ["/a/1", "/a", "/w"]


def test_cache_in_the_form_that_lists_children_is_read_as_well() -> None:
    row = [(":1.2", "/w"), (":1.2", ROOT), (":1.2", ROOT), [(":1.2", "/b"), (":1.2", "/a")], [], "w", 23, "", [0, 0]]
    kids = [[(":1.2", path), (":1.2", ROOT), (":1.2", "/w"), [], [], path, 43, "", [0, 0]] for path in ("/a", "/b")]
    shape, holes = shape_of(decode([row, *kids], ":1.2"), ["/w"])
    assert shape.kids["/w"] == ["/b", "/a"] and holes == []


def test_cache_that_names_itself_as_its_parent_ends() -> None:
    items = decode([_row("/w", ROOT, 0, 1), _row("/a", "/b", 0, 1), _row("/b", "/a", 0, 1)], ":1.2")
    shape, holes = shape_of(items, ["/w"])
    assert holes == ["/w"] and len(shape.line("/a")) <= 1000


# --- places ---------------------------------------------------------------------------------------


def _shape(*entries: tuple[str, str, int, int]) -> Shape:
    shape = Shape()
    for path, parent, role, mask in entries:
        shape.items[path] = Item(path, parent, 0, 0, 0, "", role, "", mask)
        shape.kids.setdefault(parent, []).append(path)
    return shape


def test_what_does_not_show_is_off_screen_only_in_something_that_scrolls() -> None:
    shape = _shape(
        ("/w", "", 23, ON | SHOWING),
        ("/s", "/w", 49, ON | SHOWING),
        ("/row", "/s", 43, ON),
        ("/page", "/w", 37, ON | SHOWING),
        ("/inside", "/page", 39, ON),
        ("/menu", "/w", 33, ON | SHOWING),
        ("/item", "/menu", 35, ON),
        ("/off", "/w", 43, ON),
    )
    places = by_state(shape, "/w", hidden=False)
    assert places["/row"] == OFFSCREEN
    assert {places[path] for path in ("/inside", "/item", "/off")} == {HIDDEN}
    assert places["/s"] == SHOWN
    assert set(by_state(shape, "/w", hidden=True).values()) == {HIDDEN}


def test_places_without_a_size_hide_leaves_and_not_what_is_in_boxes() -> None:
    shape = _shape(("/w", "", 23, ON), ("/box", "/w", 39, ON), ("/in", "/box", 43, ON), ("/leaf", "/w", 43, ON))
    rects = {"/box": Rect(0, 0, 0, 0), "/in": Rect(5, 5, 10, 10), "/leaf": Rect(5, 5, 0, 0)}
    places = by_rect(App(":1.1", toolkit="GTK"), shape, "/w", rects, Rect(0, 0, 100, 100), hidden=False)
    assert places == {"/w": SHOWN, "/box": SHOWN, "/in": SHOWN, "/leaf": HIDDEN}


def test_what_lies_outside_of_the_scroll_area_is_off_screen() -> None:
    shape = _shape(("/w", "", 23, ON), ("/s", "/w", 49, ON), ("/a", "/s", 43, ON), ("/b", "/s", 43, ON))
    rects = {"/s": Rect(0, 0, 100, 50), "/a": Rect(0, 10, 50, 10), "/b": Rect(0, 60, 50, 10)}
    places = by_rect(App(":1.1", toolkit="GTK"), shape, "/w", rects, Rect(0, 0, 100, 100), hidden=False)
    assert (places["/a"], places["/b"]) == (SHOWN, OFFSCREEN)


@dataclass
class _Window:
    id: int
    title: str
    pid: int | None
    client: Rect
    frame: Rect
    gtk_extents: tuple[int, int, int, int] | None = None
    state: frozenset[str] = frozenset()
    shown: bool = True


def test_extents_of_gtk4_are_moved_by_its_window_and_its_own_shadow() -> None:
    app = App(":1.1", pid=7, toolkit="GTK")
    client = Rect(100, 50, 365, 496)
    drawn = _Window(1, "Calculator", 7, client, client)
    shift = shift_of(app, (0, 0, 355, 486), drawn)
    assert shift.rect((10, 20, 30, 40)) == Rect(115, 75, 30, 40)
    told = _Window(1, "Calculator", 7, client, client, gtk_extents=(26, 26, 23, 29))
    assert shift_of(app, (0, 0, 313, 444), told).rect((0, 0, 1, 1)) == Rect(126, 73, 1, 1)
    assert shift_of(app, (0, 0, 355, 486), None).rect((10, 20, 30, 40)) is None  # nobody can know


def test_popover_of_gtk4_is_where_a_window_of_its_size_is() -> None:
    app = App(":1.1", pid=7, toolkit="GTK")
    menu = _Window(1, "", 7, Rect(468, 188, 277, 232), Rect(468, 188, 277, 232))
    lists = _Window(2, "", 7, Rect(381, 436, 639, 126), Rect(381, 436, 639, 126))
    other = _Window(3, "", 8, Rect(0, 0, 277, 232), Rect(0, 0, 277, 232))
    found = popup_of(app, "/m", (105, 6, 277, 232), (105, 6, 78, 34), [other, lists, menu])
    assert found.window == menu and found.shift.rect((147, 46, 193, 32)) == Rect(510, 228, 193, 32)
    # Its margin is in its window, above it.
    found = popup_of(app, "/l", (144, 342, 639, 120), (144, 336, 633, 40), [other, menu, lists])
    assert found.window == lists and found.rect == Rect(381, 442, 639, 120)
    for windows in ([], [other], [menu]):
        assert popup_of(app, "/l", (144, 342, 639, 120), None, windows).hidden
    unknown = popup_of(app, "/l", (144, 342, 639, 120), None, None)
    assert unknown.rect is None and not unknown.hidden
    taken = popup_of(app, "/m", (105, 6, 277, 232), None, [menu])
    assert popup_of(app, "/n", (105, 6, 277, 232), None, [menu], taken=[taken]).window is None


def test_what_is_in_a_popover_shows_where_that_is_drawn_and_is_hidden_where_it_is_nowhere() -> None:
    app = App(":1.1", pid=7, toolkit="GTK")
    line = (("/w", "", 23), ("/b", "/w", 43), ("/p", "/b", 20), ("/c", "/p", 20), ("/i", "/c", 43))
    shape = _shape(*((path, parent, role, VISIBLE) for path, parent, role in line))
    shape.items["/c"].name = "GtkPopoverContent"
    assert opened(shape) == ["/p"]
    assert opened_around(shape.line("/i")) == 2 and opened_around(shape.line("/b")) is None
    rects = {"/w": Rect(0, 0, 100, 100), "/b": Rect(0, 0, 50, 20)}
    below = {path: Rect(10, 150, 40, 20) for path in ("/p", "/c", "/i")}
    drawn = Popup("/p", None, Shift(0.0, 0.0), Rect(10, 150, 40, 20))
    place = by_rect(app, shape, "/w", rects | below, Rect(0, 0, 100, 100), hidden=False, popups={"/p": drawn})
    assert [place[path] for path in ("/b", "/p", "/i")] == [SHOWN] * 3
    closed = Popup("/p", None, NOWHERE, None, hidden=True)
    place = by_rect(app, shape, "/w", rects, Rect(0, 0, 100, 100), hidden=False, popups={"/p": closed})
    assert [place[path] for path in ("/b", "/p", "/i")] == [SHOWN, HIDDEN, HIDDEN]
    unknown = Popup("/p", None, NOWHERE, None)  # where nobody knows what windows there are
    place = by_rect(app, shape, "/w", rects, Rect(0, 0, 100, 100), hidden=False, popups={"/p": unknown})
    assert [place[path] for path in ("/b", "/p", "/i")] == [SHOWN] * 3


def test_extents_that_mean_nowhere_are_none() -> None:
    shift = shift_of(App(":1.1", toolkit="gtk"), None, None)
    assert shift.rect((-2147483648, -2147483648, 10, 10)) is None
    assert shift.rect((-200, -300, 10, 10)) == Rect(-200, -300, 10, 10)
    assert shift.rect((0, 0, -1, 5)) is None
    assert shift.rect((0, 0, 1)) is None
    assert shift.rect("four") is None  # type: ignore[arg-type]


def test_windows_of_one_title_are_told_apart_by_place_or_not_at_all() -> None:
    app = App(":1.1", pid=7, toolkit="gtk")
    one = _Window(1, "Same", 7, Rect(0, 20, 300, 200), Rect(0, 0, 300, 220))
    two = _Window(2, "Same", 7, Rect(500, 420, 300, 200), Rect(500, 400, 300, 220))
    other = _Window(3, "Same", 8, Rect(0, 20, 300, 200), Rect(0, 0, 300, 220))
    assert match(app, "Same", (500, 400, 300, 220), [one, two, other]) is two
    assert match(app, "Same", None, [one, two, other]) is None
    assert match(app, "Same", (0, 0, 300, 220), [other]) is None


# --- keys -----------------------------------------------------------------------------------------


def test_keys_are_read_back_and_others_are_stale() -> None:
    key = Key(":1.5", "/org/a11y/atspi/accessible/7", 43)
    assert parse(str(key)) == key
    for wrong in ("", "7", ":1.5", ":1.5/a", "name/a#1", ":1.5/a#x"):
        with pytest.raises(StaleRef):
            parse(wrong)


# --- single calls past the bus --------------------------------------------------------------------


def _reply(kind: int, body: bytes) -> bytes:
    fields = bytes((5, 1)) + b"u\0" + struct.pack("<I", 1)
    return struct.pack("<BBBBIII", ord("l"), kind, 0, 1, len(body), 9, len(fields)) + fields + body


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("spoken", "outcome"),
    [
        ([_reply(2, struct.pack("<I", 1))], True),
        ([_reply(2, struct.pack("<I", 0))], False),
        ([_reply(4, b""), _reply(2, struct.pack("<I", 1))], True),
        ([_reply(3, b"")], Refusal),
        ([b"nonsense that is long enough to be read"], Lost),
        ([], Silence),
    ],
)
async def test_call_past_the_bus_ends_by_type(spoken: list[bytes], outcome: object, tmp_path: Path) -> None:
    heard = bytearray()

    async def serve(stream: SocketStream) -> None:
        async with stream:
            heard.extend(await stream.receive())
            await stream.send(b"OK 1234\r\n")
            while b"DoAction" not in heard:
                heard.extend(await stream.receive())
            for message in spoken:
                await stream.send(message)
            await anyio.sleep(60)

    listener = await anyio.create_unix_listener(tmp_path / "socket")
    async with anyio.create_task_group() as group:
        group.start_soon(listener.serve, serve)
        call = Call(":1.1", "/org/x/7", "org.a11y.atspi.Action", "DoAction", "i", (3,))
        address = f"unix:path={tmp_path}/socket"
        if isinstance(outcome, bool):
            assert await ask_peer(address, call, 20.0) is outcome
        else:
            with pytest.raises(outcome):  # type: ignore[call-overload]
                await ask_peer(address, call, 2.0)
        group.cancel_scope.cancel()
    await listener.aclose()
    assert b"/org/x/7\0" in heard and heard.endswith(struct.pack("<i", 3))


@pytest.mark.anyio
async def test_call_to_a_socket_that_is_not_there_is_lost(tmp_path: Path) -> None:
    call = Call(":1.1", "/x", "org.a11y.atspi.Action", "DoAction", "i", (0,))
    for address in (f"unix:path={tmp_path}/none", "tcp:host=nowhere", ""):
        with pytest.raises(Lost):
            await ask_peer(address, call, 1.0)
