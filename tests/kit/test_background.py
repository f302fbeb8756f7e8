"""Work beside the calls, on asyncio and on trio."""

from __future__ import annotations

import anyio
import pytest
import sniffio

from anydevice.kit import background

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_the_loop_is_the_one_asked_for(anyio_backend: str) -> None:
    assert sniffio.current_async_library() == anyio_backend


async def test_work_goes_on_after_the_call_that_started_it() -> None:
    seen: list[int] = []

    async def work(count: int) -> None:
        for number in range(count):
            await anyio.sleep(0.01)
            seen.append(number)

    async def caller() -> background.Background:
        return background.start(work, 3, name="counting")

    running = await caller()
    assert not running.done
    await running.wait()
    assert (seen, running.done, running.error) == ([0, 1, 2], True, None)


async def test_cancelling_ends_it_from_outside() -> None:
    ended = anyio.Event()

    async def work() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    running = background.start(work, name="waiting")
    await anyio.sleep(0.01)
    running.cancel()
    with anyio.fail_after(20):
        await running.wait()
    assert ended.is_set()
    running.cancel()


async def test_a_failure_is_kept_and_never_reaches_the_loop() -> None:
    async def work() -> None:
        raise ValueError("broken")

    running = background.start(work, name="failing")
    await running.wait()
    assert isinstance(running.error, ValueError)
    await anyio.sleep(0)
