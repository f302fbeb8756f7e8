"""One browser for all tests that need no other; every test gets it with one empty tab."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from .site import Site, running_site
from .web import Web, running_web


@pytest.fixture(scope="package")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="package")
def shared_site() -> Iterator[Site]:
    with running_site() as site:
        yield site


@pytest.fixture(scope="package")
async def shared_web(anyio_backend: str, shared_site: Site) -> AsyncIterator[Web]:
    async with running_web(shared_site) as web:
        yield web


@pytest.fixture
async def web(shared_web: Web) -> Web:
    await shared_web.fresh()
    return shared_web


@pytest.fixture
def site(web: Web) -> Site:
    return web.site
