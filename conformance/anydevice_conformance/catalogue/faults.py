"""Apps that never rest, that freeze and that die: calls end in time and say what is, and the rest goes on."""

from __future__ import annotations

import contextlib
from typing import Any

import anyio

from anydevice_schemas import Answer

from ..case import case
from ..trial import HEARD_WITHIN, QUIET_FOR, CaseFailed, Trial

PAUSE = {"target": "Pause"}
IN_TIME = ("timeout", "outcome_unknown")
DEAD = ("app_crashed", "app_not_running")


def code_of(answer: Answer) -> str:
    """`ok`, or the code of the error."""
    return "ok" if answer.ok or answer.error is None else answer.error.code


async def frozen(t: Trial) -> None:
    """The app is made to answer nothing for three seconds, which have begun when this returns."""
    async with anyio.create_task_group() as group:

        async def press() -> None:
            await t.call("press", target="Pause", expect=None)

        group.start_soon(press)
        await t.heard("press", id="busy.pause", within=10.0)
        await anyio.sleep(0.25)
        group.cancel_scope.cancel()


async def thawed(t: Trial) -> None:
    """Waits until the app answers again.

    Raises:
        CaseFailed: It does not within 15 s.
    """
    answer = await t.call("wait", target="Pause", timeoutMs=1000, expect=None)
    with anyio.move_on_after(15):
        while not answer.ok:
            await anyio.sleep(0.2)
            answer = await t.call("wait", target="Pause", timeoutMs=1000, expect=None)
    t.require(answer.ok, "the app is not reached any more though it has long been running again")


@case(
    "faults.a-screen-that-never-rests-is-read",
    "A screen that never stops changing MUST be read all the same, and waiting for rest MUST end as a timeout.",
    command="wait",
    sample={"stable": True},
    screen="busy",
)
async def never_rests(t: Trial) -> None:
    answer = await t.call("snapshot")
    t.require("Ticks" in answer.data["text"], "what changes is missing in the snapshot")
    answer = await t.call("wait", stable=True, quietMs=400, timeoutMs=900, expect="timeout")
    t.detail(answer, "after")
    await t.call("press", target="Press me")
    await t.heard("press", id="busy.press")


@case(
    "faults.a-frozen-app-holds-no-call",
    "A call on an app that answers nothing MUST end by its deadline with a typed error, and the device MUST be usable "
    "once the app is.",
    command="press",
    sample=PAUSE,
    screen="busy",
    mutates=True,
    seconds=60.0,
)
async def frozen_app(t: Trial) -> None:
    await frozen(t)
    before = len(t.reports())
    calls: list[tuple[str, dict[str, Any]]] = [
        ("snapshot", {}),
        ("press", {"target": "Press me", "timeoutMs": 100}),
    ]
    for command, arguments in calls:
        began = anyio.current_time()
        with t.hurried(command, 0.6):
            answer = await t.call(command, expect=None, **arguments)
        took = anyio.current_time() - began
        t.require(took < 2.0, f"{command} with a deadline of less than a second took {took:.1f} s")
        t.require(code_of(answer) in IN_TIME, f"{command} on a frozen app answered {code_of(answer)}")
        assert answer.error is not None
        t.require(answer.error.hint, f"{command} on a frozen app says nothing about what to do")
    t.equal(len(t.reports()), before, "what a frozen app reported")
    await thawed(t)
    count = len(t.reports("press"))
    await t.call("press", target="Press me")
    await t.witness.until(t.tokens[t.device.key], lambda rs: len(_presses(rs)) > count, HEARD_WITHIN)
    t.require(len(t.reports("press")) > count, "a press after the freeze does not reach the app")


def _presses(reports: list[dict[str, object]]) -> list[dict[str, object]]:
    return [report for report in reports if report.get("what") == "press"]


@case(
    "faults.a-done-press-is-never-told-as-not-done",
    "A press that reached the app MUST NOT be told as one that did not (as timeout), though the app answers nothing "
    "afterwards, and MUST reach it once.",
    command="press",
    sample=PAUSE,
    screen="busy",
    mutates=True,
    seconds=60.0,
)
async def done_is_done(t: Trial) -> None:
    for seconds in (1.5, 8.0):  # a slow device may not have come to the press by the first deadline
        with t.hurried("press", seconds):
            answer = await t.call("press", target="Pause", timeoutMs=0, expect=None)
        with contextlib.suppress(CaseFailed):
            await t.heard("press", id="busy.pause", within=1.0)
            break
    await anyio.sleep(QUIET_FOR)
    t.equal(len(t.reports("press")), 1, "how often the app was pressed")
    t.require(code_of(answer) in ("ok", "outcome_unknown"), f"a press that was done answered {code_of(answer)}")
    t.require(answer.verified is not True, "a press whose effect nobody could see is told as verified")
    t.require(answer.error is None or not answer.error.retryable, "what was done is offered to be retried")


