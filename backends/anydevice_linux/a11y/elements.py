"""Acting on one element by its key, through its own interfaces first, by pointer and keys where it has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from anydevice.driver import Acted, Elements, Probe
from anydevice_schemas import Node, Point
from anydevice_schemas.errors import CallTimeout, ElementDisabled, ElementOffscreen, StaleRef, Unsupported

from .apps import ACCESSIBLE, App
from .bus import Call, Died, Link, Refusal, Silence, first, get
from .cache import windows_of
from .coords import COMPONENT, Shift, Window, extents, match, shift_of
from .doing import DEADLINE, do_action, mask_of, press_action, until
from .focusing import holders_of_focus
from .hits import cover_of, deepest
from .keys import Key, parse
from .names import name_of
from .near import Near, look_at
from .popups import may_open, popups_of
from .pressing import CHOSEN, cut_off, is_opened_option, seen_after, select
from .reading import read_app
from .revealing import reveal
from .roles import MENUS, role_of
from .states import (
    ENABLED,
    FIELDS,
    FOCUSED,
    SENSITIVE,
    SHOWING,
    TOGGLES,
)
from .walk import NULL
from .writing import write

if TYPE_CHECKING:
    from .session import A11y

FLEETING_MOST: Final = 4
FOCUS_PATIENCE: Final = 0.5
"""Seconds an element may take to have the focus."""


class LinuxElements(Elements):
    """Elements of the applications of a desktop, by key."""

    def __init__(self, a11y: A11y) -> None:
        self._a11y = a11y

    async def near(self, key: str) -> Near:
        """A fresh look at an element and what is around it. Raises as `A11y.asking`."""
        parsed = parse(key)
        async with self._a11y.asking(key, DEADLINE) as (app, link):
            windows = await self._a11y.windows.list()
            return await look_at(link, app, parsed, windows, self._a11y.screen, popups=self._a11y.popups)

    async def probe(self, key: str, *, at: Point | None = None) -> Probe:
        """See `Elements.probe`."""
        parsed = parse(key)
        async with self._a11y.asking(key, DEADLINE) as (app, link):
            windows = await self._a11y.windows.list()
            near = await look_at(link, app, parsed, windows, self._a11y.screen, popups=self._a11y.popups)
            point = at if at is not None else near.point()
            if point is None:
                return Probe(near.node(), None)
            cover = await cover_of(link, near, point, self._a11y.windows)
            if cover is not None and cover.outside and at is None:
                point = await self._uncovered(near, point)
                if point is None:
                    point = near.point()
                else:
                    again = await cover_of(link, near, point, self._a11y.windows)
                    cover = again if again is None or not again.outside else cover
            node = near.node()
            if cover is None:
                return Probe(node, point)
            node.hittable = False
            return Probe(node, point, cover.text, cover.key, cover.outside)

    async def _uncovered(self, near: Near, point: Point) -> Point | None:
        """Another place in an element that no other window lies over, where its middle is covered."""
        visible = near.visible
        if visible is None or near.drawn_in is None:
            return None
        for across, down in ((0.5, 0.15), (0.5, 0.85), (0.1, 0.5), (0.9, 0.5), (0.1, 0.1), (0.9, 0.9)):
            candidate = Point(visible.x + visible.width * across, visible.y + visible.height * down)
            found = await self._a11y.windows.at(candidate)
            if found is not None and found.id == near.drawn_in:
                return candidate
        return None

    async def at(self, point: Point) -> Node | None:
        """See `Elements.at`."""
        shown = await self._a11y.windows.at(point)
        if shown is None or shown.pid is None:
            return None
        app = await self._a11y.app_of(shown.pid)
        if app is None:
            return None
        key = str(Key(app.bus_name, "/", 0))
        windows = await self._a11y.windows.list()
        async with self._a11y.asking(key, DEADLINE) as (app, link):
            found = await self._window_at(link, app, shown, point, windows)
            if found is None:
                return None
            for _ in range(FLEETING_MOST):
                asked = [Call(app.bus_name, found, ACCESSIBLE, "GetRole"), parent_of(app.bus_name, found)]
                told = await link.many(asked, DEADLINE)
                key_now = Key(app.bus_name, found, int(first(told, 0, 0)))
                try:
                    near = await look_at(link, app, key_now, windows, self._a11y.screen, popups=self._a11y.popups)
                    return near.node()
                except (Refusal, StaleRef):  # browser engines make and drop pieces of text as they go
                    owner, found = first(told, 1, ("", NULL))
                    if owner != app.bus_name or found == NULL:
                        break
            return None

    async def _window_at(
        self, link: Link, app: App, shown: Window, point: Point, windows: Sequence[Window]
    ) -> str | None:
        """Path of the inmost object at a point of an application's X window."""
        name = app.bus_name
        if all(window.id != shown.id for window in windows):
            inner = await (self._popover_at if may_open(app) else _popup_at)(link, app, point)
            if inner is not None:
                return inner
        tops = await windows_of(link, app, DEADLINE)
        told = await link.many(
            [extents(app, top) for top in tops] + [Call(name, top, ACCESSIBLE, "GetState") for top in tops], DEADLINE
        )
        titles = await link.many([_name(name, top) for top in tops], DEADLINE)
        last: str | None = None
        for at, top in enumerate(tops):
            box = told[at][0] if told[at] else None  # type: ignore[index]
            title = name_of(str(first(titles, at, "")), app.toolkit)
            window = match(app, title, box, windows)
            shift = shift_of(app, box, window)
            rect = shift.rect(box) if box is not None else None
            if (window is not None and window.id != shown.id) or rect is None or not rect.contains(point):
                continue
            found = await deepest(link, app, shift, top, point)
            last = found or last
            if window is not None and found is not None:
                return found
        return last

    async def _popover_at(self, link: Link, app: App, point: Point) -> str | None:
        """Path of the inmost object at a point of an open popover."""
        shape = await read_app(link, app, 4.0)
        for popup in reversed((await popups_of(link, app, shape, self._a11y.popups, DEADLINE)).values()):
            if popup.rect is not None and popup.rect.contains(point):
                return await deepest(link, app, popup.shift, popup.path, point)
        return None

    async def focused_in(self, apps: Sequence[App]) -> Node | None:
        """The element that has the focus in the first of these applications that has one."""
        for app in apps:
            key = str(Key(app.bus_name, "/", 0))
            try:
                async with self._a11y.asking(key, DEADLINE) as (found, link):
                    windows = await self._a11y.windows.list()
                    for holder in await holders_of_focus(link, found):
                        near = await look_at(link, found, holder, windows, self._a11y.screen, popups=self._a11y.popups)
                        if near.visible is not None:  # closed lists of Qt say that they have the focus as well
                            return near.node()
            except StaleRef:
                continue  # what had it went away just now
            except CallTimeout:
                if len(apps) == 1:
                    raise
        return None

    async def activate(self, key: str) -> Acted:
        """See `Elements.activate`; toggles are watched until their state changes.

        Raises:
            ElementDisabled: It is disabled.
            Unsupported: It offers nothing that a press would do.
        """
        near = await self.near(key)
        role = role_of(near.item.role)
        self._refuse_disabled(near, key)
        async with self._a11y.asking(key, DEADLINE) as (app, link):
            if role in FIELDS:
                return await self.focus(key)  # their own action sends off what is in them, as Enter does
            number = await press_action(link, app, near.item.path)
            opened = is_opened_option(near)
            if opened and self._a11y.hands is not None:
                number = None
            try:
                if number is not None:
                    accepted = await do_action(link, app, near.item.path, number)
                    method = "accessibility"
                elif role in CHOSEN and not opened:
                    accepted, method = await select(link, app, near), "accessibility-select"
                else:
                    accepted, method = False, ""
            except (Died, Silence) as error:
                return cut_off(error, method="accessibility")
            if not accepted:
                return await self._by_pointer(near, key)
            return await seen_after(link, app, near, method)

    async def _by_pointer(self, near: Near, key: str) -> Acted:
        hands = self._a11y.hands
        point = near.point()
        if hands is None:
            raise Unsupported(
                "This element offers nothing that a press would do.",
                hint="Press its place instead: press with x and y.",
                operation="elements.activate",
                alternatives=["pointer.click"],
            )
        if point is None:
            raise ElementOffscreen("The element cannot be brought on screen.", element=key)
        if role_of(near.item.role) in TOGGLES and near.app.toolkit == "GTK" and near.visible is not None:
            visible = near.visible  # its label does not take presses, its box at the left edge does
            point = Point(visible.x + min(10.0, visible.width / 2), point.y)
        # What is open over a window has closed itself by the time the window comes to the front.
        if near.window is not None and near.popup is None and near.window.state.isdisjoint({"focused"}):
            await hands.front(near.window)
        await hands.click(point)
        async with self._a11y.asking(key, DEADLINE) as (app, link):
            return await seen_after(link, app, near, "mouse")

    async def set_text(self, key: str, text: str) -> Acted:
        """See `Elements.set_text` and `writing.write`."""
        near = await self.near(key)
        self._refuse_disabled(near, key)
        async with self._a11y.asking(key, DEADLINE, sent="elements.set_text") as (app, link):
            hands, popups = self._a11y.hands, self._a11y.popups
            return await write(link, app, near, text, key=key, hands=hands, popups=popups)

    async def focus(self, key: str) -> Acted:
        """See `Elements.focus`; verified by reading the focus back."""
        near = await self.near(key)
        path = near.item.path
        hands = self._a11y.hands
        async with self._a11y.asking(key, DEADLINE, sent="elements.focus") as (app, link):
            if hands is not None and near.window is not None:
                active = await self._a11y.windows.active()
                if active is None or active.id != near.window.id:
                    await hands.front(near.window)
            try:
                grabbed = bool(await link.value(Call(app.bus_name, path, COMPONENT, "GrabFocus"), DEADLINE))
            except Refusal:
                grabbed = False
            method = "accessibility"
            point = near.point()
            # A press gives a field the focus; to anything else it would do more than that.
            if not grabbed and hands is not None and point is not None and role_of(near.item.role) in FIELDS:
                await hands.click(point)
                method = "mouse"

            async def read() -> bool:
                mask = await mask_of(link, app, path)
                return bool(mask and mask & FOCUSED)

            _, held = await until(read, bool, FOCUS_PATIENCE)
            return Acted(method, verified=held)

    async def reveal(self, key: str) -> Acted:
        """See `Elements.reveal`; verified by finding some of it in view."""
        parsed = parse(key)
        async with self._a11y.asking(key, DEADLINE, sent="elements.reveal") as (app, link):

            async def look() -> Near:
                windows = await self._a11y.windows.list()
                return await look_at(link, app, parsed, windows, self._a11y.screen, popups=self._a11y.popups)

            return await reveal(link, app, look, self._a11y.hands)

    def _refuse_disabled(self, near: Near, key: str) -> None:
        if not near.item.mask & (ENABLED | SENSITIVE):
            raise ElementDisabled("The element is disabled.", element=key, reason="disabled")


def parent_of(bus_name: str, path: str) -> Call:
    """The call that asks for the object around another one."""
    return get(bus_name, path, ACCESSIBLE, "Parent")


def _name(bus_name: str, path: str) -> Call:
    return get(bus_name, path, ACCESSIBLE, "Name")


async def _popup_at(link: Link, app: App, point: Point) -> str | None:
    """Path of the item of an open menu at a point: menus are drawn in windows of their own."""
    shape = await read_app(link, app, 4.0)
    items = shape.items
    shown = [
        item.path
        for item in items.values()
        if item.mask & SHOWING and item.parent in items and items[item.parent].role in MENUS
    ]
    told = await link.many([extents(app, path) for path in shown], DEADLINE)
    found: str | None = None
    for path, box in zip(shown, told, strict=True):
        rect = Shift().rect(box[0]) if box else None
        if rect is not None and rect.contains(point):
            found = path
    return found
