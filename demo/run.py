"""The demo: an MCP client over stdio, exactly as an agent host would be, drives a page in a real browser.

Prints every call with its answer and its time, compares what the tool said with what the page itself recorded,
and leaves out/demo/index.html with the screenshots.
"""

from __future__ import annotations

import base64
import html
import json
import os
import shutil
import sys
import tempfile
import textwrap
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "out" / "demo"
TEMPLATE = "app://event?name={event}&payload={payload}"


class Page:
    """Serves the practice page on a free port of loopback and keeps what it reports: the witness."""

    def __init__(self) -> None:
        self.seen: dict[str, list[dict[str, Any]]] = {}
        page, body = self, (HERE / "page.html").read_bytes()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                report = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                page.seen.setdefault(urlsplit(self.path).query, []).append(report)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"


@dataclass
class Step:
    """One call as it went."""

    why: str
    name: str
    arguments: dict[str, Any]
    ms: float
    error: bool
    text: str
    image: str | None = None


class Unexpected(Exception):
    """A call went another way than the demo tells."""


@dataclass
class Story:
    """The calls made so far, printed as they happen."""

    client: Any
    steps: list[Step] = field(default_factory=list)

    async def call(self, why: str, name: str, /, *, refused: str | None = None, **arguments: Any) -> Step:
        """Makes one call, prints it and its answer, keeps it for the page.

        Raises:
            Unexpected: It was refused where it should work, or the other way round.
        """
        started = time.perf_counter()
        result = await self.client.call_tool(name, arguments)
        ms = (time.perf_counter() - started) * 1000
        text = "\n".join(block.text for block in result.content if block.type == "text")
        image = next((block.data for block in result.content if block.type == "image"), None)
        step = Step(why, name, arguments, ms, bool(result.is_error), text, image)
        self.steps.append(step)
        shown = " ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items())
        print(f"\n# {why}" if why else "")
        print(f"> {name} {shown}".rstrip())
        lines = [piece for line in text.splitlines() for piece in (textwrap.wrap(line, 150) or [""])]
        for line in lines[:14]:
            print(f"  {line}")
        if len(lines) > 14:
            print(f"  … {len(lines) - 14} more lines")
        print(f"  [{'refused, ' if step.error else ''}{ms:.0f} ms]")
        if step.error != (refused is not None) or (refused is not None and not text.startswith(refused)):
            raise Unexpected(f"{name}: {'' if step.error else 'it worked, '}{refused or 'no refusal'} was due.\n{text}")
        return step


async def tell(client: Any, page: Page) -> list[Step]:
    """The story: two browsers, one page each, and a few things that go wrong on purpose."""
    story = Story(client)
    call = story.call
    await call("What is there?", "devices")
    await call("A second browser, so that naming the right one matters.", "command-run",
               name="browser-profile", arguments={"action": "add", "name": "second"})  # fmt: skip
    one, two = "chromium", "chromium:second"
    await call("Start both.", "boot", device=one)
    await call("", "boot", device=two)
    await call("Open the page in the first …", "open", url=page.url + "?one", device=one, eventUrlTemplate=TEMPLATE)
    await call("… and in the second.", "open", url=page.url + "?two", device=two)
    await call("Read the first.", "snapshot", device=one)
    await call(
        "No device named, two in use: refused, with what to type.",
        "press",
        refused="ambiguous_device",
        target="Increment",
    )
    await call("Press a button on the second only.", "press", target="Increment", device=two)
    await call(
        "Two buttons of one name: refused, numbered.", "press", refused="ambiguous_element", target="Delete", device=one
    )
    await call("So pick one.", "press", target="label=Delete index=1", device=one)
    await call(
        "Covered by something: refused, and by what.", "press", refused="element_covered", target="Covered", device=one
    )
    await call("Disabled: refused.", "press", refused="element_disabled", target="Submit", device=one)
    await call("Fill a field; it is read back.", "fill", target="Name", text="Ada Lovelace ✓", device=one)
    await call("A secure field is never read.", "fill", target="Password", text="correct horse", device=one)
    await call("Choose an option.", "fill", target="Colour", text="Blue", device=one)
    await call("Toggle a checkbox; its state is the proof.", "press", target="Wi-Fi", device=one)
    await call("Now Submit is enabled.", "press", target="Submit", device=one)
    await call("A button that asks.", "press", target="Ask me", device=one)
    await call("While a dialog is open nothing else happens.", "snapshot", refused="dialog_open", device=one)
    await call("Say yes.", "alert", action="accept", device=one)
    await call("An event the page knows.", "command-run", name="trigger-app-event",
               arguments={"event": "seed.cart", "payload": {"items": 3}, "device": one})  # fmt: skip
    await call("A picture of the first …", "screenshot", device=one)
    await call("… and of the second.", "screenshot", device=two)
    await call("Done.", "command-run", name="shutdown", arguments={"device": one})
    await call("", "command-run", name="shutdown", arguments={"device": two})
    return story.steps


