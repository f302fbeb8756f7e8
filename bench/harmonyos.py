"""HarmonyOS devices of the lab behind their hdc server: what our client of its protocol and reading a layout cost.

Beside the round trip the same command on the same server by the lab's `hdc` program, a process per call, as other
tools do it: a user's own hdc cannot be had here, so that says what a process costs and nothing about hdc itself.
What a device takes is the lab's, which is processes on this very machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from anydevice.assembly import open_router
from anydevice.driver import TreeScope
from anydevice.settings import Settings
from anydevice.testing import call
from anydevice_harmonyos.hdc import HdcDevice, HdcServer
from anydevice_harmonyos.reach import View
from anydevice_harmonyos.reading.layout import parse_layout
from anydevice_harmonyos.tree import build
from anydevice_lab.harmonyos import Lab
from anydevice_schemas.practice import APP_ID

Report = Callable[..., float]
Timed = Callable[[int, Callable[[], Awaitable[Any]]], Awaitable[list[float]]]
ROUNDS = 60
AT_ONCE = 8
NODES = 2000


async def harmonyos(report: Report, timed: Timed) -> None:
    """Runs all of it."""
    trees(report)
    async with Lab() as lab:
        (phone,) = await lab.start("phone")
        await round_trips(report, lab, phone)
        await taps(report, timed, lab, phone)


async def round_trips(report: Report, lab: Lab, phone: str) -> None:
    """The shortest commands there are: of the server, and of the device's shell; then several at once."""
    server = HdcServer("127.0.0.1", lab.port)
    device = HdcDevice(server, phone)
    env = {**os.environ, **lab.environment}

    def program() -> None:
        subprocess.run([lab.hdc, "list", "targets"], env=env, check=True, capture_output=True)

    async def many() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(AT_ONCE):
                group.start_soon(server.rows)

    clients: dict[str, Callable[[], Awaitable[Any]]] = {
        "hdc round trip (list targets -v): ours": server.rows,
        "the same by a process per call": lambda: anyio.to_thread.run_sync(program),
        f"{AT_ONCE} of ours at once": many,
        "hdc shell 'true' with its status: ours": lambda: device.shell("true"),
    }
    samples: dict[str, list[float]] = {name: [] for name in clients}
    for turn in range(ROUNDS + 3):
        for name, once in clients.items():
            began = time.perf_counter()
            await once()
            if turn >= 3:
                samples[name].append(time.perf_counter() - began)
    mine, process, _, _ = (report(name, taken) for name, taken in samples.items())
    print(f"  round trip {mine * 1e3:.2f} ms (at most 3); {mine / process:.2f} of a process per call")


async def taps(report: Report, timed: Timed, lab: Lab, phone: str) -> None:
    """A press by label through the whole path, and looks at the practice app."""
    table = {"harmonyos": {"server": f"127.0.0.1:{lab.port}", "start_server": False, "emulator": lab.emulator}}
    others = frozenset({"web", "linux", "android", "vega", "apple", "macos", "mcp"})
    with tempfile.TemporaryDirectory() as home:
        chosen = Settings(home=Path(home), disabled=others, tables=table)
        async with open_router(chosen) as router:

            async def do(name: str, **arguments: Any) -> Any:
                answer = await router.call(call(name, **arguments))
                assert answer.ok, answer.error
                return answer

            await do("open", device=phone, app=APP_ID, arguments=["--screen", "home"])
            report(
                "HarmonyOS: press by label, with what changed",
                await timed(20, lambda: do("press", target="Increment")),
            )
            report("HarmonyOS: snapshot of the practice app", await timed(20, lambda: do("snapshot")))
            report("HarmonyOS: screenshot of the practice app", await timed(10, lambda: do("screenshot")))


def trees(report: Report) -> None:
    """A large layout read into the tree that answers are made of."""
    text = layout_of(NODES)
    view = View(1260, 2720, 3.25, app="com.example.app", ability="EntryAbility")
    samples, peer = [], []
    for _ in range(20):
        began = time.process_time()
        tree = build(parse_layout(text), view, TreeScope(max_nodes=5000))
        samples.append(time.process_time() - began)
        assert len(tree.nodes) > NODES, len(tree.nodes)
        began = time.process_time()
        json.loads(text)
        peer.append(time.process_time() - began)
    took = report(f"layout of {NODES} elements to a tree, processor time", samples[2:])
    bare = report("the same layout read by json, and nothing else", peer[2:])
    print(f"  {took / bare:.1f} times json alone")


def layout_of(count: int) -> str:
    """A layout of rows with three elements each."""
    rows = []
    for row in range(count // 4):
        top = 150 + row % 60 * 40
        parts = [
            _node(kind, f"[{at * 300},{top}][{at * 300 + 280},{top + 36}]", row * 4 + at, text=f"{kind} {row}",
                  clickable=flag)
            for at, (kind, flag) in enumerate((("Text", "false"), ("Button", "true"), ("TextInput", "true")))
        ]  # fmt: skip
        rows.append(_node("Row", f"[0,{top}][1260,{top + 36}]", row * 4 + 3, *parts))
    app = {"hostWindowId": "9", "bundleName": "com.example.app", "abilityName": "EntryAbility", "type": "root"}
    window = {"attributes": {**app, "bounds": "[0,123][1260,2720]"}, "children": rows}
    top = {"attributes": {"bounds": "[0,0][1260,2720]", "type": ""}, "children": [window]}
    return json.dumps(top, separators=(",", ":"))


def _node(kind: str, box: str, number: int, *children: Any, **attributes: str) -> dict[str, Any]:
    told = {"type": kind, "bounds": box, "accessibilityId": str(number), "enabled": "true", "visible": "true"}
    return {"attributes": {**told, **attributes}, "children": list(children)}
