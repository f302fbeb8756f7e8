"""Measures of a desktop's apps, judged by the kernel's own accounts of processes whose work is known."""

from __future__ import annotations

import os
import resource
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from anydevice_linux.measuring import _table, family
from anydevice_linux.practicing import SYSTEM_PYTHON, runs_here

from .desktop import missing
from .through import Seated, eventually, seated

ABSENT = missing() or (None if runs_here() else "the system's Python has no GTK")
needs_a_desktop = pytest.mark.skipif(ABSENT is not None, reason=ABSENT or "")
pytestmark = pytest.mark.anyio
PROGRAM = Path(__file__).parent / "programs" / "chatty_gtk.py"
APP = "dev.anydevice.test.worker"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Seated]:
    async with seated(tmp_path_factory.mktemp("perf")) as made:
        yield made


@pytest.fixture
async def worker(desk: Seated, tmp_path: Path) -> AsyncIterator[tuple[int, Path]]:
    """A program that works when it is told to: its pid, and the file with its orders."""
    orders = tmp_path / "orders"
    orders.touch()
    desk.install(APP, [SYSTEM_PYTHON, PROGRAM, orders])
    opened = await desk.do("open", app=APP)
    yield opened.data["pid"], orders
    await desk.do("close", app=APP, force=True)


def resident(pid: int) -> int:
    """What the kernel says of a process's memory, in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def ticks(pid: int) -> int:
    """What the kernel says of a process's processor time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return int(fields[11]) + int(fields[12])


@needs_a_desktop
async def test_memory_is_what_the_kernel_says(desk: Seated, worker: tuple[int, Path]) -> None:
    pid, _ = worker
    told = (await desk.do("perf")).data
    assert (told["app"], told["pids"], told["processes"]) == (APP, [pid], 1)
    assert abs(told["residentKb"] - resident(pid)) < 0.2 * resident(pid)
    assert 0 < told["proportionalKb"] <= told["residentKb"] * 1.2


@needs_a_desktop
async def test_children_of_an_app_count(desk: Seated, worker: tuple[int, Path]) -> None:
    pid, orders = worker
    alone = (await desk.do("perf")).data["residentKb"]
    orders.write_text("child x; exec sleep 30\n")
    await eventually(lambda: len(family([pid])) > 1, lambda: family([pid]))
    told = (await desk.do("perf", app=APP)).data
    assert told["processes"] == len(told["pids"]) == 2
    assert told["residentKb"] > alone


@needs_a_desktop
async def test_processor_time_is_what_the_kernel_says(desk: Seated, worker: tuple[int, Path]) -> None:
    pid, orders = worker
    idle = ticks(pid)
    orders.write_text("burn 60\n")
    await eventually(lambda: ticks(pid) > idle + 5, lambda: "it does not work")
    before = ticks(pid)
    told = (await desk.do("perf", kind="cpu", durationMs=1000)).data
    after = ticks(pid)
    assert told["seconds"] >= 1.0
    assert 0 < round(told["cpuSeconds"] * os.sysconf("SC_CLK_TCK")) <= after - before
    assert abs(told["cpuPercent"] - 100 * told["cpuSeconds"] / told["seconds"]) < 2


@needs_a_desktop
async def test_an_app_that_does_not_run_has_no_numbers(desk: Seated) -> None:
    desk.install("dev.anydevice.test.idle", ["sleep", "1"])
    await desk.do("perf", app="dev.anydevice.test.idle", expect="app_not_running")
    await desk.do("perf", app="dev.anydevice.no-such-app", expect="app_not_found")
    await desk.do("perf", expect="app_not_running")


@needs_a_desktop
async def test_an_app_that_ends_while_it_is_measured_is_told(desk: Seated, worker: tuple[int, Path]) -> None:
    pid, _ = worker

    async def end() -> None:
        await anyio.sleep(0.4)
        os.kill(pid, 9)

    async with anyio.create_task_group() as group:
        group.start_soon(end)
        await desk.do("perf", kind="cpu", durationMs=1500, expect="app_not_running")


async def test_processor_time_of_this_process_is_what_it_says_itself() -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    mine = _table([os.getpid()])[os.getpid()]
    ticks = mine.ticks / os.sysconf("SC_CLK_TCK")
    assert abs(ticks - used.ru_utime - used.ru_stime) < 1.0
    assert family([os.getpid()]) >= {os.getpid()}
    assert family([]) == set() and family([2**22 + 1]) == set()
