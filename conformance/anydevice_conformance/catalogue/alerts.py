"""Dialogs: they are told, they block every other command, and they are answered as asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anydevice_schemas import Answer

from ..case import Trying, case
from ..trial import Trial

ASKED = {"target": "Show alert"}

OTHERS: dict[str, dict[str, Any]] = {
    "snapshot": {},
    "find": {"query": "Show confirm"},
    "get": {"target": "Show confirm"},
    "is": {"predicate": "visible", "target": "Show confirm"},
    "wait": {"target": "Show confirm"},
    "screenshot": {},
    "press": {"target": "Show confirm"},
    "longpress": {"target": "Show confirm"},
    "hover": {"target": "Show confirm"},
    "fill": {"target": "Show confirm", "text": "x"},
    "type": {"text": "x"},
    "key": {"chord": "enter"},
    "scroll": {"direction": "down"},
    "gesture": {"kind": "swipe", "direction": "up"},
    "back": {},
}
"""A call of every kind that has to look at the app or act on it."""


def _case(name: str, must: str, **more: Any) -> Callable[[Trying], Trying]:
    return case(f"alerts.{name}", must, **({"bundle": "alerts", "screen": "alerts", "mutates": True} | more))


BUTTONS = {"Show alert": "alerts.alert", "Show confirm": "alerts.confirm", "Show prompt": "alerts.prompt"}


async def asked(t: Trial, button: str) -> Answer:
    """Presses the button that opens a dialog, and waits until it is open."""
    answer = await t.call("press", target=button)
    await t.heard("press", id=BUTTONS[button])
    for _ in range(20):
        if (await t.call("alert")).data["open"]:
            return answer
        await t.call("wait", durationMs=50, expect=None)
    t.require(False, f"{button} was pressed and no dialog is open")
    raise AssertionError("unreachable")


@_case(
    "opening-is-told",
    "An action that opens a dialog MUST say so in its answer, with the dialog's text.",
    command="press",
    sample=ASKED,
    needs=("alerts.get",),
)
async def opening(t: Trial) -> None:
    answer = await t.call("press", target="Show alert")
    told = [one for one in answer.data.get("happened", ()) if one.get("kind") == "dialog"]
    t.require(told, "the answer to the press does not tell the dialog it opened")
    t.equal(told[0].get("text"), "Something happened", "the text of the dialog that was told")


@_case(
    "every-other-command-is-refused",
    "While a dialog is open every command that needs the app MUST be refused at once as dialog_open, saying what the "
    "dialog is and which buttons it has, and MUST NOT reach the app.",
    command="alert",
    sample={"action": "get"},
)
async def refused(t: Trial) -> None:
    await asked(t, "Show confirm")
    before = len(t.reports())
    for command, arguments in OTHERS.items():
        answer = await t.call(command, expect=None, **arguments)
        code = answer.error.code if answer.error is not None else "ok"
        # What a device does not have at all is refused as such, dialog or not; other cases judge that.
        t.require(code in ("dialog_open", "unsupported"), f"{command} with a dialog open answered {code}")
        if code == "dialog_open":
            details = t.detail(answer, "kind", "text", "buttons")
            t.equal(details["text"], "Are you sure?", f"the dialog's text in the refusal of {command}")
            t.require(details["buttons"], f"the refusal of {command} names no buttons")
    await t.call("wait", durationMs=150, expect=None)
    t.equal(len(t.reports()), before, "how many reports the app made meanwhile")


@_case(
    "is-read",
    "Alert get MUST read the open dialog: kind, text, buttons, and whether it takes text.",
    command="alert",
    sample={"action": "get"},
)
async def read(t: Trial) -> None:
    for button, text, takes in (("Show confirm", "Are you sure?", False), ("Show prompt", "What is your name?", True)):
        await asked(t, button)
        dialog = (await t.call("alert", action="get")).data["dialog"]
        t.equal((dialog["text"], dialog["takesText"]), (text, takes), f"the dialog of {button}")
        t.require(dialog["kind"] and dialog["buttons"], f"the dialog of {button} has no kind or no buttons")
        await t.call("alert", action="dismiss")
        await t.heard("dialog", value="dismiss")


@_case(
    "none-is-open",
    "Alert get MUST say that no dialog is open where none is.",
    command="alert",
    sample={"action": "get"},
    mutates=False,
)
async def none_open(t: Trial) -> None:
    answer = await t.call("alert", action="get")
    t.equal(answer.data["open"], False, "open")
    t.require("dialog" not in answer.data, "a dialog is described where none is open")


@_case(
    "an-alert-is-accepted",
    "Accepting an alert MUST close it, and the app MUST go on.",
    command="alert",
    sample={"action": "accept"},
)
async def accept_alert(t: Trial) -> None:
    await asked(t, "Show alert")
    answer = await t.call("alert", action="accept")
    t.equal((answer.data["open"], answer.verified), (False, True), "open and verified")
    await t.heard("dialog", value="accept")
    t.equal((await t.call("alert")).data["open"], False, "open afterwards")


@_case(
    "a-question-is-answered-yes",
    "Accepting a confirm MUST be a yes to the app.",
    command="alert",
    sample={"action": "accept"},
)
async def accept_confirm(t: Trial) -> None:
    await asked(t, "Show confirm")
    await t.call("alert", action="accept")
    await t.heard("dialog", value="accept")


@_case(
    "a-question-is-answered-no",
    "Dismissing a confirm MUST be a no to the app.",
    command="alert",
    sample={"action": "dismiss"},
)
async def dismiss_confirm(t: Trial) -> None:
    await asked(t, "Show confirm")
    await t.call("alert", action="dismiss")
    await t.heard("dialog", value="dismiss")


@_case(
    "text-goes-into-a-prompt",
    "Accepting a prompt with a text MUST give the app that text.",
    command="alert",
    sample={"action": "accept"},
)
async def prompt(t: Trial) -> None:
    await asked(t, "Show prompt")
    await t.call("alert", action="accept", text="Ada Lövelace 👍")
    await t.heard("dialog", value="Ada Lövelace 👍")


@_case(
    "text-for-a-dialog-that-takes-none-is-refused",
    "A text for a dialog that takes none MUST be refused, and the dialog MUST stay open.",
    command="alert",
    sample={"action": "accept"},
)
async def text_for_none(t: Trial) -> None:
    await asked(t, "Show confirm")
    answer = await t.call("alert", action="accept", text="Ada", expect="invalid_argument")
    t.equal(t.detail(answer, "param")["param"], "text", "the argument at fault")
    await t.unheard("dialog")
    t.equal((await t.call("alert")).data["open"], True, "open afterwards")


@_case(
    "answering-none-is-unverified",
    "Answering a dialog where none is open MUST NOT be told as done.",
    command="alert",
    sample={"action": "accept"},
)
async def answer_none(t: Trial) -> None:
    for action in ("accept", "dismiss"):
        await t.call("alert", action=action, expect="action_unverified")
    await t.unheard()


@_case(
    "the-app-is-free-again",
    "After a dialog was answered the other commands MUST work again.",
    command="alert",
    sample={"action": "accept"},
)
async def free_again(t: Trial) -> None:
    await asked(t, "Show alert")
    await t.call("alert", action="accept")
    await t.call("snapshot")
    await t.call("press", target="Load")
    await t.heard("press", id="alerts.load")


@_case(
    "app-state-tells-it",
    "Appstate MUST answer while a dialog is open, and tell that dialog.",
    command="alert",
    sample={"action": "get"},
    needs=("apps.state",),
)
async def app_state(t: Trial) -> None:
    await asked(t, "Show confirm")
    dialog = (await t.call("appstate")).data.get("dialog") or {}
    t.equal(dialog.get("text"), "Are you sure?", "the dialog in appstate")
