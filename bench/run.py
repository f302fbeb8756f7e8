"""Measures what the project promises about speed, beside a bare SDK server in the same run.

    make bench

Ratios are what to quote; absolute times depend on the machine. Nothing here is a test.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import android
import apple
import desktop
import harmonyos
import many
import ownership

from anydevice.driver import Environment
from anydevice.resolution import Holdings, Inventory, Request, resolve
from anydevice.testing import FakeBackend, call, fake_router
from anydevice_schemas import WELL_KNOWN, Device, DeviceSelector, Held
from anydevice_schemas.errors import AnydeviceError

HERE = Path(__file__).resolve().parent
PROGRAM = str(Path(sys.executable).parent / "anydevice")
PARTS = ("router", "ownership", "resolution", "processes", "mcp", "many",
         "browser", "desktop", "android", "apple", "harmonyos")  # fmt: skip
rows: list[tuple[str, float, float, str]] = []


def report(name: str, samples: list[float], unit: str = "ms", note: str = "") -> float:
    """Prints minimum and median of some samples (seconds) and returns the median."""
    factor = {"ms": 1e3, "µs": 1e6}[unit]
    low, mid = min(samples) * factor, statistics.median(samples) * factor
    print(f"{name:<58} min {low:9.2f}  p50 {mid:9.2f} {unit}  {note}", flush=True)
    rows.append((name, low, mid, unit))
    return mid / factor


async def timed(times: int, action: Callable[[], Awaitable[Any]]) -> list[float]:
    """Runs an action several times after two that do not count."""
    samples = []
    for number in range(times + 2):
        started = time.perf_counter()
        await action()
        if number >= 2:
            samples.append(time.perf_counter() - started)
    return samples


async def router_overhead() -> None:
    """A call through all nine steps against the driver called directly, with 100 devices listed."""
    async with fake_router(FakeBackend([f"fake-{n}" for n in range(100)])) as (router, backend):
        opened = await router.call(call("open", url="https://example.org/", device="fake-42"))
        assert opened.ok
        named, bound = call("appstate", device="fake-42"), call("appstate")

        async def through(asked: Any) -> None:
            answer = await router.call(asked)
            assert answer.ok

        driver = await router.services.connections.get(backend.rows["fake-42"], Environment())
        direct = report("driver called directly", await timed(2000, driver.apps.state), "µs")  # type: ignore[attr-defined]
        by_name = report("router: device named", await timed(2000, lambda: through(named)), "µs")
        by_session = report("router: device of the session", await timed(2000, lambda: through(bound)), "µs")
        named_us, bound_us = (by_name - direct) * 1e6, (by_session - direct) * 1e6
        print(f"  router overhead p50: {named_us:.0f} µs named, {bound_us:.0f} µs bound")


def resolution() -> None:
    """Ten thousand devices."""
    devices = [
        Device(
            id=f"id-{n:05}", name=f"Phone {n % 5000}", platform="android", backend="b", device_target="mobile",
            device_class="phone", kind="device", state="ready", id_kind="serial",
        )
        for n in range(10_000)
    ]  # fmt: skip
    inventory = Inventory(devices, platforms=WELL_KNOWN)
    asked = {
        "id": DeviceSelector(serial="ID-04242"),
        "name shared by two": DeviceSelector(device="phone 42"),
        "nothing (ambiguous)": DeviceSelector(),
    }
    for what, selector in asked.items():
        samples = []
        for _ in range(200):
            started = time.perf_counter()
            with contextlib.suppress(AnydeviceError):
                resolve(Request(selector=selector), inventory)
            samples.append(time.perf_counter() - started)
        report(f"resolve in 10,000 devices by {what}", samples[1:])
    taken = {device.key: device for device in devices if device.id != "id-04242"}
    one_free = Request(held=Holdings(taken, lambda _: Held(until="2026-01-01T00:00:00Z")))
    samples = []
    for _ in range(200):
        started = time.perf_counter()
        assert resolve(one_free, inventory).device.id == "id-04242"
        samples.append(time.perf_counter() - started)
    report("resolve in 10,000 devices the one that nobody holds", samples[1:])


ECHO = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp import types

async def tools(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema={"type": "object"})])

async def run(ctx, params):
    return types.CallToolResult(content=[types.TextContent(text="ok")])

async def main():
    server = Server("echo", on_list_tools=tools, on_call_tool=run)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def initialize(argv: list[str], env: dict[str, str]) -> float:
    """Seconds from starting a program to its answer to initialize."""
    started = time.perf_counter()
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
        took = time.perf_counter() - started
        assert b'"result"' in line, line
        process.stdin.close()
    return took


def whole_process(argv: list[str], env: dict[str, str]) -> float:
    """Seconds a program takes from start to end."""
    started = time.perf_counter()
    done = subprocess.run(argv, env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return time.perf_counter() - started


async def interleaved(env: dict[str, str]) -> None:
    """The same kind of call on our door and on a bare SDK server, one by one in turn: both meet the same machine.

    The tool is one that is listed: the SDK's client asks for the whole list again at every call of one that is not.
    """
    from mcp import Client, StdioServerParameters

    def server(*argv: str) -> StdioServerParameters:
        return StdioServerParameters(command=argv[0], args=list(argv[1:]), env=env)

    for era in ("legacy", "2026-07-28"):
        async with (
            Client(server(sys.executable, "-c", ECHO), mode=era) as bare,
            Client(server(PROGRAM, "mcp", "--tools", "ownership"), mode=era) as ours,
        ):
            await bare.list_tools()
            await ours.list_tools()
            took: dict[str, list[float]] = {"echo": [], "session": []}
            for number in range(600):
                for client, tool in ((bare, "echo"), (ours, "session")):
                    started = time.perf_counter()
                    result = await client.call_tool(tool, {})
                    if number >= 20:
                        took[tool].append(time.perf_counter() - started)
                    assert not result.is_error, result
        one = report(f"MCP stdio, {era}: bare SDK echo tool", took["echo"])
        two = report(f"MCP stdio, {era}: anydevice session (list)", took["session"])
        print(f"  ratio to the bare SDK server: {two / one:.2f} of medians")


def processes(env: dict[str, str]) -> None:
    """Starting things while the daemon is warm."""
    empty = report("python -c pass", [whole_process([sys.executable, "-c", "pass"], env) for _ in range(10)])
    bare = report(
        "bare SDK server: start to initialize", [initialize([sys.executable, "-c", ECHO], env) for _ in range(5)]
    )
    ours = report(
        "anydevice mcp: start to initialize (warm daemon)", [initialize([PROGRAM, "mcp"], env) for _ in range(20)]
    )
    cli = report("anydevice session --json, whole process (warm daemon)",
                 [whole_process([PROGRAM, "session", "--json"], env) for _ in range(20)])  # fmt: skip
    print(f"  initialize: {ours / bare:.2f} of the bare SDK server; CLI: {cli / empty:.1f} bare interpreters")


def serve(body: bytes) -> str:
    """Serves one page on loopback for as long as the process lives; returns its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


