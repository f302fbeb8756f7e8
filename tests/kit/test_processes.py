"""Child processes: deadline, group, output caps, reaping. On asyncio and on trio."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from anydevice.kit import processes
from anydevice.kit.pids import alive, group_alive, started_at
from anydevice_schemas.errors import CallTimeout, ToolMissing

pytestmark = pytest.mark.anyio
PYTHON = sys.executable


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def until(condition, seconds: float = 20.0) -> None:
    with anyio.fail_after(seconds):
        while not condition():
            await anyio.sleep(0.01)


async def test_run_gives_status_and_both_outputs() -> None:
    code = "import sys; print(sys.stdin.read().upper()); sys.stderr.write('no'); sys.exit(3)"
    result = await processes.run([PYTHON, "-c", code], deadline=20, stdin=b"hello")
    assert (result.code, result.text.strip(), result.complaint, result.cut) == (3, "HELLO", "no", 0)


async def test_output_over_the_cap_is_dropped_and_counted_and_never_blocks_the_program() -> None:
    code = "import sys; sys.stdout.write('x' * 500_000); sys.stderr.write('y' * 300_000)"
    result = await processes.run([PYTHON, "-c", code], deadline=20, cap=1000)
    assert (result.code, result.stdout, len(result.stderr)) == (0, b"x" * 1000, 1000)
    assert result.cut == 499_000 + 299_000


async def test_a_program_over_its_deadline_is_ended_with_its_children(tmp_path: Path) -> None:
    note = tmp_path / "child"
    code = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([{PYTHON!r}, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
        "sys.stderr.write('still busy'); sys.stderr.flush(); time.sleep(60)\n"
    )
    with pytest.raises(CallTimeout) as caught:
        await processes.run([PYTHON, "-c", code], deadline=5.0)  # two interpreters have started by then
    assert caught.value.details["after"] == 5.0
    assert caught.value.details["stderr"] == "still busy"
    assert not alive(int(note.read_text()))


async def test_a_cancelled_run_leaves_no_process(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    scope = anyio.CancelScope()

    async def cancel() -> None:
        await until(lambda: note.exists() and note.read_text())
        scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(cancel)
        with scope:
            await processes.run([PYTHON, "-c", code], deadline=30)
    assert scope.cancelled_caught
    assert not alive(int(note.read_text()))


@pytest.mark.parametrize("leaves_the_group", [False, True])
async def test_what_a_program_leaves_running_holds_up_nothing(leaves_the_group: bool, tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    child = f"{'setsid ' if leaves_the_group else ''}sh -c 'echo $$ > {noted}; exec sleep 30'"
    line = f"{child} & while [ ! -s {noted} ]; do sleep 0.01; done; echo said; exit 3"
    result = await processes.run(["sh", "-c", line], deadline=20)
    assert (result.code, result.text) == (3, "said\n")
    pid = int(noted.read_text())
    assert alive(pid) is leaves_the_group
    if leaves_the_group:
        os.kill(pid, signal.SIGKILL)


async def test_a_program_that_does_not_exist_is_a_missing_tool() -> None:
    with pytest.raises(ToolMissing) as caught:
        await processes.run(["/no/such/program"], deadline=5)
    assert caught.value.details["tools"] == ["program"]
    with pytest.raises(ToolMissing) as found:
        processes.find("surely-not-installed-anywhere", install="apt install it")
    assert found.value.details["install"] == "apt install it"


async def test_a_program_that_ignores_its_input_is_no_error() -> None:
    result = await processes.run([PYTHON, "-c", "pass"], deadline=20, stdin=b"z" * 1_000_000)
    assert result.code == 0


async def test_a_child_leads_a_group_of_its_own() -> None:
    child = await processes.start([PYTHON, "-c", "import time; time.sleep(60)"])
    try:
        assert os.getpgid(child.pid) == child.pid != os.getpgrp()
    finally:
        assert await processes.stop(child) == -signal.SIGTERM


async def test_stop_ends_a_group_that_ignores_term_and_reaps_it() -> None:
    code = (
        "import os, signal, subprocess, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"subprocess.Popen([{PYTHON!r}, '-c', "
        "'import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)'])\n"
        "os.write(2, b'ready'); time.sleep(60)\n"
    )
    child = await processes.start([PYTHON, "-c", code])
    await until(lambda: child.tail == "ready")
    assert await processes.stop(child, grace=0.2) == -signal.SIGKILL
    assert not group_alive(child.pid)
    with pytest.raises(ChildProcessError):
        os.waitpid(child.pid, os.WNOHANG)


async def test_stop_also_ends_what_a_dead_leader_left_behind() -> None:
    code = f"import subprocess; subprocess.Popen([{PYTHON!r}, '-c', 'import time; time.sleep(60)'], close_fds=True)"
    child = await processes.start([PYTHON, "-c", code], stderr=False)
    assert await child.wait() == 0
    assert group_alive(child.pid)
    await processes.stop(child, grace=2)
    assert not group_alive(child.pid)


async def test_stopping_twice_is_harmless() -> None:
    child = await processes.start([PYTHON, "-c", "pass"])
    await child.wait()
    assert await processes.stop(child) == 0
    assert await processes.stop(child) == 0


async def test_only_the_end_of_stderr_is_kept() -> None:
    code = "import sys; sys.stderr.write('a' * 100_000 + 'the end')"
    child = await processes.start([PYTHON, "-c", code])
    await child.wait()
    await until(lambda: child.tail.endswith("the end"))
    assert len(child.tail) == processes.TAIL_CAP
    await processes.stop(child)


async def test_descriptors_are_passed_under_their_numbers() -> None:
    reading, writing = os.pipe()
    child = await processes.start([PYTHON, "-c", f"import os; os.write({writing}, b'through')"], pass_fds=(writing,))
    os.close(writing)
    await child.wait()
    assert os.read(reading, 100) == b"through"
    os.close(reading)
    await processes.stop(child)


async def test_a_lifetime_ends_the_child() -> None:
    child = await processes.start([PYTHON, "-c", "import time; time.sleep(60)"], lifetime=0.3)
    with anyio.fail_after(20):
        assert await child.wait() == -signal.SIGTERM
    await processes.stop(child)
    assert not group_alive(child.pid)


async def test_a_start_stamp_tells_processes_apart() -> None:
    one = await processes.start([PYTHON, "-c", "import time; time.sleep(60)"])
    await anyio.sleep(0.05)
    mine, theirs = await started_at(os.getpid()), await started_at(one.pid)
    assert mine is not None
    assert theirs is not None
    assert mine != theirs
    assert await started_at(one.pid) == theirs
    await processes.stop(one)
    assert await started_at(one.pid) is None
    assert not alive(one.pid)
    assert not alive(0)
