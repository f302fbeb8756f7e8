"""Large, deep and flat programs, and buses that are not there or go away: answers by type, in time."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from anydevice.driver import TreeScope
from anydevice_linux.a11y import A11y
from anydevice_linux.a11y.bus import Call
from anydevice_linux.x11 import Windows, XDisplay
from anydevice_schemas.errors import CallTimeout, ConnectionLost, OutcomeUnknown, StaleRef, UpstreamUnavailable

from .a11y import FULL, await_, find, key_of, reading, running, tree_of
from .desktop import Seat, missing, running_desktop

pytestmark = pytest.mark.anyio


@pytest.fixture
async def a11y(seat: Seat) -> AsyncIterator[A11y]:
    async with reading(seat) as a11y:
        yield a11y


async def test_20_000_elements_are_read_or_counted(a11y: A11y, seat: Seat) -> None:
    async with running(seat, "a11y_gtk3.py", "--bare", "--rows", "20000") as program:
        tree = await tree_of(a11y, program.process.pid)
        assert tree.quality == "complete"
        assert sum(node.role == "button" for node in tree.nodes) == 20_000
        capped = await a11y.tree(TreeScope(mode="full", max_nodes=1500), reach=program.process.pid)
        assert len(capped.nodes) == 1500 and capped.quality == "truncated"
        assert capped.omitted["nodes"] == len(tree.nodes) - 1500
        seen = await a11y.tree(TreeScope(), reach=program.process.pid)
        assert len(seen.nodes) < 60 and seen.omitted["offscreen"] > 19_900
        last = await a11y.elements.probe(key_of(tree, "Row 19999"))
        assert last.point is None and "offscreen" in last.node.states


async def test_40_levels_are_read_whole(a11y: A11y, seat: Seat) -> None:
    async with running(seat, "a11y_gtk3.py", "--bare", "--deep", "45") as program:
        tree = await tree_of(a11y, program.process.pid)
        index = next(at for at, node in enumerate(tree.nodes) if node.name == "Bottom")
        assert len(tree.ancestors(index)) > 45 and tree.quality == "complete"
        probe = await a11y.elements.probe(key_of(tree, "Bottom"))
        assert probe.point is not None and probe.cover is None


async def test_2_000_elements_in_one_box_are_read(a11y: A11y, seat: Seat) -> None:
    async with running(seat, "a11y_gtk3.py", "--bare", "--flat", "2000") as program:
        tree = await tree_of(a11y, program.process.pid)
        names = [node.name for node in tree.nodes if node.role == "button"]
        assert names == [f"Flat {number}" for number in range(2000)]
        first = find(tree, "Flat 3")
        assert first.rect is not None
        at = await a11y.elements.at(first.rect.center)
        assert at is not None and at.key == first.key


async def test_session_without_a_bus_is_told_in_time(seat: Seat, tmp_path: Path) -> None:
    display = await XDisplay.open(seat.display, None)
    try:
        for address in (f"unix:path={tmp_path}/none", "nonsense", ""):
            start = time.monotonic()
            with pytest.raises(UpstreamUnavailable) as refused:
                await A11y.open(address, Windows(display), deadline=2.0)
            assert time.monotonic() - start < 15.0
            assert refused.value.details["upstream"] == "accessibility bus"
    finally:
        await display.aclose()


async def test_bus_that_does_not_answer_is_told_in_time(seat: Seat, tmp_path: Path) -> None:
    display = await XDisplay.open(seat.display, None)
    listener = await anyio.create_unix_listener(tmp_path / "mute")
    try:
        start = time.monotonic()
        with pytest.raises(UpstreamUnavailable):
            await A11y.open(f"unix:path={tmp_path}/mute", Windows(display), deadline=0.5)
        assert time.monotonic() - start < 2.9
    finally:
        await listener.aclose()
        await display.aclose()


async def test_accessibility_bus_that_goes_away_is_told_and_old_keys_are_stale(tmp_path: Path) -> None:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    async with running_desktop(tmp_path) as own, reading(own) as a11y, running(own, "a11y_gtk3.py") as program:
        key = key_of(await tree_of(a11y, program.process.pid), "Increment")
        before = a11y.generation
        name = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        whose = Call(*name, "GetConnectionUnixProcessID", "s", ("org.freedesktop.DBus",))
        os.kill(await (await a11y.buses()).own.value(whose, 5.0), signal.SIGKILL)

        async def gone() -> bool:
            try:
                await a11y.elements.probe(key)
            except (ConnectionLost, StaleRef):
                return True
            except CallTimeout:
                return False
            return False

        assert await await_(gone, bool, 20.0)
        try:
            tree = await a11y.tree(FULL, reach="all")
            assert tree.generation != before  # it was started anew; what was known before is of another screen
            assert any(loss["kind"] == "accessibility-bus" for loss in a11y.losses())
        except ConnectionLost as lost:
            assert lost.details["restarted"] is False


async def test_session_bus_that_goes_away_is_told_in_time(tmp_path: Path) -> None:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    desktop = running_desktop(tmp_path)
    own = await desktop.__aenter__()
    try:
        async with reading(own) as a11y:
            await a11y.tree(FULL, reach="all")
            await desktop.__aexit__(None, None, None)
            start = time.monotonic()
            with pytest.raises(Exception) as refused:
                await a11y.apps()
            assert isinstance(refused.value, ConnectionLost)
            assert time.monotonic() - start < 20.0
    finally:
        await desktop.__aexit__(None, None, None)


async def test_thousands_of_calls_and_a_huge_text_at_once_lose_no_connection(a11y: A11y, seat: Seat) -> None:
    async with running(seat, "a11y_gtk3.py") as program:
        tree = await tree_of(a11y, program.process.pid)
        app = await a11y.app_of(program.process.pid)
        assert app is not None
        link = await (await a11y.buses()).link(app.bus_name)
        root = Call(app.bus_name, "/org/a11y/atspi/accessible/root", "org.a11y.atspi.Accessible", "GetRole")
        answers: list[int] = []

        async def ask() -> None:
            answers.extend(answer is not None for answer in await link.many([root] * 2000, 60.0))

        text, notes = "long text " * 100_000, key_of(tree, "Notes")
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(ask)
            with contextlib.suppress(OutcomeUnknown):  # on a busy machine it may answer later than it is waited for
                assert (await a11y.elements.set_text(notes, text)).verified is True
        there = await await_(lambda: a11y.elements.probe(notes), lambda probe: probe.node.value)
        assert text.startswith(there.node.value) or there.node.value.startswith(text)
        assert sum(answers) == 6000 and not link.lost
