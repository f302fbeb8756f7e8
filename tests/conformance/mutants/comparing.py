"""Mutants of the cases about comparing the screen with an earlier snapshot."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from anydevice.commands import comparing
from anydevice.elements import diff
from anydevice.testing import ReferenceBackend

from . import Mutant


def _other(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Puts another comparison in place of the sound one, in this command alone."""
    monkeypatch.setattr(comparing, "diff", lambda before, after: change(diff(before, after), before, after))


def names_no_element(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines say what changed, and not of which element."""
    sound = comparing._told

    def told(*given: Any) -> Any:
        data, left = sound(*given)
        return data | {"changes": [re.sub(r"@e\d+", "it", line) for line in data["changes"]]}, left

    monkeypatch.setattr(comparing, "_told", told)


def always_sees_a_change(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something is told to have moved, always."""
    _other(monkeypatch, lambda sound, before, after: replace(sound, moved=sound.moved + 1))


def takes_come_for_gone(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two sides are mixed up."""
    _other(monkeypatch, lambda sound, before, after: replace(sound, added=sound.removed, removed=sound.added))


def heeds_no_name(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is named, the latest snapshot is compared with."""
    sound = comparing._baseline
    monkeypatch.setattr(comparing, "_baseline", lambda ctx, since: sound(ctx, None))


def cuts_in_silence(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was left out is left out of the answer as well."""
    sound = comparing._told
    monkeypatch.setattr(comparing, "_told", lambda *given: (sound(*given)[0], []))


MUTANTS: dict[str, Mutant] = {
    "comparing.what-changed-is-told": names_no_element,
    "comparing.nothing-is-told-where-nothing-changed": always_sees_a_change,
    "comparing.what-came-and-went-is-told": takes_come_for_gone,
    "comparing.the-named-snapshot-is-compared": heeds_no_name,
    "comparing.cuts-are-told": cuts_in_silence,
}
