"""Every tool of the iOS simulator server, and agent-device's commands for Apple devices, by what stands for it here.

`tools.json` lists them: the calls, and what has to be in their answers, in the device's journal, or in the text.
"""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from anydevice_lab.apple import Lab, write_bundle

from .rig import PRACTICE, Rig, rig

pytestmark = pytest.mark.anyio
ROWS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("tools.json").read_text("utf-8"))
SIMULATOR_SERVER = 36
ABSENT = {
    "agent-device": {
        "artifacts", "debug", "diff", "events", "focus", "metro", "network", "react-native", "replay", "test", "trace",
    }
}  # fmt: skip
"""Its commands for Apple devices that have nothing here yet, by name."""
SAMPLE = "dev.anydevice.sample"


def test_every_tool_of_the_simulator_server_has_its_row_once() -> None:
    names = [row["tool"] for row in ROWS if row["seed"] == "ios-simulator-mcp"]
    assert len(names) == len(set(names)) == SIMULATOR_SERVER
    others = {row["tool"] for row in ROWS if row["seed"] == "agent-device"}
    assert not others & ABSENT["agent-device"]


@pytest.fixture(scope="module")
async def devices(lab: Lab) -> dict[str, str]:
    phone, off, tv = await lab.start("iphone", "iphone-off", "appletv")
    return {"PHONE": phone, "OFF": off, "TV": tv}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a caller has in its folder: an app, the same zipped, and a picture."""
    from PIL import Image

    here = tmp_path_factory.mktemp("caller")
    write_bundle(here / "Sample.app", SAMPLE, "Sample")
    Image.new("RGB", (8, 8), "red").save(here / "picture.png")
    return here


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[str]:
    """The app as an archive at an address of this host."""
    import shutil

    payload = folder / "ipa" / "Payload"
    shutil.copytree(folder / "Sample.app", payload / "Sample.app")
    shutil.make_archive(str(folder / "sample"), "zip", folder / "ipa")
    (folder / "sample.zip").rename(folder / "sample.ipa")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Tests say enough."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/sample.ipa"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
async def owner(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Rig]:
    """One router for all rows: starting agents is what takes time."""
    async with rig(lab, tmp_path_factory.mktemp("home"), private_hosts=("127.0.0.1",)) as running:
        yield running


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['seed']}-{row['tool']}")
async def test_a_tool_works(
    owner: Rig, devices: dict[str, str], folder: Path, served: str, row: dict[str, Any]
) -> None:
    lab = owner.lab
    where = row.get("device", "PHONE")
    await lab.journal(devices[where], clear=True)
    await owner.do("open", device=devices[where], app=PRACTICE, arguments=["--screen", row.get("screen", "home")])
    said = ""
    for command, given, wanted in row["calls"]:
        arguments = {"device": devices[where], **_filled(given, {**devices, "SERVED": served})}
        if command in ("devices", "session", "doctor", "command-search"):
            arguments = {name: value for name, value in arguments.items() if name != "device" or "device" in given}
        answer = await owner.do(command, expect=None, cwd=folder, **arguments)
        if answer.error is not None and answer.error.code == "confirmation_required":
            token = answer.error.details["token"]
            answer = await owner.do(command, cwd=folder, confirmToken=token, **arguments)
        assert answer.ok, (command, arguments, answer.error)
        for path, value in wanted.items():
            assert _at(answer.data, path) == value, (command, path, answer.data)
        said += json.dumps(answer.data, ensure_ascii=False)
    assert row.get("says", "") in said
    if "journal" in row:
        device, kind = row["journal"]
        assert await lab.journal(devices[device], kind)
    for session in owner.router.services.sessions.all():
        owner.router.services.sessions.end(session, "the row is over")


def _filled(value: Any, words: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(part, words) for name, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, words) for part in value]
    return words.get(value, value) if isinstance(value, str) else value


def _at(data: Any, path: str) -> Any:
    for part in path.split("."):
        data = data[int(part)] if isinstance(data, list) else data.get(part)
    return data
