"""What is kept of a program that changes is what a whole walk says; what may have missed a change is not believed."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice_linux.a11y import A11y
from anydevice_linux.a11y.bus import Call
from anydevice_linux.a11y.cache import windows_of
from anydevice_linux.a11y.reading import read_app
from anydevice_linux.a11y.shape import Shape, shape_of
from anydevice_linux.a11y.walk import Walker
from anydevice_schemas import Tree

from .a11y import Program, await_, find, form_of, key_of, reading, running, tree_of
from .desktop import Seat, running_desktop

pytestmark = pytest.mark.anyio
REST = 4.0
"""Seconds layouts may take to come to rest after the last change; less than a mirror lives without a whole walk."""


@pytest.fixture
async def a11y(seat: Seat) -> AsyncIterator[A11y]:
    async with reading(seat) as a11y:
        yield a11y


@pytest.fixture(params=["qt5", "qt6"])
def qt(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _seen(tree: Tree) -> list[tuple[object, ...]]:
    return [(node.key, node.role, node.name, node.value, node.states - {"focused"}, node.parent) for node in tree.nodes]


async def _churned(a11y: A11y, form: Program, turn: int, key: str) -> None:
    """Starts a churn and reads all the time until it is over."""
    await a11y.elements.activate(key)
    with anyio.fail_after(30):
        while form.look().count("churned") < turn:
            await tree_of(a11y, form.process.pid)
            await anyio.sleep(0.01)


async def _same(one: Callable[[], Awaitable[list[Any]]], other: Callable[[], Awaitable[list[Any]]]) -> None:
    """Waits until both say the same."""
    end = anyio.current_time() + REST
    while True:
        kept, walked = await one(), await other()
        if kept == walked:
            return
        assert anyio.current_time() < end, ([e for e in kept if e not in walked], [e for e in walked if e not in kept])
        await anyio.sleep(0.1)


async def test_mirror_of_a_qt_program_under_churn_is_what_a_whole_walk_says(a11y: A11y, seat: Seat, qt: str) -> None:
    async with form_of(seat, qt, "--churn") as form:
        pid = form.process.pid
        churn = key_of(await tree_of(a11y, pid), "Churn", "button")

        async def kept() -> list[Any]:
            return _seen(await tree_of(a11y, pid))

        async def walked() -> list[Any]:
            async with reading(seat) as fresh:
                return _seen(await tree_of(fresh, pid))

        for turn in range(1, 4):
            await _churned(a11y, form, turn, churn)
            app = await a11y.app_of(pid)
            assert app is not None and app.mirror is not None and app.mirror.believed()
            await _same(kept, walked)


@pytest.mark.parametrize("toolkit", ["gtk3", "gtk4"])
async def test_cache_of_a_gtk_program_under_churn_is_what_a_whole_walk_says(
    a11y: A11y, seat: Seat, toolkit: str
) -> None:
    made = running(seat, "a11y_gtk3.py", "--churn") if toolkit == "gtk3" else form_of(seat, toolkit, "--churn")
    async with made as form:
        pid = form.process.pid
        churn = key_of(await tree_of(a11y, pid), "Churn", "button")
        app = await a11y.app_of(pid)
        assert app is not None

        def held(shape: Shape) -> list[Any]:
            items = {item.path: (item.role, item.name, item.parent) for item in shape.items.values()}
            todo, out = list(shape.kids[""]), []
            while todo:
                path = todo.pop()
                out.append((path, items[path]))
                # Where a menu was never open, the cache does not say in which order its entries are.
                todo.extend(sorted(shape.kids.get(path, ())))
            return out

        async def kept() -> list[Any]:
            link = await (await a11y.buses()).link(app.bus_name)
            return held(await read_app(link, app, 10.0))

        async def walked() -> list[Any]:
            link = await (await a11y.buses()).link(app.bus_name)
            shape, holes = shape_of({}, await windows_of(link, app, 10.0))
            await Walker(link, app, shape, anyio.current_time() + 10.0).fill(holes)
            return held(shape)

        for turn in range(1, 4):
            await _churned(a11y, form, turn, churn)
            await _same(kept, walked)


async def test_what_is_told_again_is_not_read_again_and_a_change_is_seen_at_once(a11y: A11y, seat: Seat) -> None:
    async with running(seat, "a11y_gtk3.py", "--bare", "--rows", "80", "--churn") as form:
        pid = form.process.pid
        await tree_of(a11y, pid)
        app = await a11y.app_of(pid)
        assert app is not None

        async def again() -> bool:
            before = app.shape
            await tree_of(a11y, pid)
            return app.shape is before

        await await_(again, bool)  # once it has the focus and has come to rest
        tree, first = await tree_of(a11y, pid), app.shape
        await _churned(a11y, form, 1, key_of(tree, "Churn", "button"))
        await tree_of(a11y, pid)
        assert app.shape is not first


async def test_mirror_is_kept_while_nothing_was_missed(a11y: A11y, seat: Seat, qt: str) -> None:
    async with form_of(seat, qt, "--rows", "400") as form:
        first = await tree_of(a11y, form.process.pid)
        app = await a11y.app_of(form.process.pid)
        assert app is not None and app.mirror is not None
        walked = app.mirror.shape
        await a11y.elements.activate(key_of(first, "Increment", "button"))
        await form.says("count 1")
        again = await await_(
            lambda: tree_of(a11y, form.process.pid), lambda tree: any(node.name == "Count: 1" for node in tree.nodes)
        )
        assert app.mirror.shape is walked and len(again.nodes) == len(first.nodes)


async def test_mirror_that_missed_events_is_not_believed(a11y: A11y, seat: Seat, qt: str) -> None:
    async with form_of(seat, qt) as form:
        pid = form.process.pid
        tree = await tree_of(a11y, pid)
        app = await a11y.app_of(pid)
        assert app is not None and app.mirror is not None
        missed = app.mirror
        buses = await a11y.buses()
        await (await buses.link(app.bus_name)).aclose()  # as a bus does to whoever does not keep up
        async with reading(seat) as other:
            await other.elements.activate(key_of(tree, "Increment", "button"))
        await form.says("count 1")
        kept = await tree_of(a11y, pid)
        assert app.mirror is not missed and find(kept, "Count: 1")


async def test_mirror_is_not_believed_once_the_registry_that_sends_it_events_is_another_one(
    tmp_path: Path, qt: str
) -> None:
    with running_desktop(tmp_path) as seat:
        async with form_of(seat, qt) as form, reading(seat) as a11y:
            await tree_of(a11y, form.process.pid)
            app = await a11y.app_of(form.process.pid)
            assert app is not None and app.mirror is not None
            buses = await a11y.buses()
            link = await buses.link(app.bus_name)
            assert app.mirror.over(link)
            who = Call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                "GetConnectionUnixProcessID", "s", ("org.a11y.atspi.Registry",),
            )  # fmt: skip
            os.kill(await buses.own.value(who, 5.0), signal.SIGTERM)  # the one this very desktop has started
            mirror = app.mirror

            async def over() -> bool:
                return mirror.over(link)

            await await_(over, lambda still: not still)
