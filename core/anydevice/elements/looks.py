"""Snapshots that a session keeps, so that a later one can be compared with them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from anydevice_schemas import Tree

KEPT_MOST = 8
"""Snapshots a session keeps."""
NODES_MOST = 20_000
"""Elements of all of them together; the latest one is kept however large it is."""


@dataclass(frozen=True, slots=True)
class Look:
    """One snapshot that was taken.

    Attributes:
        id: What it is called. Never that of another one, also not after the daemon was restarted.
        tree: What was seen, with refs.
        asked: The inputs it was taken with: whoever compares looks at the same part in the same way.
        at: Monotonic time it was taken.
    """

    id: str
    tree: Tree
    asked: Any
    at: float


@dataclass(slots=True)
class Looks:
    """The latest snapshots of one session, oldest first."""

    _kept: dict[str, Look] = field(default_factory=dict)

    def keep(self, tree: Tree, asked: Any, at: float) -> Look:
        """Keeps a snapshot, and forgets the oldest where there are too many."""
        look = Look(f"s{secrets.token_hex(3)}", tree, asked, at)
        while look.id in self._kept:
            look = Look(f"s{secrets.token_hex(3)}", tree, asked, at)
        self._kept[look.id] = look
        while len(self._kept) > 1 and (len(self._kept) > KEPT_MOST or self._nodes() > NODES_MOST):
            del self._kept[next(iter(self._kept))]
        return look

    @property
    def last(self) -> Look | None:
        """The latest one."""
        return next(reversed(self._kept.values()), None)

    def get(self, name: str) -> Look | None:
        """The one of this id, if it is still kept."""
        return self._kept.get(name)

    def __iter__(self) -> Iterator[Look]:
        return iter(self._kept.values())

    def _nodes(self) -> int:
        return sum(len(look.tree.nodes) for look in self._kept.values())
