"""Apps that come and go: read back, with a person's word where data go, and only what was meant."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ..case import case
from ..hands import approved, folder, package
from ..trial import Trial

INSTALL: dict[str, Any] = {
    "needs": ("apps.install", "apps.uninstall", "apps.list"),
    "bundle": "install",
    "screen": None,
    "seconds": 180.0,
}


async def _there(t: Trial) -> set[str]:
    """Ids of the apps, as the driver itself lists them."""
    driver = await t.driver()
    return {app.id for app in await driver.apps.list()}  # type: ignore[attr-defined]


@case(
    "install.an-app-comes-and-goes",
    "An installed app MUST be listed by the id that is told, and MUST be listed no more once it was uninstalled.",
    **INSTALL,
)
async def comes_and_goes(t: Trial) -> None:
    async with folder(t) as (here, by):
        path = await package(t, here)
        before = await _there(t)
        answer = await t.call("install", by=by, path=path.name)
        app = str(answer.data["app"])
        t.equal((answer.verified, answer.data["updated"]), (True, app in before), "the answer")
        t.require(app in await _there(t), f"{app} is said to be installed, and is not listed")
        again = await t.call("install", by=by, path=path.name)
        t.equal((again.data["app"], again.data["updated"]), (app, True), "of a second time")
        anew = await approved(t, "reinstall", by=by, app=app, path=path.name)
        t.equal((anew.data["app"], anew.data["removed"]), (app, True), "of a reinstall")
        gone = await approved(t, "uninstall", by=by, app=app)
        t.equal((gone.data["app"], gone.verified), (app, True), "of its end")
        t.require(app not in await _there(t), f"{app} is said to be gone, and is listed")
        await approved(t, "uninstall", by=by, app=app, expect="app_not_found")


@case(
    "install.data-go-with-a-persons-word-only",
    "uninstall and reinstall MUST NOT remove anything before a person approved that very call.",
    **INSTALL,
)
async def persons_word(t: Trial) -> None:
    async with folder(t) as (here, by):
        path = await package(t, here)
        app = str((await t.call("install", by=by, path=path.name)).data["app"])
        calls: dict[str, dict[str, Any]] = {"uninstall": {}, "reinstall": {"path": path.name}}
        for command, more in calls.items():
            asked = await t.call(command, by=by, app=app, expect="confirmation_required", **more)
            t.detail(asked, "token", "expires_in", "command")
            t.require(app in await _there(t), f"{command} removed the app before it was approved")
        await approved(t, "uninstall", by=by, app=app)


@case(
    "install.what-is-no-package-is-refused",
    "What is no package MUST be invalid_argument, and MUST change nothing on the device.",
    **INSTALL,
)
async def no_package(t: Trial) -> None:
    async with folder(t) as (here, by):
        before = await _there(t)
        for name in ("text.txt", (await package(t, here)).name):
            (here / name).write_text("a text")
            await t.call("install", by=by, path=name, expect="invalid_argument")
        t.equal(await _there(t), before, "apps that are listed")


@contextmanager
def _server() -> Iterator[tuple[str, list[str]]]:
    """A server on this host, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """The suite's own output is for people."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


@case(
    "install.private-addresses-are-never-asked",
    "install-from-source MUST refuse an address of a private network before anything is sent to it.",
    **INSTALL,
)
async def private(t: Trial) -> None:
    with _server() as (host, asked):
        port = host.partition(":")[2]
        for source in (f"http://{host}/x", f"http://localhost:{port}/x", f"http://[::ffff:127.0.0.1]:{port}/x"):
            answer = await t.call("install-from-source", source=source, expect="refused")
            t.detail(answer, "reason", "alternative")
        t.equal(asked, [], "what the server was asked")


@case(
    "install.only-the-file-that-was-meant",
    "With sha256 nothing MUST be installed but a file that has it.",
    **INSTALL,
)
async def only_meant(t: Trial) -> None:
    async with folder(t) as (here, by):
        path = await package(t, here)
        before = await _there(t)
        wrong = "0" * 64
        answer = await t.call("install-from-source", by=by, source=path.name, sha256=wrong, expect="refused")
        t.equal(t.detail(answer, "expected", "actual")["expected"], wrong, "what was expected")
        t.equal(await _there(t), before, "apps that are listed")
        right = str(answer.error.details["actual"]) if answer.error is not None else ""
        done = await t.call("install-from-source", by=by, source=path.name, sha256=right)
        t.require(done.data["app"] in await _there(t), "the app is not listed")
        await approved(t, "uninstall", by=by, app=done.data["app"])
