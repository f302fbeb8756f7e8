"""Sessions: bound to one device for life, never shared by accident, and gone when they end."""

from __future__ import annotations

from typing import Any

from anydevice_schemas import Caller

from ..case import case
from ..trial import Trial


async def let_go(t: Trial, by: Caller | None = None) -> None:
    """Ends every session of a caller on the devices of the trial, so that the next one starts free."""
    sessions = t.router.services.sessions
    for session in sessions.implicit(by or t.caller):
        sessions.end(session, "the case begins")


@case(
    "sessions.open-binds-the-caller",
    "After open, a command that names no device MUST act on the device that was opened, and the answer MUST say that "
    "the session decided.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def open_binds(t: Trial) -> None:
    answer = await t.call("press", named=False, target="Increment")
    await t.heard("press", id="home.increment")
    t.equal(answer.device and answer.device.key, t.device.key, "the device that acted")
    t.equal(answer.selection and answer.selection.reason, "session", "what decided")


@case(
    "sessions.a-misspelt-name-is-refused",
    "A session name that does not exist MUST be refused as session_not_found with the nearest names, and MUST NOT "
    "lead to any device.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def misspelt(t: Trial) -> None:
    await let_go(t)
    name = (await t.open("home", session="suite-north")).session
    t.equal(name, "suite-north", "the session's name")
    for named in (False, True):
        answer = await t.call(
            "press", named=named, session="suite-nroth", target="Increment", expect="session_not_found"
        )
        t.require(name in t.detail(answer, "nearest")["nearest"], "the nearest name is not told")
        t.require(answer.device is None, "a device was chosen for a session that does not exist")
    await t.first_press(named=False, session="suite-north")
    _end(t, "suite-north")


@case(
    "sessions.are-bound-for-life",
    "A session MUST stay on the device it was opened on: a selector that names another, and open on another, MUST be "
    "refused as selector_conflict naming both.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def bound_for_life(t: Trial) -> None:
    await let_go(t)
    await t.open("home", session="suite-bound")
    calls: tuple[tuple[str, dict[str, Any]], ...]
    calls = (("press", {"target": "Increment"}), ("open", {}), ("appstate", {}))
    for command, arguments in calls:
        answer = await t.call(
            command, named=False, session="suite-bound", device=t.other.key, expect="selector_conflict", **arguments
        )
        said = str(t.detail(answer, "conflicts")["conflicts"])
        t.require(t.device.key in said and t.other.key in said, f"{command}: the conflict does not name both devices")
    await t.first_press(named=False, session="suite-bound")
    _end(t, "suite-bound")


@case(
    "sessions.two-callers-never-meet",
    "A caller without a session of its own MUST NOT act on the device of another's implicit session, nor use its "
    "made-up name.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def never_meet(t: Trial) -> None:
    mine = (await t.call("appstate")).session
    stranger = t.new_caller("second-connection")
    answer = await t.call("appstate", named=False, by=stranger, expect=None)
    t.require(
        answer.device is None or answer.device.key != t.device.key,
        "a caller who named nothing was given the device of another's session",
    )
    await t.call("press", named=False, by=stranger, session=mine, target="Increment", expect="session_not_found")
    t.require(mine not in _names(t, stranger), "the made-up name of another's session is told")
    await t.first_press()
    await let_go(t, stranger)


@case(
    "sessions.a-name-is-its-users-own",
    "A named session MUST be usable by its own user from another connection, and MUST be unknown to another user.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def own_name(t: Trial) -> None:
    await let_go(t)
    await t.open("home", session="suite-shared")
    again = t.new_caller("third-connection")
    await t.call("press", named=False, by=again, session="suite-shared", target="Increment")
    await t.heard("count", value=1)
    foreign = t.new_caller("fourth-connection", principal="uid:somebody-else")
    answer = await t.call(
        "press", named=False, by=foreign, session="suite-shared", target="Increment", expect="session_not_found"
    )
    t.require("suite-shared" not in str(t.detail(answer, "nearest")), "another user's session is told")
    listed = await t.call("session", named=False, by=foreign)
    t.require("suite-shared" not in str(listed.data), "another user's session is listed")
    t.equal(len(t.reports("press")), 1, "presses that reached the app")
    _end(t, "suite-shared")


@case(
    "sessions.an-end-gives-the-device-back",
    "When a session ends, by its caller or with its connection, its device MUST be free for the next caller at once.",
)
async def end_gives_back(t: Trial) -> None:
    second = t.new_caller("next-caller")
    mine = (await t.call("appstate")).session
    await t.call("snapshot", by=second, expect="lease_held")
    ended = await t.call("session", named=False, action="end", name=mine)
    t.require(ended.data.get("ended") is True and ended.verified, "the session is not said to have ended")
    await t.call("session", named=False, action="show", name=mine, expect="session_not_found")
    await t.call("snapshot", by=second)
    await t.call("snapshot", expect="lease_held")
    t.router.services.sessions.end_connection(second.connection)
    await t.call("snapshot")


def _names(t: Trial, caller: Caller) -> list[str]:
    return t.router.services.sessions.names(caller)


def _end(t: Trial, name: str) -> None:
    sessions = t.router.services.sessions
    found = sessions.find(t.caller, name)
    if found is not None:
        sessions.end(found, "the case is over")
