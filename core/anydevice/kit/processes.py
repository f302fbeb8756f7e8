"""Child processes, done right once: own process group, deadline, bounded output, always reaped.

    result = await run(["git", "--version"], deadline=5)       a short program, to its end
    child = await start([path, "--serve"], pass_fds=(r, w))    a long-lived one
    await stop(child, grace=2)                                 TERM to its group, then KILL, then reaped
    adopt(hand_over(child))                                    in the program that replaced this one: goes on with it

Works on asyncio and trio. A child never shares the group of its parent, so a stop reaches everything it
started and nothing else, and a Ctrl-C in a terminal does not reach it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process

from anydevice_schemas.errors import CallTimeout, ToolMissing

from . import background
from .adopted import Adopted
from .pids import group_alive, started

OUTPUT_CAP = 1 << 20
"""Bytes of each of stdout and stderr that `run` keeps unless told otherwise."""
TAIL_CAP = 16 << 10
"""Bytes at the end of a long-lived child's stderr that are kept."""
KILL_WAIT = 5.0
"""Seconds a killed group may take to be gone; only a process stuck in the kernel needs more."""
LEFT_GRACE = 0.5
"""Seconds between TERM and KILL for what a program left running."""
REST = 2.0
"""Seconds the rest of a program's output may take, where something that left its group still holds it."""
SHARE = 4.0
"""How much longer than it took to take in what a child wrote it is left waiting."""
_POLL = 0.01


@dataclass(slots=True, frozen=True)
class Result:
    """What a finished program left behind.

    Attributes:
        code: Exit status; negative = ended by that signal.
        stdout, stderr: Output, each cut at the cap.
        cut: Bytes of both that were dropped.
    """

    code: int
    stdout: bytes
    stderr: bytes
    cut: int = 0

    @property
    def text(self) -> str:
        """stdout as text; what is no UTF-8 is replaced."""
        return self.stdout.decode("utf-8", "replace")

    @property
    def complaint(self) -> str:
        """stderr as text; what is no UTF-8 is replaced."""
        return self.stderr.decode("utf-8", "replace")


class Child:
    """A long-lived child process, leader of its own group. Made by `start`, ended by `stop`."""

    def __init__(
        self, process: Process, program: str, stderr: int | None = None, sink: Callable[[bytes], None] | None = None
    ) -> None:
        self.program = program
        self.process = process
        self.pid = process.pid
        self._stderr = stderr
        self._sink = sink
        self._tail = bytearray()
        self._watchers: list[background.Background] = []
        self._stopped = False

    @property
    def code(self) -> int | None:
        """Exit status, or None while it runs."""
        return self.process.returncode

    @property
    def tail(self) -> str:
        """The end of what it wrote to stderr; empty when stderr was not captured."""
        return self._tail.decode("utf-8", "replace")

    async def wait(self) -> int:
        """Returns its exit status once it has ended (its group may live on; see `stop`)."""
        return await self.process.wait()

    async def _watch_stderr(self, handle: int) -> None:
        os.set_blocking(handle, False)
        try:
            while True:
                try:
                    chunk = os.read(handle, 65536)
                except BlockingIOError:
                    await anyio.wait_readable(handle)
                    continue
                if not chunk:
                    return
                began = time.perf_counter()
                self._tail += chunk
                del self._tail[:-TAIL_CAP]
                if self._sink is not None:
                    self._sink(chunk)
                await anyio.sleep(SHARE * (time.perf_counter() - began))
        finally:
            self._stderr = None
            os.close(handle)

    def _watch(self) -> None:
        if self._stderr is not None:
            work = background.start(self._watch_stderr, self._stderr, name=f"stderr of {self.program}")
            self._watchers.append(work)

    async def _end_after(self, seconds: float, grace: float) -> None:
        with anyio.move_on_after(seconds):
            await self.process.wait()
            return
        # `stop` cancels the watchers, this one among them; the group must be dealt with all the same.
        with anyio.CancelScope(shield=True):
            await _end_group(self, grace)


