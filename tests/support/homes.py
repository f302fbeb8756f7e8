"""A home folder of its own for every test, and one for all tests of a module that leave its daemon alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .daemons import Home


@pytest.fixture
def home() -> Iterator[Home]:
    with Home.made() as made:
        yield made


@pytest.fixture(scope="module")
def shared() -> Iterator[Home]:
    with Home.made() as made:
        made.serve()
        yield made


@pytest.fixture
def daemon(shared: Home) -> Home:
    """A running daemon that other tests use as well: it is left running."""
    return shared


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """A file in which commands of the tests' plugin note what happens to them."""
    return tmp_path / "mark"
