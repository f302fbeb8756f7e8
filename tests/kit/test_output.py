"""What a long-lived child writes reaches its sink whole and in order, and never more than the loop can bear."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import anyio
import pytest

from anydevice.kit import processes

pytestmark = pytest.mark.anyio
BOTH = "import os, sys\nfor n in range(200): os.write(1 + n % 2, b'%d\\n' % n)"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return request.param


async def whole(pieces: list[bytes], wanted: bytes) -> None:
    """Waits until the pieces make up what is wanted."""
    with anyio.move_on_after(20):
        while b"".join(pieces) != wanted:
            await anyio.sleep(0.01)
    assert b"".join(pieces) == wanted


async def test_stdout_and_stderr_go_one_way_in_the_order_they_were_written() -> None:
    pieces: list[bytes] = []
    child = await processes.start([sys.executable, "-c", BOTH], stdout=subprocess.STDOUT, sink=pieces.append)
    await whole(pieces, b"".join(b"%d\n" % number for number in range(200)))
    await processes.stop(child)
    assert child.tail.startswith("0\n1\n")


async def test_without_that_the_sink_is_given_stderr_alone() -> None:
    pieces: list[bytes] = []
    child = await processes.start([sys.executable, "-c", BOTH], sink=pieces.append)
    await whole(pieces, b"".join(b"%d\n" % number for number in range(1, 200, 2)))
    await processes.stop(child)


async def test_a_child_that_never_stops_writing_leaves_the_loop_to_others() -> None:
    taken = 0

    def take(piece: bytes) -> None:
        nonlocal taken
        taken += len(piece)

    child = await processes.start(["yes"], stdout=subprocess.STDOUT, sink=take)
    try:
        with anyio.fail_after(30):
            while taken < 1_000_000:
                await anyio.sleep(0.001)
    finally:
        await processes.stop(child)
    assert len(child.tail) <= processes.TAIL_CAP
