"""The three doors to a daemon, all with one `call`: the command line, the Python client, MCP over stdio."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio.from_thread import start_blocking_portal

from anydevice.client import connect
from anydevice_cli.device import kebab
from anydevice_cli.exits import EXIT_CODES
from anydevice_mcp.published import DEFAULT_TOOLS
from anydevice_schemas.errors import AnydeviceError

from ..support.daemons import CLI, Home

DOORS = ("cli", "python", "mcp")
CALL_SECONDS = 60.0


@dataclass
class Said:
    """An answer, whichever door it came out of.

    Attributes:
        text: All of it, as it came over the wire.
        pictures: The images that came with it.
    """

    wire: dict[str, Any]
    text: str
    pictures: list[bytes] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return bool(self.wire["ok"])

    @property
    def code(self) -> str | None:
        """The error's code; None for an answer without one."""
        return self.error.get("code")

    @property
    def error(self) -> dict[str, Any]:
        return self.wire.get("error") or {}

    @property
    def details(self) -> dict[str, Any]:
        return self.error.get("details") or {}

    @property
    def data(self) -> dict[str, Any]:
        return self.wire.get("data") or {}

    @property
    def device(self) -> str | None:
        """Key of the device that acted, or was refused."""
        device = self.wire.get("device")
        return device["key"] if device else None

    @property
    def session(self) -> str | None:
        return self.wire.get("session")

    @property
    def verified(self) -> bool | None:
        return self.wire.get("verified")

    def notices(self, kind: str) -> list[dict[str, Any]]:
        """The notices of a kind."""
        return [notice for notice in self.wire.get("notices") or [] if notice["kind"] == kind]


class Door:
    """One caller. Subclasses say how it calls.

    Attributes:
        name: Which of `DOORS` it is.
    """

    name = ""

    def call(self, command: str, /, **arguments: Any) -> Said:
        """Makes a call; the answer, also where it is a refusal."""
        raise NotImplementedError

    def do(self, command: str, /, **arguments: Any) -> Said:
        """Makes a call that must work."""
        said = self.call(command, **arguments)
        assert said.ok, (command, arguments, said.wire)
        return said

    def refused(self, code: str, command: str, /, **arguments: Any) -> Said:
        """Makes a call that must be refused with this code."""
        said = self.call(command, **arguments)
        assert said.code == code, (command, arguments, said.wire)
        assert said.error["message"], said.wire
        return said


class CommandLine(Door):
    """A program a call. Its implicit sessions belong to the working directory."""

    name = "cli"

    def __init__(self, home: Home, cwd: Path, environ: Mapping[str, str]) -> None:
        self.home, self.cwd, self.environ = home, cwd, dict(environ)

    def call(self, command: str, /, **arguments: Any) -> Said:
        self.home.extra, before = self.environ, self.home.extra
        try:
            done = self.home.cli(command, *options(arguments), "--json", cwd=self.cwd)
        finally:
            self.home.extra = before
        lines = done.stdout.splitlines()
        assert len(lines) == 1, (done.returncode, done.stdout, done.stderr)
        said = Said(json.loads(lines[0]), done.stdout + done.stderr)
        no = command == "is" and said.data.get("result") is False  # for `if anydevice is …; then`
        assert done.returncode == (int(no) if said.ok else EXIT_CODES[said.code or ""]), said.wire
        said.pictures = [Path(made["path"]).read_bytes() for made in said.wire.get("artefacts") or []]
        return said


def options(arguments: Mapping[str, Any]) -> list[str]:
    """Arguments as options of the command line."""
    words = []
    for name, value in arguments.items():
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{kebab(name)}")
        else:
            words.append(f"--{kebab(name)}={value if isinstance(value, str) else json.dumps(value)}")
    return words


class Library(Door):
    """The blocking client. Its implicit sessions belong to the connection."""

    name = "python"

    def __init__(self, home: Home, cwd: Path, environ: Mapping[str, str]) -> None:
        self.client = connect(home=str(home.path), cwd=str(cwd), environ=environ)

    def call(self, command: str, /, **arguments: Any) -> Said:
        try:
            answer = self.client.call(command, arguments)
        except AnydeviceError as error:
            wire = error.answer or {"ok": False, "error": error.to_wire()}
            return Said(json.loads(json.dumps(wire)), json.dumps(wire, ensure_ascii=False))
        said = Said(json.loads(json.dumps(answer)), json.dumps(answer, ensure_ascii=False))
        said.pictures = [self.client.host.artefact(made["name"]) for made in answer.artefacts]
        return said


class Agent(Door):
    """The official MCP client, speaking to `anydevice mcp` over stdio, as an agent's host does.

    What the host would not see in the tool list it reaches by `command-run`.
    """

    name = "mcp"

    def __init__(self, portal: Any, client: Any, *, full: bool = False) -> None:
        self.portal, self.client, self.full = portal, client, full

    def call(self, command: str, /, **arguments: Any) -> Said:
        name, given = command, {"mcpOutputFormat": "json", **arguments}
        if command not in DEFAULT_TOOLS and not self.full:
            name, given = "command-run", {"name": command, "arguments": given}
        result = self.raw(name, given)
        texts = [block.text for block in result.content if block.type == "text"]
        structured = json.dumps(result.structured_content, ensure_ascii=False)
        said = Said(json.loads(texts[0]), "\n".join([*texts, structured]))
        assert said.ok is not bool(result.is_error), said.wire
        import base64

        said.pictures = [base64.b64decode(block.data) for block in result.content if block.type == "image"]
        return said

    def raw(self, name: str, arguments: dict[str, Any]) -> Any:
        """Calls a tool; the result as the SDK gives it."""

        async def call() -> Any:
            with anyio.fail_after(CALL_SECONDS):
                return await self.client.call_tool(name, arguments)

        return self.portal.call(call)

    def tools(self) -> dict[str, Any]:
        """The tools the server lists, by name, as they are on the wire."""
        listed = self.portal.call(self.client.list_tools).tools
        return {tool.name: tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed}


@contextmanager
def opened(
    name: str, home: Home, cwd: Path, environ: Mapping[str, str] | None = None, *, mcp: tuple[str, ...] = ()
) -> Iterator[Any]:
    """A door, closed with the block.

    Args:
        name: One of `DOORS`.
        cwd: The caller's working directory.
        environ: What its environment has besides that of the home.
        mcp: Options of `anydevice mcp`.
    """
    environ = dict(environ or {})
    cwd.mkdir(parents=True, exist_ok=True)
    if name == "cli":
        yield CommandLine(home, cwd, environ)
    elif name == "python":
        door = Library(home, cwd, environ)
        try:
            yield door
        finally:
            door.client.disconnect()
    else:
        with _agent(home, cwd, environ, mcp) as agent:
            yield agent


@contextmanager
def _agent(home: Home, cwd: Path, environ: Mapping[str, str], argv: tuple[str, ...]) -> Iterator[Agent]:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    program, *words = [*CLI, "mcp", *argv]
    parameters = StdioServerParameters(command=program, args=words, env={**home.environ, **environ}, cwd=cwd)
    with open(os.devnull, "w") as quiet, start_blocking_portal() as portal:
        client = Client(stdio_client(parameters, errlog=quiet), cache=None)
        with portal.wrap_async_context_manager(client):
            yield Agent(portal, client, full="full" in argv)
