"""Refusals: typed, whole, free of what a screen says, and each with the next thing to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from anydevice.driver import TreeScope
from anydevice_schemas import Answer, Tree
from anydevice_schemas.errors import ERRORS

from ..case import case
from ..trial import Trial
from .lifecycle import nowhere

PRESS: dict[str, Any] = {"command": "press", "sample": {"target": "Increment"}}
LETTERS = 6
"""Texts of a screen shorter than this may stand in a message by chance."""


def whole(t: Trial, answer: Answer) -> None:
    """An error says everything an error must say.

    Raises:
        CaseFailed: Something is missing.
    """
    error = answer.error
    t.require(error is not None, "an error was due")
    assert error is not None
    known = ERRORS.get(error.code)
    t.require(known is not None, f"there is no error code {error.code}")
    assert known is not None
    t.require(error.message.strip() and "\n" not in error.message, f"{error.code}: the message is no one sentence")
    t.require(error.hint.strip(), f"{error.code} does not say what to do next")
    t.require(
        isinstance(error.model_dump(mode="json")["retryable"], bool), f"{error.code} does not say whether to retry"
    )
    lacking = [name for name in known.recovery if name not in error.details]
    t.require(not lacking, f"{error.code} does not say {', '.join(lacking)}")
    if answer.device is not None:
        t.equal(error.device, answer.device.key, f"the device {error.code} names")


def silent(t: Trial, answer: Answer, texts: Iterable[str], own: str = "") -> None:
    """No text of the screen, other than the caller's own words, stands in message or hint."""
    assert answer.error is not None
    said = f"{answer.error.message}\n{answer.error.hint}"
    for text in texts:
        if len(text) >= LETTERS and text not in own and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said, re.I):
            t.require(False, f"{answer.error.code} repeats what the screen says ({text[:60]!r}) in message or hint")


async def texts_of(t: Trial) -> set[str]:
    """Everything the screen says."""
    driver = await t.driver()
    tree: Tree = await driver.screen.tree(TreeScope(mode="full"))  # type: ignore[attr-defined]
    return {text for node in tree.nodes for text in (node.name, node.value) if text}


@case(
    "errors.every-refusal-says-what-to-do-next",
    "Every error MUST have a known code, a message, a hint that names what to do next, whether to retry, all recovery "
    "fields of its code, and the device where one was chosen.",
    screen="form",
    mutates=True,
    **PRESS,
)
async def every_refusal(t: Trial) -> None:
    now = {"timeoutMs": 0}
    provoked: list[tuple[str, str, dict[str, Any]]] = [
        ("element_not_found", "press", {"target": "no such element is there"} | now),
        ("ambiguous_element", "press", {"target": "Delete"} | now),
        ("element_disabled", "press", {"target": "Submit"} | now),
        ("stale_ref", "press", {"target": "@e999999"} | now),
        ("invalid_argument", "press", {"target": "Submit", "x": 1.0, "y": 1.0}),
        ("unknown_command", "pres", {"target": "Submit"}),
        ("refused", "open", {"url": "file:///etc/passwd"}),
        ("device_not_found", "appstate", {"device": "no such device"}),
        (
            "selector_conflict",
            "appstate",
            {"device": t.device.key, "session": (await t.call("appstate", on=t.other)).session},
        ),
        ("session_not_found", "appstate", {"session": "no-such-session"}),
        ("app_not_found", "open", nowhere(t)),
    ]
    for code, command, arguments in provoked:
        whole(t, await t.call(command, expect=code, **arguments))
    whole(t, await t.call("appstate", by=t.new_caller("second-caller"), expect="lease_held"))
    whole(t, await t.call("appstate", by=t.new_caller("third-caller"), named=False, expect=None, platform="nothing"))
    await t.unheard("press", "submit", "fill")


@case(
    "errors.element-not-found-tells-what-is-there",
    "element_not_found MUST tell the nearest matches and what is on screen, and the query of the nearest match MUST "
    "mean it.",
    mutates=True,
    **PRESS,
)
async def not_found(t: Trial) -> None:
    answer = await t.call("press", target="Incremint", timeoutMs=0, expect="element_not_found")
    whole(t, answer)
    details = t.detail(answer, "nearest_matches", "on_screen")
    t.require("Open list" in str(details["on_screen"]), "what is on screen is not told")
    near = details["nearest_matches"]
    t.require(near and near[0].get("name") == "Increment", f"the nearest match is {str(near[:1])[:200]}")
    await t.call("press", target=near[0].get("query") or near[0]["ref"])
    await t.heard("count", value=1)


@case(
    "errors.ambiguous-element-numbers-its-candidates",
    "ambiguous_element MUST tell how many match and number the candidates from 0, each with a ref, and ref and number "
    "MUST mean the candidate.",
    screen="form",
    mutates=True,
    **PRESS,
)
async def ambiguous(t: Trial) -> None:
    answer = await t.call("press", target="Delete", expect="ambiguous_element")
    whole(t, answer)
    details = t.detail(answer, "candidates", "matches")
    candidates = details["candidates"]
    t.equal((details["matches"], [each["index"] for each in candidates]), (2, [0, 1]), "matches and numbers")
    await t.call("press", target=candidates[0]["ref"])
    await t.heard("press", id="form.delete-1")
    await t.call("press", target="label=Delete index=1")
    await t.heard("press", id="form.delete-2")
    t.equal([one["id"] for one in t.reports("press")], ["form.delete-1", "form.delete-2"], "what was pressed")


