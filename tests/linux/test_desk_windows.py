"""Windows of a real desktop through our commands; judged by what the X server tells other programs."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

import anydevice_linux
from anydevice.driver import HostServices
from anydevice.testing import call, fake_router
from anydevice_linux.backend import LinuxBackend
from anydevice_schemas import Answer, Manifest

from .desktop import end, missing
from .witnesses import Witness

LACKS = missing() or next(
    (f"not installed: {p} (x11-utils)" for p in ("xwininfo", "xprop") if not shutil.which(p)), None
)
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(LACKS is not None, reason=LACKS or "")]
PATIENCE = 10.0


def plain_authority(folder: Path, env: Mapping[str, str]) -> str:
    """The desktop's cookie under the name of this host: python-xlib, which the witnesses use, knows no wild cards."""
    whole = Path(env["XAUTHORITY"]).read_bytes()
    length = int.from_bytes(whole[-18:-16], "big")
    cookie = whole[-length:]
    fields = (socket.gethostname().encode(), env["DISPLAY"].removeprefix(":").encode(), b"MIT-MAGIC-COOKIE-1", cookie)
    entry = (256).to_bytes(2, "big") + b"".join(len(field).to_bytes(2, "big") + field for field in fields)
    path = folder / "authority"
    path.write_bytes(entry)
    return str(path)


