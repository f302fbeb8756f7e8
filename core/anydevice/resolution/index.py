"""Rows of devices and the indices that make finding one among many quick."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter

from anydevice_schemas import (
    CANDIDATE_STATES,
    USABLE_STATES,
    WELL_KNOWN,
    Device,
    PlatformWord,
)

from ..text import fold_id, fold_name, nearest

_UNHEALTHY = frozenset({"suspect", "bad", "maintenance"})
_FEW = 160
"""How many spellings are compared with a word that names nobody."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A backend that did not answer in time.

    Attributes:
        backend: Its name.
        reason: Why, in words for a person.
        fix: What to do about it.
        platforms: The platforms it lists, where known; empty = it may concern any.
    """

    backend: str
    reason: str
    fix: str = ""
    platforms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A device as the resolver sees it.

    Attributes:
        device: The device.
        key: `backend:id`.
        root: The platform it belongs to, folded, with narrowing words resolved.
        order: Where it stands among others, whatever order it was discovered in.
        ready: It can be driven without booting it.
        healthy: It may be chosen without being named.
        candidate: It may be chosen at all.
        ids: Its id and what else it answers to, folded.
    """

    device: Device
    key: str
    root: str
    order: tuple[str, str, str, str]
    ready: bool
    healthy: bool
    candidate: bool
    ids: frozenset[str]


