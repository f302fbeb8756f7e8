"""A screen of 1,000 elements from a WebDriverAgent of the lab: what a snapshot costs beyond the agent's own time.

The very requests that a snapshot makes are made beside it, one by one, by a plain client; the difference is ours.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import httpx2

from anydevice.assembly import open_router
from anydevice.driver import TreeScope
from anydevice.settings import Settings
from anydevice.testing import call
from anydevice_apple.reading.source import read_json
from anydevice_apple.tree import View, build
from anydevice_lab.apple import Lab
from anydevice_schemas.practice import APP_ID

Report = Callable[..., float]
Timed = Callable[[int, Callable[[], Awaitable[Any]]], Awaitable[list[float]]]
NODES = 1000
HEIGHT = 844
ROUNDS = 30
OTHERS = frozenset({"web", "linux", "android", "harmonyos", "vega", "mcp"})


def screen(count: int) -> dict[str, Any]:
    """A source of about so many elements, as the agent tells it: a long list; cells of two texts and a button."""

    def node(kind: str, label: str, box: tuple[float, float, float, float], *children: Any) -> dict[str, Any]:
        x, y, width, height = box
        return {
            "type": kind, "rawIdentifier": None, "name": label or None, "value": None, "label": label or None,
            "rect": {"x": x, "y": y, "width": width, "height": height}, "isEnabled": "1",
            "isVisible": "1" if y < HEIGHT else "0", "isFocused": "0", "traits": "", "customActions": "",
            "children": list(children),
        }  # fmt: skip

    def row(number: int) -> dict[str, Any]:
        top = 50.0 + 44 * number
        return node(
            "Cell", f"Row {number}", (0, top, 390, 44), node("StaticText", f"Row {number}", (10, top, 100, 44)),
            node("StaticText", f"Detail {number}", (120, top, 100, 44)),
            node("Button", f"More {number}", (330, top, 50, 44)),
        )  # fmt: skip

    table = node("Table", "", (0, 50, 390, 794), *(row(number) for number in range(count // 4)))
    return node("Application", "Bench", (0, 0, 390, HEIGHT), node("Window", "", (0, 0, 390, HEIGHT), table))


@asynccontextmanager
async def agent(source: dict[str, Any], pid: int) -> AsyncIterator[str]:
    """A server that answers as an agent with this screen and this process in front does, at once; its address."""
    told = {
        "/status": {"ready": True}, "/session": {"sessionId": "S"}, "/source": source,
        "/wda/activeAppInfo": {"bundleId": APP_ID, "pid": pid, "name": "Bench"},
        "/window/size": {"width": 390, "height": 844}, "/wda/screen": {"scale": 3},
    }  # fmt: skip
    texts = {path: json.dumps({"value": value, "sessionId": "S"}).encode() for path, value in told.items()}
    none = json.dumps({"value": {"error": "no such alert", "message": "", "traceback": ""}, "sessionId": None}).encode()

    async def serve(stream: anyio.abc.SocketStream) -> None:
        data = b""
        async with stream:
            while True:
                while b"\r\n\r\n" not in data:
                    try:
                        data += await stream.receive(65536)
                    except (anyio.EndOfStream, anyio.BrokenResourceError):
                        return
                head, _, data = data.partition(b"\r\n\r\n")
                length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n")
                               if line.lower().startswith(b"content-length")), 0)  # fmt: skip
                while len(data) < length:
                    data += await stream.receive(65536)
                data = data[length:]
                path = head.split(b" ")[1].decode().partition("?")[0]
                alert = path == "/alert/text"
                body = none if alert else texts.get(path, b'{"value": null, "sessionId": "S"}')
                status = b"404 Not Found" if alert else b"200 OK"
                head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                await stream.send(head % (status, len(body)) + body)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, serve)
        yield f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
        group.cancel_scope.cancel()


async def apple(report: Report, timed: Timed) -> None:
    """Runs all of it."""
    source = screen(NODES)
    reading(report, source)
    async with Lab() as lab, AsyncExitStack() as stack:
        (phone,) = await lab.start("iphone")
        jobs = await anyio.run_process([lab.xcrun, "simctl", "spawn", phone, "launchctl", "list"])
        pid = next(int(row.split(b"\t")[0]) for row in jobs.stdout.splitlines() if row[:1].isdigit())
        address = await stack.enter_async_context(agent(source, pid))
        table = {"apple": {"xcrun": lab.xcrun, "devices": False, "agents": {phone: address}}}
        with tempfile.TemporaryDirectory() as home:
            chosen = Settings(home=Path(home), disabled=OTHERS, tables=table)
            async with open_router(chosen) as router, httpx2.AsyncClient(trust_env=False) as client:

                async def snapshot(**more: Any) -> None:
                    answer = await router.call(call("snapshot", device=phone, **more))
                    assert answer.ok, answer.error

                async def alone() -> None:
                    for path in ("/alert/text", "/source?format=json", "/status"):
                        (await client.get(address + path)).read()

                assert (await router.call(call("open", device=phone))).ok
                await spent(snapshot)
                worked, served = await spent(snapshot), await spent(alone)
                ours, every, bare = [], [], []
                for _ in range(3):
                    ours += await timed(ROUNDS // 3, snapshot)
                    every += await timed(ROUNDS // 3, lambda: snapshot(mode="full", maxNodes=5000))
                    bare += await timed(ROUNDS // 3, alone)
        whole = report(f"snapshot of a source of {NODES} elements, to the answer", ours)
        report("the same, with all of them in the answer", every)
        own = report("its three requests, by a plain client", bare)
        print(f"  snapshot less its requests: {(whole - own) * 1e3:.1f} ms (at most 15)")
        work = report("processor time of the snapshot", worked) - report("processor time of its requests", served)
        print(f"  the difference, which a busy machine changes less: {work * 1e3:.1f} ms")
    await practice(report, timed)


async def spent(action: Callable[[], Awaitable[Any]]) -> list[float]:
    """Processor seconds of this process, the server in it included, of each of some calls."""
    samples = []
    for _ in range(ROUNDS):
        began = time.process_time()
        await action()
        samples.append(time.process_time() - began)
    return samples


async def practice(report: Report, timed: Timed) -> None:
    """The practice app on a lab iPhone, through the whole path."""
    async with Lab() as lab:
        (phone,) = await lab.start("iphone")
        with tempfile.TemporaryDirectory() as home:
            chosen = Settings(home=Path(home), disabled=OTHERS, tables={"apple": {"xcrun": lab.xcrun}})
            async with open_router(chosen) as router:

                async def do(name: str, **arguments: Any) -> Any:
                    answer = await router.call(call(name, **arguments))
                    assert answer.ok, answer.error
                    return answer

                await do("open", device=phone, app=APP_ID, arguments=["--screen", "home"])
                report("lab iPhone: snapshot", await timed(20, lambda: do("snapshot")))
                press = await timed(20, lambda: do("press", target="Increment"))
                report("lab iPhone: press by label, with what changed", press)
                report("lab iPhone: screenshot in points", await timed(10, lambda: do("screenshot")))


def reading(report: Report, source: dict[str, Any]) -> None:
    """A source as bytes to the tree that answers are made of, in processor time."""
    data = json.dumps(source).encode()
    samples = []
    for _ in range(40):
        began = time.process_time()
        tree = build(read_json(json.loads(data)), View(390, 844), TreeScope(mode="full", max_nodes=5000))
        samples.append(time.process_time() - began)
    assert len(tree.nodes) > NODES * 0.9, len(tree.nodes)
    report(f"source of {NODES} elements to a tree, processor time", samples[2:])
