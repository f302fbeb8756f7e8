"""What must hold on every HarmonyOS device, real or not: `python tests/lab/check_hdc.py --serial KEY [--hdc PROGRAM]`.

It needs nothing but an hdc program and a device that is ready and awake, touches nothing on its screen, and leaves
nothing behind on it. A simulated device that fails a line which a real one keeps is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

NASTY = ["it's", "$HOME", "`id`", "a\tb", "*?[x]", "-n", "%s", "", "#x", "!x", "päivä"]
FOLDER = "/data/local/tmp/anydevice-check"
STATUS = "__rc="


class Device:
    """A device behind an hdc program."""

    def __init__(self, hdc: str, key: str, env: dict[str, str]) -> None:
        self.hdc, self.key, self.env = hdc, key, {**os.environ, **env}

    async def run(self, *words: str, key: str | None = None) -> subprocess.CompletedProcess[bytes]:
        """Runs hdc, for this device or another key; an empty one for none."""
        named = self.key if key is None else key
        argv = [self.hdc, *(["-t", named] if named else []), *words]

        def call() -> subprocess.CompletedProcess[bytes]:
            return subprocess.run(argv, capture_output=True, timeout=60, env=self.env, check=False)

        return await anyio.to_thread.run_sync(call)

    async def shell(self, line: str) -> tuple[int, str]:
        """Exit status and output of a command line."""
        text = (await self.run("shell", f"{line}; echo {STATUS}$?")).stdout.decode().replace("\r\n", "\n")
        body, _, status = text.rpartition(STATUS)
        return int(status), body


async def program(device: Device) -> None:
    """The program ends with 0 whatever happens, and failures stand on stdout."""
    version = await device.run("-v", key="")
    assert re.match(rb"Ver: \d", version.stdout), version
    refused = await device.run("shell", "ls", key="anydevice-no-such-key")
    assert refused.returncode == 0 and refused.stdout.startswith(b"[Fail]"), refused
    checked = (await device.run("checkserver", key="")).stdout.decode()
    assert re.match(r"Client version:Ver: \S+, server version:Ver: \S+", checked), checked


async def lists(device: Device) -> None:
    """The long list has a key, a road and a state a row."""
    text = (await device.run("list", "targets", "-v", key="")).stdout.decode()
    rows = [[cell for cell in line.strip("\r").split("\t") if cell] for line in text.split("\n")]
    [row] = [row for row in rows if row and row[0] == device.key]
    assert row[1] in ("USB", "TCP", "UART", "BT") and row[2] == "Connected", row


async def status(device: Device) -> None:
    """A shell gives both outputs in one, and no status; a line behind it tells that."""
    result = await device.run("shell", "echo out; echo err >&2; (exit 7)")
    assert (result.returncode, result.stdout.split()) == (0, [b"out", b"err"]), result
    assert await device.shell("(exit 7)") == (7, "")
    assert (await device.shell("anydevice-no-such-program"))[0] == 127


async def quoting(device: Device) -> None:
    """Quoted text arrives byte for byte."""
    for text in NASTY:
        quoted = text.replace("'", "'\\''")
        assert await device.shell(f"printf %s '{quoted}'") == (0, text), text


async def files(device: Device) -> None:
    """What is sent comes back, and what is missing is told."""
    data = os.urandom(1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        there, back = Path(folder, "there"), Path(folder, "back")
        there.write_bytes(data)
        sent = (await device.run("file", "send", str(there), f"{FOLDER}/data")).stdout.decode()
        assert re.search(r"FileTransfer finish, Size:1000000, File count = 1, time:\d+ms rate:", sent), sent
        await device.run("file", "recv", f"{FOLDER}/data", str(back))
        assert back.read_bytes() == data
        missing = (await device.run("file", "recv", f"{FOLDER}/nothing", str(back))).stdout
        assert b"[Fail]" in missing, missing


async def forwards(device: Device) -> None:
    """Forwards are made, listed, and taken away."""
    with socket.create_server(("127.0.0.1", 0)) as spare:
        port = spare.getsockname()[1]
    rule = f"tcp:{port} tcp:8012"
    made = (await device.run("fport", *rule.split())).stdout
    assert b"Forwardport result:OK" in made, made
    listed = (await device.run("fport", "ls", key="")).stdout.decode()
    assert re.search(rf"^{re.escape(device.key)}\s+{rule}\s+\[Forward\]", listed, re.MULTILINE), listed
    gone = (await device.run("fport", "rm", *rule.split(), key="")).stdout
    assert b"Remove forward ruler success" in gone, gone


async def identity(device: Device) -> None:
    """Parameters tell what it is; one there is not is told as such."""
    for name in ("const.product.model", "const.ohos.apiversion"):
        code, text = await device.shell(f"param get {name}")
        assert code == 0 and text.strip() and "fail!" not in text, (name, text)
    assert "fail!" in (await device.shell("param get anydevice.no.such.parameter"))[1]


async def screen(device: Device) -> None:
    """The display tells its size and whether it is on."""
    text = (await device.shell("hidumper -s RenderService -a screen"))[1].lower()
    assert re.search(r"screen\[0\].*power_?status=power_status_\w+", text), text[:500]
    assert re.search(r"render (size|resolution)[:=] ?[1-9]\d*x[1-9]\d*", text), text[:500]
    assert "DisplayOrientation" in (await device.shell("hidumper -s DisplayManagerService -a -a"))[1]


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node["children"]:
        yield from _nodes(child)


async def layout(device: Device) -> None:
    """A layout is JSON in which every value is a text; windows alone say whose they are."""
    path = f"{FOLDER}/layout.json"
    code, said = await device.shell(f"uitest dumpLayout -p {path}")
    assert (code, said.strip()) == (0, f"DumpLayout saved to:{path}"), said
    tree = json.loads((await device.shell(f"cat {path}"))[1])
    assert {name for name, value in tree["attributes"].items() if value} <= {"bounds"}, tree["attributes"]
    assert tree["children"], "there is no window"
    for window in tree["children"]:
        assert {"bundleName", "hostWindowId", "bounds", "origBounds"} <= window["attributes"].keys()
        for node in _nodes(window):
            assert all(isinstance(value, str) for value in node["attributes"].values()), node["attributes"]
            assert re.fullmatch(r"\[-?\d+,-?\d+\]\[-?\d+,-?\d+\]", node["attributes"]["bounds"])
            assert node is window or "bundleName" not in node["attributes"]
    code, raw = await device.shell(f"uitest dumpLayout -i -p {path} > /dev/null; cat {path}")
    assert isinstance(json.loads(raw), list), raw[:200]
    assert (await device.shell("uitest dumpLayout -i -a"))[0] == 1


async def refusals(device: Device) -> None:
    """What the input programs refuse is told by their status; nothing of it touches the screen."""
    for words, said in (("click 0 100", "coordinate values"), ("keyEvent Recent", "Invalid parameters")):
        code, text = await device.shell(f"uitest uiInput {words}")
        assert code == 1 and said in text.splitlines()[0], (words, code, text[:200])
    for words, expected in (("-T -m 1 2 3 4 0", 2), ("-T -d -5 10", 255), ("-K -u 2055", 2)):
        assert (await device.shell(f"uinput {words}"))[0] == expected, words
    assert re.match(r"\d+\.\d+", (await device.shell("uitest --version"))[1])


async def bundles(device: Device) -> None:
    """Bundles are listed and described; what is not there is told, and starting it fails with status 0."""
    listed = (await device.shell("bm dump -a"))[1].splitlines()
    assert listed[0].startswith("ID: ") and all(line.startswith("\t") for line in listed[1:] if line), listed[:3]
    name = next(line.strip() for line in listed[1:] if line.strip())
    head, _, body = (await device.shell(f"bm dump -n {name}"))[1].partition("\n")
    assert head == f"{name}:" and json.loads(body)["hapModuleInfos"], head
    assert "error: failed to get information" in (await device.shell("bm dump -n anydevice.none"))[1]
    code, said = await device.shell("aa start -a Nothing -b anydevice.none")
    assert code == 0 and "error: failed to start ability" in said and "Error Code:" in said, (code, said)
    assert "current mission lists" in (await device.shell("aa dump -l"))[1]


async def picture(device: Device) -> None:
    """A picture of the display is a JPEG file."""
    code, said = await device.shell(f"snapshot_display -f {FOLDER}/p.jpeg -t jpeg")
    assert code == 0 and "success" in said, said
    with tempfile.TemporaryDirectory() as folder:
        back = Path(folder, "p.jpeg")
        await device.run("file", "recv", f"{FOLDER}/p.jpeg", str(back))
        assert back.read_bytes()[:3] == b"\xff\xd8\xff"


async def log(device: Device) -> None:
    """Lines of the log have a time, ids, a level and a domain."""
    text = (await device.shell("hilog -x | tail -n 50"))[1]
    shape = re.compile(r"^\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} +\d+ +\d+ [DIWEF] [ACIKP][0-9A-Fa-f]{5}/", re.MULTILINE)
    assert shape.search(text), text[:300]


CHECKS: list[Callable[[Device], Awaitable[None]]] = [
    program, lists, status, quoting, files, forwards, identity, screen, layout, refusals, bundles, picture, log,
]  # fmt: skip
WRONG = (AssertionError, ValueError, KeyError, IndexError, OSError, subprocess.TimeoutExpired)


async def check(hdc: str, key: str, env: dict[str, str]) -> list[str]:
    """Tries everything on a device; what does not hold."""
    device, problems = Device(hdc, key, env), list[str]()
    await device.run("shell", f"mkdir -p {FOLDER}")
    for one in CHECKS:
        try:
            await one(device)
        except WRONG as error:
            problems.append(f"{one.__name__}: {one.__doc__} {type(error).__name__} {error}")
    await device.run("shell", f"rm -rf {FOLDER}")
    return problems


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Checks a HarmonyOS device behind hdc.")
    parser.add_argument("--serial", required=True, help="Its connect key, as `hdc list targets` has it.")
    parser.add_argument("--hdc", default="hdc")
    given = parser.parse_args()
    problems = anyio.run(check, given.hdc, given.serial, {})
    print("\n".join(problems) or "everything holds")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
