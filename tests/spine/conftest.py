"""A witness for all tests, and homes with a daemon and real browsers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from ..support.daemons import Home, only
from .doors import DOORS, Door, opened
from .pages import DEVICE, Page
from .witness import Witness, running_witness


def configured(*more: str, plugins: str = "") -> str:
    """A configuration with our backends for this host, and with `more`; `plugins` are further lines of that table."""
    return only("linux", "mcp", "web", *more, more=plugins) + '[web]\nextra_args = ["--disable-quic"]\n'


CONFIG = configured()
"""The whole of anydevice, beside it the fake phones and the commands of `tests/support`."""

numbers = itertools.count(1)


@pytest.fixture(scope="session")
def witness() -> Iterator[Witness]:
    with running_witness() as made:
        yield made


@pytest.fixture
def tag() -> str:
    """A name no other test's page has."""
    return f"page{next(numbers)}"


@pytest.fixture(scope="module")
def module_home() -> Iterator[Home]:
    """A home for all tests of a module, with a daemon."""
    with Home.made(CONFIG) as home:
        home.serve()
        yield home


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home of its own; daemons that clients of this very process start see what those of the home see."""
    with Home.made(CONFIG) as made:
        monkeypatch.setenv("PYTHONPATH", made.environ["PYTHONPATH"])
        yield made


@pytest.fixture(scope="module", params=DOORS)
def door(request: pytest.FixtureRequest, module_home: Home) -> Iterator[Door]:
    """One caller, through each door in turn, all to one daemon."""
    with opened(request.param, module_home, module_home.path.parent / f"project-{request.param}") as made:
        yield made
        made.do("shutdown", device=DEVICE)


@pytest.fixture
def page(door: Door, witness: Witness, tag: str) -> Page:
    """The practice page, fresh in the browser, through each door in turn."""
    return Page.fresh(door, witness, tag)


def caller(home: Home, name: str, where: str = "project", **more: Any) -> AbstractContextManager[Any]:
    """A caller who works in a folder of the home's surroundings."""
    return opened(name, home, Path(home.path.parent) / where, **more)
