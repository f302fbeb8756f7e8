"""Android devices of the lab behind a real adb server: what our transport and our reading of screens cost.

Beside each round trip the same command on the same server and device by the `adb` program and by plain adbutils, in
turn, so that there are ratios that say something on any machine. What a device itself takes is the lab's here, which is
a process on this very machine; it is told apart where that can be done.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import adbutils
import anyio
import anyio.to_thread

from anydevice.assembly import open_router
from anydevice.driver import Environment, HostServices, TreeScope
from anydevice.settings import Settings
from anydevice.testing import call
from anydevice_adb import AdbDevice, AdbServer
from anydevice_android.backend import AndroidBackend
from anydevice_android.reading.dump import parse_dump, parsed
from anydevice_android.tree import View, build
from anydevice_lab.android import Lab
from anydevice_schemas.practice import APP_ID

Report = Callable[..., float]
Timed = Callable[[int, Callable[[], Awaitable[Any]]], Awaitable[list[float]]]
ROUNDS = 60
AT_ONCE = 8
DEVICES = 100
NODES = 2000
OWN_TIME = 0.05
"""Seconds a program may take to start on a phone, of those it takes 50 ms to 2 s."""


async def android(report: Report, timed: Timed) -> None:
    """Runs all of it."""
    trees(report)
    async with Lab() as lab:
        (phone,) = await lab.start("phone")
        await round_trips(report, lab, phone)
        await taps(report, timed, lab, phone)
    await lists(report)


async def round_trips(report: Report, lab: Lab, phone: str) -> None:
    """The shortest command there is, by each client in turn; then several at once."""
    device = AdbDevice(AdbServer("127.0.0.1", lab.port), phone)
    plain = adbutils.AdbClient("127.0.0.1", lab.port).device(phone)
    env = {**os.environ, **lab.environment}

    def program() -> None:
        subprocess.run([lab.adb, "-s", phone, "shell", "true"], env=env, check=True, capture_output=True)

    async def ours() -> None:
        assert (await device.shell("true")).status == 0

    clients: dict[str, Callable[[], Awaitable[Any]]] = {
        "shell_v2 'true': ours": ours,
        "shell_v2 'true': the adb program": lambda: anyio.to_thread.run_sync(program),
        "shell 'true': plain adbutils": lambda: anyio.to_thread.run_sync(plain.shell, "true"),
    }
    samples: dict[str, list[float]] = {name: [] for name in clients}
    for turn in range(ROUNDS + 3):
        for name, once in clients.items():
            began = time.perf_counter()
            await once()
            if turn >= 3:
                samples[name].append(time.perf_counter() - began)
    mine, adb, slow = (report(name, taken) for name, taken in samples.items())
    print(f"  ours to the adb program: {mine / adb:.2f} (at most 0.70); to plain adbutils: {mine / slow:.2f} (0.30)")
    await side_by_side(report, lab, phone, device)


async def side_by_side(report: Report, lab: Lab, phone: str, device: AdbDevice) -> None:
    """Several calls at once beside one; and who spends the processors meanwhile.

    A lab device shares this machine's processors with its client, which a device does not: `true` starts two processes
    here, `getprop` none, and what several of them take at once is mostly the lab's time. So two figures are judged: the
    last one, where the device waits as a phone's program does while it starts and spends nothing, and of each what the
    client's own process spends.
    """
    await lab.fault(phone, "slow", match="ro.product.device", seconds=OWN_TIME)
    for line, what in (
        ("true", "a shell and a program"),
        ("getprop ro.serialno", "no process"),
        ("getprop ro.product.device", f"{OWN_TIME * 1e3:.0f} ms of the device's own time"),
    ):
        one, many = [], []
        for _ in range(ROUNDS // 2):
            began = time.perf_counter()
            await device.shell(line)
            one.append(time.perf_counter() - began)
        before = spent()
        for _ in range(ROUNDS // 2):
            began = time.perf_counter()
            async with anyio.create_task_group() as group:
                for _ in range(AT_ONCE):
                    group.start_soon(device.shell, line)
            many.append(time.perf_counter() - began)
        shares = {name: (after - before[name]) / len(many) for name, after in spent().items() if name in before}
        single = report(f"shell_v2, {what}: ours, one", one)
        together = report(f"shell_v2, {what}: ours, {AT_ONCE} at once", many)
        own = line.endswith("device")
        print(f"  {AT_ONCE} at once to one: {together / single:.2f} " + ("(at most 4)" if own else "(not judged)"))
        if shares:
            each = ", ".join(f"{name} {took * 1e3:.1f} ms" for name, took in shares.items())
            least = max(sum(shares.values()) / (os.cpu_count() or 1), *shares.values())
            print(f"  processor time of {AT_ONCE}: {each}; so at least {least / single:.2f} times one on this machine")
            print(f"  the client alone: {shares['client'] / single:.2f} times one (at most 4)")
    await lab.clear(phone)


def spent() -> dict[str, float]:
    """Seconds of processor time that client, devices and adb server took so far (Linux; elsewhere nothing)."""
    found = {"client": time.process_time()}
    rows = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            head, _, rest = path.read_text().rpartition(")")
            fields = rest.split()
            took = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # also of children that ended
            rows[int(head.partition(" ")[0])] = int(fields[1]), head.partition("(")[2], took
    devices = [pid for pid, (parent, _, _) in rows.items() if parent == os.getpid()]
    for parent, name, took in rows.values():
        if parent in devices and name == "adb":
            found["adb server"] = took
            found["devices"] = rows[parent][2]
    return found if len(found) > 1 else {}


async def taps(report: Report, timed: Timed, lab: Lab, phone: str) -> None:
    """A press by label through the whole path, beside the very commands the device ran for it, one after the other."""
    device = AdbDevice(AdbServer("127.0.0.1", lab.port), phone)
    table = {"android": {"server": f"127.0.0.1:{lab.port}", "start_server": False}}
    with tempfile.TemporaryDirectory() as home:
        chosen = Settings(home=Path(home), disabled=frozenset({"web", "linux", "mcp"}), tables=table)
        async with open_router(chosen) as router:

            async def do(name: str, **arguments: Any) -> Any:
                answer = await router.call(call(name, **arguments))
                assert answer.ok, answer.error
                return answer

            await do("open", device=phone, app=APP_ID, arguments=["--screen", "home"])
            await do("press", target="Increment")
            await lab.journal(phone, clear=True)
            await do("press", target="Increment")
            lines = [entry["line"] for entry in await lab.journal(phone, "shell")]
            whole = report(
                "press by label, with what changed", await timed(20, lambda: do("press", target="Increment"))
            )
            report("snapshot of the practice app", await timed(20, lambda: do("snapshot")))
            report("screenshot of the practice app", await timed(10, lambda: do("screenshot")))

    async def alone() -> None:
        for line in lines:
            await device.shell(line)

    bare = report(f"its {len(lines)} commands on the device, one by one", await timed(20, alone))
    print(f"  press less its commands: {(whole - bare) * 1e3:.1f} ms (at most 40)")


def trees(report: Report) -> None:
    """A large dump read into the tree that answers are made of."""
    view = View(1080, 2400, 2.625, "com.example.app")
    fresh, again, read, slow, peer = [], [], [], [], []
    for turn in range(40):
        text = dump_of(NODES, turn)
        document = text[text.index("<hierarchy") : text.rindex(">") + 1]
        for samples, action in (
            (fresh, lambda text=text: build(parse_dump(text), view, TreeScope(max_nodes=5000))),
            (again, lambda text=text: build(parse_dump(text), view, TreeScope(max_nodes=5000))),
            (read, lambda text=text: parse_dump(text)),
            (slow, lambda document=document: parsed(document)),
            (peer, lambda document=document: ElementTree.fromstring(document)),
        ):
            began = time.process_time()
            action()
            samples.append(time.process_time() - began)
    assert len(build(parse_dump(text), view, TreeScope(max_nodes=5000)).nodes) > NODES
    took = report(f"dump of {NODES} elements to a tree, processor time", fresh[2:])
    report("the same dump once more", again[2:])
    bare = report("the same dump read by ElementTree, and nothing else", peer[2:])
    print(f"  {took * 1e3:.1f} ms (at most 15), {took / bare:.2f} of ElementTree alone")
    quick, other = report("  of that the reading, by the pattern", read[2:]), report("  by an XML parser", slow[2:])
    print(f"  the pattern takes {quick / other:.2f} of what the parser takes")


async def lists(report: Report) -> None:
    """Many devices, asked who they are; then again, when they are known."""
    async with Lab() as lab:
        for _ in range(DEVICES // 10):
            await lab.start(*["phone"] * 10)
        env = Environment()
        first, again = [], []
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(5):
                backend = AndroidBackend(HostServices(folder, folder, {"server": f"127.0.0.1:{lab.port}"}))
                for samples in (first, again):
                    began = time.perf_counter()
                    found = await backend.devices(env)
                    samples.append(time.perf_counter() - began)
                    assert [device.state for device in found] == ["ready"] * DEVICES
        took = report(f"{DEVICES} devices listed with properties, first time", first)
        report(f"{DEVICES} devices listed again", again)
        print(
            f"  first time p50 {took:.2f} s (at most 1), worst {max(first):.2f} s, mean {statistics.mean(first):.2f} s"
        )


def dump_of(count: int, turn: int = 0) -> str:
    """A dump as `uiautomator` prints it, of rows of three elements; each turn has its own texts and places."""
    nodes = []
    for row in range(count // 4):
        top = 100 + row * 4
        box = f"[0,{top}][1080,{top + 4}]"
        common = 'checked="false" enabled="true" focused="false" password="false" selected="false"'
        parts = "".join(
            f'<node index="{part}" text="Row {row} part {part} of {turn}" resource-id="com.example.app:id/part{part}" '
            f'class="android.widget.{kind}" package="com.example.app" content-desc="" checkable="false" {common} '
            f'clickable="{flag}" focusable="{flag}" scrollable="false" long-clickable="false" '
            f'bounds="[{part * 300 + turn},{top}][{part * 300 + 280},{top + 4}]" />'
            for part, (kind, flag) in enumerate((("TextView", "false"), ("Button", "true"), ("EditText", "true")))
        )
        nodes.append(
            f'<node index="{row}" text="" resource-id="" class="android.view.ViewGroup" package="com.example.app" '
            f'content-desc="" checkable="false" {common} clickable="false" focusable="false" scrollable="false" '
            f'long-clickable="false" bounds="{box}">{parts}</node>'
        )
    return (
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">" + "".join(nodes)
        + "</hierarchy>UI hierchary dumped to: /dev/tty\n"
    )  # fmt: skip
