"""One desktop for all tests here; started on first use, skipped with the reason where it cannot be."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from anydevice_linux.x11 import XDisplay

from .desktop import Seat, missing, running_desktop
from .session import missing_session, running_session
from .witnesses import Witness


@pytest.fixture(scope="package")
def anyio_backend() -> str:
    return "asyncio"  # the accessibility bus is spoken through a library that needs it


@pytest.fixture(scope="session")
def seat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seat]:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with running_desktop(tmp_path_factory.mktemp("desktop")) as running:
        yield running


@pytest.fixture(scope="session")
def wayland(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seat]:
    """One Wayland session for all tests here."""
    reason = missing_session()
    if reason is not None:
        pytest.skip(reason)
    with running_session(tmp_path_factory.mktemp("session")) as running:
        yield running


@pytest.fixture
async def display(seat: Seat) -> AsyncIterator[XDisplay]:
    """A connection to the desktop's display."""
    opened = await XDisplay.open(seat.display)
    yield opened
    await opened.aclose()


@pytest.fixture
def witness(seat: Seat) -> Iterator[Callable[..., Witness]]:
    """Makes windows that tell what they got; arguments as of `Witness`, without the seat."""
    made: list[Witness] = []

    def make(*flags: str, **how: object) -> Witness:
        made.append(Witness(seat, *flags, **how))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        one.end()
