"""A virtual Linux desktop through the whole path, in one process: what reading and pressing cost.

Windows of 2,000 objects in each toolkit, opened here; beside each the plainest way to read the same window (five
questions an object, as many at once as help), so that there is a ratio that says something on any machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from anydevice.assembly import open_router
from anydevice.settings import Settings
from anydevice.testing import call
from anydevice_schemas.practice import APP_ID

Report = Callable[..., float]
Timed = Callable[[int, Callable[[], Awaitable[Any]]], Awaitable[list[float]]]
PROGRAMS = Path(__file__).resolve().parent.parent / "tests" / "linux" / "programs"
SYSTEM_PYTHON = "/usr/bin/python3"
ROWS = 2000
FLAGS = (
    "--no-sandbox", "--force-renderer-accessibility", "--no-first-run", "--disable-gpu", "--password-store=basic",
)  # fmt: skip
REST = 1.5
"""Seconds a program gets to come to rest before it is measured."""
AT_ONCE = 128


def busy() -> float:
    """Processor seconds that this process and everything it has started have used so far."""
    parents: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text().rpartition(") ")[2].split()
            parents[int(entry.parent.name)] = int(fields[1]), int(fields[11]) + int(fields[12])
    ours, grown = {os.getpid()}, True
    while grown:
        below = {pid for pid, (parent, _) in parents.items() if parent in ours} - ours
        ours |= below
        grown = bool(below)
    return sum(parents[pid][1] for pid in ours if pid in parents) / os.sysconf("SC_CLK_TCK")


Measure = Callable[[str, int, Callable[[], Awaitable[Any]]], Awaitable[float]]


def measuring(report: Report, timed: Timed) -> Measure:
    """Reports as `report` does, with the processor time that one call takes in all processes together: other load on
    the machine does not change that."""

    async def measure(name: str, times: int, action: Callable[[], Awaitable[Any]]) -> float:
        before = busy()
        samples = await timed(times, action)
        return report(name, samples, note=f"processors {(busy() - before) / (times + 2) * 1e3:.0f} ms")

    return measure


async def desktop(report: Report, timed: Timed) -> None:
    """The practice app (GTK3), windows of 2,000 objects, and gnome-calculator (GTK4), as far as they are installed."""
    if shutil.which("Xvfb") is None:
        print("no Xvfb here: the Linux desktop is not measured")
        return
    measure = measuring(report, timed)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with open_router(Settings(home=home, disabled=frozenset({"android"}))) as router:

            async def do(name: str, **arguments: Any) -> Any:
                answer = await router.call(call(name, device="virtual", **arguments))
                assert answer.ok, answer.error
                return answer

            await do("boot")
            try:
                await _practice(measure, do)
                backend = await router.services.backends.instance("linux")
                seat = backend.desktop("virtual").running()  # type: ignore[attr-defined]
                await _picture(measure, timed, do, seat)
                for name, argv in _windows(home):
                    await _window(measure, do, name=name, argv=argv, home=home, bus=seat.bus)
            finally:
                await do("shutdown")


async def _practice(measure: Measure, do: Callable[..., Awaitable[Any]]) -> None:
    await do("open", app=APP_ID, arguments=["--screen", "home"])
    button = (await do("find", query="label=Increment role=button")).data["matches"][0]["ref"]
    changed = []

    async def press() -> None:
        changed.append((await do("press", target=button)).data["changed"])

    await measure("Linux: press by ref to the answer that tells what changed (GTK3)", 20, press)
    assert all(changed), "a press changed nothing"
    await do("open", app=APP_ID, arguments=["--screen", "form"])
    await measure("Linux: snapshot of the practice app's form (GTK3)", 20, lambda: do("snapshot"))
    still = (await do("find", query='label="Sign in" role=button')).data["matches"][0]["ref"]
    await measure("Linux: press that changes nothing, looked at twice (GTK3)", 20, lambda: do("press", target=still))
    switch = (await do("find", query='label="Wi-Fi" role=switch')).data["matches"][0]["ref"]
    verified = []

    async def toggle() -> None:
        verified.append((await do("press", target=switch)).verified)

    await measure("Linux: press of a switch, seen to have worked (GTK3)", 10, toggle)
    assert all(verified), "a toggle was not verified"
    texts = iter(f"Ada {number}" for number in range(1000))
    await measure("Linux: fill by label, read back (GTK3)", 10, lambda: do("fill", target="Name", text=next(texts)))


async def _picture(measure: Measure, timed: Timed, do: Callable[..., Awaitable[Any]], seat: Any) -> None:
    import mss
    from PIL import Image

    if seat.xauthority is not None:
        os.environ["XAUTHORITY"] = seat.xauthority  # the library looks nowhere else

    def plain() -> None:
        with mss.MSS(display=seat.display) as grabber:
            shot = grabber.grab({"left": 0, "top": 0, "width": 1280, "height": 800})
        Image.frombytes("RGB", shot.size, shot.bgra, "raw", "BGRX").save(io.BytesIO(), "PNG")

    bare = statistics.median(await timed(5, lambda: asyncio.to_thread(plain)))
    ours = await measure("Linux: screenshot 1280x800, PNG", 20, lambda: do("screenshot"))
    print(f"  ratio to grabbing and encoding with the libraries' own settings: {ours / bare:.2f}")


def _windows(home: Path) -> list[tuple[str, list[str]]]:
    """The windows that can be opened here: what they are called, and how they are started."""
    found: list[tuple[str, list[str]]] = []
    if _knows("import gi; gi.require_version('Gtk', '3.0')"):
        found.append(("GTK3", [SYSTEM_PYTHON, str(PROGRAMS / "a11y_gtk3.py"), "--bare", "--rows", str(ROWS)]))
    if shutil.which("chromium") is not None:
        pairs = range(ROWS * 9 // 40)
        lines = "".join(f"<p><a href='#{n}'>Link {n}</a> <button>Button {n}</button></p>" for n in pairs)
        (home / "page.html").write_text(f"<!doctype html><title>Page</title>{lines}")
        argv = ["chromium", *FLAGS, f"--user-data-dir={home / 'profile'}", str(home / "page.html")]
        found.append(("Chromium", argv))
    if _knows("import gi; gi.require_version('Gtk', '4.0')"):
        # A button of GTK 4 is two objects.
        found.append(("GTK4", [SYSTEM_PYTHON, str(PROGRAMS / "a11y_gtk4.py"), "--rows", str(ROWS // 2)]))
    for python, probe in ((SYSTEM_PYTHON, "import PyQt5.QtWidgets"), (sys.executable, "import PySide6.QtWidgets")):
        if _knows(probe, python):
            version = "Qt 5" if "PyQt5" in probe else "Qt 6"
            found.append((version, [python, str(PROGRAMS / "a11y_qt.py"), "--rows", str(ROWS)]))
    if shutil.which("gnome-calculator") is not None:
        found.append(("gnome-calculator", ["gnome-calculator"]))
    return found


def _knows(probe: str, python: str = SYSTEM_PYTHON) -> bool:
    return (
        Path(python).exists()
        and subprocess.run([python, "-c", probe], capture_output=True, check=False).returncode == 0
    )


async def _window(
    measure: Measure,
    do: Callable[..., Awaitable[Any]],
    *,
    name: str,
    argv: Sequence[str],
    home: Path,
    bus: str,
) -> None:
    id = "bench-" + name.lower().replace(" ", "")
    folder = next(home.rglob(f"{APP_ID}.desktop")).parent
    words = " ".join(f'"{word}"' for word in argv)
    (folder / f"{id}.desktop").write_text(f"[Desktop Entry]\nType=Application\nName={name}\nExec={words}\n")
    await do("open", app=id)
    await asyncio.sleep(REST)
    everything = {"mode": "full", "maxNodes": 20_000}
    nodes = (await do("snapshot", **everything)).data["nodes"]
    for _ in range(8):
        await do("snapshot", **everything)  # identifiers of what is off screen are asked for in portions
    await measure(f"Linux: snapshot, viewport of {name}", 20, lambda: do("snapshot"))
    whole = await measure(f"Linux: snapshot, all {nodes} objects of {name}", 10, lambda: do("snapshot", **everything))
    bare = min([await _plain_walk(bus) for _ in range(2)])
    print(f"  ratio to five questions an object: {whole / bare:.2f} ({bare * 1e3:.0f} ms)")
    await do("close", force=True)


async def _plain_walk(bus: str) -> float:
    """Seconds that five questions for each object of every application take: children, role, name, states, place."""
    from anydevice_linux.a11y.bus import Buses, Call, first, get

    face, component = "org.a11y.atspi.Accessible", "org.a11y.atspi.Component"
    buses = await Buses.open(bus, 5.0)
    try:
        root = Call("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root", face, "GetChildren")
        level = [(name, path) for name, path in await buses.own.value(root, 5.0)]
        started = time.perf_counter()
        while level:
            asked = [
                question
                for name, path in level
                for question in (
                    Call(name, path, face, "GetChildren"), Call(name, path, face, "GetRole"),
                    get(name, path, face, "Name"), Call(name, path, face, "GetState"),
                    Call(name, path, component, "GetExtents", "u", (0,)),
                )
            ]  # fmt: skip
            answers = await buses.own.many(asked, 60.0)
            below = [kid for at in range(0, len(answers), 5) for kid in first(answers, at, ())]
            level = [(name, path) for name, path in below if not path.endswith("/null")]
        return time.perf_counter() - started
    finally:
        await buses.aclose()
