"""One request and one inventory in; exactly one device, or a typed refusal, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from anydevice_schemas import Device, RunnerUp, Selection

from . import refusals
from .candidates import CANDIDATES, missing_backends
from .index import Index, Row, Span
from .request import ID_KINDS, IDENTITY, Asked, Binding, Default, Problem, Request, Term, given, with_default
from .select import Match, clash, match_term, narrow, pick

RUNNERS_UP = 5
"""How many devices that were not taken an answer names."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The device that will act.

    Attributes:
        device: Its row.
        selection: Why it.
        notices: What the caller should be told besides: selectors that were dropped, defaults that did not
            count, backends that did not answer.
    """

    device: Device
    selection: Selection
    notices: tuple[Mapping[str, Any], ...] = ()


def resolve(request: Request, inventory: Index) -> Resolution:
    """Finds the one device a request means.

    Args:
        request: Selectors, session, defaults and leases.
        inventory: What is listed.

    Raises:
        InvalidArgument: An unknown platform, or a device must be named and none is.
        SelectorConflict: Two selectors, or a selector and the session, cannot mean the same device.
        AmbiguousDevice: Several devices fit; each candidate carries selectors that pin it.
        DeviceNotFound: None fits, or the one named can never be chosen.
        DeviceOffline, DeviceUnauthorized, DeviceNotReady: The one named cannot be driven now.
    """
    asked, problems = given(request.selector, inventory)
    if request.explicit_device and request.bound is None and not asked.identity:
        problems.append(
            Problem("device", "This command needs the device to be named.", "a device id, or its unique name")
        )
    asked, defaults = _with_limits(asked, request, inventory, problems)
    if request.bound is None and not asked.identity:
        asked, defaults, notices = _with_scope_defaults(asked, defaults, inventory, problems)
    else:
        defaults, notices = [], []
    for default in defaults:  # only those that name a device are left
        asked_too = with_default(Asked(), default, inventory, problems)
        asked = replace(asked, identity=(*asked.identity, *asked_too.identity))
    if problems:
        raise refusals.bad_arguments(problems, request, asked, inventory)
    if request.bound is not None:
        return _bound(request, Binding(*request.bound), asked, inventory)
    against = clash(asked)
    if against is not None:
        raise refusals.contradiction(against, asked, inventory)
    if any(term.origin for term in asked.identity):
        asked, ignored = _applicable(asked, inventory)
        notices += ignored
    if asked.identity:
        return _named(request, asked, inventory, notices)
    return _only_usable(request, asked, inventory, notices)


# --- defaults ---


def _with_limits(
    asked: Asked, request: Request, inventory: Index, problems: list[Problem]
) -> tuple[Asked, list[Default]]:
    """Adds the default allowlists, which limit whatever is asked; returns the other defaults."""
    rest: list[Default] = []
    for default in (Default(*each) for each in request.defaults):
        if not default.value.strip():
            continue
        if default.selector in inventory.allowlists:
            asked = with_default(asked, default, inventory, problems)
        else:
            rest.append(default)
    return asked, rest


def _with_scope_defaults(
    asked: Asked, defaults: Sequence[Default], inventory: Index, problems: list[Problem]
) -> tuple[Asked, list[Default], list[dict[str, Any]]]:
    """Adds the defaults that narrow, where the caller left them open; returns those that name a device."""
    naming: list[Default] = []
    notices: list[dict[str, Any]] = []
    seen: set[tuple[str, str | None]] = set()
    for default in defaults:
        slot = (default.selector, default.platform)
        if slot in seen:
            continue
        seen.add(slot)
        if default.selector in IDENTITY:
            naming.append(default)
        elif not _given(default.selector, asked):
            more = with_default(asked, default, inventory, problems)
            if more.targets is not None and not more.targets:
                term = Term(default.selector, default.value, default.origin)
                notices.append(refusals.ignored(term, "It contradicts the other selectors."))
            else:
                asked = more
    return asked, naming, notices


def _given(selector: str, asked: Asked) -> bool:
    return (selector == "platform" and asked.platform is not None) or (
        selector == "deviceTarget" and asked.target is not None
    )


def _applicable(asked: Asked, inventory: Index) -> tuple[Asked, list[dict[str, Any]]]:
    """Leaves out the defaults that name devices outside what is asked for; they have the lowest priority."""
    keep: list[Term] = []
    notices: list[dict[str, Any]] = []
    for term in asked.identity:
        why = _outside(term, asked, inventory)
        if why:
            notices.append(refusals.ignored(term, why))
        else:
            keep.append(term)
    return replace(asked, identity=tuple(keep)), notices


def _outside(term: Term, asked: Asked, inventory: Index) -> str:
    if asked.narrowing is not None:
        if term.root is not None and term.root != asked.narrowing.root:
            return "It speaks of another platform."
        if term.selector in ID_KINDS and term.selector not in asked.narrowing.id_kinds:
            return "No device of the platform asked for answers to it."
    match = match_term(term, inventory)
    if match.rows and not any(asked.admits(row) for row in match.rows):
        return "The device it names lies outside what is asked for."
    return ""


# --- the session's device ---


def _bound(request: Request, bound: Binding, asked: Asked, inventory: Index) -> Resolution:
    rows = inventory.with_key(bound.device)
    if not rows:
        raise refusals.session_device_gone(bound, inventory)
    row = rows[0]
    against: list[tuple[Term, Match | None]] = []
    for term in asked.identity:
        match = match_term(term, inventory)
        if not any(found.key == row.key for found in (*match.rows, *match.barred)):
            against.append((term, match))
    dropped: list[Term] = []
    for term in asked.excluding(row):
        # an allowlist is a limit, not a wish: it is never dropped
        if request.lock == "strip" and term in (asked.platform, asked.target):
            dropped.append(term)
        else:
            against.append((term, None))
    if against:
        raise refusals.against_session(bound, row, against, asked, inventory)
    _refuse_unless_usable(request, row, (), inventory, session=bound.session)
    notices = [refusals.dropped(dropped, bound)] if dropped else []
    by = {"session": bound.session} | {term.selector: term.source for term in asked.terms if term not in dropped}
    selection = Selection(reason="session", by=by, considered=1)
    return Resolution(row.device, selection, tuple(notices))


# --- named devices ---


def _named(request: Request, asked: Asked, inventory: Index, notices: Sequence[Mapping[str, Any]]) -> Resolution:
    narrowed = narrow(asked, inventory)
    if any(not match.rows for match in narrowed.matches):
        raise refusals.nobody_named(narrowed, asked, inventory)
    if not narrowed.rows:
        raise refusals.no_common(narrowed, asked, inventory)
    row = pick(narrowed)
    if row is None:
        raise refusals.several(request, asked, narrowed.rows, len(narrowed.rows), inventory, named=True)
    _refuse_unless_usable(request, row, asked.identity, inventory)
    others = [other for other in narrowed.rows[: RUNNERS_UP + 1] if other is not row][:RUNNERS_UP]
    selection = Selection(
        reason="default" if any(term.origin for term in asked.identity) else "selectors",
        by={term.selector: term.source for term in asked.terms},
        runners_up=[_runner_up(o, f"It has the same name and its state is {o.device.state}.") for o in others],
        considered=narrowed.considered,
    )
    if any(match.by_name for match in narrowed.matches):  # somebody who was not heard might have the same name
        notices = [*notices, *_silence(asked, inventory)]
    return Resolution(row.device, selection, (*notices, *refusals.passing(asked, row)))


def _silence(asked: Asked, inventory: Index) -> list[dict[str, Any]]:
    """The notice that a choice was made without hearing every backend."""
    silent = missing_backends(asked.root, inventory)
    if not silent:
        return []
    who = "; ".join(f"{row['backend']} ({row['reason'].rstrip('.')})" for row in silent)
    message = f"Chosen without hearing {who}."
    return [{"kind": "backends_missing", "message": message, "backends": silent}]


def _refuse_unless_usable(
    request: Request, row: Row, terms: Sequence[Term], inventory: Index, session: str | None = None
) -> None:
    if not row.candidate:
        raise refusals.barred([row], terms, inventory, session=session)
    if not row.ready and not request.boots:
        raise refusals.not_ready(row, terms, inventory, session=session)


# --- nothing named ---


def _only_usable(request: Request, asked: Asked, inventory: Index, notices: Sequence[Mapping[str, Any]]) -> Resolution:
    ready = inventory.within(asked.root, asked.targets, asked.allow, ready=True)
    rest = inventory.within(asked.root, asked.targets, asked.allow, ready=False)
    usable, matches = _choosable(request, asked, ready, inventory)
    if not usable:
        raise refusals.nothing_usable(request, asked, ready, rest, inventory)
    if matches > 1:
        raise refusals.several(request, asked, usable, matches, inventory, named=False)
    row = usable[0]
    others = islice((other for other in chain(ready, rest) if other is not row), RUNNERS_UP)
    selection = Selection(
        reason="only-usable",
        by={term.selector: term.source for term in asked.scope},
        runners_up=[_runner_up(other, _why_not(request, other)) for other in others],
        considered=len(ready) + len(rest),
    )
    return Resolution(row.device, selection, (*notices, *refusals.passing(asked, row), *_silence(asked, inventory)))


def _choosable(request: Request, asked: Asked, ready: Span, inventory: Index) -> tuple[Sequence[Row], int]:
    """The first ready rows that may be chosen without being named, and how many there are."""
    if len(request.held) * 4 > len(ready):
        return ready.first(request.choosable(ready.unordered()), CANDIDATES)
    first = request.choosable(islice(ready, CANDIDATES + len(request.held) + len(inventory.unhealthy)))[:CANDIDATES]
    if len(first) < CANDIDATES:
        return first, len(first)
    # few are held: count those that are not choosable instead of walking over all that are
    sick = [row for row in inventory.unhealthy if asked.admits(row)]
    blocked = {row.key for row in sick} - {row.key for row in request.choosable(sick)}
    for key in request.held:
        if request.held_by_others(key) is not None:
            blocked |= {row.key for row in inventory.with_key(key) if row.ready and asked.admits(row)}
    return first, len(ready) - len(blocked)


def _why_not(request: Request, row: Row) -> str:
    held = request.held_by_others(row.key)
    if held is not None:
        return f"It is held until {held.until}."
    if row.ready:
        return f"Its health is {row.device.health}."
    return f"Its state is {row.device.state}."


def _runner_up(row: Row, why: str) -> RunnerUp:
    return RunnerUp(device=row.device.ref(), why=why)
