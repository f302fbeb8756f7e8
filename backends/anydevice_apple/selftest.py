"""`anydevice apple selftest`: asks a real simulator what the stand-ins were asked, and writes a report.

The questions go through the commands that callers use, on apps that every simulator has. Where the practice app is
installed the conformance suite runs besides.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import click

from anydevice.assembly import open_router
from anydevice.kit import processes
from anydevice.router import Router
from anydevice.settings import Settings
from anydevice_schemas import Answer, Call, Caller
from anydevice_schemas.errors import AnydeviceError

SETTINGS_APP: Final = "com.apple.Preferences"
OTHERS: Final = frozenset({"android", "harmonyos", "linux", "mcp", "vega", "web"})
SUITE: Final = 3600.0


@dataclass(slots=True)
class Row:
    """One question: `passed`, `failed` or `skipped`, and what was seen."""

    question: str
    verdict: str
    seconds: float
    seen: str


class NotAsked(Exception):
    """A question that cannot be asked here; says why."""


class Asking:
    """Asks one simulator.

    Args:
        router: Where the calls go.
        device: UDID of the simulator.
    """

    def __init__(self, router: Router, device: str) -> None:
        self._router, self._device = router, device

    async def do(self, command: str, **arguments: Any) -> Answer:
        """Calls a command on the simulator.

        Raises:
            AssertionError: It was refused, or failed.
        """
        caller = Caller(transport="cli", connection="selftest", principal="selftest", env={})
        answer = await self._router.call(
            Call(name=command, arguments={"device": self._device, **arguments}, caller=caller)
        )
        assert answer.ok, f"{command}: {answer.error.code if answer.error else ''} {answer.error}"
        return answer

    @property
    def questions(self) -> Mapping[str, Callable[[], Awaitable[str]]]:
        """What is asked, in this order."""
        return {
            "it boots, and is listed as ready": self._boots,
            "an app of the system opens and is in front": self._opens,
            "its screen is read whole, in points": self._reads,
            "a press leads on, and back leads back": self._presses,
            "a picture has one pixel a point, and all of them when asked": self._pictures,
            "text goes to the clipboard and comes back": self._clips,
            "the appearance is changed, read back and put back": self._looks,
            "a recording is whole": self._records,
            "the log is read": self._logs,
            "home leads to the home screen": self._homes,
            "an app is closed and gone": self._closes,
        }

    async def _boots(self) -> str:
        await self.do("boot")
        return "ready"

    async def _opens(self) -> str:
        answer = await self.do("open", app=SETTINGS_APP, new=True)
        assert answer.verified and answer.data["app"] == SETTINGS_APP, answer.data
        return f"engine {answer.data['engine']}, pid {answer.data['pid']}"

    async def _reads(self) -> str:
        answer = await self.do("snapshot", mode="full")
        assert answer.data["nodes"] > 5 and answer.data["quality"] == "complete", answer.data
        return f"{answer.data['nodes']} elements"

    async def _presses(self) -> str:
        found = (await self.do("find", query="role=listitem", limit=1)).data["matches"]
        if not found:
            raise NotAsked("no row is told on this screen")
        pressed = await self.do("press", target=found[0]["ref"])
        assert pressed.data["changed"], "nothing changed"
        await self.do("back")
        return str(found[0].get("name", ""))[:40]

    async def _pictures(self) -> str:
        small, whole = await self.do("screenshot"), await self.do("screenshot", unit="pixels")
        scale = whole.data["scale"]
        assert small.data["unit"] == "points", small.data
        assert abs(whole.data["width"] / scale - small.data["width"]) <= 1, (small.data, whole.data)
        return f"{small.data['width']}x{small.data['height']} points, {scale:g} pixels a point"

    async def _clips(self) -> str:
        text = "anydevice ü 漢 👍"
        await self.do("clipboard", action="write", text=text)
        assert (await self.do("clipboard", action="read")).data["text"] == text
        return "any Unicode"

    async def _looks(self) -> str:
        before = (await self.do("settings", area="appearance")).data["value"]
        other = "light" if before == "dark" else "dark"
        answer = await self.do("settings", area="appearance", value=other)
        await self.do("settings", area="appearance", value=before)
        assert answer.verified, answer.data
        return f"{before}, {other}, {before}"

    async def _records(self) -> str:
        await self.do("record", action="start")
        await anyio.sleep(1.0)
        answer = await self.do("record", action="stop")
        assert answer.artefacts, answer.data
        return f"{answer.data['seconds']} s"

    async def _logs(self) -> str:
        await self.do("logs", action="start")
        await self.do("logs", action="read")
        return "read"

    async def _homes(self) -> str:
        answer = await self.do("home")
        assert answer.verified, answer.data
        return str(answer.data.get("app", ""))

    async def _closes(self) -> str:
        await self.do("open", app=SETTINGS_APP)
        answer = await self.do("close", app=SETTINGS_APP)
        assert answer.verified and answer.data["closed"], answer.data
        return "gone"

    async def all(self) -> list[Row]:
        """Asks everything; one that fails keeps none from being asked."""
        rows = []
        for question, ask in self.questions.items():
            began = time.monotonic()
            try:
                verdict, seen = "passed", await ask()
            except NotAsked as error:
                verdict, seen = "skipped", str(error)
            except (AssertionError, AnydeviceError, KeyError) as error:
                verdict, seen = "failed", f"{type(error).__name__}: {error}"[:500]
            rows.append(Row(question, verdict, round(time.monotonic() - began, 2), seen))
        return rows


async def versions(xcrun: str) -> dict[str, str]:
    """What answers were given by."""
    found = {"host": platform.platform(), "python": platform.python_version()}
    for name, words in {"xcode": ["xcodebuild", "-version"], "simctl": ["simctl", "runtime", "list"]}.items():
        try:
            done = await processes.run([processes.find(xcrun), *words], deadline=30.0)
            found[name] = (done.text or done.complaint).strip()[:500]
        except AnydeviceError as error:
            found[name] = error.message
    return found


def written(folder: Path, facts: Mapping[str, Any], rows: list[Row]) -> Path:
    """Writes the report, for programs and for people; the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = {**facts, "rows": [asdict(row) for row in rows]}
    (folder / "selftest.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")
    lines = ["# anydevice apple selftest", "", *(f"* {name}: {value}" for name, value in facts.items()), ""]
    lines += ["| question | verdict | s | seen |", "|---|---|---|---|"]
    for row in rows:
        seen = row.seen.replace("|", "/").replace("\n", " ")
        lines.append(f"| {row.question} | {row.verdict} | {row.seconds} | {seen} |")
    page = folder / "selftest.md"
    page.write_text("\n".join(lines) + "\n", "utf-8")
    return page


