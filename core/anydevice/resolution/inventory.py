"""A snapshot of everything that is listed."""

from __future__ import annotations

from anydevice_schemas import Device, DeviceSelector

from .index import Index
from .request import given, refuse
from .select import match_term


class Inventory(Index):
    """An immutable snapshot of all devices, the platform words in force, and the backends that stayed silent.

    Two rows with one key cannot be told apart: both are kept, in state `conflict`, and never chosen. A row
    whose platform no word declares is kept; its platform's own name then counts as a word.

    Args:
        devices: Rows of all backends, in any order.
        platforms: Platform words; of two with one name the first counts.
        missing: Backends that did not answer in time.
        answered: Backends that answered, also those that listed nothing; only for saying where was looked.
    """

    @property
    def devices(self) -> tuple[Device, ...]:
        """Every row, usable or not, in canonical order."""
        return tuple(row.device for row in self.rows)

    def by_key(self, key: str) -> Device | None:
        """The device of exactly this key, or None."""
        rows = self.with_key(key)
        return rows[0].device if rows else None

    def fits(self, key: str, selector: DeviceSelector) -> bool:
        """Whether a listed device lies within the selectors that only narrow; unknown words fit nothing."""
        asked, problems = given(selector, self)
        return not problems and any(asked.admits(row) for row in self.with_key(key))

    def matching(self, selector: DeviceSelector) -> tuple[Device, ...]:
        """Every row, usable or not, that satisfies all selectors, in canonical order. For listing, not for choosing.

        Raises:
            InvalidArgument: The platform is unknown.
        """
        asked, problems = given(selector, self)
        if problems:
            raise refuse(problems)
        rows = asked.within(self.rows)
        for term in asked.identity:
            match = match_term(term, self)
            named = {id(row) for row in (*match.rows, *match.barred)}
            rows = tuple(row for row in rows if id(row) in named)
        return tuple(row.device for row in rows)