@case(
    "faults.a-frozen-app-holds-no-other-device",
    "A call on another device MUST NOT wait for one whose app answers nothing.",
    command="press",
    sample=PAUSE,
    screen="busy",
    seconds=60.0,
)
async def other_device(t: Trial) -> None:
    await frozen(t)
    order: list[str] = []

    async def on_the_frozen() -> None:
        with t.hurried("find", 1.2):
            answer = await t.call("find", query="Pause", timeoutMs=0, expect=None)
        order.append(f"frozen {code_of(answer)}")

    async with anyio.create_task_group() as group:
        group.start_soon(on_the_frozen)
        await anyio.sleep(0.1)
        await t.call("snapshot", on=t.other, by=t.new_caller("neighbour"))
        order.append("other")
    t.equal(order[0], "other", "which of the two calls was answered first")
    t.require(order[1].partition(" ")[2] in IN_TIME, f"the call on the frozen one answered {order[1]}")


@case(
    "faults.a-crash-is-told",
    "An app that dies MUST be told as crashed or not running: by the action that killed it, or by the next command.",
    command="press",
    sample={"target": "Crash"},
    screen="busy",
    mutates=True,
)
async def crash(t: Trial) -> None:
    answer = await t.call("press", target="Crash", expect=None)
    await t.heard("press", id="busy.crash")
    told = code_of(answer) in DEAD or any(one.get("kind") == "crashed" for one in answer.data.get("happened", ()))
    t.require(told or answer.ok, f"the press that kills the app answered {code_of(answer)}")
    answer = await t.call("find", query="Press me", timeoutMs=500, expect=None)
    t.require(not answer.ok, "the app is dead, yet its elements are answered")
    t.require(told or code_of(answer) in DEAD, f"a dead app was answered {code_of(answer)}")


@case(
    "faults.open-starts-a-crashed-app-again",
    "Open MUST start an app again that has crashed, as a fresh run.",
    command="press",
    sample={"target": "Crash"},
    screen="busy",
    mutates=True,
)
async def open_again(t: Trial) -> None:
    await t.call("press", target="Crash", expect=None)
    await t.heard("press", id="busy.crash")
    await t.open("home")
    await t.call("press", target="Increment")
    await t.heard("count", value=1)


@case(
    "faults.a-cancelled-call-frees-the-device",
    "A call whose caller goes away MUST end at once, and the next one MUST NOT wait for it.",
    command="wait",
    sample={"target": "No such thing"},
    needs=("screen.tree",),
    screen="home",
)
async def cancelled(t: Trial) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("wait", {"target": "No such thing"}),
        ("find", {"query": "No such thing"}),
    ]
    for command, arguments in calls:
        with anyio.move_on_after(0.3) as gone:
            await t.call(command, expect=None, timeoutMs=60_000, **arguments)
        t.require(gone.cancelled_caught, f"{command} for something that is not there ended by itself")
        with anyio.move_on_after(5) as scope:
            await t.call("snapshot")
        t.require(not scope.cancelled_caught, f"a snapshot waits for the {command} that was cancelled")


@case(
    "faults.cancelled-typing-stops-on-the-device",
    "When the caller of a running type goes away, typing MUST stop on the device.",
    command="type",
    sample={"target": "Type here", "text": "x", "delayMs": 60},
    bundle="text",
    screen="echo",
    mutates=True,
)
async def typing_stops(t: Trial) -> None:
    text = "abcdefghij" * 5
    with anyio.move_on_after(1.0) as gone:
        await t.call("type", target="Type here", text=text, delayMs=60, expect=None)
    t.require(gone.cancelled_caught, "typing 50 characters, 60 ms each, took less than a second")
    await anyio.sleep(0.3)
    then = (await t.call("get", target="Type here")).data["text"]
    await anyio.sleep(0.5)
    now = (await t.call("get", target="Type here")).data["text"]
    t.require(text.startswith(now) and len(now) < len(text), f"the field holds {now[:60]!r}")
    t.equal(now, then, "what is in the field half a second later")
