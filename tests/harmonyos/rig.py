"""The HarmonyOS backend behind a router, driven by commands as callers send them, and judged by the lab's devices."""

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
from anydevice_harmonyos.hdc import HdcDevice, HdcServer
from anydevice_harmonyos.reach import Reach
from anydevice_lab.harmonyos import Lab
from anydevice_schemas import Answer, Call

PRACTICE = "dev.anydevice.practice"
WITHIN = 20.0
"""Seconds something may take on a busy machine."""


class Rig:
    """A router, and how its callers are set up.

    Attributes:
        environment: What a caller sends along.
        folder: Where a caller is, and has its files.
    """

    def __init__(self, lab: Lab, router: Router, environment: Mapping[str, str], folder: Path) -> None:
        self.lab, self.router, self.environment, self.folder = lab, router, dict(environment), folder

    async def do(self, command: str, /, *, expect: str = "ok", **arguments: Any) -> Answer:
        """Calls a command; its answer, which has to be `ok` or the error code that is expected."""
        answer = await self.router.call(self.asked(command, **arguments))
        said = "ok" if answer.ok or answer.error is None else answer.error.code
        assert said == expect, (command, arguments, answer.error, answer.data)
        return answer

    def asked(self, command: str, /, **arguments: Any) -> Call:
        """A call as the caller makes it."""
        made = call(command)
        caller = made.caller.model_copy(update={"env": self.environment, "cwd": str(self.folder)})
        return made.model_copy(update={"caller": caller, "arguments": arguments})

    async def devices(self) -> list[dict[str, Any]]:
        """What is listed now."""
        self.router.services.backends.forget("harmonyos")
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
    """A router with these settings of the backend; no program of this host is found but the lab's."""
    env = {"OHOS_HDC_SERVER_PORT": str(lab.port)} if environment is None else environment
    table = {"start_server": False, "hdc": lab.hdc, "emulator": lab.emulator, **settings}
    chosen = Settings(
        home=home,
        disabled=frozenset({"web", "linux", "android", "vega", "apple", "macos", "mcp"}),
        profile="full",
        confirm="caller",
        tables={"harmonyos": table},
    )
    async with open_router(chosen) as router:
        yield Rig(lab, router, env, home.parent)


def hdc(lab: Lab, key: str) -> HdcDevice:
    """The client for a device of the lab, alone."""
    return HdcDevice(HdcServer("127.0.0.1", lab.port), key)


def reach(lab: Lab, key: str) -> Reach:
    """What a driver has of a device of the lab."""
    return Reach(hdc(lab, key))


async def lines(lab: Lab, key: str, *, clear: bool = False) -> list[str]:
    """What the server was asked to do on a device, in order."""
    return [entry["line"] for entry in await lab.heard("command", clear=clear) if entry["key"] == key]


async def eventually(holds: Callable[[], Awaitable[Any]], within: float = WITHIN) -> Any:
    """What `holds` returns once that is true; the last of it when the time is up."""
    until = time.monotonic() + within
    while not (found := await holds()) and time.monotonic() < until:
        await anyio.sleep(0.05)
    assert found
    return found