def judge(page: Page) -> list[tuple[str, bool]]:
    """What the page itself recorded, against what was asked of which browser."""
    one = [(r["what"], r.get("more")) for r in page.seen.get("one", [])]
    two = [(r["what"], r.get("more")) for r in page.seen.get("two", [])]
    return [
        ("the second browser counted to 1", ("count", 1) in two),
        ("the first browser counted nothing", ("loaded", None) in one and not any(what == "count" for what, _ in one)),
        ("the second Delete was pressed, the first was not", ("delete", 1) in one and ("delete", 0) not in one),
        ("the covered button was never pressed", ("loaded", None) in one and ("covered", None) not in one),
        ("the name arrived whole", ("name", "Ada Lovelace ✓") in one),
        ("the option arrived", ("colour", "Blue") in one),
        ("the form was submitted", ("submitted", "Ada Lovelace ✓") in one),
        ("the dialog was answered yes", ("confirmed", True) in one),
        ("the event arrived with its payload", ("event", {"name": "seed.cart", "payload": {"items": 3}}) in one),
    ]


STYLE = """
body { font: 15px/1.5 system-ui; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24 }
article { border: 1px solid #d0d7de; border-left: 5px solid #2da44e; border-radius: 8px; padding: .5rem 1rem;
  margin: 1rem 0 }
article.refused { border-left-color: #bf8700 }
article p { margin: .2rem 0; font-weight: 600 }
h2 { font-size: 1rem; margin: .2rem 0 }
small { color: #57606a; font-weight: 400 }
pre { white-space: pre-wrap; background: #f6f8fa; padding: .6rem; border-radius: 6px; max-height: 24rem;
  overflow: auto }
ul { list-style: none; padding: 0 }
img { max-width: 100%; border: 1px solid #d0d7de }
"""


def article(step: Step) -> str:
    """One call as the page shows it."""
    shown = html.escape(json.dumps(step.arguments, ensure_ascii=False))
    picture = f'<img alt="screenshot" src="data:image/png;base64,{step.image}">' if step.image else ""
    return (
        f'<article class="{"refused" if step.error else "done"}"><p>{html.escape(step.why)}</p>'
        f"<h2>{html.escape(step.name)} <small>{step.ms:.0f} ms</small></h2><code>{shown}</code>"
        f"<pre>{html.escape(step.text[:6000])}</pre>{picture}</article>"
    )


def write_page(steps: list[Step], verdicts: list[tuple[str, bool]], took: float) -> Path:
    """Writes out/demo/index.html, self-contained."""
    OUT.mkdir(parents=True, exist_ok=True)
    marks = "".join(f"<li>{'✓' if good else '✗'} {html.escape(text)}</li>" for text, good in verdicts)
    page = OUT / "index.html"
    page.write_text(
        f"<!doctype html><meta charset=utf-8><title>anydevice demo</title><style>{STYLE}</style><h1>anydevice demo</h1>"
        "<p>One tool that drives any device, as an agent sees it: here two real browsers, told apart, acted on and "
        f"read back. {len(steps)} calls over MCP stdio in {took:.1f} s. An amber bar is a refusal, as it should be.</p>"
        f"<h2>What the page itself recorded</h2><ul>{marks}</ul>{''.join(map(article, steps))}",
        "utf-8",
    )
    for number, step in enumerate(s for s in steps if s.image):
        (OUT / f"screenshot-{number + 1}.png").write_bytes(base64.b64decode(step.image or ""))
    return page


async def main() -> int:
    """Runs the demo in a home folder of its own; 0 when the page recorded what was asked."""
    from mcp import Client, StdioServerParameters

    page = Page()
    home = tempfile.mkdtemp(prefix="anydevice-demo-")
    program = shutil.which("anydevice", path=str(Path(sys.executable).parent)) or "anydevice"
    Path(home, "config.toml").write_text('[plugins]\ndisabled = ["android"]\n')
    env = {**os.environ, "ANYDEVICE_HOME": home}
    print(f"practice page at {page.url}; starting: anydevice mcp (and its daemon)", flush=True)
    started = time.perf_counter()
    steps: list[Step] = []
    trouble: Unexpected | None = None
    try:
        async with Client(StdioServerParameters(command=program, args=["mcp"], env=env)) as client:
            tools = (await client.list_tools()).tools
            print(f"connected in {(time.perf_counter() - started) * 1000:.0f} ms; {len(tools)} tools listed")
            try:
                steps = await tell(client, page)
            except Unexpected as stopped:
                trouble = stopped
        await anyio.sleep(0.2)
    finally:
        await anyio.run_process([program, "stop"], env=env, check=False)
        page.server.shutdown()
        shutil.rmtree(home, ignore_errors=True)
    if trouble is not None:
        print(f"\nThe demo stopped here: {trouble}", file=sys.stderr)
        print("Run: anydevice doctor ; it says what is missing on this machine.", file=sys.stderr)
        return 1
    verdicts = judge(page)
    print("\nWhat the page itself recorded:")
    for text, good in verdicts:
        print(f"  {'yes' if good else 'NO '}  {text}")
    out = write_page(steps, verdicts, time.perf_counter() - started)
    print(f"\n{len(steps)} calls in {time.perf_counter() - started:.1f} s. See {out.relative_to(HERE.parent)}")
    return 0 if all(good for _, good in verdicts) else 1


if __name__ == "__main__":
    raise SystemExit(anyio.run(main))
