"""On-screen keyboard, remote control and notifications, judged by what reaches the app."""

from __future__ import annotations

from typing import Any

import anyio

from anydevice_schemas import Answer

from ..case import case
from ..looking import ROOTS, heard_times, states, whole
from ..trial import HEARD_WITHIN, Trial
from .text import filled, value_of

GLASS = frozenset({"phone", "tablet"})
TV = frozenset({"tv"})
KEYBOARD: dict[str, Any] = {
    "command": "keyboard",
    "bundle": "keyboard",
    "screen": "form",
    "classes": GLASS,
    "mutates": True,
}
REMOTE: dict[str, Any] = {
    "command": "tv-remote",
    "sample": {"button": "down"},
    "bundle": "remote",
    "classes": TV,
    "mutates": True,
}
PUSH: dict[str, Any] = {
    "command": "push",
    "sample": {"app": "dev.anydevice.practice", "payload": {}},
    "bundle": "push",
    "mutates": True,
}
PAYLOAD = {"aps": {"alert": {"title": "Grüße", "body": "設定 👩‍👩‍👧 \"'&"}, "badge": 3}, "more": [1, None, True]}
DOWN_MOST = 15


async def shown(t: Trial, wanted: bool) -> Answer:
    """The keyboard's status, once it is as it must be."""
    answer = await t.call("keyboard")
    with anyio.move_on_after(HEARD_WITHIN):
        while answer.data.get("shown") is not wanted:
            await anyio.sleep(0.05)
            answer = await t.call("keyboard")
    t.equal(answer.data.get("shown"), wanted, "whether the keyboard is shown")
    return answer


@case(
    "keyboard.comes-with-a-field",
    "keyboard MUST tell that none is shown before a field has the focus, and that one is once it has.",
    **KEYBOARD,
)
async def comes(t: Trial) -> None:
    await shown(t, False)
    await t.call("press", target="Name")
    await shown(t, True)


@case(
    "keyboard.dismiss-takes-it-away",
    "dismiss MUST take the keyboard away, be read back, and leave the text of the field alone.",
    sample={"action": "dismiss"},
    **KEYBOARD,
)
async def dismiss(t: Trial) -> None:
    await t.call("type", target="Name", text="Ada")
    await t.heard("fill", id="form.name", value="Ada")
    await t.call("press", target="Name")
    await shown(t, True)
    answer = await t.call("keyboard", action="dismiss")
    t.equal((answer.verified, answer.data.get("shown")), (True, False), "verified, shown")
    await shown(t, False)
    t.equal((await t.call("get", target="Name")).data.get("text"), "Ada", "the text of the field")
    await t.unheard("submit")


@case(
    "keyboard.press-needs-a-keyboard",
    "A key of a keyboard that is not shown MUST be refused as action_unverified and reach nothing; one of a keyboard "
    "that is shown MUST reach the app once.",
    sample={"action": "press", "key": "enter"},
    **KEYBOARD,
)
async def press(t: Trial) -> None:
    await shown(t, False)
    answer = await t.call("keyboard", action="press", key="enter", expect="action_unverified")
    t.detail(answer, "expected", "actual")
    await t.unheard("key", "submit")
    await t.call("press", target="Notes")
    await shown(t, True)
    await t.call("keyboard", action="press", key="enter")
    await t.heard("key", value="enter")
    t.equal(len(t.reports("key")), 1, "keys that reached the app")


@case(
    "remote.down-and-select-press-a-button",
    "The buttons down and select MUST move the focus and press what has it, once.",
    **REMOTE,
)
async def down_and_select(t: Trial) -> None:
    for _ in range(DOWN_MOST):
        focused = await t.call("is", predicate="focused", target="Increment")
        if focused.data.get("result"):
            break
        await t.call("tv-remote", button="down")
    else:
        t.require(False, f"the focus did not come to Increment in {DOWN_MOST} steps down")
    await t.unheard("press")
    await t.call("tv-remote", button="select")
    await t.heard("press", id="home.increment")
    await t.heard("count", value=1)
    t.equal(len(t.reports("press")), 1, "presses that reached the app")


@case(
    "remote.several-presses-are-as-many",
    "tv-remote with a count MUST press the button as often as one call for each press would.",
    **{**REMOTE, "sample": {"button": "down", "count": 3}},
    screen="list",
)
async def several(t: Trial) -> None:
    for times, presses in enumerate(([3], [1, 1, 1], [2, 1])):
        await t.call("tv-remote", button="up", count=8)
        for count in presses:
            await t.call("tv-remote", button="down", count=count)
        await t.call("tv-remote", button="select")
        await heard_times(t, "press", times + 1)
    led = [report["id"] for report in t.reports("press")]
    t.equal(len(set(led)), 1, f"how many things are led to by three times down in one call, three and two ({led})")