class Place:
    """A virtual desktop behind a router, and other programs on it."""

    def __init__(self, router: Any, backend: LinuxBackend, folder: Path) -> None:
        self.router, self.backend, self.folder = router, backend, folder
        self.programs: list[subprocess.Popen[bytes]] = []

    @property
    def env(self) -> dict[str, str]:
        desktop = self.backend.desktop("virtual")
        assert desktop is not None
        env = dict(desktop.running().env)
        return {**env, "XAUTHORITY": plain_authority(self.folder, env)}

    # --- as `tests.linux.desktop.Seat`, for its witnesses ---

    @property
    def display(self) -> str:
        return self.env["DISPLAY"]

    def launch(
        self,
        argv: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        stdout: int | None = None,
        stdin: int = subprocess.DEVNULL,
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [str(word) for word in argv],
            env={**self.env, **(env or {})},
            stdin=stdin,
            stdout=stdout or subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.programs.append(process)
        return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        end(process)
        if process in self.programs:
            self.programs.remove(process)

    # --- what X says, asked by programs that are not ours ---

    def asked(self, *argv: str) -> str:
        done = subprocess.run(argv, env=self.env, capture_output=True, text=True, timeout=20, check=False)
        return done.stdout

    def frame(self, id: int) -> tuple[int, int, int, int]:
        """Place and size of a window with its border."""
        said = self.asked("xwininfo", "-id", str(id))
        x, y, width, height = (
            int(found[1])
            for word in ("Absolute upper-left X", "Absolute upper-left Y", "Width", "Height")
            if (found := re.search(rf"{word}:\s+(-?\d+)", said))
        )
        border = re.search(r"= (\d+), (\d+), (\d+), (\d+)", self.asked("xprop", "-id", str(id), "_NET_FRAME_EXTENTS"))
        left, right, top, bottom = map(int, border.groups()) if border else (0, 0, 0, 0)
        return x - left, y - top, width + left + right, height + top + bottom

    def states(self, id: int) -> set[str]:
        said = self.asked("xprop", "-id", str(id), "_NET_WM_STATE")
        return {word.removeprefix("_NET_WM_STATE_").lower() for word in re.findall(r"_NET_WM_STATE_\w+", said)}

    def active(self) -> int:
        found = re.search(r"0x[0-9a-f]+", self.asked("xprop", "-root", "_NET_ACTIVE_WINDOW"))
        return int(found[0], 16) if found else 0

    def there(self, id: int) -> bool:
        return "Map State" in self.asked("xwininfo", "-id", str(id))

    # --- our commands ---

    async def __call__(self, command: str, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call(command, device="virtual", **arguments))
        return answer

    async def do(self, command: str, **arguments: Any) -> Answer:
        answer = await self(command, **arguments)
        assert answer.ok, (command, arguments, answer.error)
        return answer

    async def refused(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = await self(command, **arguments)
        assert answer.error is not None, answer.data
        return {"code": answer.error.code, **answer.error.details}

    async def row(self, title: str) -> dict[str, Any]:
        rows: list[dict[str, Any]] = (await self.do("window", window=title)).data["windows"]
        (row,) = [one for one in rows if one["title"] == title]
        return row


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    folder = tmp_path_factory.mktemp("windows")
    manifest = Manifest.from_toml((Path(anydevice_linux.__file__).parent / "backend.toml").read_text("utf-8"))
    backend = LinuxBackend(HostServices(str(folder / "data"), str(folder / "run")))
    async with fake_router() as (router, _):
        router.services.backends.add(manifest, backend)
        made = Place(router, backend, folder)
        await made.do("boot")
        yield made
        for program in [*made.programs]:
            made.end(program)
        await made.do("shutdown")
    await backend.aclose()


@pytest.fixture
def shows(place: Place) -> Iterator[Callable[..., Any]]:
    """Opens windows that tell what they get; arguments as of `Witness`, without the seat."""
    made: list[Witness] = []

    async def show(title: str, *flags: str, **how: Any) -> Witness:
        one = await anyio.to_thread.run_sync(lambda: Witness(place, *flags, title=title, **how))  # type: ignore[arg-type]
        made.append(one)
        with anyio.fail_after(PATIENCE):
            while place.active() != one.id or not (await place.do("window", window=title)).data["windows"]:
                await anyio.sleep(0.05)
        return one

    yield show
    for one in made:
        one.end()


async def test_windows_are_listed_as_the_x_server_has_them(place: Place, shows: Callable[..., Any]) -> None:
    below = await shows("Below", at=(50, 60), size=(300, 200))
    above = await shows("Above", at=(120, 130), size=(320, 180))
    rows = (await place.do("window")).data["windows"]
    assert [row["title"] for row in rows] == ["Above", "Below"]
    for row, one in zip(rows, (above, below), strict=True):
        assert tuple(row["rect"]) == place.frame(one.id)
        assert row["pid"] == one.process.pid
    assert place.active() == above.id
    assert [row["states"] for row in rows] == [["active"], []]


async def test_every_verb_does_to_the_window_what_it_says(place: Place, shows: Callable[..., Any]) -> None:
    one = await shows("Subject", at=(50, 60), size=(300, 200))
    await shows("Other", at=(90, 90), size=(300, 200))
    told = (await place.do("window", action="move", window="Subject", x=200, y=150)).data["window"]
    assert place.frame(one.id)[:2] == (200, 150) == tuple(told["rect"][:2])
    told = (await place.do("window", action="resize", window="Subject", width=500, height=333)).data["window"]
    assert place.frame(one.id) == (200, 150, 500, 333) == tuple(told["rect"])
    answer = await place.do("window", action="raise", window="Subject")
    assert (answer.verified, place.active()) == (True, one.id)
    await place.do("window", action="minimize", window="Subject")
    assert "hidden" in place.states(one.id) and place.active() != one.id
    told = (await place.do("window", action="unminimize", window="Subject")).data["window"]
    assert "hidden" not in place.states(one.id) and "minimized" not in told["states"]
    told = (await place.do("window", action="maximize", window="Subject")).data["window"]
    assert {"maximized_vert", "maximized_horz"} <= place.states(one.id) and "maximized" in told["states"]
    assert place.frame(one.id)[2] == 1280
    told = (await place.do("window", action="unmaximize", window="Subject")).data["window"]
    assert place.frame(one.id) == (200, 150, 500, 333) == tuple(told["rect"])


async def test_two_of_one_title_are_told_apart_by_their_ids(place: Place, shows: Callable[..., Any]) -> None:
    one, two = await shows("Twin", at=(50, 60)), await shows("Twin", at=(500, 60))
    refused = await place.refused("window", action="move", window="Twin", x=1, y=1)
    assert (refused["code"], refused["matches"]) == ("ambiguous_element", 2)
    by_pid = {row["pid"]: row["id"] for row in refused["candidates"]}
    await place.do("window", action="move", window=by_pid[one.process.pid], x=33, y=300)
    assert place.frame(one.id)[:2] == (33, 300) and place.frame(two.id)[:2] != (33, 300)


async def test_an_id_is_never_given_to_another_window(place: Place, shows: Callable[..., Any]) -> None:
    """The X server gives the numbers of a program that ended to the next one; an id of ours is not given again."""
    seen, numbers = set(), set()
    for _ in range(4):
        one = await shows("Passing")
        seen.add((await place.row("Passing"))["id"])
        numbers.add(one.id)
        gone = (await place.row("Passing"))["id"]
        one.end()
        with anyio.fail_after(PATIENCE):
            while (await place.do("window", window="Passing")).data["windows"]:
                await anyio.sleep(0.05)
        refused = await place.refused("window", action="raise", window=gone)
        assert refused["code"] == "app_not_found"
    assert len(seen) == 4
    assert len(numbers) < 4, "numbers were not given again, so this shows nothing"


async def test_close_ends_the_window_and_its_program(place: Place, shows: Callable[..., Any]) -> None:
    one = await shows("Leaving")
    answer = await place.do("window", action="close", window="Leaving")
    assert (answer.verified, answer.data["closed"]) == (True, True)
    assert not place.there(one.id)
    assert await anyio.to_thread.run_sync(one.process.wait, PATIENCE) == 0


async def test_a_question_instead_of_closing_is_told_and_stays(place: Place, shows: Callable[..., Any]) -> None:
    one = await shows("Asking", "--dialog-on-close")
    refused = await place.refused("window", action="close", window="Asking")
    assert (refused["code"], refused["text"]) == ("dialog_open", "Save changes?")
    assert place.there(one.id)
    rows = {row["title"]: row for row in (await place.do("window")).data["windows"]}
    assert (rows["Save changes?"]["kind"], rows["Save changes?"]["owner"]) == ("dialog", rows["Asking"]["id"])
    await place.do("window", action="close", window="Save changes?")
    assert place.there(one.id)


async def test_a_size_a_program_does_not_take_is_told(place: Place, shows: Callable[..., Any]) -> None:
    one = await shows("Stubborn", size=(300, 200))
    refused = await place.refused("window", action="resize", window="Stubborn", width=20, height=20)
    assert refused["code"] == "action_unverified"
    width, height = place.frame(one.id)[2:]
    assert refused["actual"] == {"width": width, "height": height}


async def test_a_picture_of_a_window_is_of_that_window(place: Place, shows: Callable[..., Any]) -> None:
    from PIL import Image

    one = await shows("Pictured", at=(300, 200), size=(240, 160))
    answer = await place.do("screenshot", window="Pictured")
    assert tuple(answer.data["area"]) == place.frame(one.id)
    path = answer.artefacts[0].path
    assert path is not None
    with Image.open(path) as picture:
        assert picture.size == place.frame(one.id)[2:]
        assert picture.convert("RGB").getpixel((picture.width // 2, picture.height // 2)) == (0x33, 0x66, 0x99)
    small = await place.do("screenshot", window="Pictured", maxDimension=60)
    assert (small.data["width"], small.data["scale"]) == (60, round(60 / picture.width, 6))
    await place.do("window", action="minimize", window="Pictured")
    assert (await place.refused("screenshot", window="Pictured"))["code"] == "element_offscreen"


async def test_waiting_for_windows_and_apps_ends_with_them(place: Place, shows: Callable[..., Any]) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: place.do("wait", window="Coming", timeoutMs=10_000))
        await anyio.sleep(0.3)
        one = await shows("Coming")
    row = await place.row("Coming")
    assert (await place.do("is", predicate="running", app=row["app"])).data["result"] is True
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: place.do("wait", windowGone=row["id"], timeoutMs=10_000))
        group.start_soon(lambda: place.do("wait", appGone=row["app"], timeoutMs=10_000))
        await anyio.sleep(0.3)
        one.end()
    assert (await place.do("is", predicate="gone", app=row["app"])).data["result"] is True
    assert (await place.do("is", predicate="open", window="Coming")).data["result"] is False


async def test_a_window_that_will_not_answer_is_listed_all_the_same(place: Place, shows: Callable[..., Any]) -> None:
    one = await shows("Frozen", at=(80, 90))
    os.kill(one.process.pid, signal.SIGSTOP)
    try:
        assert (await place.row("Frozen"))["pid"] == one.process.pid
        refused = await place.refused("window", action="close", window="Frozen")
        assert (refused["code"], refused["actual"]) == ("action_unverified", "open")
    finally:
        os.kill(one.process.pid, signal.SIGCONT)


async def test_a_display_that_dies_is_told_and_the_next_one_is_empty(place: Place, shows: Callable[..., Any]) -> None:
    await shows("Doomed")
    desktop = place.backend.desktop("virtual")
    assert desktop is not None
    os.kill(desktop._children["X server"].pid, signal.SIGKILL)
    refused = await place.refused("window", action="raise", window="Doomed")
    assert refused["code"] in ("connection_lost", "device_offline", "device_not_ready")
    with anyio.fail_after(PATIENCE):
        # The list of devices is a second old at most: it may still hold the display that died.
        while not ((await place("boot")).ok and (await place("window")).ok):
            await anyio.sleep(0.1)
    assert (await place.do("window")).data == {"windows": [], "count": 0}


async def test_two_callers_arrange_one_after_the_other(place: Place, shows: Callable[..., Any]) -> None:
    one = await shows("Shared", at=(10, 10))
    corners = [(40 + 30 * number, 60 + 20 * number) for number in range(6)]
    async with anyio.create_task_group() as group:
        for x, y in corners:
            group.start_soon(lambda x=x, y=y: place.do("window", action="move", window="Shared", x=x, y=y))
    assert place.frame(one.id)[:2] in corners


async def test_a_call_that_is_given_up_leaves_the_next_one_alone(place: Place, shows: Callable[..., Any]) -> None:
    one = await shows("Patient", at=(10, 10))
    os.kill(one.process.pid, signal.SIGSTOP)
    try:
        with anyio.move_on_after(0.4) as scope:
            await place("window", action="close", window="Patient")
        assert scope.cancelled_caught
        told = (await place.do("window", action="move", window="Patient", x=77, y=88)).data["window"]
        assert place.frame(one.id)[:2] == (77, 88) == tuple(told["rect"][:2])
    finally:
        os.kill(one.process.pid, signal.SIGCONT)
