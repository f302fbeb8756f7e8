"""The lab as tests use it: devices in a process of their own, behind a private adb server.

async with Lab() as lab:
    phone, tv = await lab.start("phone", "tv")
    ...                                     # ANDROID_ADB_SERVER_PORT is lab.port
    await lab.fault(phone, "idle", seconds=1)
    taps = await lab.journal(phone, "tap")
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Any, ClassVar, Self

import anyio

from anydevice.kit import processes
from anydevice.kit.background import Background
from anydevice.kit.background import start as start_background

from .server import find_adb

UP_WITHIN, ANSWER_WITHIN = 60.0, 90.0


class LabFailed(RuntimeError):
    """The lab could not do what it was asked."""


class Lab:
    """Simulated Android devices that the ordinary client programs can talk to.

    Args:
        adb: The adb program its server runs; None = the one in the adbutils distribution.

    Attributes:
        port: Of the adb server.
        adb: The adb program.
        home: Folder with the key of the server.
    """

    host: ClassVar[str] = f"{__package__}.host"
    """Module that is run as the process the devices live in."""

    def __init__(self, adb: str | None = None) -> None:
        self.adb = find_adb(adb)
        self.port = 0
        self.home = ""
        self._child: processes.Child | None = None
        self._reader: Background | None = None
        self._waiting: dict[int, tuple[anyio.Event, dict[str, Any]]] = {}
        self._number = 0
        self._lock = anyio.Lock()

    async def __aenter__(self) -> Self:
        argv = [sys.executable, "-m", self.host, self.adb]
        self._child = await processes.start(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        hello = self._expect(0)
        self._reader = start_background(self._read, name="lab")
        try:
            up = await self._await(0, hello, UP_WITHIN)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        self.port, self.home = up["port"], up["home"]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._child is None:
            return
        with anyio.CancelScope(shield=True):
            assert self._child.process.stdin is not None
            await self._child.process.stdin.aclose()
            with anyio.move_on_after(5):
                await self._child.wait()
            await processes.stop(self._child)
            if self._reader is not None:
                self._reader.cancel()

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs in its environment to reach the devices and no others."""
        return {"ANDROID_ADB_SERVER_PORT": str(self.port), "HOME": self.home, "ADB_VENDOR_KEYS": f"{self.home}/adbkey"}

    async def last(self) -> None:
        """Returns never.

        Raises:
            LabFailed: The process that the devices live in has ended.
        """
        assert self._child is not None
        code = await self._child.wait()
        raise LabFailed(f"the lab ended (status {code}): {self._child.tail[-1000:]}")

    async def start(self, *kinds: str | Mapping[str, Any], connect: bool = True) -> list[str]:
        """Starts devices and connects the server to them.

        Args:
            kinds: Names of kinds, or mappings with `name` and fields that differ (`{"name": "phone", "model": "X"}`).
            connect: False leaves the server unconnected.

        Returns:
            Their serials, in order.
        """
        rows = await self.ask("start", kinds=[k if isinstance(k, str) else dict(k) for k in kinds], connect=connect)
        return [row["serial"] for row in rows]

    async def devices(self) -> list[dict[str, Any]]:
        """What runs: serial, serialno, address, kind, model, avd, state, and `root`, the folder of its files."""
        rows: list[dict[str, Any]] = await self.ask("devices")
        return rows

    async def stop(self, serial: str) -> None:
        """A device goes away for good."""
        await self.ask("stop", serial=serial)

    async def journal(self, serial: str, kind: str | None = None, *, clear: bool = False) -> list[dict[str, Any]]:
        """What a device received, of one kind (shell, program, tap, swipe, key, text, sync, dump, ...) or all."""
        entries: list[dict[str, Any]] = await self.ask("journal", serial=serial, kind=kind, clear=clear)
        return entries

    async def fault(self, serial: str, name: str, **fields: Any) -> None:
        """Sets a fault; see `faults.py` for names and fields (match, times, seconds, text, stderr, code)."""
        await self.ask("fault", serial=serial, fault={"name": name, **fields})

    async def clear(self, serial: str, name: str | None = None) -> None:
        """Takes faults of one name away, or all."""
        await self.ask("clear", serial=serial, name=name)

    async def approve(self, serial: str) -> None:
        """A person allows the adb server that waits for it on the device."""
        await self.ask("approve", serial=serial)

    async def state(self, serial: str) -> dict[str, Any]:
        """What the device shows and is: front, tasks, keyboard, rotation, size, awake, dialog, clipboard, packages."""
        found: dict[str, Any] = await self.ask("state", serial=serial)
        return found

    async def set(self, serial: str, **what: Any) -> None:
        """Sets `direct`, `idle_seconds`, `shell`, `awake`, `locked`, `rotation`, `reboot_seconds` or `props`.

        `sound`: how loud it plays from now on, in dBFS; None for silence.
        """
        await self.ask("set", serial=serial, **what)

    async def fake_server(self, rows: str) -> int:
        """Starts a server that only lists these rows, as `adb devices -l` prints them; returns its port."""
        port: int = await self.ask("fake", rows=rows)
        return port

    async def ask(self, verb: str, **what: Any) -> Any:
        """Asks the process the devices live in (see `host.py`).

        Raises:
            LabFailed: It refuses, or is gone.
            TimeoutError: It does not answer.
        """
        self._number += 1
        number = self._number
        waiting = self._expect(number)
        assert self._child is not None and self._child.process.stdin is not None
        line = json.dumps({"id": number, "do": verb, **what}).encode() + b"\n"
        try:
            async with self._lock:
                await self._child.process.stdin.send(line)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise LabFailed(f"the lab is gone: {self._child.tail[-1000:]}") from None
        return await self._await(number, waiting, ANSWER_WITHIN)

    def _expect(self, number: int) -> tuple[anyio.Event, dict[str, Any]]:
        self._waiting[number] = (anyio.Event(), {})
        return self._waiting[number]

    async def _await(self, number: int, waiting: tuple[anyio.Event, dict[str, Any]], seconds: float) -> Any:
        event, answer = waiting
        try:
            with anyio.fail_after(seconds):
                await event.wait()
        finally:
            self._waiting.pop(number, None)
        if not answer.get("ok"):
            raise LabFailed(str(answer.get("error", "no answer")))
        return answer.get("data")

    async def _read(self) -> None:
        assert self._child is not None and self._child.process.stdout is not None
        kept = b""
        try:
            async for data in self._child.process.stdout:
                kept += data
                while b"\n" in kept:
                    line, _, kept = kept.partition(b"\n")
                    answer = json.loads(line)
                    if (waiting := self._waiting.get(answer.pop("id", None))) is not None:
                        waiting[1].update(answer)
                        waiting[0].set()
        finally:
            for event, answer in self._waiting.values():
                answer.setdefault("error", f"the lab is gone: {self._child.tail[-1000:]}")
                event.set()
