"""Mutants of the cases about refusals."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import pytest

from anydevice import catalogue
from anydevice.catalogue import Catalogue, CommandSpec, Parsed
from anydevice.driver import Acted, OpenRequest, Probe
from anydevice.elements import describe, match
from anydevice.testing import ReferenceBackend, driver
from anydevice_schemas import Point
from anydevice_schemas.errors import AmbiguousElement, AppNotFound, DialogOpen, ElementDisabled

from . import Mutant


def gives_no_hint(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend's own error says what is wrong and not what to do."""
    sound = driver._Apps.open

    async def open_(self: driver._Apps, request: OpenRequest) -> Acted:
        try:
            return await sound(self, request)
        except AppNotFound as error:
            raise AppNotFound(error.message, hint="", **error.details) from None

    monkeypatch.setattr(driver._Apps, "open", open_)


def tells_nothing_near(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is looked for that comes near."""
    monkeypatch.setattr(describe, "_near", lambda folded, texts: [])


def numbers_from_one(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates are numbered as people count, not as index counts."""
    sound = match.ambiguous

    def ambiguous(*about: Any) -> AmbiguousElement:
        error = sound(*about)
        for candidate in error.details["candidates"]:
            candidate["index"] += 1
        return error

    monkeypatch.setattr(match, "ambiguous", ambiguous)


def believes_what_it_wrote(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver takes text for written once it was sent."""
    sound = driver._Elements.set_text

    async def set_text(self: driver._Elements, key: str, text: str) -> Acted:
        return Acted((await sound(self, key, text)).method, verified=True)

    monkeypatch.setattr(driver._Elements, "set_text", set_text)


def repeats_the_dialog(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message of dialog_open quotes the dialog."""
    sound = driver.FakeDriver.enter

    async def enter(self: driver.FakeDriver, operation: str, *, page: bool = True) -> bool:
        try:
            return await sound(self, operation, page=page)
        except DialogOpen as error:
            raise DialogOpen(f"A dialog asks: {error.details['text']}", **error.details) from None

    monkeypatch.setattr(driver.FakeDriver, "enter", enter)


def repeats_the_name(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver refuses a disabled element itself, by its name."""
    sound = driver._Elements.probe

    async def probe(self: driver._Elements, key: str, *, at: Point | None = None) -> Probe:
        seen = await sound(self, key, at=at)
        if "disabled" in seen.node.states:
            raise ElementDisabled(f"{seen.node.name} is disabled.", element={"name": seen.node.name})
        return seen

    monkeypatch.setattr(driver._Elements, "probe", probe)


def swallows_unknown_arguments(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments a command does not take are left out."""
    sound = Catalogue.parse

    def parse(self: Catalogue, name: str, arguments: Mapping[str, Any]) -> Parsed:
        known = self.accepted(self.get(name))
        return sound(self, name, {key: value for key, value in arguments.items() if key in known})

    monkeypatch.setattr(Catalogue, "parse", parse)


def takes_the_default_instead(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that means nothing is replaced by the default."""
    sound = catalogue._validate

    def validate(model: type[Any], values: dict[str, Any], problems: list[dict[str, Any]]) -> Any:
        found: list[dict[str, Any]] = []
        made = sound(model, values, found)
        bad = {problem["param"] for problem in found}
        return made if not bad else sound(model, {k: v for k, v in values.items() if k not in bad}, problems)

    monkeypatch.setattr(catalogue, "_validate", validate)


def stops_at_the_first_problem(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """One problem a call is told."""
    sound = catalogue._invalid
    monkeypatch.setattr(catalogue, "_invalid", lambda spec, problems, accepted: sound(spec, problems[:1], accepted))


def guesses_the_command(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that does not exist is taken for the nearest one."""
    sound = Catalogue.get

    def get(self: Catalogue, name: str) -> CommandSpec:
        near = difflib.get_close_matches(name, self._aliases, n=1, cutoff=0.5)
        return sound(self, near[0] if near else name)

    monkeypatch.setattr(Catalogue, "get", get)


MUTANTS: dict[str, Mutant] = {
    "errors.every-refusal-says-what-to-do-next": gives_no_hint,
    "errors.element-not-found-tells-what-is-there": tells_nothing_near,
    "errors.ambiguous-element-numbers-its-candidates": numbers_from_one,
    "errors.action-unverified-tells-expected-and-actual": believes_what_it_wrote,
    "errors.dialog-open-tells-text-and-buttons": repeats_the_dialog,
    "errors.messages-repeat-nothing-of-the-screen": repeats_the_name,
    "errors.unknown-arguments-are-refused": swallows_unknown_arguments,
    "errors.unknown-values-are-refused": takes_the_default_instead,
    "errors.all-problems-are-told-at-once": stops_at_the_first_problem,
    "errors.unknown-commands-are-refused": guesses_the_command,
}
