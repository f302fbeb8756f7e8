"""Keys: they reach the app under their own names, and what is no key is refused."""

from __future__ import annotations

import anyio

from ..case import case
from ..trial import HEARD_WITHIN, QUIET_FOR, Trial
from ..witness import Report
from .text import filled

WITH_A_KEYBOARD = frozenset({"desktop", "browser"})
WITH_ARROWS = WITH_A_KEYBOARD | {"tv"}


async def pressed(t: Trial, chord: str, *, as_one_of: tuple[str, ...] = ()) -> None:
    """A key is pressed, and the app hears of this one and no other."""
    before = len(t.reports("key"))
    await t.call("key", chord=chord)
    wanted = as_one_of or (chord,)

    def more(reports: list[Report]) -> bool:
        return len([report for report in reports if report.get("what") == "key"]) > before

    await t.witness.until(t.tokens[t.device.key], more, HEARD_WITHIN)
    heard = [report.get("value") for report in t.reports("key")][before:]
    t.require(len(heard) == 1 and heard[0] in wanted, f"{chord} was pressed; the app heard {heard}")


@case(
    "keys.enter-reaches-the-app",
    "Enter MUST reach the app as enter, once, on the named device only.",
    command="key",
    sample={"chord": "enter"},
    bundle="keys",
    screen="echo",
    mutates=True,
)
async def enter(t: Trial) -> None:
    answer = await t.call("key", chord="enter")
    t.equal(answer.data.get("chord"), "enter", "the chord in the answer")
    await t.heard("key", value="enter")
    await anyio.sleep(QUIET_FOR)
    t.equal(len(t.reports("key")), 1, "how often the app heard it")


@case(
    "keys.go-to-what-has-the-focus",
    "A key MUST go to the element that has the focus.",
    command="type",
    sample={"target": "Type here", "text": "x"},
    needs=("keys.press",),
    bundle="keys",
    screen="echo",
    mutates=True,
)
async def to_the_focus(t: Trial) -> None:
    await t.call("type", target="Type here", text="x")
    await t.call("key", chord="enter")
    await t.heard("key", id="echo.field", value="enter")


@case(
    "keys.arrows-reach-the-app",
    "Each arrow key MUST reach the app under its own name.",
    command="key",
    sample={"chord": "down"},
    classes=WITH_ARROWS,
    bundle="keys",
    screen="echo",
    mutates=True,
)
async def arrows(t: Trial) -> None:
    for chord in ("up", "down", "left", "right"):
        await pressed(t, chord)


@case(
    "keys.tab-and-escape-reach-the-app",
    "Tab, escape and the keys that move in a page MUST reach the app under their own names.",
    command="key",
    sample={"chord": "tab"},
    classes=WITH_A_KEYBOARD,
    bundle="keys",
    screen="echo",
    mutates=True,
)
async def named(t: Trial) -> None:
    for chord in ("tab", "escape", "home", "end", "pageup", "pagedown"):
        await pressed(t, chord)


@case(
    "keys.chords-reach-the-app",
    "A chord MUST reach the app as one key with its modifiers held, and MUST leave none of them held.",
    command="key",
    sample={"chord": "ctrl+k"},
    classes=WITH_A_KEYBOARD,
    bundle="keys",
    screen="echo",
    mutates=True,
)
async def chords(t: Trial) -> None:
    for chord in ("ctrl+k", "shift+tab", "ctrl+shift+k", "escape"):
        await pressed(t, chord)


@case(
    "keys.primary-is-the-modifier-of-the-platform",
    "The modifier primary MUST be the one of ordinary shortcuts on that platform.",
    command="key",
    sample={"chord": "primary+k"},
    classes=WITH_A_KEYBOARD,
    bundle="keys",
    screen="echo",
    mutates=True,
)
async def primary(t: Trial) -> None:
    await pressed(t, "primary+k", as_one_of=("ctrl+k", "meta+k"))


@case(
    "keys.names-are-read-as-people-write-them",
    "Names of keys MUST be read whatever their case, and under the other names in common use.",
    command="key",
    sample={"chord": "Escape"},
    classes=WITH_A_KEYBOARD,
    bundle="keys",
    screen="echo",
    mutates=True,
)
async def names(t: Trial) -> None:
    for chord, word in (("Escape", "escape"), ("esc", "escape"), ("RETURN", "enter"), ("Control+K", "ctrl+k")):
        await pressed(t, chord, as_one_of=(word,))


@case(
    "keys.count-is-how-often",
    "A count MUST press the key as often as it says.",
    command="key",
    sample={"chord": "down", "count": 3},
    classes=WITH_ARROWS,
    bundle="keys",
    screen="echo",
    mutates=True,
)
async def count(t: Trial) -> None:
    await t.call("key", chord="down", count=3)
    await t.call("key", chord="up")
    await t.heard("key", value="up")
    t.equal([report.get("value") for report in t.reports("key")], ["down", "down", "down", "up"], "what was heard")


@case(
    "keys.what-is-no-key-is-refused",
    "A name that is no key, or no modifier, MUST be refused as invalid_argument naming chord, and nothing pressed.",
    command="key",
    sample={"chord": "enter"},
    bundle="keys",
    screen="echo",
    mutates=True,
)
async def no_key(t: Trial) -> None:
    for chord in ("nosuchkey", "ctrl+nosuchkey", "hyper+a", "ctrl+", "enter+a"):
        answer = await t.call("key", chord=chord, expect="invalid_argument")
        t.equal(t.detail(answer, "param", "expected")["param"], "chord", f"the argument at fault of {chord}")
    await t.unheard()


@case(
    "keys.backspace-takes-one-character",
    "Backspace in a field MUST take the last character away, and enter in a field with lines begin a line.",
    command="type",
    sample={"target": "Notes", "text": "x"},
    needs=("keys.press",),
    classes=WITH_A_KEYBOARD,
    bundle="keys",
    screen="form",
    mutates=True,
)
async def backspace(t: Trial) -> None:
    await t.call("type", target="Notes", text="abc")
    await t.call("key", chord="backspace")
    await filled(t, "form.notes", "ab")
    await t.call("key", chord="enter")
    await t.call("type", text="c")
    await filled(t, "form.notes", "ab\nc")


@case(
    "keys.select-all-and-replace",
    "Select-all, then text, MUST replace what was in the field.",
    command="type",
    sample={"target": "Name", "text": "x"},
    needs=("keys.press",),
    classes=WITH_A_KEYBOARD,
    bundle="keys",
    screen="form",
    mutates=True,
)
async def select_all(t: Trial) -> None:
    await t.call("type", target="Name", text="Ada")
    await filled(t, "form.name", "Ada")
    await t.call("key", chord="primary+a")
    await t.call("type", text="Bob")
    await filled(t, "form.name", "Bob")