async def asked(device: str, table: Mapping[str, Any]) -> tuple[dict[str, Any], list[Row]]:
    """Asks a simulator, by its id or name; without one the one that is booted.

    Raises:
        AnydeviceError: There is none, or several.
    """
    with tempfile.TemporaryDirectory(prefix="anydevice-selftest-") as home:
        chosen = Settings(home=Path(home), disabled=OTHERS, profile="full", tables={"apple": dict(table)})
        async with open_router(chosen) as router:
            caller = Caller(transport="cli", connection="selftest", principal="selftest", env={})
            told = await router.call(Call(name="devices", arguments={}, caller=caller))
            rows = [row for row in told.data["devices"] if row["kind"] == "simulator"]
            fit = [row for row in rows if device.casefold() in (row["id"].casefold(), row["name"].casefold())]
            fit = fit or ([] if device else [row for row in rows if row["state"] == "ready"])
            ready = [row for row in fit if row["state"] == "ready"]
            if len(fit) > 1 and len(ready) == 1:
                fit = ready
            if len(fit) != 1:
                names = ", ".join(f"{row['name']} ({row['id']}, {row['state']})" for row in rows) or "none"
                raise click.UsageError(f"Name one simulator by --device. There are: {names}")
            (row,) = fit
            asking = Asking(router, row["id"])
            answers = await asking.all()
    facts = {"device": f"{row['name']}, {row.get('model', '')}", "os": row.get("osVersion", ""), "udid": row["id"]}
    return {**facts, **await versions(str(table.get("xcrun", "xcrun")))}, answers


async def suite(device: str, folder: Path) -> Row:
    """Runs the conformance suite on the class of a simulator, where its practice app is installed."""
    program = str(Path(sys.executable).with_name("anydevice"))
    argv = [program, "conformance", "apple", "--device", device, "--report", str(folder)]
    began = time.monotonic()
    done = await processes.run(argv, deadline=SUITE)
    verdict = "passed" if done.code == 0 else "failed"
    last = [line for line in done.text.splitlines() if line.strip()][-3:]
    return Row("the conformance suite", verdict, round(time.monotonic() - began, 1), " ".join(last)[:500])


@click.group("apple", short_help="What is only about Apple's devices.")
def apple() -> None:
    """What is only about Apple's devices."""


@apple.command()
@click.option("--device", default="", help="Id or name of a simulator; omitted = the one that is booted.")
@click.option("--report", "folder", type=click.Path(path_type=Path), default=Path("apple-selftest"), show_default=True)
@click.option("--wda", default="", help="Path of WebDriverAgentRunner-Runner.app, to install where there is none.")
@click.option("--xcrun", default="xcrun", hidden=True)
@click.option("--suite", "with_suite", is_flag=True, help="Run the conformance suite too; its app has to be installed.")
def selftest(device: str, folder: Path, wda: str, xcrun: str, with_suite: bool) -> int:
    """Asks a real simulator what the stand-ins were asked, and writes a report into a folder.

    Exit codes: 0 everything passed, 1 otherwise, 2 called wrongly.
    """
    table = {"xcrun": xcrun, "devices": False, **({"wda": wda} if wda else {})}

    async def run() -> tuple[dict[str, Any], list[Row]]:
        facts, rows = await asked(device, table)
        if with_suite:
            rows.append(await suite(str(facts["udid"]), folder / "conformance"))
        return facts, rows

    facts, rows = anyio.run(run)
    page = written(folder, facts, rows)
    for row in rows:
        click.echo(f"{row.verdict:8} {row.seconds:7.2f} s  {row.question}  {row.seen}")
    click.echo(f"report: {page}")
    return int(any(row.verdict == "failed" for row in rows))