async def browser(env: dict[str, str]) -> None:
    """A page in a real browser through the whole path, in one process."""
    from anydevice.assembly import open_router
    from anydevice.settings import Settings

    body = "<!doctype html><title>bench</title>" + "".join(
        f"<section><h2>S{n}</h2><button>Press {n}</button><input aria-label='Field {n}'><p>text {n}</p></section>"
        for n in range(400)
    )
    page = serve(body.encode())
    with tempfile.TemporaryDirectory() as home:
        others = frozenset({"android", "apple", "harmonyos"})
        async with open_router(Settings(home=Path(home), disabled=others)) as router:

            async def do(name: str, **arguments: Any) -> Any:
                answer = await router.call(call(name, **arguments))
                assert answer.ok, answer.error
                return answer

            await do("boot", device="chromium")
            await do("open", url=page, device="chromium")
            found = (await do("find", query="Field 3")).data["matches"][0]["ref"]
            button = (await do("find", query="Press 3")).data["matches"][0]["ref"]
            report("snapshot, viewport of a 2,000-element page", await timed(20, lambda: do("snapshot")))
            report(
                "snapshot, all of a 2,000-element page",
                await timed(20, lambda: do("snapshot", mode="full", maxNodes=5000)),
            )
            report("press by ref, with what changed", await timed(20, lambda: do("press", target=button)))
            report("press by label", await timed(10, lambda: do("press", target="Press 3")))
            report("fill by ref, read back", await timed(20, lambda: do("fill", target=found, text="Ada")))
            report("screenshot of the viewport", await timed(10, lambda: do("screenshot")))
            await do("shutdown", device="chromium")


def main() -> int:
    """Runs all of it; names on the command line choose parts."""
    every = set(PARTS)
    parts = set(sys.argv[1:]) or every
    if "router" in parts:
        asyncio.run(router_overhead())
    if "ownership" in parts:
        ownership.stores(report)
        ownership.admission(report)
        asyncio.run(ownership.takeover(report))
    if "resolution" in parts:
        resolution()
    with tempfile.TemporaryDirectory(prefix="anydevice-bench-") as home:
        Path(home, "config.toml").write_text('[plugins]\ndisabled = ["android", "harmonyos"]\n')
        env = {**os.environ, "ANYDEVICE_HOME": home}
        try:
            if parts & {"processes", "mcp"}:
                whole_process([PROGRAM, "session", "--json"], env)
                time.sleep(2.5)
            if "processes" in parts:
                processes(env)
            if "mcp" in parts:
                asyncio.run(interleaved(env))
        finally:
            subprocess.run([PROGRAM, "stop"], env=env, capture_output=True, check=False)
    if "many" in parts:
        asyncio.run(many.many(report))
    if "browser" in parts:
        asyncio.run(browser(dict(os.environ)))
    if "desktop" in parts:
        asyncio.run(desktop.desktop(report, timed))
    if "android" in parts:
        asyncio.run(android.android(report, timed))
    if "apple" in parts:
        asyncio.run(apple.apple(report, timed))
    if "harmonyos" in parts:
        asyncio.run(harmonyos.harmonyos(report, timed))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
