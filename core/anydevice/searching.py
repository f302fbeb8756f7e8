"""How `command-search` ranks commands: by whole words and what they are worth, then by parts of words.

Words and the beginnings of words are compared as stems ("rotating" is "rotate"). What a stem is worth falls with the
number of commands that speak of it, and words that say nothing here ("the", "my", "app") are worth little. A word
counts most in a command's name, then in what people call it (`everyday`), then in its description and the names and
choices of its inputs. A phrase that is there as a whole counts on top.
"""

from __future__ import annotations

import difflib
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from anydevice_schemas import Command

from .everyday import EVERYDAY

NAME, CALLED, SAID, INPUT = 5.0, 3.5, 1.0, 0.8
"""What a word is worth by where it stands: in the name, among everyday words, in the description, at an input."""
SAID_ALONE = 2.0
"""The same of a description that has no everyday words beside it."""
WHOLE_NAME, WHOLE_PHRASE = 5.0, 3.0
"""What every word of a name, or of an everyday phrase, is worth besides where all of them were asked for."""
PART = 0.3
"""What is left of a word that is only the beginning of another, or the other way round."""
ALIKE = 0.4
"""What is left of a word that no command speaks of, by way of the one it is a misspelling of."""
WEAK = 0.2
"""Of the best score; what is below it is not worth an answer's tokens."""
TERMS_MOST = 24
"""Words of a query that are looked at."""
MISSPELT_MOST = 2
"""Words of a query for which a near one is looked for."""
SHORTEST_PART = 3

EMPTY = 0.03
_EMPTY = (
    "a an the of to in on at for with from by into is are was be it its this that these my your our i me we you and or "
    "as do does did how what which where when why can could should would will want need please make let have has there "
    "some any all so if then than just now not no"
)
FAINT = 0.3
"""What words are worth that say nothing at all, or little, of what somebody wants done."""
_FAINT = "app apps application phone phones tablet device devices mobile thing something one two up down off out"

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_ELSEWHERE = re.compile(r"\b[Uu]se ([a-z][a-z0-9-]*)|\bfor [a-z ]+ ([a-z][a-z0-9-]*)$")


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LOGIN = re.compile(r"\b(log|sign) (in|on|off|out)\b(?! (?:the|a|my|this|which)\b)", re.I)


