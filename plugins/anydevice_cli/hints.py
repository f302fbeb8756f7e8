"""Hints as a person at a shell needs them: the command line's own words, and command lines that can be pasted.

A refusal speaks the language of the wire (`Call lease acquire with timeoutMs`), which Python and MCP share. Here, and
only here, it becomes `--timeout-ms`, and `anydevice lease acquire --device fake:1 --timeout-ms 60000`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anydevice_schemas.errors import InvalidArgument

from . import output, remote
from .device import kebab

WAIT_MS = 60_000
"""Milliseconds the command lines we print wait in the queue."""

MOST, EVERY, LONGEST = 3, 20, 300
"""Command lines printed for one refusal, for one with a line per device, and characters of the longest."""

_WHICH = ("platform", "deviceTarget", "device", "udid", "serial", "session", "tenant", "runId")
"""Selectors that go on to a command that a hint names."""

_PRIVATE = {"steps", "payload", "arguments", "confirmToken"}
"""Arguments that may hold anything: a call with one is not written out, as what we print ends up in logs."""

_SECRET: dict[str, set[str]] = {"text": {"wait"}, "value": {"is", "orientation", "settings"}}
"""Arguments that may hold a secret, except with these commands: a variable of the shell stands for it, and a line that
is pasted without it fails in the shell and does nothing.
"""

_BARE = "apps|devices|doctor|session|capabilities|snapshot|appstate|open|lease (?:acquire|renew|release|status|queue)"
_CALL = re.compile(rf"(?:\b(?:[Cc]all|from|or|with)|:) ({_BARE})\b(?! with (?!timeoutMs)| in another)")
_BOOT = re.compile(r"\b[Cc]all boot with (.*?), then")
_GIVEN = re.compile(r"\b([a-z]+(?:[A-Z][a-z]+)*)=(\"(?:[^\"\\]|\\.)*\"|[^\s,;]*[^\s,;.])")
_RUN = re.compile(r"\b[Rr]un: (anydevice .+?)(?: ; .*)?$")
_AGAIN = re.compile(r"\b(?:repeat the call|ask again|then repeat)\b", re.IGNORECASE)


@dataclass(slots=True, frozen=True)
class _Asked:
    """The call that was refused: its name, its arguments, and words of the line it came from that are none."""

    name: str
    arguments: Mapping[str, Any]
    kept: Sequence[str] = ()


class _Shell(str):
    """A word that is for the shell to read, and not to be quoted."""


def spoken(hint: str, catalogue: remote.Catalogue) -> str:
    """The sentence, with options as they are typed here."""
    names = {*catalogue.selectors, *catalogue.switches}
    for command in catalogue.commands.values():
        names |= command["inputSchema"].get("properties", {}).keys()
    hint = _GIVEN.sub(lambda m: f"--{kebab(m[1])} {_word(m[2])}" if m[1] in catalogue.selectors else m[0], hint)
    camel = [name for name in names if name != name.lower()]
    if not camel:
        return hint
    return re.sub(
        rf"(?<![\w.-])({'|'.join(sorted(camel, key=len, reverse=True))})\b", lambda m: f"--{kebab(m[1])}", hint
    )


def typed(wire: Mapping[str, Any], name: str, catalogue: remote.Catalogue) -> dict[str, Any]:
    """A refusal whose message, hint and names of arguments are as they are typed here.

    Args:
        wire: The refusal.
        name: The command that was refused; empty for what is no command on devices.
        catalogue: What the command line knows of commands.
    """

    def said(text: str) -> str:
        return spoken(text, catalogue)

    details = output.with_fixes(wire.get("details") or {}, said)
    told = {**wire, "message": said(str(wire["message"])), "hint": said(str(wire["hint"])), "details": details}
    if wire.get("code") != InvalidArgument.code:
        return told
    match details.get("errors"):
        case [{**only}]:  # the message and the fields beside it say the rest
            details |= {"nearest": only["nearest"]} if only.get("nearest") else {}
            del details["errors"]
    for each in (details, *details.get("errors", ())):
        if "param" in each:
            each["param"] = _option(str(each["param"]), name, catalogue)
    if told["hint"] == InvalidArgument.hint_default and name:
        near = details.get("nearest") or ()
        told["hint"] = (f"Did you mean {near[0]}? " if near else "") + f"anydevice {name} --help tells what it takes."
    return told


def _option(param: str, name: str, catalogue: remote.Catalogue) -> str:
    """An argument as the option that stands for it; whatever is none (a field of a step, say) as it is."""
    known = (catalogue.get(name) or {}).get("inputSchema", {}).get("properties", {})
    return f"--{kebab(param)}" if param in {*known, *catalogue.selectors, *catalogue.switches} else param


def ways(wire: Mapping[str, Any], name: str, arguments: Mapping[str, Any], kept: Sequence[str] = ()) -> list[str]:
    """Command lines that do what the hint says, ready to be pasted; [] where it names none.

    Args:
        wire: The refusal.
        name: The command that was refused; empty for what is no command on devices.
        arguments: Its arguments, as the wire has them.
        kept: What else its line had: files to read, and options that are none of the wire's.
    """
    found = dict.fromkeys(_ways(wire, _Asked(name, arguments, kept)))
    most = EVERY if wire.get("code") == "ambiguous_device" else MOST
    return [line for line in found if line and len(line) <= LONGEST][:most]


def _ways(wire: Mapping[str, Any], asked: _Asked) -> Iterator[str]:
    hint, details, code = str(wire.get("hint", "")), wire.get("details") or {}, wire.get("code")
    conflicts, device = details.get("conflicts") or (), wire.get("device")
    if said := _RUN.search(hint):
        yield _line("mark", device, "good") if code == "device_unhealthy" and device else said[1]
        if code == "confirmation_required" and details.get("token"):
            yield _again(asked, confirmToken=details["token"])
    elif code == "quota_exceeded":
        yield _line("status")
    elif code == "ambiguous_device" or (code == InvalidArgument.code and "candidates" in details):
        for candidate in details.get("candidates") or ():
            if candidate.get("selectors"):
                yield _again(asked, **candidate["selectors"])
    elif code == "selector_conflict" and conflicts and all("session" in c and "device" in c for c in conflicts):
        for conflict in conflicts:
            yield _again(asked, session=conflict["session"])
    elif code == "selector_conflict" and conflicts and all("lease" in c for c in conflicts):
        yield _again(asked, session=None, tenant=None, runId=None)
    elif code == "ambiguous_element" and "target" in asked.arguments:
        for candidate in details.get("candidates") or ():
            if candidate.get("ref"):
                yield _again(asked, target=candidate["ref"], index=None)
    elif code == "dialog_open":
        which = {name: asked.arguments[name] for name in _WHICH if name in asked.arguments}
        yield from (_typed(f"alert {action}", which) for action in ("accept", "dismiss"))
    elif boot := _BOOT.search(hint):
        first = {m[1]: _value(m[2]) for m in _GIVEN.finditer(boot[1])}
        down = [row["selectors"] for row in details.get("unusable") or () if _down(row)]
        for selectors in (first, *down):
            yield _again(asked, **selectors, boot=True) if asked.name == "open" else _typed("boot", selectors)
    elif "repeat with session=" in hint:
        yield _again(asked, session=hint.rpartition("=")[2].rstrip("."))
    else:
        near = details.get("nearest_matches") or ()
        if code == "app_not_found" and "app" in asked.arguments and near and isinstance(near[0], str):
            yield _again(asked, app=near[0])
        if code == "lease_held" and _AGAIN.search(hint):
            yield _again(asked)
        for called in _CALL.finditer(hint):
            yield _call(called[1], "timeoutMs" in hint, asked, device)
        if code == "lease_held" and asked.name != "lease" and device:
            yield _typed("lease acquire", _which(asked, device) | {"timeoutMs": WAIT_MS})


def _down(row: Mapping[str, Any]) -> bool:
    return row.get("state") == "shutdown" and bool(row.get("selectors"))


def _call(called: str, waiting: bool, asked: _Asked, device: str | None) -> str:
    """A command that a hint names, on what the refused call was about."""
    if called == "lease acquire":
        more = {"timeoutMs": WAIT_MS} if waiting else {}
        if (asked.name, asked.arguments.get("action")) == ("lease", "acquire"):
            return _again(asked, **more)
        return _typed(called, _which(asked, device) | more)
    which = _which(asked, device) if called in ("apps", "open", "snapshot", "appstate", "capabilities") else {}
    if called == "open" and "leaseId" in asked.arguments and not which:
        return _typed("devices", {})  # nothing but the lease said which device
    return _typed(called, which)


def _which(asked: _Asked, device: str | None) -> dict[str, Any]:
    """The selectors of the refused call; the device it met where it named none."""
    given = {name: asked.arguments[name] for name in _WHICH if name in asked.arguments}
    if device and not given.keys() & {"device", "udid", "serial", "session"}:
        given["device"] = device
    return given


def _again(asked: _Asked, **changes: Any) -> str:
    """The refused call once more, with these arguments changed (None drops one); empty where it is not to be shown."""
    if not asked.name or _PRIVATE & asked.arguments.keys():
        return ""
    arguments = {name: value for name, value in {**asked.arguments, **changes}.items() if value is not None}
    action = arguments.pop("action", None)
    for secret, but in _SECRET.items():
        if secret in arguments and asked.name not in but:
            arguments[secret] = _Shell(f'"${{{secret.upper()}:?as you gave it}}"')
    return _typed(f"{asked.name} {action}" if action else asked.name, arguments, asked.kept)


def _typed(name: str, arguments: Mapping[str, Any], more: Sequence[str] = ()) -> str:
    words = name.split()
    for wire, value in arguments.items():
        if isinstance(value, bool):
            words.append(f"--{kebab(wire)}" if value else f"--no-{kebab(wire)}")
        else:
            words += [f"--{kebab(wire)}", value if isinstance(value, str) else json.dumps(value)]
    return _line(*words, *more)


def _line(*words: str) -> str:
    return " ".join(word if isinstance(word, _Shell) else shlex.quote(word) for word in ("anydevice", *words))


def _value(text: str) -> str:
    try:
        return str(json.loads(text)) if text.startswith('"') else text
    except ValueError:
        return text


def _word(text: str) -> str:
    return shlex.quote(_value(text))
