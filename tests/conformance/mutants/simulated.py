"""Mutants of the cases about devices that are simulated on the host."""

from __future__ import annotations

import pytest

from anydevice.commands import erasing
from anydevice.commands.erasing import EraseInput
from anydevice.context import Context, Outcome
from anydevice.testing import ReferenceBackend, storing

from . import Mutant


def shuts_down_what_runs(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that runs is shut down for it, and erased."""

    async def erase(ctx: Context, args: EraseInput) -> Outcome:
        assert ctx.device is not None
        backend.set_state(ctx.device.id, "shutdown")
        return await sound(ctx, args)

    sound = erasing.erase.handler
    monkeypatch.setattr(erasing.erase, "handler", erase)


def asks_nobody(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked."""
    bold = erasing.erase.command.model_copy(update={"confirm": []})
    monkeypatch.setattr(erasing.erase, "command", bold)


def makes_a_folder_up(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is told that is nowhere."""

    async def container(self: storing.Installing, app: str, kind: str) -> str:
        return f"{await sound(self, app, kind)}/Documents"

    sound = storing.Installing.container
    monkeypatch.setattr(storing.Installing, "container", container)


def tells_one_of_anything(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any app has a folder."""

    async def container(self: storing.Installing, app: str, kind: str) -> str:
        return self.driver.disk.container(app, kind)

    monkeypatch.setattr(storing.Installing, "container", container)


MUTANTS: dict[str, Mutant] = {
    "erase.what-runs-is-never-erased": shuts_down_what_runs,
    "erase.needs-a-persons-word": asks_nobody,
    "container.is-a-folder-of-this-host": makes_a_folder_up,
    "container.of-nothing-is-refused": tells_one_of_anything,
}
