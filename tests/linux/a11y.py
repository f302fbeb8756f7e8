"""Fixture programs and the accessibility of the test desktop, for the tests beside this file."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.driver import TreeScope
from anydevice_linux.a11y import A11y
from anydevice_linux.x11 import Windows, XDisplay
from anydevice_schemas import Node, Rect, Tree
from anydevice_schemas.tree import tree_faults

from .desktop import SYSTEM_PYTHON, Seat

PROGRAMS = Path(__file__).parent / "programs"
FULL = TreeScope(mode="full", max_nodes=30_000)
PATIENCE = 30.0
"""Seconds a program may take to be there on a busy machine."""


@asynccontextmanager
async def reading(seat: Seat) -> AsyncIterator[A11y]:
    """The accessibility of a desktop, for as long as the block runs."""
    display = await XDisplay.open(seat.display, None, deadline=PATIENCE)
    try:
        a11y = await A11y.open(seat.bus, Windows(display), screen=Rect(0, 0, *map(float, seat.size)), deadline=PATIENCE)
        try:
            yield a11y
        finally:
            await a11y.aclose()
    finally:
        await display.aclose()


@dataclass
class Program:
    """A fixture program: what it says of itself is what really happened to it."""

    process: subprocess.Popen[bytes]
    said: list[str] = field(default_factory=list)
    rest: bytes = b""

    def look(self) -> list[str]:
        """Everything it has said so far."""
        assert self.process.stdout is not None
        try:
            while chunk := os.read(self.process.stdout.fileno(), 65536):
                self.rest += chunk
        except BlockingIOError:
            pass
        *lines, self.rest = self.rest.split(b"\n")
        self.said += [line.decode() for line in lines]
        return self.said

    async def says(self, line: str, patience: float = PATIENCE) -> None:
        """Waits until it has said a line."""
        await eventually(lambda: line in self.look(), f"never said {line!r}", patience)


@asynccontextmanager
async def launched(
    seat: Seat, program: str, *words: str, system: bool = True, ready: str = "ready"
) -> AsyncIterator[Program]:
    """A fixture program, once it is ready, for as long as the block runs; `system`: under the system's Python."""
    python = SYSTEM_PYTHON if system else sys.executable
    process = seat.launch([python, PROGRAMS / program, *words], stdout=subprocess.PIPE)
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    started = Program(process)
    try:
        await started.says(ready)
        yield started
    finally:
        await anyio.to_thread.run_sync(seat.end, process)
        process.stdout.close()


@asynccontextmanager
async def running(seat: Seat, program: str, *words: str) -> AsyncIterator[Program]:
    """As `launched`, under the system's Python."""
    async with launched(seat, program, *words) as started:
        yield started


async def eventually(ready: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
    """Waits until something is so."""
    end = time.monotonic() + patience
    while not ready():
        assert time.monotonic() < end, what
        await anyio.sleep(0.01)


async def await_(read: Callable[[], Awaitable[Any]], good: Callable[[Any], object], patience: float = PATIENCE) -> Any:
    """Reads until what is read is good."""
    end = time.monotonic() + patience
    while True:
        found = await read()
        if good(found):
            return found
        assert time.monotonic() < end, f"still {found!r}"
        await anyio.sleep(0.02)


async def tree_of(a11y: A11y, pid: int, scope: TreeScope = FULL, *, shown: bool = True) -> Tree:
    """The tree of one program, once it has one (and something of it shows); checked."""

    async def read() -> Tree:
        return await a11y.tree(scope, reach=pid)

    def whole(tree: Tree) -> bool:
        tops = [node for node in tree.nodes if node.role in ("window", "dialog", "alertdialog")]
        placed = [node for node in tree.nodes if not node.root and node not in tops and node.rect is not None]
        seen = [node for node in placed if "hidden" not in node.states]  # a window that is not up yet hides them all
        inside = [node for node in seen if node.rect and node.rect.width > 0 and node.rect.height > 0]
        return len(tree.nodes) > 2 and bool(tops) and (bool(inside) or not shown)

    tree: Tree = await await_(read, whole)
    assert tree_faults(tree.nodes) == []
    return tree


def find(tree: Tree, name: str, role: str | None = None) -> Node:
    """The only node with a name (and role)."""
    found = [node for node in tree.nodes if node.name == name and role in (None, node.role)]
    assert len(found) == 1, (name, role, found)
    return found[0]


def key_of(tree: Tree, name: str, role: str | None = None) -> str:
    """The key of the only node with a name."""
    key = find(tree, name, role).key
    assert key is not None
    return key


NEEDS = {
    "gtk4": ("import gi; gi.require_version('Gtk', '4.0')", "gir1.2-gtk-4.0"),
    "qt5": ("import PyQt5.QtWidgets", "python3-pyqt5"),
}
"""What the system's Python has to know, and the package that brings it."""


@cache
def _missing(toolkit: str) -> str | None:
    if toolkit == "qt6":
        return None if importlib.util.find_spec("PySide6") else "not installed: PySide6"
    probe, package = NEEDS[toolkit]
    asked = subprocess.run([SYSTEM_PYTHON, "-c", probe], capture_output=True, check=False)
    return None if asked.returncode == 0 else f"not installed: {package}"


@asynccontextmanager
async def form_of(seat: Seat, toolkit: str, *words: str) -> AsyncIterator[Program]:
    reason = _missing(toolkit)
    if reason is not None:
        pytest.skip(reason)
    program = "a11y_gtk4.py" if toolkit == "gtk4" else "a11y_qt.py"
    async with launched(seat, program, *words, system=toolkit != "qt6") as started:
        yield started
