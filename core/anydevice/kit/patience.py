"""Other people's blocking code under a deadline: it may hang, and only its own thread does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def in_time(function: Callable[[], T], seconds: float) -> T:
    """Calls `function()` in a thread of its own and returns what it returns; blocks for at most `seconds`.

    A function that hangs is left behind in its thread, which does not keep the process from ending.

    Raises:
        TimeoutError: It did not return in time.
        BaseException: Whatever it raised.
    """
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(function())
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run, name="in time", daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    if not outcome:
        raise TimeoutError(f"took longer than {seconds:g} s")
    return outcome[0]
