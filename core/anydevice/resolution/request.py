"""What is asked of the resolver, and the terms it is taken apart into."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeVar

from anydevice_schemas import DEVICE_TARGETS, DeviceSelector, Held
from anydevice_schemas.errors import InvalidArgument

from ..text import fold_id, nearest, quoted
from .index import Index, Narrowing, Row

T = TypeVar("T")
LockMode = Literal["reject", "strip"]

ID_KINDS: tuple[str, ...] = ("udid", "serial")
"""Selectors that name a device by one kind of id."""

IDENTITY: tuple[str, ...] = ("device", *ID_KINDS)
"""Selectors that name a device; the others only narrow."""


class Binding(NamedTuple):
    """What a session is bound to.

    Attributes:
        session: Name of the session, as the caller knows it.
        device: Key of the device.
    """

    session: str
    device: str


class Default(NamedTuple):
    """A selector that counts only where the caller left room for it.

    Attributes:
        selector: Its wire name, e.g. `serial`.
        value: Its value; a blank one counts as absent.
        origin: Where it comes from, e.g. `SOME_VARIABLE of the caller`.
        platform: The platform it speaks of, where it belongs to one; then it does not concern others.
    """

    selector: str
    value: str
    origin: str
    platform: str | None = None


class Holdings(Mapping[str, Held]):
    """Devices that others hold, by key; what is to be told of one is made only where it is told.

    Args:
        taken: Whatever stands for a lease, by device key; none of them the caller's own.
        tell: What the caller may know of one.
    """

    def __init__(self, taken: Mapping[str, T], tell: Callable[[T], Held]) -> None:
        self.taken: Mapping[str, Any] = taken
        self._tell: Callable[[Any], Held] = tell

    def __getitem__(self, key: str) -> Held:
        return self._tell(self.taken[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self.taken)

    def __len__(self) -> int:
        return len(self.taken)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked.

    Attributes:
        selector: The selectors the caller gave.
        bound: What the caller's session is bound to: its name, and the key of the device.
        explicit_device: The command refuses to choose a device by itself.
        boots: The command works on devices that are not ready.
        defaults: Defaults as (selector, value, origin) or `Default`; of two for one selector and platform the
            first counts.
        held: Leases by device key, or `Holdings`. A device held by somebody else is never chosen unless it is named.
        lock: What becomes of scope selectors that contradict the session: a refusal, or they are dropped.
    """

    selector: DeviceSelector = field(default_factory=DeviceSelector)
    bound: tuple[str, str] | None = None
    explicit_device: bool = False
    boots: bool = False
    defaults: Sequence[Default | tuple[str, str, str]] = ()
    held: Mapping[str, Held] = field(default_factory=dict)
    lock: LockMode = "reject"

    def held_by_others(self, key: str) -> Held | None:
        """The lease on a device, unless it is the caller's own."""
        held = self.held.get(key)
        return held if held is not None and held.held and not held.yours else None

    def choosable(self, rows: Iterable[Row]) -> list[Row]:
        """Those of some ready rows that may be chosen without being named: not another's, and nothing wrong with them.

        Quick where nearly all of many are held: of `Holdings` no lease is looked at, a row is looked up and no more.
        """
        held, free = self.held, frozenset[str]()
        taken: Mapping[str, Any] = held
        if isinstance(held, Holdings):
            taken = held.taken
        else:
            free = frozenset(key for key, lease in held.items() if lease.yours or not lease.held)
        own = {key for key in free if held[key].held}
        left = [row for row in rows if row.key not in taken or row.key in free]
        return [row for row in left if row.healthy or row.key in own]


