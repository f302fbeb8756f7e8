"""One mutant a case: the reference backend (or core around it) with one fault, which exactly that case must catch.

Each module here has `MUTANTS: dict[case id, Mutant]`. A mutant is a function that takes the reference backend and
pytest's `monkeypatch` and puts the fault in: on the backend's drivers, screens or rows, or on core where the case
guards a promise of core.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

import pytest

from anydevice.testing import ReferenceBackend

Mutant = Callable[[ReferenceBackend, pytest.MonkeyPatch], None]


def all_mutants() -> dict[str, Mutant]:
    """Every mutant by the id of the case that must catch it."""
    found: dict[str, Mutant] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        for case_id, mutant in module.MUTANTS.items():
            assert case_id not in found, f"{case_id} has two mutants"
            found[case_id] = mutant
    return found
