"""Every way a request is refused, with all that helps to ask again.

Messages hold the caller's own words and ids of devices, quoted and cut; names of devices are untrusted and
stand in details only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from anydevice_schemas.errors import (
    AmbiguousDevice,
    DeviceError,
    DeviceNotFound,
    DeviceNotReady,
    DeviceOffline,
    DeviceUnauthorized,
    InvalidArgument,
    SelectorConflict,
)

from ..text import fold_id, quoted
from .candidates import (
    CANDIDATES,
    candidates,
    facts,
    missing_backends,
    near,
    pin_row,
    scope_side,
    side,
    unusable,
)
from .index import Index, Row, Span
from .request import Asked, Binding, Problem, Request, Term, refuse
from .select import Clash, Match, Narrowed, match_term


def _said(terms: Iterable[Term]) -> str:
    return " and ".join(map(str, terms))


def _as_typed(selectors: dict[str, str]) -> str:
    return " ".join(f"{name}={quoted(value, 256)}" for name, value in selectors.items())


def _looked(asked: Asked, inventory: Index) -> dict[str, Any]:
    """The details of `device_not_found` that say what was looked for and where."""
    found: dict[str, Any] = {
        "looked_for": {term.selector: term.value[:256] for term in asked.terms},
        "looked_in": {
            "platforms": list(inventory.word_names) if asked.root is None else [asked.root],
            "backends": dict(inventory.backends),
        },
        "missing": missing_backends(asked.root, inventory),
    }
    origins = {term.selector: term.origin for term in asked.terms if term.origin}
    if origins:
        found["origins"] = origins
    return found


# --- arguments ---


def bad_arguments(problems: Sequence[Problem], request: Request, asked: Asked, inventory: Index) -> InvalidArgument:
    """Unknown words, or a device that must be named and is not; then the candidates are told."""
    if not any(problem.param == "device" for problem in problems):
        return refuse(problems)
    spans = [inventory.within(asked.root, asked.targets, asked.allow, ready=ready) for ready in (True, False)]
    rows = (row for row in chain(*spans) if row.candidate)
    fitting = candidates(rows, request, asked, inventory)
    matches = sum(1 for span in spans for row in span.unordered() if row.candidate)
    return refuse(problems, candidates=fitting, matches=matches)


# --- notices ---


def ignored(term: Term, why: str) -> dict[str, Any]:
    """The notice of a default that did not count."""
    return {
        "kind": "default_ignored",
        "message": f"{term} did not count. {why}",
        "selector": term.selector,
        "value": term.value[:256],
        "origin": term.origin,
        "why": why,
    }


def passing(asked: Asked, row: Row) -> list[dict[str, Any]]:
    """The notice that an allowlist lets a device in by a word that another device can answer to tomorrow."""
    allowed = asked.allow.get(row.root)
    if allowed is None or fold_id(row.device.id) in allowed:
        return []
    words = sorted(alias for alias in row.device.aliases if fold_id(alias) in allowed)
    term = asked.allow_terms[row.root]
    said = " and ".join(map(quoted, words))
    message = (
        f"{term.selector} names {said}, to which device {quoted(row.device.id)} answers for now only; another device "
        f"may tomorrow. Put {quoted(row.device.id)} into it instead."
    )
    return [{"kind": "allowlist_alias", "message": message, "selector": term.selector, "words": words,
             "use": row.device.id} | ({"origin": term.origin} if term.origin else {})]  # fmt: skip


def dropped(terms: Sequence[Term], bound: Binding) -> dict[str, Any]:
    """The notice of selectors dropped because the session decides."""
    return {
        "kind": "selectors_dropped",
        "message": f"{_said(terms)} did not count: session {quoted(bound.session)} is bound to another device.",
        "selectors": {term.selector: term.value[:256] for term in terms},
        "why": "The session is bound to another device and drops selectors that only narrow.",
        "session": bound.session,
    }


# --- the session ---


def session_device_gone(bound: Binding, inventory: Index) -> DeviceNotFound:
    """The session's device is no longer listed."""
    missing = missing_backends(None, inventory)
    return DeviceNotFound(
        f"The device of session {quoted(bound.session)} is no longer listed.",
        hint="Call devices to see what is there, or close the session and open another.",
        retryable=bool(missing),
        device=bound.device,
        looked_for={"session": bound.session, "device": bound.device},
        looked_in={"platforms": list(inventory.word_names), "backends": dict(inventory.backends)},
        unusable=[],
        nearest=[],
        missing=missing,
    )


