"""What must hold on every device, real or not: `python tests/lab/check_device.py --serial SERIAL [--adb PROGRAM]`.

It needs nothing but an adb program and a device that is ready, and leaves nothing behind on it. A simulated device that
fails a line which a real one keeps is wrong.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import anyio.to_thread

NASTY = ["it's", "$HOME", "`id`", "a\nb", "a\tb", "👍", "*?[x]", "-n", "%s", "", "#x", "!x"]
FOLDER = "/data/local/tmp/anydevice-check"


class Device:
    """A device behind an adb program."""

    def __init__(self, adb: str, serial: str, env: dict[str, str]) -> None:
        self.adb, self.serial, self.env = adb, serial, {**os.environ, **env}

    async def run(self, *words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Runs adb on it."""
        argv = [self.adb, "-s", self.serial, *words]

        def call() -> subprocess.CompletedProcess[bytes]:
            return subprocess.run(argv, input=data, capture_output=True, timeout=60, env=self.env, check=False)

        return await anyio.to_thread.run_sync(call)


async def status(device: Device) -> None:
    """Exit status, stdout and stderr are apart."""
    result = await device.run("shell", "echo out; echo err >&2; exit 7")
    assert (result.returncode, result.stdout, result.stderr) == (7, b"out\n", b"err\n"), result


async def quoting(device: Device) -> None:
    """Quoted text arrives byte for byte."""
    for text in NASTY:
        result = await device.run("shell", f"printf %s {shlex.quote(text)}")
        assert result.stdout == text.encode(), (text, result.stdout)


async def files(device: Device) -> None:
    """What is pushed comes back, and what is missing is told."""
    data = os.urandom(3_000_000)
    with tempfile.TemporaryDirectory() as folder:
        there, back = Path(folder, "there"), Path(folder, "back")
        there.write_bytes(data)
        assert (await device.run("push", str(there), f"{FOLDER}/data")).returncode == 0
        assert (await device.run("pull", f"{FOLDER}/data", str(back))).returncode == 0
        assert back.read_bytes() == data
        assert (await device.run("pull", f"{FOLDER}/nothing", str(back))).returncode != 0


async def reverse(device: Device) -> None:
    """Reverse forwards are made, listed and taken away."""
    made = await device.run("reverse", "tcp:0", "tcp:1")
    port = made.stdout.decode().strip()
    assert made.returncode == 0 and port.isdigit(), made
    assert f"tcp:{port} tcp:1" in (await device.run("reverse", "--list")).stdout.decode()
    assert (await device.run("reverse", "--remove", f"tcp:{port}")).returncode == 0
    assert b"not found" in (await device.run("reverse", "--remove", f"tcp:{port}")).stderr


async def properties(device: Device) -> None:
    """Properties are told in brackets, one a line."""
    text = (await device.run("shell", "getprop")).stdout.decode()
    found = dict(re.findall(r"^\[(.*?)\]: \[(.*)\]$", text, re.MULTILINE))
    assert found["ro.product.model"] and found["ro.build.version.sdk"].isdigit(), text[:200]
    assert (await device.run("shell", "getprop ro.product.model")).stdout.decode().strip() == found["ro.product.model"]


async def size(device: Device) -> None:
    """The display's size is told, and a picture has it, in one way up or the other."""
    told = (await device.run("shell", "wm size")).stdout.decode()
    width, height = map(int, re.findall(r"(\d+)x(\d+)", told)[-1])
    data = (await device.run("exec-out", "screencap -p")).stdout
    start = data.index(b"\x89PNG")
    assert data.rstrip()[-8:-4] == b"IEND", "the picture is cut"
    shown = int.from_bytes(data[start + 16 : start + 20], "big"), int.from_bytes(data[start + 20 : start + 24], "big")
    assert sorted(shown) == sorted((width, height)), (shown, told)


async def tree(device: Device) -> None:
    """The tree of the screen is dumped, or the device says why not."""
    text = (await device.run("shell", f"uiautomator dump {FOLDER}/tree.xml; cat {FOLDER}/tree.xml")).stdout.decode()
    assert "<hierarchy" in text or "ERROR" in text, text[:300]


async def missing(device: Device) -> None:
    """A missing program is 127; a missing service of `cmd` is 20; an unset setting is null."""
    assert (await device.run("shell", "anydevice-no-such-program")).returncode == 127
    assert (await device.run("shell", "cmd anydevice_no_such_service")).returncode == 20
    assert (await device.run("shell", "settings get system anydevice_no_such_setting")).stdout.strip() == b"null"


async def not_ascii(device: Device) -> None:
    """`input text` cannot type what is not ASCII, and says so (or the build can, and types it)."""
    result = await device.run("shell", "input text 'ä'")
    assert result.returncode == 0 or b"Exception" in result.stdout + result.stderr, result


CHECKS: list[Callable[[Device], Awaitable[None]]] = [
    status, quoting, files, reverse, properties, size, tree, missing, not_ascii,
]  # fmt: skip


async def check(adb: str, serial: str, env: dict[str, str]) -> list[str]:
    """Tries everything on a device; what does not hold."""
    device, problems = Device(adb, serial, env), list[str]()
    await device.run("shell", f"mkdir -p {FOLDER}")
    for one in CHECKS:
        try:
            await one(device)
        except (AssertionError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
            problems.append(f"{one.__name__}: {one.__doc__} {error}")
    await device.run("shell", f"rm -rf {FOLDER}")
    return problems


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Checks a device behind adb.")
    parser.add_argument("--serial", required=True)
    parser.add_argument("--adb", default="adb")
    given = parser.parse_args()
    problems = anyio.run(check, given.adb, given.serial, {})
    print("\n".join(problems) or "everything holds")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
