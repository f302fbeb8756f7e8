"""Mutants of the cases about a shell on the device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from anydevice.commands import shell
from anydevice.driver import ShellResult
from anydevice.kit import background
from anydevice.testing import ReferenceBackend, storing
from anydevice_schemas.errors import CallTimeout

from . import Mutant


def _instead(monkeypatch: pytest.MonkeyPatch, faulty: Any) -> None:
    sound = storing.FakeShell.run

    async def run(self: Any, command: str, **more: Any) -> ShellResult:
        result: ShellResult = await faulty(sound, self, command, **more)
        return result

    monkeypatch.setattr(storing.FakeShell, "run", run)


def tells_only_that_it_ended(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bridge to the device passes no exit status on."""

    async def run(sound: Any, self: Any, command: str, **more: Any) -> ShellResult:
        return replace(await sound(self, command, **more), status=0)

    _instead(monkeypatch, run)


def goes_through_another_shell(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is put together from its words once more, unquoted."""

    async def run(sound: Any, self: Any, command: str, **more: Any) -> ShellResult:
        result: ShellResult = await sound(self, command.replace("'", "").replace('"', ""), **more)
        return result

    _instead(monkeypatch, run)


def keeps_one_disk_for_all(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """All devices have one disk."""
    one = next(iter(backend.disks.values()))
    monkeypatch.setattr(backend, "disks", dict.fromkeys(backend.disks, one))


def leaves_late_lines_running(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who does not wait any more leaves the line to itself."""

    async def run(sound: Any, self: Any, command: str, *, deadline: float, **more: Any) -> ShellResult:
        if "sleep" in command:

            async def on() -> None:
                await sound(self, command, deadline=60.0, **more)

            background.start(on, name="a line nobody waits for")
            raise CallTimeout("It did not end in time.", after=deadline)
        result: ShellResult = await sound(self, command, deadline=deadline, **more)
        return result

    _instead(monkeypatch, run)


def runs_in_every_profile(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command does not say that it needs profile full."""
    monkeypatch.setattr(shell.shell, "command", shell.shell.command.model_copy(update={"profile": "read-only"}))


MUTANTS: dict[str, Mutant] = {
    "shell.how-it-ended-is-told": tells_only_that_it_ended,
    "shell.a-line-arrives-as-it-was-written": goes_through_another_shell,
    "shell.only-on-this-device": keeps_one_disk_for_all,
    "shell.late-lines-are-ended": leaves_late_lines_running,
    "shell.refused-below-profile-full": runs_in_every_profile,
}