def against_session(
    bound: Binding, row: Row, against: Sequence[tuple[Term, Match | None]], asked: Asked, inventory: Index
) -> SelectorConflict:
    """Selectors that do not name the session's device."""
    session = {"selector": "session", "value": bound.session, "matched": [facts(row)], "matches": 1}
    conflicts = [{"sides": [session, _side(term, match, asked, inventory)]} for term, match in against]
    terms = [term for term, _ in against]
    names = " and ".join(term.selector for term in terms)
    return SelectorConflict(
        f"Session {quoted(bound.session)} is bound to device {quoted(row.device.id)} for its life, "
        f"and {_said(terms)} does not name it.",
        hint=f"Drop {names}, or call open in another session for another device.",
        device=row.key,
        conflicts=conflicts,
    )


def _side(term: Term, match: Match | None, asked: Asked, inventory: Index) -> dict[str, Any]:
    if match is None:
        return scope_side(term, asked, inventory)
    rows = (*match.rows, *match.barred)
    return side(term, rows, len(rows))


# --- contradictions ---


def contradiction(found: Clash, asked: Asked, inventory: Index) -> SelectorConflict:
    """Two terms that exclude each other whatever is listed."""
    sides = [
        _side(term, match_term(term, inventory) if term in asked.identity else None, asked, inventory)
        for term in (found.one, found.other)
    ]
    return SelectorConflict(
        f"{found.one} and {found.other} exclude each other. {found.why}",
        hint=f"Drop {found.one.selector} or {found.other.selector}; device takes the id of any device.",
        conflicts=[{"sides": sides, "why": found.why}],
    )


def no_common(narrowed: Narrowed, asked: Asked, inventory: Index) -> SelectorConflict:
    """Every naming term names somebody, but no device satisfies all terms."""
    pairs: list[tuple[tuple[Term, Match | None], tuple[Term, Match | None]]] = []
    if narrowed.common:
        # the naming terms agree; what narrows excludes what they name
        excluding = [asked.excluding(row) for row in narrowed.common]
        always = [term for term in asked.scope if all(term in terms for terms in excluding)]
        for term in always or [term for term in asked.scope if any(term in terms for terms in excluding)]:
            pairs += [((match.term, match), (term, None)) for match in narrowed.matches]
    else:
        matches = narrowed.matches
        for at, one in enumerate(matches):
            keys = {row.key for row in one.rows}
            for other in matches[at + 1 :]:
                if not any(row.key in keys for row in other.rows):
                    pairs.append(((one.term, one), (other.term, other)))
    conflicts = [{"sides": [_side(*one, asked, inventory), _side(*other, asked, inventory)]} for one, other in pairs]
    said = "; ".join(f"{one[0]} and {other[0]}" for one, other in pairs)
    names = " or ".join(dict.fromkeys(term.selector for pair in pairs for term, _ in pair))
    hint = f"Drop {names}."
    set_elsewhere = [term for pair in pairs for term, match in pair if term.origin and match is None]
    if any(match.term.origin for match in narrowed.matches):
        hint = "Name the device in the call: what is given goes before every default."
    elif set_elsewhere:
        hint = f"Drop {names}, or change {set_elsewhere[0].selector} where it is set: {set_elsewhere[0].origin}."
    return SelectorConflict(f"No device satisfies both {said}.", hint=hint, conflicts=conflicts)


# --- nobody ---


def nobody_named(narrowed: Narrowed, asked: Asked, inventory: Index) -> DeviceNotFound:
    """Some naming term names nobody who may be chosen."""
    empty = [match for match in narrowed.matches if not match.rows]
    rows = [row for match in empty for row in match.barred]
    if rows:
        return barred(rows, [match.term for match in empty], inventory, asked=asked)
    looked = _looked(asked, inventory)
    close = near((match.term for match in empty), asked, inventory)
    hint = "Call devices to see what is there"
    if looked["missing"]:
        hint = "A backend did not answer: call doctor, then repeat the call"
    elif any(match.term.origin for match in empty):
        hint = "Correct the default, or name the device in the call: what is given goes before every default"
    elif close:
        hint += ", or use the selectors of a device in details.nearest"
    return DeviceNotFound(
        f"No device answers to {_said(match.term for match in empty)}.",
        hint=hint + ".",
        retryable=bool(looked["missing"]),
        unusable=[],
        nearest=close,
        **looked,
    )