by_order = attrgetter("order")


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a platform word stands for: a platform, and the device targets it leaves (None = all)."""

    root: str
    targets: frozenset[str] | None
    id_kinds: frozenset[str]


@dataclass(slots=True)
class _Bucket:
    ready: list[Row]
    rest: list[Row]


@dataclass(frozen=True, slots=True)
class Named:
    """The rows of one name: those that may be chosen, and those that may not."""

    rows: tuple[Row, ...] = ()
    barred: tuple[Row, ...] = ()


_NOBODY = Named()


class Index:
    """The rows of an inventory and the ways to look them up.

    Indices are made once, each when it is first needed; nothing changes afterwards.
    """

    def __init__(
        self,
        devices: Iterable[Device],
        platforms: Iterable[PlatformWord] = WELL_KNOWN,
        missing: Iterable[Missing] = (),
        answered: Iterable[str] = (),
    ) -> None:
        self._given = tuple(devices)
        self._words: dict[str, PlatformWord] = {}
        for word in platforms:
            self._words.setdefault(fold_id(word.name), word)
        self.missing: tuple[Missing, ...] = tuple(sorted(missing, key=lambda m: (m.backend, m.reason)))
        self._answered = frozenset(answered)

    # --- platform words ---

    def root_of(self, platform: str) -> str:
        """The platform a word stands for, folded (itself when nobody declared it)."""
        name = fold_id(platform)
        seen = {name}
        while (word := self._words.get(name)) is not None:
            name = fold_id(word.platform)
            if name in seen:
                break
            seen.add(name)
        return name

    @cached_property
    def word_names(self) -> tuple[str, ...]:
        """Every word accepted as `platform`."""
        return tuple(sorted(set(self._words) | {fold_id(row.device.platform) for row in self.rows}))

    def narrowing(self, platform: str) -> Narrowing | None:
        """What a platform word stands for; None when nobody knows the word."""
        name = fold_id(platform.strip())
        if name not in self.word_names:
            return None
        root = self.root_of(name)
        targets: frozenset[str] | None = None
        kinds: set[str] = set(self._row_kinds.get(root, ()))
        at, seen = name, set[str]()
        while at not in seen and (word := self._words.get(at)) is not None:
            seen.add(at)
            kinds.add(word.id_kind)
            if word.targets:
                own = frozenset(word.targets)
                targets = own if targets is None else targets & own
            at = fold_id(word.platform)
        return Narrowing(root, targets, frozenset(kinds))

    @cached_property
    def allowlists(self) -> Mapping[str, str]:
        """Selectors that list which devices of a platform may be used, mapped to that platform."""
        return {word.allowlist: self.root_of(word.name) for word in self._words.values() if word.allowlist is not None}

    # --- rows ---

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """All rows in canonical order, which does not depend on the order of discovery."""
        roots: dict[str, str] = {}
        by_key: dict[str, list[Device]] = defaultdict(list)
        for device in self._given:
            by_key[f"{device.backend}:{device.id}"].append(device)
        rows: list[Row] = []
        for key, devices in by_key.items():
            rows += [self._row(key, device, roots) for device in (devices if len(devices) == 1 else _conflict(devices))]
        rows.sort(key=by_order)
        return tuple(rows)

    def _row(self, key: str, device: Device, roots: dict[str, str]) -> Row:
        platform = device.platform
        root = roots.get(platform)
        if root is None:
            root = roots[platform] = self.root_of(platform)
        return Row(
            device,
            key,
            root,
            (root, fold_name(device.name), device.id, device.backend),
            device.state in USABLE_STATES,
            device.health not in _UNHEALTHY,
            device.state in CANDIDATE_STATES,
            frozenset(map(fold_id, (device.id, *device.aliases))),
        )

    @cached_property
    def backends(self) -> Mapping[str, int]:
        """How many rows each backend that answered listed."""
        counts = dict.fromkeys(self._answered, 0)
        for row in self.rows:
            counts[row.device.backend] = counts.get(row.device.backend, 0) + 1
        return dict(sorted(counts.items()))

    @cached_property
    def _row_kinds(self) -> Mapping[str, set[str]]:
        kinds: dict[str, set[str]] = defaultdict(set)
        for row in self.rows:
            kinds[row.root].add(row.device.id_kind)
        return kinds

    # --- indices ---

    @cached_property
    def _ids(self) -> Mapping[str, Sequence[Row]]:
        index: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            index[fold_id(row.device.id)].append(row)
        others: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            for word in row.ids - index.keys():
                others[word].append(row)
        return {**others, **index}

    @cached_property
    def _keys(self) -> Mapping[str, Sequence[Row]]:
        index: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            index[fold_id(row.key)].append(row)
        return dict(index)

    @cached_property
    def _exact(self) -> Mapping[str, Sequence[Row]]:
        index: dict[str, list[Row]] = {}
        for row in self.rows:
            index.setdefault(row.key, []).append(row)
        return index

    @cached_property
    def _names(self) -> Mapping[str, Named]:
        index: dict[str, tuple[list[Row], list[Row]]] = {}
        for row in self.rows:
            if row.order[1]:
                index.setdefault(row.order[1], ([], []))[0 if row.candidate else 1].append(row)
        return {name: Named(tuple(rows), tuple(barred)) for name, (rows, barred) in index.items()}

    @cached_property
    def _buckets(self) -> Mapping[tuple[str, str], _Bucket]:
        buckets: dict[tuple[str, str], _Bucket] = {}
        for row in self.rows:
            bucket = buckets.setdefault((row.root, row.device.device_target), _Bucket([], []))
            (bucket.ready if row.ready else bucket.rest).append(row)
        return buckets

    @cached_property
    def _halves(self) -> tuple[Sequence[Row], Sequence[Row]]:
        return [row for row in self.rows if row.ready], [row for row in self.rows if not row.ready]

    def with_id(self, value: str) -> Sequence[Row]:
        """Rows whose id is `value`, whatever its case, else those that answer to it too; in canonical order."""
        return self._ids.get(fold_id(value), ())

    def with_id_or_key(self, value: str) -> Sequence[Row]:
        """Rows whose id or whose key is `value`, whatever its case, in canonical order."""
        folded = fold_id(value)
        ids, keys = self._ids.get(folded, ()), self._keys.get(folded, ())
        if not keys or not ids:
            return ids or keys
        return sorted({*ids, *keys}, key=by_order)

    def with_name(self, value: str) -> Named:
        """Rows of this name, folded, in canonical order."""
        return self._names.get(fold_name(value), _NOBODY)

    def with_key(self, key: str) -> Sequence[Row]:
        """Rows of exactly this key (several only when they are in conflict)."""
        return self._exact.get(key, ())

    def within(
        self,
        root: str | None,
        targets: frozenset[str] | None,
        allow: Mapping[str, frozenset[str]],
        *,
        ready: bool,
    ) -> Span:
        """Ready rows (or all the others) of a platform and some targets, limited by allowlists."""
        if root is None and targets is None and not allow:
            return Span([self._halves[0 if ready else 1]])
        lists: list[Sequence[Row]] = []
        for (platform, target), bucket in self._buckets.items():
            if (root is not None and platform != root) or (targets is not None and target not in targets):
                continue
            rows: Sequence[Row] = bucket.ready if ready else bucket.rest
            allowed = allow.get(platform)
            if allowed is not None:
                rows = sorted(
                    {
                        row
                        for word in allowed
                        for row in self._ids.get(word, ())
                        if row.root == platform and row.device.device_target == target and row.ready is ready
                    },
                    key=by_order,
                )
            if rows:
                lists.append(rows)
        return Span(lists)

    @cached_property
    def unhealthy(self) -> Sequence[Row]:
        """Ready rows that are chosen only when named, because something is wrong with them."""
        return tuple(row for row in self.rows if row.ready and not row.healthy)

    # --- near misses ---

    @cached_property
    def _spellings(self) -> Mapping[str, Row]:
        """Every id and name, folded as names are, with the first row it stands for."""
        out: dict[str, Row] = {}
        for row in self.rows:
            out.setdefault(fold_name(row.device.id), row)
            out.setdefault(row.order[1], row)
        return out

    @cached_property
    def _sorted_spellings(self) -> tuple[Sequence[str], Sequence[str]]:
        return sorted(self._spellings), sorted(text[::-1] for text in self._spellings)

    def near(self, value: str, n: int = 5) -> list[Row]:
        """Rows whose id or name is most like `value`, best first.

        Among many rows only those whose spelling begins or ends like it are compared.
        """
        word = fold_name(value)
        texts: Iterable[str] = self._spellings
        if len(self._spellings) > _FEW:
            forward, backward = self._sorted_spellings
            at, back = bisect_left(forward, word), bisect_left(backward, word[::-1])
            texts = [
                *forward[max(0, at - _FEW // 4) : at + _FEW // 4],
                *(text[::-1] for text in backward[max(0, back - _FEW // 4) : back + _FEW // 4]),
            ]
        found = [self._spellings[text] for text in nearest(word, texts, 2 * n)]
        return list(dict.fromkeys(found))[:n]


class Span:
    """Some rows in canonical order, counted without walking over them."""

    __slots__ = ("_lists",)

    def __init__(self, lists: Sequence[Sequence[Row]]) -> None:
        self._lists = lists

    def __len__(self) -> int:
        return sum(map(len, self._lists))

    def __iter__(self) -> Iterator[Row]:
        if len(self._lists) == 1:
            return iter(self._lists[0])
        return heapq.merge(*self._lists, key=by_order)

    def unordered(self) -> Iterator[Row]:
        """The same rows in no order worth mentioning, quicker."""
        return chain.from_iterable(self._lists)

    def first(self, rows: Sequence[Row], n: int) -> tuple[Sequence[Row], int]:
        """The first `n` of some of these rows in canonical order, and how many they are.

        Args:
            rows: As `unordered` gave them, some left out.
            n: How many at most.
        """
        return rows[:n] if len(self._lists) == 1 else heapq.nsmallest(n, rows, key=by_order), len(rows)


def _conflict(devices: Sequence[Device]) -> list[Device]:
    marked = [
        device.model_copy(
            update={
                "state": "conflict",
                "reason": "The backend lists this id more than once.",
                "fix": "Make the ids unique, or call doctor for the state of the backend.",
            }
        )
        for device in devices
    ]
    return sorted(marked, key=lambda device: device.model_dump_json())
