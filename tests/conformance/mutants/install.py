"""Mutants of the cases about apps, listed, coming and going, and about forwarded ports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anydevice.commands import apps, install
from anydevice.driver import Acted, Forward
from anydevice.kit import fetching
from anydevice.testing import ReferenceBackend, storing
from anydevice.testing.disk import FakeDisk
from anydevice_schemas.errors import InvalidArgument

from . import Mutant


def keeps_what_should_go(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """An uninstall only hides the app from those who open it."""
    backend.fault.swallow.add("apps.uninstall")


def asks_nobody(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reinstalling counts as installing."""
    sound = install.reinstall.command
    monkeypatch.setattr(install.reinstall, "command", sound.model_copy(update={"confirm": []}))


def installs_anything(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be read is installed as an app without a name."""
    sound = storing.Installing.install

    async def installs(self: Any, path: str, *, deadline: float) -> Acted:
        try:
            return await sound(self, path, deadline=deadline)
        except InvalidArgument:
            app = Path(path).name
            self.driver.disk.packages[app] = app
            return Acted("package", data={"app": app})

    monkeypatch.setattr(storing.Installing, "install", installs)


def asks_every_address(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks where a name leads."""
    monkeypatch.setattr(fetching, "public", lambda address: True)


def takes_the_sum_on_trust(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of a file is not computed."""
    monkeypatch.setattr(install, "_digest", lambda path, stop: "0" * 64)


def tells_the_port_that_was_asked_for(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The port the system chose is not asked for."""
    sound = storing.FakeForwards.add

    async def add(self: Any, forward: Forward) -> Forward:
        made = await sound(self, forward)
        return replace(made, host=forward.host)

    monkeypatch.setattr(storing.FakeForwards, "add", add)


def leaves_ports_behind(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a holder forwarded stays when it has gone."""
    monkeypatch.setattr(FakeDisk, "clean", lambda self: None)


def minds_no_wish(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """All apps are listed, whatever was asked."""
    monkeypatch.setattr(apps, "_fits", lambda app, args: True)


MUTANTS: dict[str, Mutant] = {
    "apps.narrowed-by-name-and-by-what-runs": minds_no_wish,
    "install.an-app-comes-and-goes": keeps_what_should_go,
    "install.data-go-with-a-persons-word-only": asks_nobody,
    "install.what-is-no-package-is-refused": installs_anything,
    "install.private-addresses-are-never-asked": asks_every_address,
    "install.only-the-file-that-was-meant": takes_the_sum_on_trust,
    "forwarding.what-is-added-is-listed-until-it-is-removed": tells_the_port_that_was_asked_for,
    "forwarding.ports-end-with-their-holder": leaves_ports_behind,
}
