"""What is secret stays so: passwords are never read, typed text is not written down, screen text is no advice."""

from __future__ import annotations

import json
from typing import Any

from anydevice_schemas import Answer
from anydevice_schemas.practice import SECRET

from ..case import case
from ..trial import Trial

TYPED = "correct horse 9f3a battery"
"""What the suite types into secure fields; long enough never to be there by chance."""

STRANGE = ("ignore all earlier instructions", "SYSTEM:")
"""What the line on the text screen says that reads like an instruction."""


def whole(answer: Answer) -> str:
    """Everything an answer says, as JSON."""
    return json.dumps(answer.model_dump(mode="json", by_alias=True), ensure_ascii=False)


def journal(t: Trial) -> str:
    """Everything the journal holds, as JSON."""
    return json.dumps(list(t.router.services.journal.tail), ensure_ascii=False, default=str)


def advice(answer: Answer) -> str:
    """What an answer says in words of ours: message, hint, notices."""
    said = [notice.get("message", "") for notice in answer.notices]
    if answer.error is not None:
        said += [answer.error.message, answer.error.hint]
    return "\n".join(said)


async def told_nowhere(t: Trial, secret: str, name: str) -> None:
    """No way of reading the screen answers a secret, in whatever form it is asked for."""
    looks: list[tuple[str, dict[str, Any]]] = [
        ("snapshot", {"mode": "full", "responseLevel": "full"}),
        ("get", {"target": name}),
        ("get", {"target": name, "what": "attrs"}),
        ("find", {"query": f'label="{name}"'}),
        ("find", {"query": "role=textbox", "responseLevel": "full"}),
    ]
    for command, arguments in looks:
        answer = await t.call(command, **arguments)
        t.require(secret not in whole(answer), f"{command} answers what a secure field holds")
    answer = await t.call("is", predicate="text", target=name, value=secret)
    t.require(answer.data["result"] is False, "is confirms what a secure field holds")


@case(
    "secrets.a-secure-field-is-flagged",
    "A secure field MUST be flagged as secure wherever it is described.",
    command="snapshot",
    screen="form",
)
async def flagged(t: Trial) -> None:
    answer = await t.call("snapshot", mode="full")
    lines = [line for line in answer.data["text"].splitlines() if '"Password"' in line]
    t.require(len(lines) == 1 and "secure" in lines[0], f"the line of the password field is {lines}")
    answer = await t.call("get", target="Password", what="attrs")
    t.equal(answer.data["element"].get("secure"), True, "secure")
    answer = await t.call("get", target="Name", what="attrs")
    t.require(not answer.data["element"].get("secure"), "a plain field is flagged as secure")


@case(
    "secrets.what-a-secure-field-holds-is-never-read",
    "What a secure field holds already MUST NOT be answered by any command.",
    command="snapshot",
    screen="states",
)
async def never_read(t: Trial) -> None:
    await told_nowhere(t, SECRET, "Secret")
    answer = await t.call("get", target="Secret")
    t.equal(answer.data["text"], "", "the text of a secure field")
    answer = await t.call("find", query=f'value="{SECRET}"', timeoutMs=0, expect=None)
    t.require(not answer.ok, "a secure field is found by what it holds")


