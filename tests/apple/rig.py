"""The Apple backend behind a router, driven by commands as callers send them, and judged by the lab's devices."""

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
from anydevice_lab.apple import Lab
from anydevice_schemas import Answer

PRACTICE = "dev.anydevice.practice"
WITHIN = 20.0
"""Seconds something may take on a busy machine."""
OTHERS = frozenset({"web", "linux", "android", "harmonyos", "vega", "mcp"})


class Rig:
    """A router, and how its callers are set up.

    Attributes:
        environment: What a caller sends along.
    """

    def __init__(self, lab: Lab, router: Router, environment: Mapping[str, str]) -> None:
        self.lab, self.router, self.environment = lab, router, dict(environment)

    async def do(
        self, command: str, /, *, expect: str | None = "ok", cwd: Path | None = None, **arguments: Any
    ) -> Answer:
        """Calls a command from a folder; its answer, which has to be `ok`, or the code that is expected (None: any)."""
        asked = call(command)
        caller = asked.caller.model_copy(update={"env": self.environment, "cwd": str(cwd) if cwd is not None else None})
        answer = await self.router.call(asked.model_copy(update={"caller": caller, "arguments": arguments}))
        said = "ok" if answer.ok or answer.error is None else answer.error.code
        assert expect in (None, said), (command, arguments, answer.error, answer.data)
        return answer

    async def refused(self, code: str, command: str, /, **arguments: Any) -> dict[str, Any]:
        """Calls a command that has to be refused with this code; the details of the error, with its message."""
        answer = await self.do(command, expect=code, **arguments)
        assert answer.error is not None
        return {**answer.error.details, "message": answer.error.message, "hint": answer.error.hint}

    async def devices(self) -> list[dict[str, Any]]:
        """What is listed now."""
        self.router.services.backends.forget("apple")
        found: list[dict[str, Any]] = (await self.do("devices")).data["devices"]
        return found

    async def device(self, id: str) -> dict[str, Any]:
        """The one row of this id."""
        (found,) = [row for row in await self.devices() if row["id"] == id]
        return found

    async def open(self, device: str, screen: str = "home") -> None:
        """Opens the practice app on a screen."""
        await self.do("open", device=device, app=PRACTICE, arguments=["--screen", screen], new=True)

    async def text(self, target: str) -> str:
        """What an element of the session's device says now."""
        return str((await self.do("get", target=target, what="text")).data["text"])

    async def driver(self, udid: str) -> Driver:
        """The driver the router uses."""
        await self.devices()
        env = Environment(variables=self.environment)
        listed = await self.router.services.backends.listed(env)
        return await self.router.services.connections.get(listed.by_key(f"apple:{udid}"), env)


@asynccontextmanager
async def rig(
    lab: Lab, home: Path, *, others: frozenset[str] = OTHERS, private_hosts: tuple[str, ...] = (), **settings: Any
) -> AsyncIterator[Rig]:
    """A router with these settings of the backend; `others` are disabled, downloads from `private_hosts` allowed."""
    chosen = Settings(
        home=home,
        disabled=others,
        profile="full",
        confirm="caller",
        private_hosts=private_hosts,
        tables={"apple": {"xcrun": lab.xcrun, **settings}},
    )
    async with open_router(chosen) as router:
        yield Rig(lab, router, {})


async def programs(lab: Lab, *words: str) -> list[list[str]]:
    """The starts of Xcode's programs with these words somewhere in them."""
    entries = await lab.journal("mac", "program")
    found = [[str(entry["name"]), *map(str, entry["args"])] for entry in entries]
    return [one for one in found if all(word in one for word in words)]


async def eventually(holds: Callable[[], Awaitable[Any]], within: float = WITHIN) -> Any:
    """What `holds` returns once that is true; the last of it when the time is up."""
    until = time.monotonic() + within
    while not (found := await holds()) and time.monotonic() < until:
        await anyio.sleep(0.05)
    assert found
    return found
