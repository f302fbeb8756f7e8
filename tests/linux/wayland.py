"""A driver of a Wayland session, for the tests beside this file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from anydevice.driver import Environment, HostServices, TreeScope, Window
from anydevice_linux.backend import LinuxBackend
from anydevice_linux.driver import LinuxDriver
from anydevice_linux.seats import CALL_VARIABLES
from anydevice_schemas import Node, Tree

from .a11y import PATIENCE, await_
from .desktop import Seat

VIEWPORT = TreeScope(mode="viewport")
FULL = TreeScope(mode="full", max_nodes=5000)


def variables(seat: Seat, **changed: str) -> Mapping[str, str]:
    """What a caller in the session says of it; empty values are left out."""
    told = {name: seat.env[name] for name in CALL_VARIABLES if name in seat.env} | changed
    return {name: value for name, value in told.items() if value}


@asynccontextmanager
async def driving(seat: Seat, folder: Path, **changed: str) -> AsyncIterator[LinuxDriver]:
    """A driver of a session, for as long as the block runs."""
    backend = LinuxBackend(HostServices(str(folder / "data"), str(folder / "run")))
    env = Environment(None, variables(seat, **changed))
    try:
        rows = {row.id: row for row in await backend.devices(env)}
        driver = await backend.connect(rows[seat.env["WAYLAND_DISPLAY"]], env)
        try:
            yield driver
        finally:
            await driver.aclose()
    finally:
        await backend.aclose()


async def window(driver: LinuxDriver, title: str) -> Window:
    """The window with a title, once it is listed."""

    async def read() -> Window | None:
        return next((one for one in await driver.windows.list() if one.title == title), None)

    found: Window = await await_(read, lambda one: one is not None)
    return found


async def shows(driver: LinuxDriver, name: str, role: str | None = None, scope: TreeScope = VIEWPORT) -> Node:
    """The only node with a name (and role), once there is one; on Wayland with its place, where that can be known."""

    async def read() -> list[Node]:
        tree = await driver.screen.tree(scope)
        return [node for node in tree.nodes if node.name == name and role in (None, node.role)]

    found: list[Node] = await await_(read, lambda nodes: len(nodes) == 1, PATIENCE)
    return found[0]


async def settled(driver: LinuxDriver, name: str, role: str | None = None) -> Node:
    """As `shows`, once it has a place that stays."""
    last: Node | None = None

    async def read() -> Node | None:
        nonlocal last
        before, last = last, await shows(driver, name, role)
        same = before is not None and before.rect == last.rect and last.rect is not None
        return last if same else None

    node: Node = await await_(read, lambda found: found is not None, PATIENCE)
    return node


async def press(driver: LinuxDriver, name: str, role: str | None = None) -> Node:
    """Presses an element by the pointer where a fresh look says input for it goes."""
    node = await settled(driver, name, role)
    assert node.key is not None
    probe = await driver.elements.probe(node.key)
    assert probe.point is not None and probe.cover is None, probe
    await driver.pointer.click(probe.point)
    return probe.node


async def tree_of(driver: LinuxDriver, name: str) -> Tree:
    """The tree, once a node of a name is in it."""

    async def read() -> Tree:
        return await driver.screen.tree(FULL)

    tree: Tree = await await_(read, lambda tree: any(node.name == name for node in tree.nodes), PATIENCE)
    return tree
