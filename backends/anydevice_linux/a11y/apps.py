"""The applications on the accessibility bus: who they are, and what they are built with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio

from anydevice_schemas import Point, Rect

from .bus import Buses, Call, Refusal, Trouble, first, get
from .mirror import Mirror
from .shape import ROOT, Shape

REGISTRY: Final = "org.a11y.atspi.Registry"
ACCESSIBLE: Final = "org.a11y.atspi.Accessible"
_APPLICATION: Final = "org.a11y.atspi.Application"
REGISTRY_DEADLINE: Final = 2.0
"""Seconds the registry may take to say who is there."""
APP_DEADLINE: Final = 1.5
"""Seconds one application may take to be read."""
AGAIN_DEADLINE: Final = 0.25
"""The same for one that has not answered the last time."""
MARGINS_MOST: Final = 100


@dataclass(eq=False)
class App:
    """One application.

    Attributes:
        bus_name: Its name on the bus; never given to another one.
        pid: Its process; None where the bus does not know.
        title: What it calls itself, else its process's name; untrusted.
        toolkit: `gtk` (GTK 3), `GTK` (GTK 4), `Qt`, `Chromium`, or what else it says; empty until it answered.
        version: Of the toolkit.
        silent: It left the last question open.
        socket: Address of its own socket; empty where it has none.
        awake: Its cache was asked to work.
        kinds: Role, interfaces and description of objects that were walked to, by path.
        ids: Identifiers of its objects, by path.
        mirror: What it holds, kept by its events, where it has no cache.
        shape: What it held when it was last read.
        pressed: Where options of its lists were pressed last.
        told: What its cache and its windows were then, if nothing else was needed; what is told again says the same.
        wayland: Its windows are on a Wayland compositor; it does not know where.
        margins: Where its windows begin in their surfaces, by the sizes of surface and window.
    """

    bus_name: str
    pid: int | None = None
    title: str = ""
    toolkit: str = ""
    version: str = ""
    silent: bool = False
    socket: str = ""
    awake: bool = False
    kinds: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    mirror: Mirror | None = None
    shape: Shape | None = None
    told: tuple[list[Any], list[str]] | None = None
    pressed: list[Point] = field(default_factory=list)
    wayland: bool = False
    margins: dict[tuple[int, ...], tuple[int, int]] = field(default_factory=dict)

    @property
    def patience(self) -> float:
        """Seconds it may take to be read."""
        return AGAIN_DEADLINE if self.silent else APP_DEADLINE

    def margin(self, told: Sequence[int], window: Rect) -> tuple[int, int] | None:
        """Where a window on Wayland begins in the surface that is told: left, top; None where that is not known."""
        sizes = (told[2], told[3], int(window.width), int(window.height))
        if sizes[:2] == sizes[2:]:
            return 0, 0
        return self.margins.get(sizes)

    def learn_margin(self, told: Sequence[int], window: Rect, margin: tuple[int, int]) -> None:
        """Remembers what `margin` is asked for; it stays while neither size changes."""
        if len(self.margins) >= MARGINS_MOST:
            self.margins.clear()
        self.margins[told[2], told[3], int(window.width), int(window.height)] = margin


class Apps:
    """The applications that are registered; who they are is asked once."""

    def __init__(self, *, wayland: bool = False) -> None:
        """`wayland` says that their windows are on a Wayland compositor."""
        self._wayland = wayland
        self._known: dict[str, App] = {}

    async def list(self, buses: Buses) -> list[App]:
        """All applications that are registered now, in the order of the registry. One that does not say its name is
        listed all the same, as `silent`.

        Raises:
            Trouble: The bus or its registry does not answer.
        """
        found = await buses.own.value(Call(REGISTRY, ROOT, ACCESSIBLE, "GetChildren"), REGISTRY_DEADLINE)
        names = [name for name, _ in found]
        new = [name for name in names if name not in self._known]
        if len(names) != len(self._known) or new:
            for name in set(self._known).difference(names):
                del self._known[name]
            await buses.forget(names)
            async with anyio.create_task_group() as group:
                for name in new:
                    group.start_soon(self._meet, buses, name)
        return [self._known[name] for name in names if name in self._known]

    def named(self, bus_name: str) -> App | None:
        """An application of the last listing."""
        return self._known.get(bus_name)

    async def _meet(self, buses: Buses, name: str) -> None:
        app = App(name, wayland=self._wayland)
        try:
            who = Call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                "GetConnectionUnixProcessID", "s", (name,),
            )  # fmt: skip
            app.pid = int(await buses.own.value(who, REGISTRY_DEADLINE))
        except Refusal:
            app.pid = None
        except Trouble:
            return  # gone in between
        self._known[name] = app
        await introduce(buses, app)


async def introduce(buses: Buses, app: App) -> None:
    """Asks an application for its name and toolkit; one that does not answer is `silent`, and may be asked again."""
    name = app.bus_name
    try:
        link = await buses.link(name)
        asked = await link.many(
            [
                get(name, ROOT, ACCESSIBLE, "Name"),
                get(name, ROOT, _APPLICATION, "ToolkitName"),
                get(name, ROOT, _APPLICATION, "Version"),
            ],
            app.patience,
        )
    except Trouble:
        app.silent = True
        app.title = app.title or process_name(app.pid)
        return
    app.silent = False
    app.title = str(first(asked, 0, "")) or process_name(app.pid)
    app.toolkit = str(first(asked, 1, "")) or "unknown"
    app.version = str(first(asked, 2, ""))


def process_name(pid: int | None) -> str:
    """The kernel's name of a process; empty where it is gone."""
    if pid is None:
        return ""
    try:
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    except OSError:
        return ""