def find(program: str, *, install: str = "") -> str:
    """Full path of a program: `program` itself when it is a path, else searched on PATH.

    Raises:
        ToolMissing: There is no such executable; `install` is passed on as the way to get it.
    """
    import shutil

    found = shutil.which(program)
    if found is None:
        name = Path(program).name
        raise ToolMissing(f"The program {name} is not installed.", tools=[name], install=install)
    return found


async def start(
    argv: Sequence[str],
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
    stderr: bool = True,
    sink: Callable[[bytes], None] | None = None,
    lifetime: float | None = None,
    grace: float = 2.0,
) -> Child:
    """Starts a long-lived child in a session, and so a process group, of its own.

    Args:
        argv: Program and arguments; never goes through a shell.
        cwd, env: Working directory and whole environment; None = the parent's.
        pass_fds: Descriptors the child inherits under the same numbers.
        stdin, stdout: `subprocess.DEVNULL` or `subprocess.PIPE` (then `child.process.stdin`/`.stdout`); stdout may also
            be `subprocess.STDOUT`: it goes the way of stderr then, and both stay in the order they are written in.
        stderr: Keep the tail of stderr (`Child.tail`); otherwise it is thrown away.
        sink: Given each piece of what it writes to stderr, on the loop; must not block, nor raise. A child that writes
            more than can be taken in waits: it gets a fifth of the loop's time at most.
        lifetime: Seconds after which the whole group is ended; None = no end.
        grace: Seconds between TERM and KILL at the end of the lifetime.

    Raises:
        ToolMissing: The program does not exist or may not be run.
    """
    kept, given = os.pipe() if stderr else (None, subprocess.DEVNULL)
    out = given if stdout == subprocess.STDOUT else stdout
    try:
        process = await _spawn(argv, cwd=cwd, env=env, pass_fds=pass_fds, stdin=stdin, stdout=out, stderr=given)
    except BaseException:
        if kept is not None:
            os.close(kept)
        raise
    finally:
        if kept is not None:
            os.close(given)
    child = Child(process, Path(argv[0]).name, kept, sink)
    child._watch()
    if lifetime is not None:
        child._watchers.append(background.start(child._end_after, lifetime, grace, name=f"lifetime of {child.program}"))
    return child


def hand_over(child: Child) -> dict[str, Any]:
    """What the program that replaces this one (exec) needs to go on with a child that has no pipe but stderr.

    The state is JSON; the descriptor in it is inheritable. It is for `adopt`, or for `take_back` when this program was
    not replaced after all.
    """
    handle = None
    if child._stderr is not None:
        handle = os.dup(child._stderr)
        os.set_inheritable(handle, True)
    return {
        "pid": child.pid,
        "started": started(child.pid),
        "program": child.program,
        "stderr": handle,
        "tail": child.tail,
    }


def adopt(state: Mapping[str, Any], sink: Callable[[bytes], None] | None = None) -> Child:
    """The child of a state that `hand_over` made in the program that ran in this process before.

    `sink` is as in `start`, for a child that was started with one.

    Raises:
        ChildProcessError: It is no child of this process. (One that has ended meanwhile still is.)
    """
    handle = state["stderr"]
    try:
        process = Adopted(state["pid"])
        if process.returncode is None and started(state["pid"]) != state["started"]:
            raise ChildProcessError(f"process {state['pid']} is another one")
        child = Child(process, state["program"], handle, sink)
    except BaseException:
        take_back(state)
        raise
    child._tail += state["tail"].encode()
    if handle is not None:
        os.set_inheritable(handle, False)
    child._watch()
    return child


def take_back(state: Mapping[str, Any]) -> None:
    """Gives up a state nobody will adopt."""
    if state["stderr"] is not None:
        os.close(state["stderr"])


