"""Reading what a witness window writes down."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from anydevice.kit.waiting import readable

from .desktop import Seat

PROGRAM = Path(__file__).parent / "programs" / "witness.py"
PATIENCE = 30.0


class Told:
    """A program that writes down what happens to it, one JSON object a line. The first has `ready` in it."""

    def __init__(self, seat: Seat, argv: Sequence[str | Path]) -> None:
        self.seat = seat
        self.process = seat.launch(argv, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self._file = self.process.stdout
        os.set_blocking(self._file.fileno(), False)
        self._rest = b""
        self.said: list[dict[str, Any]] = []
        end = time.monotonic() + PATIENCE
        while not any("ready" in word for word in self.said):
            ended = self.process.poll() is not None  # read after this: its last words count
            readable(self._file.fileno(), 0.1)
            self.read()
            assert "ready" in str(self.said) or (not ended and time.monotonic() < end), "the program did not come up"

    def read(self) -> list[dict[str, Any]]:
        """All it said so far."""
        self._rest += self._file.read() or b""
        *lines, self._rest = self._rest.split(b"\n")
        self.said += [json.loads(line) for line in lines]
        return self.said

    async def quiet(self) -> None:
        """Forgets what was said, once nothing more comes."""
        count = -1
        while count != len(self.read()):
            count = len(self.said)
            await anyio.sleep(0.05)
        self.said.clear()

    def end(self) -> None:
        """Ends the program."""
        self.seat.end(self.process)
        self._file.close()


class Field(Told):
    """A program with a text field that tells its text."""

    @property
    def text(self) -> str:
        return next((word["text"] for word in reversed(self.read()) if "text" in word), "")

    async def wait(self, text: str, patience: float = PATIENCE) -> None:
        """Waits until the field holds a text."""
        end = time.monotonic() + patience
        while self.text != text:
            assert time.monotonic() < end, f"the field holds {self.text!r} and not {text!r}"
            await anyio.sleep(0.005)


class Witness(Told):
    """A window that tells what it got."""

    def __init__(
        self,
        seat: Seat,
        *flags: str,
        at: tuple[int, int] = (100, 100),
        size: tuple[int, int] = (400, 300),
        title: str = "Witness",
    ) -> None:
        words = [str(number) for number in (*at, *size)]
        super().__init__(seat, [sys.executable, PROGRAM, seat.display, *words, title, *flags])
        self.id: int = self.said.pop(0)["ready"]

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        """What it said of some kinds."""
        return [word for word in self.read() if word["kind"] in kinds]

    async def wait(self, count: int, *kinds: str, patience: float = PATIENCE) -> list[dict[str, Any]]:
        """What it said of some kinds, once there are `count` of them."""
        end = time.monotonic() + patience
        while len(found := self.of(*kinds)) < count:
            assert time.monotonic() < end, f"{len(found)} of {count}: {found}"
            await anyio.sleep(0.005)
        return found
