"""Apple devices of the lab in tests: its programs as processes, and WebDriverAgent by plain HTTP."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from anydevice.kit import processes
from anydevice.kit.processes import Child, Result
from anydevice_lab.apple import Lab

from .adb import eventually

PRACTICE = "dev.anydevice.practice"
RUNNER = "com.facebook.WebDriverAgentRunner.xctrunner"
FIXTURES = Path(__file__).parents[1] / "fixtures" / "apple"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def fixture(name: str) -> Any:
    """A fixture that is JSON."""
    return json.loads((FIXTURES / name).read_text(encoding="utf-8"))


def shape(value: Any) -> Any:
    """What of a JSON value does not depend on the moment: keys and kinds, lists by their first item."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


@dataclass
class Mac:
    """The programs of a lab."""

    lab: Lab

    async def run(self, *words: str, stdin: bytes = b"", cwd: Path | None = None, **variables: str) -> Result:
        """Runs one to its end."""
        return await self._run(words, stdin, cwd, variables)

    async def sim(self, *words: str, stdin: bytes = b"", cwd: Path | None = None, **variables: str) -> Result:
        """Runs `xcrun simctl …` to its end."""
        return await self._run(("xcrun", "simctl", *words), stdin, cwd, variables)

    async def _run(self, words: Sequence[str], stdin: bytes, cwd: Path | None, variables: Mapping[str, str]) -> Result:
        env = {**os.environ, **self.lab.environment, **variables}
        argv = [str(Path(self.lab.bin, words[0])), *words[1:]]
        where = str(cwd) if cwd is not None else None
        return await processes.run(argv, deadline=60, env=env, stdin=stdin, cwd=where, cap=32 << 20)

    async def done(self, *words: str, stdin: bytes = b"", **variables: str) -> str:
        """What `xcrun simctl …` prints, which must end well."""
        result = await self._run(("xcrun", "simctl", *words), stdin, None, variables)
        assert result.code == 0, (words, result.code, result.text, result.complaint)
        return result.text

    async def core(self, folder: Path, *words: str, **variables: str) -> tuple[Result, Any]:
        """Runs `xcrun devicectl …`; what it ended with, and what is in its JSON file."""
        file = folder / "out.json"
        file.unlink(missing_ok=True)
        argv = ("xcrun", "devicectl", *words, "--timeout", "5", "--json-output", str(file))
        result = await self._run(argv, b"", None, variables)
        return result, json.loads(file.read_text()) if file.exists() else None

    @asynccontextmanager
    async def running(self, *words: str) -> AsyncIterator[tuple[Child, bytearray]]:
        """A program that goes on, with what it wrote to stderr; its group is ended at the end."""
        said = bytearray()
        env = {**os.environ, **self.lab.environment}
        argv = [str(Path(self.lab.bin, words[0])), *words[1:]]
        child = await processes.start(argv, env=env, stdout=subprocess.PIPE, sink=said.extend)
        try:
            yield child, said
        finally:
            await processes.stop(child, grace=0.5)

    async def state(self, udid: str) -> str:
        """What simctl says the state is."""
        rows = json.loads(await self.done("list", "-j", "devices"))["devices"]
        return next(str(row["state"]) for listed in rows.values() for row in listed if row["udid"] == udid)

    async def wda(self, udid: str) -> Wda:
        """The agent of a device, started where it does not run."""
        return Wda(self.lab, udid, await self.lab.agent(udid))


@dataclass
class Wda:
    """WebDriverAgent of one device, spoken to by hand."""

    lab: Lab
    udid: str
    port: int
    session: str = field(default="", init=False)
    _connection: http.client.HTTPConnection | None = field(default=None, init=False)

    async def ask(self, method: str, path: str, body: Any = None, *, within: float = 20.0) -> tuple[int, Any]:
        """HTTP status and JSON of an answer.

        Raises:
            OSError, http.client.HTTPException: There is none.
        """

        def speak() -> tuple[int, Any]:
            if self._connection is None:
                self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=within)
            self._connection.timeout = within
            if self._connection.sock is not None:
                self._connection.sock.settimeout(within)
            raw = None if body is None else json.dumps(body).encode()
            try:
                self._connection.request(method, path, raw, {"Content-Type": "application/json"})
                answer = self._connection.getresponse()
                return answer.status, json.loads(answer.read())
            except BaseException:
                self.drop()
                raise

        return await anyio.to_thread.run_sync(speak)

    def drop(self) -> None:
        """Closes the connection."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    async def begin(self, **capabilities: Any) -> str:
        """A session; it does not wait for apps to be at rest unless told."""
        asked = {"shouldWaitForQuiescence": False, **capabilities}
        status, answer = await self.ask("POST", "/session", {"capabilities": {"alwaysMatch": asked}})
        assert status == 200, answer
        self.session = answer["value"]["sessionId"]
        return self.session

    async def value(self, method: str, path: str, body: Any = None) -> Any:
        """The value of an answer, which must be no error; `S` at the beginning of a path is the session."""
        status, answer = await self.ask(method, self._path(path), body)
        assert status == 200, (method, path, status, answer)
        return answer["value"]

    async def get(self, path: str) -> Any:
        """`value` of a GET."""
        return await self.value("GET", path)

    async def post(self, path: str, **body: Any) -> Any:
        """`value` of a POST."""
        return await self.value("POST", path, body)

    async def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str, str]:
        """HTTP status, error and message of an answer that is an error."""
        status, answer = await self.ask(method, self._path(path), body)
        assert isinstance(answer["value"], dict) and answer["value"].keys() == {"error", "message", "traceback"}, answer
        return status, answer["value"]["error"], answer["value"]["message"]

    def _path(self, path: str) -> str:
        return f"/session/{self.session}{path[1:]}" if path.startswith("S") else path

    # --- the practice app ---

    async def open(self, screen: str, witness: str = "") -> None:
        """Opens the practice app on a screen, by the programs of the platform, and waits until it is in front."""
        asked = ["--screen", screen, *(["--witness", witness] if witness else [])]
        mac = Mac(self.lab)
        udid = self.udid
        await mac.done("launch", "--terminate-running-process", udid, PRACTICE, *asked)

        async def front() -> bool:
            return bool((await self.lab.state(udid))["front"] == PRACTICE)

        await eventually(front)

    async def source(self, query: str = "format=json") -> Any:
        """The tree."""
        return await self.get(f"/source?{query}")

    async def node(self, name: str) -> dict[str, Any]:
        """The innermost node of a name."""
        found = [node for node in walk(await self.source()) if node["name"] == name]
        assert found, name
        return found[-1]

    async def find(self, name: str) -> str:
        """Reference of the element of an id."""
        found = await self.post("S/element", using="accessibility id", value=name)
        return str(found[ELEMENT])

    async def tap(self, name: str) -> None:
        """A tap in the middle of the node of a name."""
        rect = (await self.node(name))["rect"]
        await self.post("S/wda/tap", x=rect["x"] + rect["width"] / 2, y=rect["y"] + rect["height"] / 2)


def walk(node: dict[str, Any]) -> list[dict[str, Any]]:
    """A node and everything below, in order."""
    return [node, *(one for child in node.get("children", []) for one in walk(child))]