async def stop(child: Child, *, grace: float = 2.0) -> int:
    """Ends a child and everything in its group: TERM, up to `grace` seconds, KILL. Always reaps it.

    Returns once no process of the group is alive, with the child's exit status. Cannot be interrupted half
    way: cancellation takes effect after it, and it takes at most `grace` + `KILL_WAIT` seconds.
    """
    with anyio.CancelScope(shield=True):
        if not child._stopped:  # its id may name another process by the time of a second stop
            await _end_group(child, grace)
            child._stopped = True
        for watcher in child._watchers:
            if not watcher.done:
                # A stray grandchild outside the group may hold stderr open; the tail is complete enough.
                with anyio.move_on_after(0.2):
                    await watcher.wait()
            watcher.cancel()
        with anyio.move_on_after(1):
            await child.process.aclose()
    return child.code if child.code is not None else -signal.SIGKILL


async def run(
    argv: Sequence[str],
    *,
    deadline: float,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    cap: int = OUTPUT_CAP,
) -> Result:
    """Runs a program to its end and returns its exit status and output. What it left running in its group is ended.

    Args:
        argv: Program and arguments; never goes through a shell.
        deadline: Seconds it may take; then its whole group is killed.
        cwd, env: Working directory and whole environment; None = the parent's.
        stdin: What it reads.
        cap: Bytes kept of each of stdout and stderr; the rest is read and dropped, so it never blocks.

    Raises:
        ToolMissing: The program does not exist or may not be run.
        CallTimeout: It did not end in time; `stderr` in details holds what it had written.
    """
    process = await _spawn(
        argv, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    child = Child(process, Path(argv[0]).name)
    kept = (bytearray(), bytearray())
    cut = [0]
    try:
        with anyio.fail_after(deadline):
            async with anyio.create_task_group() as group:
                group.start_soon(_feed, process, stdin)
                for stream, into in zip((process.stdout, process.stderr), kept, strict=True):
                    assert stream is not None
                    group.start_soon(_collect, stream, into, cap, cut)
                await process.wait()
                # What it left running may hold its outputs open for ever, and what left its group even after this.
                with anyio.CancelScope(shield=True):
                    await _end_group(child, LEFT_GRACE)
                group.cancel_scope.deadline = anyio.current_time() + REST
    except TimeoutError:
        raise CallTimeout(
            f"The program {child.program} did not end in {deadline:g} s and was ended.",
            after=deadline,
            waiting_for=child.program,
            stderr=kept[1].decode("utf-8", "replace")[-2000:],
        ) from None
    finally:
        await stop(child, grace=0.0 if process.returncode is None else LEFT_GRACE)
    return Result(process.returncode or 0, bytes(kept[0]), bytes(kept[1]), cut[0])


# --- inside ------------------------------------------------------------------------------------------


async def _spawn(
    argv: Sequence[str],
    *,
    cwd: str | None,
    env: Mapping[str, str] | None,
    stdin: int,
    stdout: int,
    stderr: int,
    pass_fds: Sequence[int] = (),
) -> Process:
    try:
        return await anyio.open_process(
            list(argv),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
            env=env,
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        )
    except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
        if cwd is not None and not Path(cwd).is_dir():  # noqa: ASYNC240 - one stat on the error path
            raise
        name = Path(argv[0]).name
        raise ToolMissing(
            f"The program {name} cannot be started.", tools=[name], install="", reason=type(error).__name__
        ) from error


async def _end_group(child: Child, grace: float) -> None:
    if grace > 0 and _signal_group(child.pid, signal.SIGTERM):
        with anyio.move_on_after(grace):
            await _gone(child)
            return
    _signal_group(child.pid, signal.SIGKILL)
    with anyio.move_on_after(KILL_WAIT):
        await _gone(child)


def _signal_group(group: int, number: signal.Signals) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


async def _gone(child: Child) -> None:
    await child.process.wait()
    while group_alive(child.pid):  # noqa: ASYNC110 - nothing tells when the last of a group is gone
        await anyio.sleep(_POLL)


async def _feed(process: Process, data: bytes) -> None:
    assert process.stdin is not None
    try:
        if data:
            await process.stdin.send(data)
        await process.stdin.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        return  # it ended without reading all of it; its exit status says whether that matters


async def _collect(stream: ByteReceiveStream, into: bytearray, cap: int, cut: list[int]) -> None:
    async for chunk in stream:
        room = max(cap - len(into), 0)
        into += chunk[:room]
        cut[0] += max(len(chunk) - room, 0)