@case(
    "remote.back-leads-to-the-screen-before",
    "The button back MUST lead to the screen before.",
    **REMOTE,
)
async def back(t: Trial) -> None:
    await t.call("press", target="Open form")
    await t.heard("ready", value="form")
    count = len(t.reports("ready"))
    await t.call("tv-remote", button="back")
    await t.heard("ready", value="home")
    with anyio.move_on_after(HEARD_WITHIN):
        while len(t.reports("ready")) <= count:  # noqa: ASYNC110 - the witness has no event for it
            await anyio.sleep(0.05)
    t.equal(t.reports("ready")[-1].get("value"), "home", "the screen that is up")


@case(
    "remote.type-goes-to-the-named-field",
    "Where there are only arrows, type with a target MUST bring the focus to that field and type there, and MUST press "
    "nothing on the way.",
    command="type",
    sample={"target": "Letters", "text": "abc"},
    needs=("remote.press",),
    bundle="remote",
    classes=TV,
    screen="form",
    mutates=True,
)
async def type_goes_there(t: Trial) -> None:
    for field, element, text in (("Letters", "form.letters", "abc"), ("Name", "form.name", "Ada")):
        await t.call("type", target=f"label={field} role=textbox", text=text)
        await filled(t, element, text)
    await t.unheard("press", "toggle", "select", "submit")
    t.equal({report["id"] for report in t.reports("fill")}, {"form.letters", "form.name"}, "what was typed into")


@case(
    "remote.what-no-arrow-leads-to-is-refused",
    "An element that cannot have the focus MUST be refused, with what has it, and nothing MUST be pressed on the way.",
    command="focus",
    sample={"target": "Link"},
    needs=("remote.press",),
    bundle="remote",
    classes=TV,
    screen="echo",
    mutates=True,
)
async def no_arrow(t: Trial) -> None:
    answer = await t.call("focus", target="id=echo.link", expect=None)
    code = answer.error.code if answer.error is not None else "ok"
    t.require(
        code in ("focus_unavailable", "action_unverified"), f"the focus on what cannot have it was answered {code}"
    )
    t.require(answer.error is not None and answer.error.hint, "it must say what to do instead")
    await t.unheard("press", "fill")


@case(
    "remote.scrolling-brings-the-focus-along",
    "Where there are only arrows, scroll MUST leave the focus on something on screen, and MUST press nothing.",
    command="scroll",
    sample={"direction": "down"},
    needs=("remote.press",),
    bundle="remote",
    classes=TV,
    screen="list",
    mutates=True,
)
async def focus_comes_along(t: Trial) -> None:
    for _ in range(2):
        await t.call("scroll", direction="down")
    await t.unheard("press")
    held = [node for node in await whole(t, mode="viewport") if "focused" in states(node) and node["role"] not in ROOTS]
    rows = [node for node in held if str(node.get("identifier", "")).startswith("row.")]
    t.require(rows, "a row on screen must be told to have the focus")
    await t.call("tv-remote", button="select")
    await t.heard("press", id=rows[-1]["identifier"])


@case(
    "remote.a-long-press-holds-what-is-named",
    "Where there are only arrows, longpress MUST bring the focus to the element and hold select there, and MUST press "
    "nothing.",
    command="longpress",
    sample={"target": "Hold me"},
    needs=("remote.press",),
    bundle="remote",
    classes=TV,
    screen="gestures",
    mutates=True,
)
async def long_press(t: Trial) -> None:
    await t.call("longpress", target="Hold me")
    await t.heard("hold", id="gestures.hold")
    await t.unheard("press", "toggle", "select")


@case(
    "remote.arrows-leave-values-alone",
    "Arrows that are pressed to move focus or content MUST NOT change the value of what has the focus.",
    command="scroll",
    sample={"direction": "right"},
    needs=("remote.press",),
    bundle="remote",
    classes=TV,
    screen="form",
    mutates=True,
)
async def leave_values(t: Trial) -> None:
    await t.call("focus", target="label=Volume role=slider")
    for way in ("right", "left", "right"):
        await t.call("scroll", direction=way, expect=None)
        volume = (await value_of(t, "Volume")).rstrip("%")  # some platforms tell a share
        t.equal(float(volume), 50.0, f"the slider after scrolling {way}")
    await t.unheard("fill", "press")


@case(
    "push.arrives-whole-and-once",
    "A notification MUST reach the app it is for, whole and once, and no other device.",
    **PUSH,
)
async def arrives(t: Trial) -> None:
    await t.call("push", app=t.manifest.practice.app, payload=PAYLOAD)
    await t.heard("push", value=PAYLOAD)
    await t.unheard("press", "fill", "event")
    t.equal(len(t.reports("push")), 1, "notifications that reached the app")


@case(
    "push.to-nobody-is-refused",
    "A notification to an app that is not there, or one of more than 4096 bytes, MUST be refused and reach nothing.",
    **PUSH,
)
async def nobody(t: Trial) -> None:
    await t.call("push", app="dev.anydevice.no-such-app", payload=PAYLOAD, expect="app_not_found")
    big = {"aps": {"alert": "x" * 4096}}
    answer = await t.call("push", app=t.manifest.practice.app, payload=big, expect="invalid_argument")
    t.equal(t.detail(answer, "param", "expected")["param"], "payload", "the argument refused")
    await t.unheard()
