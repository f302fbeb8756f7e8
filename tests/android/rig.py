"""The Android backend behind a router, driven by commands as callers send them, and judged by the lab's devices."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from anydevice.assembly import open_router
from anydevice.router import Router
from anydevice.settings import Settings
from anydevice.testing import call
from anydevice_lab.android import Lab
from anydevice_schemas import Answer

PRACTICE = "dev.anydevice.practice"
WITHIN = 20.0
"""Seconds something may take on a busy machine."""
PORTS = (21_000, 39_000)
"""Emulators of tests are on ports that no adb server looks through."""


class Rig:
    """A router, and how its callers are set up.

    Attributes:
        environment: What a caller sends along.
    """

    def __init__(self, lab: Lab, router: Router, environment: Mapping[str, str]) -> None:
        self.lab, self.router, self.environment = lab, router, dict(environment)

    async def do(self, command: str, /, *, expect: str = "ok", **arguments: Any) -> Answer:
        """Calls a command; its answer, which has to be `ok` or the error code that is expected."""
        answer = await self.answer(command, **arguments)
        said = "ok" if answer.ok or answer.error is None else answer.error.code
        assert said == expect, (command, arguments, answer.error, answer.data)
        return answer

    async def answer(self, command: str, /, **arguments: Any) -> Answer:
        """Calls a command; its answer, whatever it is."""
        asked = call(command)
        caller = asked.caller.model_copy(update={"env": self.environment})
        return await self.router.call(asked.model_copy(update={"caller": caller, "arguments": arguments}))

    async def devices(self) -> list[dict[str, Any]]:
        """What is listed now."""
        self.router.services.backends.forget("android")
        found: list[dict[str, Any]] = (await self.do("devices")).data["devices"]
        return found

    async def device(self, id: str) -> dict[str, Any]:
        """The one row of this id."""
        (found,) = [row for row in await self.devices() if row["id"] == id]
        return found

    async def open(self, device: str, screen: str = "home") -> None:
        """Opens the practice app on a screen."""
        await self.do("open", device=device, app=PRACTICE, arguments=["--screen", screen], new=True)


@asynccontextmanager
async def rig(
    lab: Lab, home: Path, *, environment: Mapping[str, str] | None = None, **settings: Any
) -> AsyncIterator[Rig]:
    """A router with these settings of the backend."""
    env = {"ANDROID_ADB_SERVER_PORT": str(lab.port)} if environment is None else environment
    chosen = Settings(
        home=home,
        disabled=frozenset({"web", "linux", "apple", "harmonyos", "vega", "mcp"}),
        profile="full",
        confirm="caller",
        tables={"android": {"start_server": False, "emulator_ports": list(PORTS), **settings}},
    )
    async with open_router(chosen) as router:
        yield Rig(lab, router, env)


async def eventually(holds: Callable[[], Awaitable[Any]], within: float = WITHIN) -> Any:
    """What `holds` returns once that is true; the last of it when the time is up."""
    until = time.monotonic() + within
    while not (found := await holds()) and time.monotonic() < until:
        await anyio.sleep(0.05)
    assert found
    return found