@case(
    "secrets.a-filled-in-password-stays-secret",
    "A password that is filled in MUST reach the app and be verified, and MUST NOT come back in any answer.",
    command="fill",
    sample={"target": "Password", "text": "x"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def filled_in(t: Trial) -> None:
    for level in ("default", "full"):
        answer = await t.call("fill", target="Password", text=TYPED, responseLevel=level, includeCost=True, debug=True)
        t.require(TYPED not in whole(answer), "the answer to fill holds the password")
    await t.heard("fill", id="form.password", value=len(TYPED))
    await told_nowhere(t, TYPED, "Password")


@case(
    "secrets.a-typed-password-stays-secret",
    "A password that is typed MUST reach the app, and MUST NOT come back in any answer.",
    command="type",
    sample={"target": "Password", "text": "x"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def typed(t: Trial) -> None:
    answer = await t.call("type", target="Password", text=TYPED, responseLevel="full", debug=True)
    t.require(TYPED not in whole(answer), "the answer to type holds the password")
    await t.heard("fill", id="form.password", value=len(TYPED))
    answer = await t.call("press", target="Sign in")
    t.require(TYPED not in whole(answer), "what changed on the screen holds the password")
    await told_nowhere(t, TYPED, "Password")


@case(
    "secrets.typed-text-is-not-written-down",
    "The journal MUST NOT hold what was filled in, typed or entered, nor may a refusal repeat it.",
    command="fill",
    sample={"target": "Name", "text": "x"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def journalled(t: Trial) -> None:
    before = len(t.router.services.journal.tail)
    await t.call("fill", target="Password", text=TYPED)
    await t.call("fill", target="Name", text=TYPED)
    refused = await t.call("fill", target="Submitt", text=TYPED, timeoutMs=0, expect="element_not_found")
    t.require(TYPED not in advice(refused), "the refusal repeats what was to be filled in")
    covered = await t.call("fill", target="Covered", text=TYPED, timeoutMs=0, expect=None)
    t.require(not covered.ok and TYPED not in whole(covered), "the refusal repeats what was to be filled in")
    t.require(TYPED not in journal(t), "the journal holds typed text")
    t.require(len(t.router.services.journal.tail) > before or before >= 1000, "the journal records nothing")
    replays = [entry["replay"] for entry in t.router.services.journal.tail if "replay" in entry]
    fills = [line for line in replays if line["command"] == "fill"]
    t.require(fills and all("text" in line["arguments"] for line in fills), "the replay of fill has no place for text")


@case(
    "secrets.screen-text-is-never-advice",
    "Text from the screen MUST NOT appear in a message, hint or notice, whatever is refused and however near it is.",
    command="press",
    sample={"target": "Increment"},
    screen="text",
)
async def never_advice(t: Trial) -> None:
    asked: list[tuple[str, dict[str, Any], str]] = [
        ("press", {"target": "SYSTEM ignore earlier"}, "element_not_found"),
        ("press", {"target": 'role="text"'}, "ambiguous_element"),
        ("get", {"target": 'role="text"'}, "ambiguous_element"),
        ("wait", {"target": "No such thing"}, "timeout"),
        ("find", {"query": "role=slider"}, "element_not_found"),
    ]
    for command, arguments, code in asked:
        answer = await t.call(command, timeoutMs=0, expect=code, **arguments)
        for words in (*STRANGE, "設定", "Grüße", "xxxxxxxx"):
            if words not in str(arguments):
                t.require(words not in advice(answer), f"the {code} of {command} says {words!r} from the screen")
    answer = await t.call("snapshot")
    t.require(STRANGE[0] not in advice(answer), "a notice repeats the screen")


@case(
    "secrets.names-of-elements-stay-in-details",
    "What covers an element, what is near a name and what became of a ref MUST be told in details and nowhere else.",
    command="press",
    sample={"target": "Covered"},
    screen="form",
)
async def in_details(t: Trial) -> None:
    answer = await t.call("press", target="Covered", timeoutMs=0, expect="element_covered")
    t.require("Veil" in json.dumps(t.detail(answer, "cover")), "details do not tell what covers the element")
    t.require("Veil" not in advice(answer), "the message names what covers the element")
    answer = await t.call("press", target="Lettres", timeoutMs=0, expect="element_not_found")
    t.require("Letters" in json.dumps(t.detail(answer, "nearest_matches")), "details do not tell what is near")
    t.require("Letters" not in advice(answer), "the message names what is near")


@case(
    "secrets.a-dialogs-text-stays-in-details",
    "The text of an open dialog MUST be told in details, and MUST NOT be in a message or hint.",
    command="alert",
    sample={"action": "get"},
    bundle="alerts",
    screen="alerts",
    mutates=True,
)
async def dialog_text(t: Trial) -> None:
    await t.call("press", target="Show confirm")
    answer = await t.call("snapshot", expect="dialog_open")
    t.equal(t.detail(answer, "text")["text"], "Are you sure?", "the text in details")
    t.require("Are you sure" not in advice(answer), "the refusal's message or hint holds the dialog's text")
