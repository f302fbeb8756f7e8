"""Deep links and app events: what arrives, what is acknowledged, and what is refused before anything is sent."""

from __future__ import annotations

import secrets
from typing import Any

from ..case import case
from ..trial import Trial

TEMPLATE = "practice://event?event={event}&payload={payload}"
EVENT: dict[str, Any] = {
    "command": "trigger-app-event",
    "sample": {"event": "suite.ping"},
    "bundle": "links",
    "screen": "echo",
    "mutates": True,
}
PAYLOAD: dict[str, Any] = {
    "items": 3,
    "note": "Grüße 設定 👩‍👩‍👧 &=?#%+ \"'",
    "nested": {"list": [1, None, True, -0.5]},
}


@case(
    "events.a-deep-link-arrives",
    "A link handed to the device MUST reach the app whole, once, and no other device.",
    needs=("links.open_url",),
    bundle="links",
    screen="echo",
    mutates=True,
)
async def deep_link(t: Trial) -> None:
    driver = await t.driver()
    links = driver.links  # type: ignore[attr-defined]
    said = f"Gr%C3%BC%C3%9Fe%20{secrets.token_hex(4)}&more=a%26b"
    if t.manifest.practice.opens == "url":
        token = t.tokens[t.device.key] = t.witness.new_token()
        url = f"{t.witness.page('echo', token)}&link={said}"
    else:
        url = f"practice://echo?link={said}"
    await links.open_url(url)
    await t.heard("link", value=url)
    await t.unheard("event", "press", "fill")
    t.equal(len(t.reports("link")), 1, "links that reached the app")


@case(
    "events.an-event-arrives-once-with-its-payload",
    "An app event MUST reach the app exactly once, with name and payload unchanged, and no other device.",
    **EVENT,
)
async def arrives_once(t: Trial) -> None:
    await t.open("echo", eventUrlTemplate=TEMPLATE)
    answer = await t.call("trigger-app-event", event="suite.cart-filled", payload=PAYLOAD)
    await t.heard("event", value={"name": "suite.cart-filled", "payload": PAYLOAD})
    t.equal((answer.data.get("event"), answer.data.get("transport")), ("suite.cart-filled", "deep-link"), "the answer")
    await t.call("trigger-app-event", event="suite.no-payload")
    await t.heard("event", value={"name": "suite.no-payload", "payload": None})
    await t.unheard("press", "fill", "key")
    t.equal(len(t.reports("event")), 2, "events that reached the app")


@case(
    "events.acknowledged-only-where-the-app-said-so",
    "An event MUST be answered as acknowledged only where the app itself acknowledged it, and as not acknowledged only "
    "where it could have.",
    **EVENT,
)
async def acknowledged(t: Trial) -> None:
    await t.open("echo", eventUrlTemplate=TEMPLATE)
    for name, said in (("ack.saved", "true"), ("suite.saved", "false")):
        answer = await t.call("trigger-app-event", event=name)
        await t.heard("event", value={"name": name, "payload": None})
        told = answer.data.get("acknowledged")
        t.require(told in (said, "not_requested"), f"{name}: acknowledged is {told}, the app said {said}")
        t.equal(answer.verified, told == "true", f"{name}: verified, where acknowledged is {told}")


@case(
    "events.without-a-template-it-says-how",
    "Without a URL template an event MUST be refused as unsupported, saying where to set one, and MUST NOT be sent.",
    **EVENT,
)
async def without_template(t: Trial) -> None:
    answer = await t.call("trigger-app-event", event="suite.ping", expect="unsupported")
    t.require(t.detail(answer, "operation", "alternatives")["alternatives"], "no way to set a template is told")
    t.require(
        answer.error is not None and "eventUrlTemplate" in answer.error.hint, "the hint names no eventUrlTemplate"
    )
    await t.unheard()


@case(
    "events.an-unusable-template-is-refused",
    "A URL template without a fixed scheme, without placeholders or with unknown ones MUST be refused at open, before "
    "anything is opened.",
    **EVENT,
)
async def unusable_template(t: Trial) -> None:
    wrong = {
        "practice://event": "invalid_argument",
        "practice://event?name={name}": "invalid_argument",
        "event?name={event}": "invalid_argument",
        "{event}://here": "invalid_argument",
        "practice://event ?name={event}": "invalid_argument",
        "javascript:alert('{event}')": "refused",
    }
    for template, code in wrong.items():
        token = t.witness.new_token()
        await t.call("open", eventUrlTemplate=template, expect=code, **t.opening("echo", token))
        t.require(not t.witness.reports(token), f"the app was opened with the template {template!r}")
    await t.call("trigger-app-event", event="suite.ping", expect="unsupported")
    await t.unheard()
    t.equal(len(t.reports("ready")), 1, "starts of the app")


@case(
    "events.bad-names-are-refused-before-anything-is-sent",
    "An event name other than 1 to 64 of A-Z a-z 0-9 _ . : - MUST be refused as invalid_argument and MUST NOT be sent.",
    **EVENT,
)
async def bad_names(t: Trial) -> None:
    await t.open("echo", eventUrlTemplate=TEMPLATE)
    for name in ("", "two words", "x" * 65, "päivä", "a/b", "a?b=c", "a%20b", "line\n", "{payload}"):
        answer = await t.call("trigger-app-event", event=name, expect="invalid_argument")
        t.equal(t.detail(answer, "param", "expected")["param"], "event", f"the argument refused for {name!r}")
    longest = "A-z_0.9:" + "x" * 56
    await t.call("trigger-app-event", event=longest)
    await t.heard("event", value={"name": longest, "payload": None})
    t.equal(len(t.reports("event")), 1, "events that reached the app")


@case(
    "events.overlong-payloads-are-refused-before-anything-is-sent",
    "A payload over 8192 bytes, or one that makes the URL longer than 4096 characters, MUST be refused as "
    "invalid_argument and MUST NOT be sent, whole or in part.",
    **EVENT,
)
async def overlong(t: Trial) -> None:
    await t.open("echo", eventUrlTemplate=TEMPLATE)
    for text in ("x" * 8193, "ü" * 2000, "x" * 4096):
        answer = await t.call("trigger-app-event", event="suite.big", payload={"text": text}, expect="invalid_argument")
        details = t.detail(answer, "param", "expected")
        t.equal(details["param"], "payload", "the argument refused")
        t.require(details.get("length", 0) > 4096, "how long it is is not told")
    await t.call("trigger-app-event", event="suite.small", payload={"text": "x" * 2000})
    await t.heard("event", value={"name": "suite.small", "payload": {"text": "x" * 2000}})
    t.equal(len(t.reports("event")), 1, "events that reached the app")


@case(
    "events.scripts-and-files-are-never-opened",
    "Addresses that run a script or read a file of the host MUST be refused, also in other spellings and inside "
    "wrappers, and MUST NOT reach the device.",
    command="open",
    sample={"url": "practice://echo"},
    mutates=True,
)
async def scripts_and_files(t: Trial) -> None:
    refused = ("javascript:document.title='x'", "JavaScript:alert(1)", "file:///etc/passwd", "view-source:file:///etc")
    smuggled = (" javascript:alert(1)", "java\nscript:alert(1)", "\u200bfile:///etc/passwd", "no-scheme-at-all")
    for url in (*refused, *smuggled):
        answer = await t.call("open", url=url, expect="refused" if url in refused else "invalid_argument")
        t.detail(answer, *(("reason", "alternative") if url in refused else ("param", "expected")))
    await t.unheard()
    t.equal(len(t.reports("ready")), 1, "starts of the app")
