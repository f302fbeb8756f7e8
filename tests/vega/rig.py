"""The Vega backend behind a router, driven by commands as callers send them, and judged by the lab's devices."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from anydevice.assembly import open_router
from anydevice.driver import Driver, Environment
from anydevice.router import Router
from anydevice.settings import Settings
from anydevice.testing import call
from anydevice_lab.vega import Lab
from anydevice_schemas import Answer

PRACTICE = "dev.anydevice.practice"
FLAG = "/tmp/automation-toolkit.enable"
WITHIN = 20.0
"""Seconds something may take on a busy machine."""
OTHERS = frozenset({"web", "linux", "android", "apple", "harmonyos", "mcp"})


class Rig:
    """A router, and how its callers are set up.

    Attributes:
        environment: What a caller sends along.
        folder: A caller's working directory.
    """

    def __init__(self, lab: Lab, router: Router, environment: Mapping[str, str], folder: Path) -> None:
        self.lab, self.router, self.environment, self.folder = lab, router, dict(environment), folder

    async def do(self, command: str, /, *, expect: str | None = "ok", **arguments: Any) -> Answer:
        """Calls a command; its answer, which has to be `ok` or the error code that is expected. None: anything."""
        asked = call(command)
        caller = asked.caller.model_copy(update={"env": self.environment, "cwd": str(self.folder)})
        answer = await self.router.call(asked.model_copy(update={"caller": caller, "arguments": arguments}))
        said = "ok" if answer.ok or answer.error is None else answer.error.code
        assert expect in (None, said), (command, arguments, answer.error, answer.data)
        return answer

    async def devices(self) -> list[dict[str, Any]]:
        """What is listed now."""
        for name in ("vega", "android"):
            self.router.services.backends.forget(name)
        found: list[dict[str, Any]] = (await self.do("devices")).data["devices"]
        return found

    async def device(self, id: str) -> dict[str, Any]:
        """The one row of this id."""
        (found,) = [row for row in await self.devices() if row["id"] == id]
        return found

    async def open(self, device: str, screen: str = "home") -> None:
        """Opens the practice app on a screen."""
        await self.do("open", device=device, app=PRACTICE, arguments=["--screen", screen], new=True)

    async def shell(self, device: str, line: str) -> str:
        """What a command line of the device prints."""
        return str((await self.do("shell", device=device, commandLine=line)).data["stdout"])

    async def driver(self, serial: str) -> Driver:
        """The driver the router uses."""
        await self.devices()
        env = Environment(variables=self.environment)
        listed = await self.router.services.backends.listed(env)
        return await self.router.services.connections.get(listed.by_key(f"vega:{serial}"), env)

    async def text(self, device: str, target: str) -> str:
        """What an element says now."""
        return str((await self.do("get", device=device, target=target, what="text")).data["text"])


@asynccontextmanager
async def rig(
    lab: Lab,
    home: Path,
    *,
    environment: Mapping[str, str] | None = None,
    others: frozenset[str] = OTHERS,
    **settings: Any,
) -> AsyncIterator[Rig]:
    """A router with these settings of the backend; `others` are disabled."""
    env = {"ANDROID_ADB_SERVER_PORT": str(lab.port)} if environment is None else environment
    chosen = Settings(
        home=home,
        disabled=others,
        profile="full",
        confirm="caller",
        tables={
            "vega": {"start_server": False, "program": lab.program, **settings},
            "android": {"start_server": False},
        },
    )
    async with open_router(chosen) as router:
        yield Rig(lab, router, env, home.parent)


async def programs(lab: Lab, serial: str, *names: str) -> list[list[str]]:
    """The starts of some programs of the device: their words."""
    entries = await lab.journal(serial, "program")
    return [[entry["name"], *entry["args"]] for entry in entries if entry["name"] in names]


async def asked(lab: Lab, serial: str) -> list[str]:
    """Methods of the toolkit that were called."""
    return [entry["method"] for entry in await lab.journal(serial, "rpc")]


async def keys(lab: Lab, serial: str) -> list[tuple[str, float]]:
    """Keys that reached the device, and for how many seconds each was held."""
    return [(entry["name"], entry["seconds"]) for entry in await lab.journal(serial, "key")]


async def eventually(holds: Callable[[], Awaitable[Any]], within: float = WITHIN) -> Any:
    """What `holds` returns once that is true; the last of it when the time is up."""
    until = time.monotonic() + within
    while not (found := await holds()) and time.monotonic() < until:
        await anyio.sleep(0.05)
    assert found
    return found