def words_of(text: str) -> Iterator[str]:
    """The words of a text; of `on-screen` also both parts, of `deviceTarget` its parts; `log in` is one."""
    for found in _WORD.findall(_LOGIN.sub(r"\1\2", _CAMEL.sub(" ", text))):
        word = found.casefold()
        if "-" in word:
            yield from word.split("-")
            word = word.replace("-", "")
        yield word


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """What an English word has in common with its other forms; not a word itself (`rotating`: `rotat`)."""
    if len(word) <= 3 or not word.isascii():
        return word
    for end, instead in (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x")):
        if word.endswith(end) and len(word) > len(end) + 1:
            return word.removesuffix(end) + instead
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for end in ("ing", "ed"):
        root = word.removesuffix(end)
        if root != word and len(root) >= 3 and any(letter in "aeiouy" for letter in root):
            word = root[:-1] if root[-1] == root[-2] and root[-1] not in "lsz" else root
            break
    if word.endswith("tion") and len(word) > 7:
        word = word.removesuffix("ion")
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


_WORTH = {**{stem(word): FAINT for word in _FAINT.split()}, **{stem(word): EMPTY for word in _EMPTY.split()}}


def stems(text: str) -> list[str]:
    """The stems of a text's words, in order."""
    return [stem(word) for word in words_of(text)]


@dataclass(slots=True)
class _Entry:
    """A command as it is searched.

    Attributes:
        worth: What each stem is worth by the best place where it stands.
        names: Stems of its name, and of each alias.
        phrases: Stems of each everyday phrase, without those that say nothing.
    """

    command: Command
    worth: dict[str, float] = field(default_factory=dict)
    names: list[frozenset[str]] = field(default_factory=list)
    phrases: list[frozenset[str]] = field(default_factory=list)

    def add(self, found: Iterable[str], worth: float) -> None:
        for one in found:
            self.worth[one] = max(worth, self.worth.get(one, 0.0))


class Index:
    """All commands, ready to be searched. Made anew when a command comes: it takes some ten milliseconds.

    Args:
        commands: The descriptors, in the order in which equals are to be told.
        everyday: Phrases by the name of a command.
    """

    def __init__(self, commands: Sequence[Command], everyday: Mapping[str, Sequence[str]] = EVERYDAY) -> None:
        names = {name for command in commands for name in (command.name, *command.aliases)}
        self._entries = [_entry(command, everyday.get(command.name, ()), names) for command in commands]
        known = Counter(one for entry in self._entries for one in entry.worth)
        self._known = {
            one: _WORTH.get(one, 1.0) * math.log(1 + len(self._entries) / count) for one, count in known.items()
        }
        """What each stem says: more where few commands speak of it, little where it says nothing here."""
        self._sorted = sorted(self._known)
        self._called = sorted({one for entry in self._entries for one, worth in entry.worth.items() if worth >= CALLED})

    def search(self, words: str, *, limit: int) -> list[Command]:
        """The commands that fit best, best first; none where no word of any is among them."""
        asked = list(dict.fromkeys(stems(words)))[:TERMS_MOST]
        near = {term: self._near(term) for term in asked}
        lost = [term for term in asked if not near[term] and len(term) > SHORTEST_PART][:MISSPELT_MOST]
        for term in lost:
            near[term] = {alike: ALIKE for alike in difflib.get_close_matches(term, self._called, n=1, cutoff=0.75)}
        telling = [term for term in asked if _WORTH.get(term, 1.0) == 1.0]
        if telling and not any(near[term] for term in telling):
            return []  # the rest of it could be said of anything
        whole = {one for found in near.values() for one, part in found.items() if part == 1.0}
        scored = [(-self._score(entry, near, whole), entry.command.name, entry.command) for entry in self._entries]
        scored = sorted((row for row in scored if row[0] < 0), key=lambda row: row[:2])
        return [command for score, _, command in scored[:limit] if score <= scored[0][0] * WEAK]

    def _near(self, term: str) -> dict[str, float]:
        """The known stems that a word of a query means, each with how much of its worth is left."""
        found = {term: 1.0} if term in self._known else {}
        if len(term) >= SHORTEST_PART and _WORTH.get(term, 1.0) == 1.0:
            for known in self._sorted[bisect_left(self._sorted, term) :]:
                if not known.startswith(term):
                    break
                found.setdefault(known, PART)
            for end in range(SHORTEST_PART + 1, len(term)):
                if term[:end] in self._known:
                    found.setdefault(term[:end], PART)
        return found

    def _score(self, entry: _Entry, near: Mapping[str, Mapping[str, float]], whole: set[str]) -> float:
        score = sum(
            max((part * self._known[one] * entry.worth.get(one, 0.0) for one, part in found.items()), default=0.0)
            for found in near.values()
        )
        if not score:
            return 0.0
        for name in entry.names:
            if name <= whole:
                score += WHOLE_NAME * sum(self._known[one] for one in name)
        together = {one for phrase in entry.phrases if phrase <= whole for one in phrase}
        return score + WHOLE_PHRASE * sum(self._known[one] for one in together)


def _entry(command: Command, phrases: Sequence[str], names: set[str]) -> _Entry:
    entry = _Entry(command)
    properties: Mapping[str, Mapping[str, object]] = command.input_schema.get("properties", {})
    for name, schema in properties.items():
        choices = schema.get("enum")
        entry.add(stems(name), INPUT)
        entry.add(stems(" ".join(map(str, choices)) if isinstance(choices, list) else ""), INPUT)
    said = SAID if phrases else SAID_ALONE
    entry.add(stems(_of_itself(command, names)), said)
    for example in command.examples:
        entry.add(stems(example.why), said)
    for phrase in phrases:
        words = stems(phrase)
        entry.add(words, CALLED)
        entry.phrases.append(frozenset(one for one in words if _WORTH.get(one) != EMPTY) or frozenset(words))
    for name in (command.name, *command.aliases):
        entry.add(stems(name), NAME)
        entry.names.append(frozenset(stem(part) for part in name.split("-")))
    return entry


def _of_itself(command: Command, names: set[str]) -> str:
    """The summary without the clauses that send the reader to another command: they speak of what it does not do."""
    clauses = re.split(r"(?<=[.;])\s+", command.summary)
    others = names - {command.name, *command.aliases}
    return " ".join(
        clause
        for clause in clauses
        if not any(set(found.groups()) & others for found in _ELSEWHERE.finditer(clause.rstrip(".;")))
    )
