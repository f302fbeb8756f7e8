"""Refs: `@e12` names one element by identity, for as long as it lives, and never another one.

Where the driver has a handle of an element's identity (`Node.key`), the ref belongs to the handle. Where it has none,
two looks have to agree that an element is the same (see `fingerprints`); as soon as they cannot, the ref is stale. A
ref belongs to one device and one generation of its screen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from anydevice_schemas import Node, Tree
from anydevice_schemas.errors import InvalidArgument, StaleRef

from ..text import fold_text, quoted
from .describe import candidates_like, cut
from .fingerprints import Mark, marks, pair

REFS_MOST = 20_000
"""How many refs a session remembers. The ones seen longest ago are forgotten first, and are then stale."""

NEVER = "never issued in this session"
FORGOTTEN = "forgotten: too many refs were issued since"
RESTARTED = "issued before the daemon was restarted"
OTHER_DEVICE = "issued for another device"
EARLIER = "from an earlier screen"
GONE = "gone"
UNSURE = "can no longer be told from what looks the same"
"""Why a ref is stale."""

_REF = re.compile(r"@?e([0-9]{1,9})", re.IGNORECASE)


@dataclass(slots=True)
class _Entry:
    ref: str
    device: str
    generation: str
    key: str | None
    role: str
    name: str
    seen: int


class RefRegistry:
    """The refs of one session. Numbers only rise, so no ref is ever given to a second element.

    Args:
        most: How many refs are remembered; those of the latest tree always are.
        above: The highest number that may have been given out before; new refs start above it.
    """

    def __init__(self, *, most: int = REFS_MOST, above: int = 0) -> None:
        self.most = most
        self.above = above
        self._issued = above
        self._round = 0
        self._entries: dict[int, _Entry] = {}
        self._keys: dict[tuple[str, str], dict[str, int]] = {}
        # By whether the look was whole: what is written around an element is another thing in a part of the screen.
        self._marks: dict[bool, dict[int, Mark]] = {True: {}, False: {}}
        self._at = ("", "")  # device and generation of the latest tree

    @property
    def issued(self) -> int:
        """The highest number given out so far."""
        return self._issued

    def stamp(self, tree: Tree, *, device: str = "") -> Tree:
        """Sets `ref` on every node: the one the element had, or a new one. Returns the same tree.

        Args:
            tree: A fresh look. If anything was left out of it, elements missing from it may still come back.
            device: Key of the device it shows, where the session may meet several.
        """
        self._round += 1
        place = (device, tree.generation)
        if place != self._at:
            self._at, self._marks = place, {True: {}, False: {}}
        known = self._keys.setdefault(place, {})
        entries, seen = self._entries, self._round
        nameless = False
        for node in tree.nodes:
            if node.key is None:
                nameless = True
                continue
            number = known.get(node.key)
            entry = entries[number] if number is not None else self._issue(place, node.key)
            entry.seen, entry.role, entry.name = seen, node.role, node.name
            node.ref = entry.ref
        if nameless or any(self._marks.values()):
            self._stamp_unkeyed(tree, place)
        if len(entries) > self.most:
            self._forget()
        return tree

    def _stamp_unkeyed(self, tree: Tree, place: tuple[str, str]) -> None:
        new = marks(tree)
        whole = tree.quality == "complete" and not tree.omitted
        like, other = self._marks[whole], self._marks[not whole]
        same = pair(like, new)
        taken = set(same.values())
        same |= {index: n for index, n in pair(other, new).items() if index not in same and n not in taken}
        taken = set(same.values())
        kept = {} if whole else {n: mark for n, mark in like.items() if n not in taken}
        for index, mark in new.items():
            node, number = tree.nodes[index], same.get(index)
            entry = self._entries[number] if number is not None else self._issue(place, None)
            entry.seen, entry.role, entry.name = self._round, node.role, node.name
            node.ref = entry.ref
            kept[int(entry.ref[2:])] = mark
        self._marks[whole] = kept
        if whole:  # what is missing is gone
            self._marks[False] = {n: mark for n, mark in other.items() if n in taken}

    def ref_for(self, key: str) -> str:
        """The ref of a driver's key on the latest screen, issued now if it has none."""
        number = self._keys.setdefault(self._at, {}).get(key)
        return self._entries[number].ref if number is not None else self._issue(self._at, key).ref

    def ref_of(self, key: str) -> str | None:
        """The ref of a driver's key on the latest screen, if it has one."""
        number = self._keys.get(self._at, {}).get(key)
        return None if number is None else self._entries[number].ref

    def key_of(self, ref: str) -> str | None:
        """The driver's key behind a ref; None where there is none, or the ref is of an earlier screen.

        Raises:
            StaleRef: The ref was never issued in this session, or was forgotten.
        """
        entry = self._known(ref)
        return entry.key if (entry.device, entry.generation) == self._at else None

    def resolve(self, ref: str, tree: Tree, *, device: str = "") -> int:
        """Index of the element a ref names in a tree, which is stamped first if it was not yet.

        Raises:
            StaleRef: The element is not in it, or cannot be told to be the same; what looks like it is in details.
            InvalidArgument: It is no ref.
        """
        if not all(node.ref for node in tree.nodes):
            self.stamp(tree, device=device)
        entry = self._known(ref)
        for index, node in enumerate(tree.nodes):
            if node.ref == entry.ref:
                return index
        raise self.stale(entry.ref, self._why(entry, tree, device), tree)

    def stale(self, ref: str, reason: str, tree: Tree | None = None) -> StaleRef:
        """The error for a ref that cannot be used, with what looks like the element in the tree.

        Args:
            ref: The ref.
            reason: Why.
            tree: What is there now, stamped.
        """
        ref = f"@e{_number(ref)}"
        entry = self._entries.get(_number(ref))
        near = candidates_like(tree, entry.role, entry.name) if tree is not None and entry is not None else []
        hint = "Call snapshot and take the element from there."
        if near:
            hint = "Call snapshot, or use the ref or query of one of details.nearest_matches if it is what you mean."
        return StaleRef(
            f"The ref {ref} cannot be used: {cut(reason, 200)}.",
            hint=hint,
            ref=ref,
            reason=reason,
            nearest_matches=near,
        )

    def _why(self, entry: _Entry, tree: Tree, device: str) -> str:
        if entry.device != device:
            return OTHER_DEVICE
        if entry.generation != tree.generation:
            return EARLIER
        if entry.key is None and any(_alike(node, entry) for node in tree.nodes):
            return UNSURE
        return GONE

    def _known(self, ref: str) -> _Entry:
        number = _number(ref)
        entry = self._entries.get(number)
        if entry is None:
            if 0 < number <= self.above:
                raise self.stale(ref, RESTARTED)
            raise self.stale(ref, FORGOTTEN if 0 < number <= self._issued else NEVER)
        return entry

    def _issue(self, place: tuple[str, str], key: str | None) -> _Entry:
        self._issued += 1
        entry = _Entry(f"@e{self._issued}", *place, key, "", "", self._round)
        self._entries[self._issued] = entry
        if key is not None:
            self._keys[place][key] = self._issued
        return entry

    def _forget(self) -> None:
        """Drops the refs seen longest ago, some more than needed, but none of the latest tree."""
        old = sorted((e.seen, n) for n, e in self._entries.items() if e.seen != self._round)
        for _, number in old[: len(self._entries) - self.most * 9 // 10]:
            entry = self._entries.pop(number)
            for known in self._marks.values():
                known.pop(number, None)
            if entry.key is not None:
                place = (entry.device, entry.generation)
                self._keys[place].pop(entry.key, None)
                if not self._keys[place] and place != self._at:
                    del self._keys[place]


def _alike(node: Node, entry: _Entry) -> bool:
    return node.role == entry.role and fold_text(node.name) == fold_text(entry.name)


def _number(ref: str) -> int:
    found = _REF.fullmatch(ref.strip())
    if found is None:
        problem = f"{quoted(ref, 40)} is no ref."
        raise InvalidArgument(
            problem,
            param="ref",
            expected="a ref such as @e12",
            errors=[{"param": "ref", "problem": problem, "expected": "a ref such as @e12"}],
        )
    return int(found[1])
