"""From terms to rows: what each term names, what all of them name together, and which one of those it is.

Everything here is a pure function of the terms and the inventory. Suggestions in errors are checked by the
same functions, so that what is suggested works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from anydevice_schemas import DeviceSelector

from .index import Index, Row
from .request import ID_KINDS, Asked, Term, given


@dataclass(frozen=True, slots=True)
class Match:
    """What one term names by itself.

    Attributes:
        term: The term.
        rows: Rows it names that may be chosen, in canonical order.
        barred: Rows it names that may not (`unavailable`, `conflict`).
        by_name: It matched names, not ids.
    """

    term: Term
    rows: tuple[Row, ...]
    barred: tuple[Row, ...] = ()
    by_name: bool = False


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What all terms name together.

    Attributes:
        matches: What each naming term names by itself.
        common: Rows all naming terms agree on.
        rows: Those of them within the narrowing terms.
    """

    matches: tuple[Match, ...]
    common: tuple[Row, ...]
    rows: tuple[Row, ...]

    @property
    def considered(self) -> int:
        """How many rows any naming term names."""
        if len(self.matches) == 1:
            return len(self.matches[0].rows) + len(self.matches[0].barred)
        return len({row.key for match in self.matches for row in (*match.rows, *match.barred)})


def match_term(term: Term, inventory: Index) -> Match:
    """The rows one naming term names: by full id or key, else (for `device`) by name.

    Ids compare without case; where several differ by nothing else, the one written exactly so is meant.
    """
    found = _by_id(term, inventory)
    if len(found) > 1:
        exact = [row for row in found if term.value in (row.device.id, row.key)]
        found = exact or found
    if found or term.selector in ID_KINDS:
        rows = tuple(row for row in found if row.candidate)
        return Match(term, rows, tuple(row for row in found if not row.candidate))
    named = inventory.with_name(term.value)
    if term.root is None:
        return Match(term, named.rows, named.barred, by_name=True)
    rows, barred = (tuple(row for row in part if row.root == term.root) for part in (named.rows, named.barred))
    return Match(term, rows, barred, by_name=True)


def _by_id(term: Term, inventory: Index) -> Sequence[Row]:
    if term.selector in ID_KINDS:
        found: Sequence[Row] = [row for row in inventory.with_id(term.value) if row.device.id_kind == term.selector]
    else:
        found = inventory.with_id_or_key(term.value)
    if term.root is not None:
        found = [row for row in found if row.root == term.root]
    return found


def narrow(asked: Asked, inventory: Index) -> Narrowed:
    """What all terms name together. `asked` has at least one naming term."""
    matches = tuple(match_term(term, inventory) for term in asked.identity)
    common = matches[0].rows
    if len(matches) > 1:
        keep = set.intersection(*({row.key for row in match.rows} for match in matches))
        common = tuple(row for row in common if row.key in keep)
    return Narrowed(matches, common, asked.within(common))


def pick(narrowed: Narrowed) -> Row | None:
    """The one row meant: the only one, or of several with one name the only ready one; None if none is."""
    rows = narrowed.rows
    if len(rows) == 1:
        return rows[0]
    if rows and all(match.by_name for match in narrowed.matches):
        ready = list(islice((row for row in rows if row.ready), 2))
        if len(ready) == 1:
            return ready[0]
    return None


@dataclass(frozen=True, slots=True)
class Clash:
    """Two terms that no device whatever could satisfy together, and why."""

    one: Term
    other: Term
    why: str


def clash(asked: Asked) -> Clash | None:
    """A contradiction between the terms themselves, whatever is listed. Defaults are not looked at."""
    kinds = [term for term in asked.identity if term.selector in ID_KINDS and not term.origin]
    if len(kinds) > 1:
        return Clash(kinds[0], kinds[1], "A device answers to one of them only.")
    if asked.platform is None or asked.narrowing is None:
        return None
    for term in kinds:
        if term.selector not in asked.narrowing.id_kinds:
            kind = ", ".join(sorted(asked.narrowing.id_kinds - {"id"})) or "device"
            why = f"Devices of this platform answer to {kind}, not to {term.selector}."
            return Clash(asked.platform, term, why)
    if asked.target is not None and not asked.targets:
        return Clash(asked.platform, asked.target, "This platform word stands for other device targets.")
    return None


def means(
    selectors: Mapping[str, str], inventory: Index, allow: Mapping[str, frozenset[str]] | None = None
) -> Row | None:
    """The one row some selectors (by wire name) mean by themselves, within allowlists that hold anyway."""
    asked, problems = given(DeviceSelector.model_validate(selectors), inventory)
    if problems or not asked.identity or clash(asked) is not None:
        return None
    if allow:
        asked = replace(asked, allow={**allow, **asked.allow}, allow_terms=_anonymous(allow) | dict(asked.allow_terms))
    return pick(narrow(asked, inventory))


def _anonymous(allow: Mapping[str, frozenset[str]]) -> dict[str, Term]:
    return {root: Term("allowlist", "") for root in allow}
