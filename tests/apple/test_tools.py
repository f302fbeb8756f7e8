"""Every tool of the iOS simulator server, and agent-device's commands for Apple devices, by what stands for it here.

`tests/fixtures/apple/tools.tsv` names them. `tools.json` has a row for each: the calls, what has to be in their
answers, and what the lab's device or Mac must have noticed of it.
"""

from __future__ import annotations

import csv
import json
import os
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from anydevice_lab.apple import Lab, write_bundle
from anydevice_lab.apple.model import symbols
from anydevice_lab.apple.model.symbols import Function

from .rig import PRACTICE, Rig, rig

pytestmark = pytest.mark.anyio
ROWS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("tools.json").read_text("utf-8"))
TABLE = Path(__file__).parents[1] / "fixtures" / "apple" / "tools.tsv"
SIMULATOR_SERVER = 36
LATER = {"artifacts", "events", "metro", "react-native", "replay", "test", "trace"}
"""agent-device's commands for Apple devices that have nothing here yet."""
DESKS = {"hover"}
"""Those of its table that are for pointers."""
KNOWN_HERE = {"capabilities", "help", "session"}
"""What is answered without asking a device anything: no journal can judge it, so the text does."""
SAMPLE = "dev.anydevice.sample"


def _table() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_every_tool_has_its_row_once_and_calls_the_command_that_stands_for_it() -> None:
    listed = {(row["seed"], row["tool"]): row["ours"] for row in _table()}
    assert sum(seed == "ios-simulator-mcp" for seed, _ in listed) == SIMULATOR_SERVER
    here = {(row["seed"], row["tool"]): [call[0] for call in row["calls"]] for row in ROWS}
    assert len(here) == len(ROWS)
    missing = {tool for seed, tool in listed if (seed, tool) not in here}
    assert missing == LATER | DESKS & {tool for _, tool in listed} and not set(here) - set(listed)
    for row, commands in here.items():
        words = {word.strip("(),;|") for word in listed[row].split()}
        assert words & {*commands, *(f"{command}s" for command in commands)}, (row, listed[row], commands)


def test_every_row_is_judged_by_the_lab_or_by_its_text() -> None:
    for row in ROWS:
        assert "journal" in row or (row["tool"] in KNOWN_HERE and row["says"]), row["tool"]


@pytest.fixture(scope="module")
async def devices(lab: Lab) -> dict[str, str]:
    phone, off, tv = await lab.start("iphone", "iphone-off", "appletv")
    await lab.ask("log", serial=phone, text="GET https://of.the.app/ 200 3ms")
    return {"PHONE": phone, "OFF": off, "TV": tv}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a caller has in its folder: an app, the same zipped, and a picture."""
    from PIL import Image

    here = tmp_path_factory.mktemp("caller")
    write_bundle(here / "Sample.app", SAMPLE, "Sample")
    Image.new("RGB", (8, 8), "red").save(here / "picture.png")
    crash = [Function(0x1000, 0x100, "crash", "Sample.swift:7")]
    symbols.write(here / "Sample.app.dSYM", "Sample", {"arm64": (str(uuid.uuid4()), crash)})
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
    """One router for all rows: starting agents is what takes time. The lab's programs are found before all others."""
    before = os.environ["PATH"]
    os.environ["PATH"] = lab.environment["PATH"]
    async with rig(lab, tmp_path_factory.mktemp("home"), private_hosts=("127.0.0.1",)) as running:
        yield running
    os.environ["PATH"] = before


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['seed']}-{row['tool']}")
async def test_a_tool_works(
    owner: Rig, devices: dict[str, str], folder: Path, served: str, row: dict[str, Any]
) -> None:
    lab = owner.lab
    where = row.get("device", "PHONE")
    owner.router.services.backends.forget("apple")
    await owner.do("open", device=devices[where], app=PRACTICE, arguments=["--screen", row.get("screen", "home")])
    said = ""
    for one in (*devices.values(), "mac"):
        await lab.journal(one, clear=True)
    for command, given, wanted in row["calls"]:
        arguments = {"device": devices[where], **_filled(given, {**devices, "SERVED": served})}
        if command in ("devices", "session", "doctor", "command-search", "debug"):
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
        device, kind, text = row["journal"]
        for name, id in devices.items():
            text = text.replace(name, id)
        noted = [_said(entry) for entry in await lab.journal("mac" if device == "MAC" else devices[device], kind)]
        assert any(text in entry for entry in noted), (row["journal"], noted)
    for session in owner.router.services.sessions.all():
        owner.router.services.sessions.end(session, "the row is over")


def _said(entry: Any) -> str:
    """All that an entry says, its values one after the other."""
    if isinstance(entry, dict):
        return " ".join(_said(value) for value in entry.values())
    return " ".join(map(_said, entry)) if isinstance(entry, list) else str(entry)


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
