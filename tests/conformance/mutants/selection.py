"""Mutants of the cases about listings and about naming one device."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import pytest

from anydevice import inventory
from anydevice.commands import lifecycle
from anydevice.driver import Environment
from anydevice.resolution import candidates, index
from anydevice.resolution.request import Asked
from anydevice.testing import ReferenceBackend
from anydevice.testing.driver import FakeDriver
from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import BackendBroken

from . import Mutant


def later(backend: ReferenceBackend, change: Callable[[list[Device]], Sequence[Device]]) -> None:
    """The first listing, by which the suite finds its devices, is sound; later ones are changed."""
    sound, listings = backend.devices, []

    async def devices(env: Environment) -> Sequence[Device]:
        rows = list(await sound(env))
        listings.append(env)
        return rows if len(listings) == 1 else change(rows)

    backend.devices = devices  # type: ignore[method-assign]


def names_devices_by_a_counter(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids hold a number that rises with every listing."""
    numbers = iter(range(1000))

    def change(rows: list[Device]) -> list[Device]:
        number = next(numbers)
        return [row.model_copy(update={"id": f"{row.id}-{number}"}) for row in rows]

    later(backend, change)


def lists_one_device_twice(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that is reachable by two roads is two rows of one id."""
    later(backend, lambda rows: [*rows, rows[-1]])


def does_not_say_why(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that went offline is listed as such and nothing more."""
    later(backend, lambda rows: [*rows[:-1], rows[-1].model_copy(update={"state": "offline"})])


def shares_a_list_between_listings(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every listing empties and fills the same list."""
    rows: list[Device] = []

    async def devices(env: Environment) -> Sequence[Device]:
        rows.clear()
        for row in backend.rows.values():
            await anyio.sleep(0)
            rows.append(row)
        return list(rows)

    monkeypatch.setattr(backend, "devices", devices)


def reads_the_callers_folder(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A listing looks for a configuration file in the caller's folder and fails when it is not there."""
    sound = backend.devices

    async def devices(env: Environment) -> Sequence[Device]:
        if env.cwd is not None:
            os.listdir(env.cwd)
        return await sound(env)

    monkeypatch.setattr(backend, "devices", devices)


def fails_with_any_listing(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """One listing that fails fails them all."""
    sound = inventory.Backends._inventory

    def strict(self: inventory.Backends, env: Environment) -> Any:
        made = sound(self, env)
        if made.missing:
            raise BackendBroken("A backend does not list.", backend=made.missing[0].backend, reason="strict")
        return made

    monkeypatch.setattr(inventory.Backends, "_inventory", strict)


def knows_no_names(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only ids name a device."""
    monkeypatch.setattr(index.Index, "with_name", lambda self, value: index.Named())


def compares_names_as_they_are(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are not folded."""
    monkeypatch.setattr(index, "fold_name", str)


def takes_the_beginning_of_an_id(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no name is taken for the beginning of an id, as some tools do."""
    sound = index.Index.with_name

    def with_name(self: index.Index, value: str) -> index.Named:
        found = sound(self, value)
        return found if found.rows else index.Named(tuple(r for r in self.rows if r.device.id.startswith(value))[:1])

    monkeypatch.setattr(index.Index, "with_name", with_name)


def lets_an_id_win(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Selectors that only narrow are not looked at once an id is given."""
    monkeypatch.setattr(Asked, "within", lambda self, rows: tuple(rows))


def suggests_ids_that_are_not_unique(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Suggested selectors are not tried."""
    monkeypatch.setattr(candidates, "pin_row", lambda row, *_: {"device": row.device.id})


def takes_the_first_device(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is named the first usable device acts."""
    module = importlib.import_module("anydevice.resolution.resolve")
    monkeypatch.setattr(module, "_choosable", lambda request, asked, ready, inventory: (list(ready)[:1], 1))


def takes_offline_for_usable(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device whose connection is down counts as ready."""
    monkeypatch.setattr(index, "USABLE_STATES", frozenset({"ready", "offline"}))


def keeps_one_identity_for_all(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drivers share what they read of the device that was connected last."""

    async def identify(self: FakeDriver) -> DeviceRef:
        return self.backend.drivers[-1].device.ref()

    monkeypatch.setattr(FakeDriver, "identify", identify)


def lets_the_session_name_the_device(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What may stop a device is content with the session's."""
    for spec in (lifecycle.boot, lifecycle.shutdown):
        monkeypatch.setattr(spec, "command", spec.command.model_copy(update={"explicit_device": False}))


MUTANTS: dict[str, Mutant] = {
    "selection.ids-stay-the-same": names_devices_by_a_counter,
    "selection.rows-are-sound": lists_one_device_twice,
    "selection.rows-say-why-and-what-to-do": does_not_say_why,
    "selection.listings-run-side-by-side": shares_a_list_between_listings,
    "selection.listings-bear-an-odd-environment": reads_the_callers_folder,
    "selection.a-sick-neighbour-spoils-nothing": fails_with_any_listing,
    "selection.id-key-and-name-name-it": knows_no_names,
    "selection.case-and-white-space-are-folded": compares_names_as_they_are,
    "selection.part-of-an-id-names-nobody": takes_the_beginning_of_an_id,
    "selection.contradictions-are-refused": lets_an_id_win,
    "selection.equal-names-are-ambiguous": suggests_ids_that_are_not_unique,
    "selection.nothing-named-and-several-usable-is-ambiguous": takes_the_first_device,
    "selection.unusable-rows-are-told-and-never-chosen": takes_offline_for_usable,
    "selection.stopping-needs-a-named-device": lets_the_session_name_the_device,
    "selection.the-acting-device-is-read-back": keeps_one_identity_for_all,
}
