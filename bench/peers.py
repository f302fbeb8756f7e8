"""The same tasks by the same kind of program: ours beside agent-device, on one lab device behind one adb server.

    make bench-peers

The peer comes from npm into `out/peers` and is not committed. Whole processes are timed, as a person or a script starts
them; both have a daemon, and both are warm. Each answer is looked at: a task counts only where it was done.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread
import tokens

from anydevice_lab.android import Lab
from anydevice_schemas.practice import APP_ID

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "out" / "peers"
PEER = "agent-device"
ROUNDS = 5
LIMIT = 90
Task = tuple[str, list[str], list[str], Callable[[str], bool]]


def installed() -> Path:
    """The peer's program, fetched on first use.

    Raises:
        SystemExit: There is no npm.
    """
    program = OUT / "node_modules" / ".bin" / PEER
    if not program.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise SystemExit("npm is needed to fetch the peer; nothing was measured")
        OUT.mkdir(parents=True, exist_ok=True)
        subprocess.run([npm, "install", "--no-fund", "--no-audit", "--prefix", str(OUT), PEER], check=True)
    return program


def tasks(serial: str, home: str) -> list[Task]:
    """What is done: a name, our words, theirs, and whether an answer says that it was done."""
    at = ["--platform", "android", "--serial", serial]
    mine = ["--serial", serial]
    return [
        (
            "devices",
            ["devices", "--platform", "android"],
            ["devices", "--platform", "android"],
            lambda t: "Pixel 8" in t,
        ),
        ("apps", ["apps", *mine], ["apps", *at], lambda t: APP_ID in t),
        ("open", ["open", "--app", APP_ID, *mine], ["open", APP_ID, *at], lambda t: APP_ID in t),
        ("appstate", ["appstate", *mine], ["appstate", *at], lambda t: APP_ID in t),
        ("screenshot", ["screenshot", *mine], ["screenshot", f"{home}/x.png", *at], lambda t: "1080" in t),
        ("snapshot", ["snapshot", *mine], ["snapshot", "-i", *at], lambda t: "Increment" in t),
        ("press", ["press", "Increment", *mine], ["press", "Increment", *at], lambda t: "Increment" in t),
        ("close", ["close", *mine], ["close", *at], lambda t: True),
    ]


def timed(argv: list[str], env: dict[str, str], cwd: str, done: Callable[[str], bool]) -> tuple[float, bool]:
    """Seconds of one run, and whether it did what it was to do."""
    started = time.perf_counter()
    try:
        ran = subprocess.run(argv, env=env, cwd=cwd, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return time.perf_counter() - started, False
    return time.perf_counter() - started, ran.returncode == 0 and done(ran.stdout)


def compare(lab: Lab, serial: str) -> list[dict[str, object]]:
    """Runs every task by both, in turn."""
    peer = installed()
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(prefix="anydevice-peers-") as home:
        Path(home, "config.toml").write_text('[plugins]\ndisabled = ["linux", "web"]\n')
        ours = str(Path(sys.executable).parent / "anydevice")
        base = {**os.environ, "ANDROID_ADB_SERVER_PORT": str(lab.port)}
        mine = {**base, "ANYDEVICE_HOME": home}
        theirs = {**base, **lab.environment, "HOME": home, "AGENT_DEVICE_STATE_DIR": f"{home}/state"}
        # It starts `adb` for everything it does; the one of the adbutils distribution is on nobody's PATH.
        theirs["PATH"] = f"{Path(lab.adb).parent}{os.pathsep}{base.get('PATH', '')}"
        try:
            for name, my_words, their_words, done in tasks(serial, home):
                mine_took: list[float] = []
                theirs_took: list[float] = []
                failed = {"ours": 0, "theirs": 0}
                for _ in range(ROUNDS):
                    for who, argv, env, took in (
                        ("ours", [ours, *my_words], mine, mine_took),
                        ("theirs", [str(peer), *their_words], theirs, theirs_took),
                    ):
                        seconds, ok = timed(argv, env, home, done)
                        took.append(seconds)
                        failed[who] += not ok
                    if name == "close":
                        break  # a second one has nothing to close
                row = {
                    "task": name,
                    "ours_ms": round(statistics.median(mine_took) * 1000),
                    "theirs_ms": round(statistics.median(theirs_took) * 1000),
                    "ours_failed": failed["ours"],
                    "theirs_failed": failed["theirs"],
                    "rounds": len(mine_took),
                }
                rows.append(row)
                print(
                    f"{name:12} ours {row['ours_ms']:>6} ms ({failed['ours']} failed)   "
                    f"{PEER} {row['theirs_ms']:>6} ms ({failed['theirs']} failed)   of {row['rounds']}",
                    flush=True,
                )
        finally:
            subprocess.run([ours, "stop"], env=mine, cwd=home, capture_output=True, check=False)
            subprocess.run([str(peer), "daemon", "stop"], env=theirs, cwd=home, capture_output=True, check=False)
    return rows


async def main() -> None:
    """Compares lists of tools, then starts a lab phone and compares on it; writes `out/peers/peers.json`."""
    await anyio.to_thread.run_sync(tokens.main)
    async with Lab() as lab:
        (serial,) = await lab.start("phone")
        rows = await anyio.to_thread.run_sync(compare, lab, serial)
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "peers.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    anyio.run(main)