def barred(
    rows: Sequence[Row],
    terms: Sequence[Term],
    inventory: Index,
    *,
    asked: Asked | None = None,
    session: str | None = None,
) -> DeviceNotFound:
    """The device named is listed, but in a state in which no device is ever chosen."""
    row = rows[0]
    who = f"The device of session {quoted(session)}" if session else f"The device {_said(terms)} names"
    return DeviceNotFound(
        f"{who} is listed as {row.device.state} and cannot be used.",
        hint="See details.unusable for the reason and the fix, then call devices.",
        device=row.key,
        unusable=[unusable(r, inventory) for r in rows[:CANDIDATES]],
        nearest=[],
        **_looked(asked or Asked(tuple(terms)), inventory),
    )


def nothing_usable(request: Request, asked: Asked, ready: Span, rest: Span, inventory: Index) -> DeviceNotFound:
    """Nothing is named, and nothing within the scope can be used."""
    looked = _looked(asked, inventory)
    total = len(ready) + len(rest)
    shown = [row for row, _ in zip(chain(ready, rest), range(CANDIDATES), strict=False)]
    where = f" for {_said(asked.scope)}" if asked.scope else ""
    message = f"No usable device{where}: " + (f"{total} listed, none ready and free." if total else "none listed.")
    hidden = sum(len(inventory.within(asked.root, asked.targets, {}, ready=r)) for r in (True, False)) - total
    if hidden:
        message += f" An allowlist hides {hidden} more."
        looked["hidden_by_allowlist"] = hidden
    return DeviceNotFound(
        message,
        hint=_way_out(request, shown, bool(looked["missing"]), inventory),
        retryable=bool(looked["missing"]) or any(request.held_by_others(row.key) for row in shown),
        unusable=[unusable(row, inventory, request) for row in shown],
        unusable_matches=total,
        nearest=[],
        **looked,
    )


def _way_out(request: Request, shown: Sequence[Row], missing: bool, inventory: Index) -> str:
    states = {row.device.state for row in shown}
    held = any(row.ready and request.held_by_others(row.key) is not None for row in shown)
    if "shutdown" in states:
        row = next(row for row in shown if row.device.state == "shutdown")
        first = "Those that run are held: name one with device to be told who drives it. Or call" if held else "Call"
        return f"{first} boot with {_as_typed(pin_row(row, inventory))}, then repeat the call."
    if held or any(request.held_by_others(row.key) is not None for row in shown):
        return "Name one with device to be told who drives it, or wait for one: lease acquire with timeoutMs."
    if states & {"unauthorized", "offline", "booting"}:
        return "Do what details.unusable says for one of the devices, then repeat the call."
    if missing:
        return "A backend did not answer: call doctor, then repeat the call."
    return "Call doctor to see why nothing is listed, or devices for everything that is."


# --- several, or not now ---


def several(
    request: Request, asked: Asked, rows: Iterable[Row], matches: int, inventory: Index, *, named: bool
) -> AmbiguousDevice:
    """Several devices fit, and nothing decides between them."""
    if named:
        message = f"{matches} devices answer to {_said(asked.terms)}."
    else:
        where = f" for {_said(asked.scope)}" if asked.scope else ""
        message = f"{matches} usable devices{where}, and none is named."
    return AmbiguousDevice(message, candidates=candidates(rows, request, asked, inventory), matches=matches)


_ERRORS: dict[str, type[DeviceError]] = {"offline": DeviceOffline, "unauthorized": DeviceUnauthorized}


def not_ready(row: Row, terms: Sequence[Term], inventory: Index, *, session: str | None = None) -> DeviceError:
    """The one device meant cannot be driven now."""
    state = row.device.state
    selectors = pin_row(row, inventory)
    origins = [term for term in terms if term.origin]
    message = f"Device {quoted(row.device.id)} is {state if state != 'unknown' else 'in an unknown state'}."
    if session is not None:
        message += f" Session {quoted(session)} is bound to it."
    elif origins:
        message += f" It was chosen by {_said(origins)}."
    hint: str | None = None
    if state == "shutdown":
        hint = f"Call boot with {_as_typed(selectors)}, then repeat the call."
    elif state == "booting":
        hint = "Wait until it is up, then repeat the call."
    elif state == "unknown":
        hint = "Call doctor for what is known about it."
    elif state != "unauthorized" and row.device.fix:
        hint = "Do what details.fix says, then repeat the call."
    more: dict[str, Any] = {term.selector: term.origin for term in origins}
    details = facts(row) | {"selectors": selectors, "reason": row.device.reason, "fix": row.device.fix}
    if more:
        details["origins"] = more
    return _ERRORS.get(state, DeviceNotReady)(message, hint=hint, device=row.key, **details)