@case(
    "errors.action-unverified-tells-expected-and-actual",
    "A field that ends up with something else than was asked MUST be told as action_unverified with expected and "
    "actual.",
    command="fill",
    sample={"target": "Letters", "text": "a1"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def unverified(t: Trial) -> None:
    answer = await t.call("fill", target="Letters", text="a1b2", expect="action_unverified")
    whole(t, answer)
    details = t.detail(answer, "expected", "actual")
    t.equal((details["expected"], details["actual"]), ("a1b2", "ab"), "expected and actual")
    await t.heard("fill", id="form.letters", value="ab")


@case(
    "errors.dialog-open-tells-text-and-buttons",
    "While a dialog blocks the app a command MUST be refused as dialog_open with kind, text and buttons in details, "
    "and neither message nor hint MUST repeat what the dialog says.",
    command="alert",
    sample={"action": "get"},
    needs=("alerts.dismiss",),
    bundle="alerts",
    screen="alerts",
    mutates=True,
)
async def dialog_open(t: Trial) -> None:
    await t.call("press", target="Show confirm")
    answer = await t.call("press", target="Load", timeoutMs=0, expect="dialog_open")
    whole(t, answer)
    details = t.detail(answer, "kind", "text", "buttons")
    t.require("Are you sure?" in details["text"] and details["buttons"], f"the dialog is told as {str(details)[:200]}")
    silent(t, answer, ["Are you sure"])
    await t.call("alert", action="dismiss")
    await t.heard("dialog", value="dismiss")
    t.require(not [one for one in t.reports("press") if one["id"] == "alerts.load"], "the press went past the dialog")


@case(
    "errors.messages-repeat-nothing-of-the-screen",
    "Text that came from a device MUST stand in the details of an error only, never in message or hint.",
    screen="form",
    mutates=True,
    **PRESS,
)
async def nothing_of_the_screen(t: Trial) -> None:
    texts = await texts_of(t)
    t.require({"Submit", "Sign in with Apple"} <= texts, "the screen cannot be read")
    asked = {
        "nothing of this kind": "element_not_found",
        "role=button": "ambiguous_element",
        "role=button enabled=false": "element_disabled",
        "role=button index=99": "element_not_found",
        "@e999999": "stale_ref",
    }
    for target, code in asked.items():
        answer = await t.call("press", target=target, timeoutMs=0, expect=code)
        silent(t, answer, texts, own=target)
        found = str(answer.error.details) if answer.error is not None else ""
        if code in ("ambiguous_element", "element_disabled"):
            t.require(any(text in found for text in texts), f"{code}: the details do not say which element")
    await t.unheard("press", "submit")


@case(
    "errors.unknown-arguments-are-refused",
    "An argument the command does not take MUST be refused as invalid_argument with the nearest names it takes, and "
    "nothing MUST be done.",
    mutates=True,
    **PRESS,
)
async def unknown_arguments(t: Trial) -> None:
    for name, near in (("taget", "target"), ("timeoutms", "timeoutMs"), ("device_target", "deviceTarget")):
        arguments: dict[str, Any] = {"target": "Increment", name: "tv"}
        answer = await t.call("press", expect="invalid_argument", **arguments)
        whole(t, answer)
        details = t.detail(answer, "param", "expected", "errors", "accepted")
        t.equal(details["param"], name, "the argument that is refused")
        t.require(near in details["errors"][0]["nearest"], f"{near} is not told as near to {name}")
        t.require(near in details["accepted"], f"{near} is not told as accepted")
    await t.first_press()


@case(
    "errors.unknown-values-are-refused",
    "A value that is none of those an argument takes MUST be refused as invalid_argument with those it takes, and "
    "nothing MUST be done.",
    mutates=True,
    **PRESS,
)
async def unknown_values(t: Trial) -> None:
    wrong: tuple[tuple[str, Any, str], ...] = (
        ("responseLevel", "ful", "full"),
        ("deviceTarget", "desktpo", "desktop"),
        ("button", "primry", "primary"),
        ("platform", "no-such-platform", t.device.platform),
        ("timeoutMs", "soon", ""),
        ("timeoutMs", -1, ""),
        ("includeCost", "yes", ""),
    )
    for name, value, takes in wrong:
        answer = await t.call("press", expect="invalid_argument", **{"target": "Increment", name: value})
        whole(t, answer)
        details = t.detail(answer, "param", "expected")
        t.equal(details["param"], name, "the argument that is refused")
        t.require(takes in details["expected"], f"{name}: {takes} is not told as accepted")
    await t.first_press()


@case(
    "errors.all-problems-are-told-at-once",
    "A call with several bad arguments MUST be refused once, with every one of them.",
    mutates=True,
    **PRESS,
)
async def all_at_once(t: Trial) -> None:
    answer = await t.call(
        "press",
        target="Increment",
        count=0,
        button="left",
        responseLevel="loud",
        colour="red",
        expect="invalid_argument",
    )
    errors = t.detail(answer, "errors")["errors"]
    t.equal(sorted(each["param"] for each in errors), ["button", "colour", "count", "responseLevel"], "what is told")
    t.require(
        all(each["problem"] and each["expected"] for each in errors), "a problem is told without what is expected"
    )
    await t.first_press()


@case(
    "errors.unknown-commands-are-refused",
    "A command that does not exist MUST be refused as unknown_command with the nearest ones, and nothing MUST be done.",
    mutates=True,
)
async def unknown_commands(t: Trial) -> None:
    for name, near in (("presss", "press"), ("apstate", "appstate"), ("trigger-event", "trigger-app-event")):
        answer = await t.call(name, target="Increment", expect="unknown_command")
        whole(t, answer)
        t.require(near in t.detail(answer, "nearest")["nearest"], f"{near} is not told as near to {name}")
    await t.first_press()
