"""The process that a lab's devices live in: it is told what to do by lines of JSON on its stdin, and answers each.

{"id": 1, "do": "start", "kinds": ["phone", "tv"]}   ->   {"id": 1, "ok": true, "data": [...]}
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import anyio
from anyio.abc import TaskGroup

Answer = dict[str, Any]


class Asked(Protocol):
    """What answers requests."""

    @property
    def asked(self) -> Mapping[str, Callable[..., Awaitable[Any]]]:
        """What may be asked, by the word for it."""


def say(answer: Answer) -> None:
    """Writes one answer; the first has the id 0, and says that the lab is up."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


async def until_told(group: TaskGroup, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Ends in order also when the process is ended by a signal: nobody else knows what it has started."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            group.cancel_scope.cancel()
            return


async def answer_lines(host: Asked, group: TaskGroup) -> None:
    """Answers lines of stdin until it ends."""
    os.set_blocking(0, False)
    kept = b""
    while True:
        await anyio.wait_readable(0)
        data = os.read(0, 65536)
        if not data:
            group.cancel_scope.cancel()
            return
        kept += data
        while b"\n" in kept:
            line, _, kept = kept.partition(b"\n")
            group.start_soon(_one, host, json.loads(line))


async def ask(host: Asked, request: Answer) -> Answer:
    """Answers one request."""
    verb, asked = request.pop("do", ""), host.asked
    if verb not in asked:
        return {"ok": False, "error": f"there is no {verb}; there are {', '.join(asked)}"}
    try:
        return {"ok": True, "data": await asked[verb](**request)}
    except (KeyError, ValueError, TypeError, OSError, TimeoutError) as error:
        return {"ok": False, "error": f"{type(error).__name__}: {error}"}


async def _one(host: Asked, request: Answer) -> None:
    number = request.pop("id", None)
    try:
        answer = await ask(host, request)
    except Exception as problem:  # a mistake of the lab is told to whoever asked
        answer = {"ok": False, "error": "".join(traceback.format_exception(problem))[-2000:]}
    say({"id": number, **answer})
