"""Event loops apart from the one the shared browser lives on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import sniffio


def run_on(loop: str, work: Callable[..., Awaitable[Any]], *args: Any) -> Any:
    """Runs `work(*args)` on a fresh asyncio or trio loop, in a thread of its own.

    The plugin would lend a test the loop that fixtures of the whole run live on, whatever loop it asks for.
    """

    async def body() -> Any:
        assert sniffio.current_async_library() == loop
        return await work(*args)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, body, backend=loop).result()
