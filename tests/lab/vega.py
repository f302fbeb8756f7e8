"""Vega devices of the lab in tests: what the real adb program, the `vega` program and the toolkit say."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import anyio
import anyio.to_thread

from anydevice.kit import processes
from anydevice.kit.processes import Result
from anydevice_lab.vega import Lab

PRACTICE = "dev.anydevice.practice"
FLAG = "/tmp/automation-toolkit.enable"


@dataclass
class Tv:
    """One device of a lab, and a forward to its toolkit."""

    lab: Lab
    serial: str
    forwarded: str = field(default="", init=False)

    async def adb(self, *words: str, stdin: bytes = b"") -> Result:
        """Runs the adb program on it, to its end."""
        argv = [self.lab.adb, "-s", self.serial, *words]
        env = {**os.environ, **self.lab.environment}
        return await processes.run(argv, deadline=60, env=env, stdin=stdin, cap=8 << 20)

    async def shell(self, line: str, stdin: bytes = b"") -> str:
        """What a command line prints, which must end well."""
        result = await self.adb("shell", line, stdin=stdin)
        assert result.code == 0, (line, result.code, result.text, result.complaint)
        return result.text

    async def open(self, screen: str, witness: str = "", *, told: bool = True) -> None:
        """Opens the practice app on a screen; `told`: so that the toolkit tells of it."""
        asked = {"screen": screen} | ({"witness": witness} if witness else {})
        flag = f"touch {FLAG}; " if told else f"rm -f {FLAG}; "
        await self.shell(f"{flag}vmsgr send 'pkg://{PRACTICE}.main?{urlencode(asked)}'")

    async def close(self) -> None:
        """Ends the practice app, if it runs."""
        await self.adb("shell", f"vlcm terminate-app --pkg-id {PRACTICE} --force")

    async def rpc(self, method: str, deadline: float = 20.0, /, **params: Any) -> dict[str, Any]:
        """The whole answer of a method of the toolkit.

        Raises:
            OSError: Nothing answers.
        """
        if not self.forwarded:
            self.forwarded = (await self.adb("forward", "tcp:0", "tcp:8383")).text.strip()
        body = json.dumps({"jsonrpc": "2.0", "id": "7", "method": method, "params": params}).encode()

        def ask() -> Any:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.forwarded}/jsonrpc", body, deadline) as answer:
                return json.load(answer)

        answer: dict[str, Any] = await anyio.to_thread.run_sync(ask)
        assert answer["id"] == "7"
        return answer

    async def result(self, method: str, /, **params: Any) -> Any:
        """What a method answers, which must be no error."""
        answer = await self.rpc(method, **params)
        assert "error" not in answer, answer
        return answer["result"]

    async def source(self) -> ElementTree.Element:
        """The page source."""
        return ElementTree.fromstring(await self.result("getPageSource"))

    async def node(self, test_id: str) -> dict[str, str]:
        """Attributes of the element of a test id, and its text as `text`."""
        found = [node for node in (await self.source()).iter("child") if node.get("test_id") == test_id]
        assert len(found) == 1, (test_id, len(found))
        return {**found[0].attrib, "text": "".join(text.text or "" for text in found[0].findall("text"))}

    async def focused(self) -> str:
        """Test id of what has the focus; empty if nothing has."""
        found = [
            node.get("test_id", "") for node in (await self.source()).iter("child") if node.get("focused") == "true"
        ]
        assert len(found) <= 1
        return found[0] if found else ""


async def vega(lab: Lab, *words: str, cwd: str | None = None, deadline: float = 30.0) -> Result:
    """Runs the `vega` program to its end."""
    env = {**os.environ, **lab.environment}
    return await processes.run([lab.program, *words], deadline=deadline, env=env, cwd=cwd, cap=8 << 20)


def columns(text: str) -> list[dict[str, str]]:
    """The rows of a table whose columns are parted by two spaces or more."""
    import re

    def cells(line: str) -> Sequence[str]:
        return re.split(r" {2,}", line.strip())

    head, *rows = [cells(line) for line in text.splitlines() if line.strip()]
    return [dict(zip(head, row, strict=True)) for row in rows]
