"""A virtual desktop behind a router, for tests that go through our commands and are judged by X and by the programs."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio

import anydevice_linux
from anydevice.driver import HostServices
from anydevice.router import Router
from anydevice.testing import call, fake_router
from anydevice_linux.backend import LinuxBackend
from anydevice_linux.x11 import Window, Windows, XDisplay
from anydevice_schemas import Answer, Manifest

PATIENCE = 20.0
"""Seconds something may take on a busy machine."""


class Seated:
    """A virtual desktop behind a router."""

    def __init__(self, router: Router, backend: LinuxBackend) -> None:
        self.router, self.backend = router, backend

    async def do(self, command: str, *, expect: str = "ok", **arguments: Any) -> Answer:
        """Calls a command; its answer, which has to be `ok` or the error code that is expected."""
        answer = await self.router.call(call(command, device="virtual", **arguments))
        said = "ok" if answer.ok or answer.error is None else answer.error.code
        assert said == expect, (command, arguments, answer.error)
        return answer

    def install(self, id: str, argv: Sequence[str | Path]) -> None:
        """Makes a program known to the desktop as an app."""
        desktop = self.backend.desktop("virtual")
        assert desktop is not None
        folder = Path(desktop.running().cwd) / ".local" / "share" / "applications"
        words = " ".join(f'"{word}"' for word in argv)
        (folder / f"{id}.desktop").write_text(f"[Desktop Entry]\nType=Application\nName={id}\nExec={words}\n")

    async def windows(self) -> list[Window]:
        """What X itself says."""
        desktop = self.backend.desktop("virtual")
        assert desktop is not None
        seat = desktop.running()
        display = await XDisplay.open(seat.display, seat.xauthority)
        try:
            return await Windows(display).list()
        finally:
            await display.aclose()

    async def shown(self, title: str) -> bool:
        """Whether a window whose title begins so comes to be there."""
        return await self._so(lambda windows: any(window.title.startswith(title) for window in windows))

    async def gone(self, title: str) -> bool:
        """Whether no window with this in its title is there any more."""
        return await self._so(lambda windows: not any(title in window.title for window in windows))

    async def _so(self, wanted: Callable[[list[Window]], bool]) -> bool:
        with anyio.move_on_after(PATIENCE):
            while not wanted(await self.windows()):
                await anyio.sleep(0.05)
            return True
        return False


@asynccontextmanager
async def seated(folder: Path) -> AsyncIterator[Seated]:
    """A virtual desktop, booted, for as long as the block runs; `folder` holds its files."""
    manifest = Manifest.from_toml((Path(anydevice_linux.__file__).parent / "backend.toml").read_text("utf-8"))
    backend = LinuxBackend(HostServices(str(folder / "data"), str(folder / "run")))
    async with fake_router() as (router, _):
        router.services.backends.add(manifest, backend)
        made = Seated(router, backend)
        await made.do("boot")
        yield made
        await made.do("shutdown")
    await backend.aclose()


async def eventually(wanted: Callable[[], object], what: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Waits until something is so; fails with what `what` says."""
    with anyio.move_on_after(seconds):
        while not wanted():
            await anyio.sleep(0.01)
    assert wanted(), what()


class Witness:
    """What a practice program reports to."""

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.reports.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/witness"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        """Hears no more."""
        self._server.shutdown()
        self._server.server_close()

    def said(self, what: str, id: str = "") -> list[Any]:
        """The values of all reports of a kind, of one element or of all."""
        return [r["value"] for r in self.reports if r["what"] == what and id in ("", r["id"])]

    def pressed(self) -> list[str]:
        """Ids of what was pressed, in order."""
        return [report["id"] for report in self.reports if report["what"] == "press"]

    async def until(self, wanted: Callable[[], object]) -> None:
        """Waits until the reports are so."""
        await eventually(wanted, lambda: "\n".join(map(str, self.reports)))
