"""Mutants of the cases about what a device says it can do."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice import plans
from anydevice.commands import observe
from anydevice.driver import Environment
from anydevice.testing import ReferenceBackend, driver
from anydevice_schemas import Device

from . import Mutant


def hangs_no_navigation_on_the_driver(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A declared capability was written and never hung on the driver."""
    sound = backend.connect

    async def connect(device: Device, env: Environment) -> driver.FakeDriver:
        made = await sound(device, env)
        del made.navigation
        return made

    monkeypatch.setattr(backend, "connect", connect)


def gives_no_reasons(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is listed without why."""
    sound = plans.offered

    def offered(*asked: Any) -> tuple[bool, dict[str, str]]:
        can, lacking = sound(*asked)
        return can, dict.fromkeys(lacking, "")

    monkeypatch.setattr(plans, "offered", offered)


def offers_everything(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command is offered, whatever the device can do."""
    monkeypatch.setattr(plans, "offered", lambda *asked: (True, {}))


def does_it_though_undeclared(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command is tried with whatever plan comes first, and the driver does what it never declared."""
    sound = plans.choose

    def choose(command: Any, arguments: Any, *where: Any) -> Any:
        return next((p for p in command.plans if plans.applies(p.when, arguments)), None) or sound(
            command, arguments, *where
        )

    monkeypatch.setattr(plans, "choose", choose)
    monkeypatch.setattr(driver, "declared", lambda *asked: True)


def leaves_out_constrained_operations(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operations that only some devices have are not told of the backend."""
    sound = observe._by_platform

    def by_platform(ctx: Any) -> list[dict[str, Any]]:
        rows = sound(ctx)
        for row in rows:
            declared = ctx.services.backends.manifest(row["backend"]).operations
            row["operations"] = [op for op in row["operations"] if not declared[op].classes]
        return rows

    monkeypatch.setattr(observe, "_by_platform", by_platform)


MUTANTS: dict[str, Mutant] = {
    "capabilities.declared-operations-are-told": hangs_no_navigation_on_the_driver,
    "capabilities.commands-are-offered-or-missing-with-a-reason": gives_no_reasons,
    "capabilities.offered-commands-can-be-called": offers_everything,
    "capabilities.missing-commands-are-refused-by-type": does_it_though_undeclared,
    "capabilities.backends-are-told-without-a-device": leaves_out_constrained_operations,
}