@dataclass(frozen=True, slots=True)
class Term:
    """One selector with its value and, for a default, where it came from."""

    selector: str
    value: str
    origin: str = ""
    root: str | None = None

    def __str__(self) -> str:
        text = f"{self.selector}={quoted(self.value)}"
        return f"{text} (default from {self.origin})" if self.origin else text

    @property
    def source(self) -> str:
        """Value and origin, as `Selection.by` tells them."""
        value = self.value if len(self.value) <= 120 else self.value[:120] + "…"
        return f"{value} ({self.origin or 'given'})"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request's selectors as terms.

    Attributes:
        identity: Terms that name a device.
        platform, target: Terms that narrow.
        narrowing: What the platform term stands for.
        allow: Ids that may be used, folded, by platform; a platform that is absent is not limited.
        allow_terms: The term each limit came from, by platform.
    """

    identity: tuple[Term, ...] = ()
    platform: Term | None = None
    target: Term | None = None
    narrowing: Narrowing | None = None
    allow: Mapping[str, frozenset[str]] = field(default_factory=dict)
    allow_terms: Mapping[str, Term] = field(default_factory=dict)

    @property
    def root(self) -> str | None:
        """The platform narrowed to, or None."""
        return self.narrowing.root if self.narrowing is not None else None

    @property
    def targets(self) -> frozenset[str] | None:
        """The device targets narrowed to, or None for all."""
        targets = self.narrowing.targets if self.narrowing is not None else None
        if self.target is None:
            return targets
        one = frozenset({self.target.value})
        return one if targets is None else targets & one

    @property
    def scope(self) -> tuple[Term, ...]:
        """The terms that only narrow."""
        return tuple(t for t in (self.platform, self.target, *self.allow_terms.values()) if t is not None)

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms."""
        return self.scope + self.identity

    def excluding(self, row: Row) -> list[Term]:
        """The narrowing terms a row does not satisfy."""
        out: list[Term] = []
        if self.platform is not None and self.narrowing is not None:
            outside = row.root != self.narrowing.root
            targets = self.narrowing.targets
            if outside or (targets is not None and row.device.device_target not in targets):
                out.append(self.platform)
        if self.target is not None and row.device.device_target != self.target.value:
            out.append(self.target)
        allowed = self.allow.get(row.root)
        if allowed is not None and allowed.isdisjoint(row.ids):
            out.append(self.allow_terms[row.root])
        return out

    def admits(self, row: Row) -> bool:
        """Whether a row satisfies every narrowing term."""
        return not self.excluding(row)

    def within(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        """The rows that satisfy every narrowing term."""
        root, targets, allow = self.root, self.targets, self.allow
        if root is not None:
            rows = [row for row in rows if row.root == root]
        if targets is not None:
            rows = [row for row in rows if row.device.device_target in targets]
        if allow:
            rows = [row for row in rows if row.root not in allow or not allow[row.root].isdisjoint(row.ids)]
        return tuple(rows)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with the arguments."""

    param: str
    problem: str
    expected: str
    nearest: tuple[str, ...] = ()


def refuse(problems: Sequence[Problem], **details: Any) -> InvalidArgument:
    """One error for all problems of a call; the first one leads."""
    first = problems[0]
    return InvalidArgument(
        " ".join(problem.problem for problem in problems),
        param=first.param,
        expected=first.expected,
        nearest=list(first.nearest),
        errors=[{"param": p.param, "problem": p.problem, "expected": p.expected} for p in problems],
        **details,
    )


def given(selector: DeviceSelector, inventory: Index) -> tuple[Asked, list[Problem]]:
    """The terms of the selectors a caller gave, and what is wrong with them."""
    identity = tuple(Term(name, value) for name in IDENTITY if (value := getattr(selector, name)) is not None)
    asked, problems = Asked(identity), list[Problem]()
    if selector.platform is not None:
        asked = _with_platform(asked, Term("platform", selector.platform), inventory, problems)
    if selector.device_target is not None:
        asked = replace(asked, target=Term("deviceTarget", selector.device_target))
    return _with_allowlists(asked, selector, "", inventory), problems


def with_default(asked: Asked, default: Default, inventory: Index, problems: list[Problem]) -> Asked:
    """Adds one default that the caller left room for."""
    term = Term(default.selector, default.value, default.origin)
    if default.selector == "platform":
        return _with_platform(asked, term, inventory, problems)
    if default.selector == "deviceTarget":
        value = default.value.strip().lower()
        if value not in DEVICE_TARGETS:
            expected = "one of " + ", ".join(DEVICE_TARGETS)
            near = tuple(nearest(value, DEVICE_TARGETS, 3))
            problems.append(Problem("deviceTarget", f"{term} is no device target.", expected, near))
            return asked
        return replace(asked, target=replace(term, value=value))
    if default.selector in IDENTITY:
        root = inventory.root_of(default.platform) if default.platform is not None else None
        return replace(asked, identity=(*asked.identity, replace(term, root=root)))
    if default.selector in inventory.allowlists:
        words = DeviceSelector.model_validate({default.selector: default.value})
        return _with_allowlists(asked, words, default.origin, inventory)
    names = ("platform", "deviceTarget", *IDENTITY, *sorted(inventory.allowlists))
    problems.append(
        Problem(
            default.selector,
            f"{term} is no selector that can have a default.",
            "one of " + ", ".join(names),
            tuple(nearest(default.selector, names, 3)),
        )
    )
    return asked


def _with_platform(asked: Asked, term: Term, inventory: Index, problems: list[Problem]) -> Asked:
    narrowing = inventory.narrowing(term.value)
    if narrowing is None:
        words = inventory.word_names
        near = tuple(nearest(fold_id(term.value.strip()), words, 3))
        problems.append(Problem("platform", f"{term} is no platform known here.", "one of " + ", ".join(words), near))
        return asked
    return replace(asked, platform=term, narrowing=narrowing)


def _with_allowlists(asked: Asked, selector: DeviceSelector, origin: str, inventory: Index) -> Asked:
    limits = selector.allowlists()
    if not limits:
        return asked
    wire = selector.model_dump(by_alias=True, exclude_none=True)
    allow, terms = dict(asked.allow), dict(asked.allow_terms)
    for platform, ids in limits.items():
        root = inventory.root_of(platform)
        if root in allow:
            continue
        name = next((n for n, r in inventory.allowlists.items() if r == root and n in wire), f"{root} allowlist")
        allow[root] = frozenset(fold_id(word) for word in ids)
        terms[root] = Term(name, str(wire.get(name, "")), origin, root)
    return replace(asked, allow=allow, allow_terms=terms)
