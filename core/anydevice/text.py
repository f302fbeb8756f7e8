"""How text is compared, shown and searched for near misses; the same everywhere in core."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher

_INVISIBLE = re.compile('[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0e\U000e0100-\U000e01ef\\\\"]')
"""Printable to Python and yet unseen (fillers, variation selectors), and the two characters quoting needs."""

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def fold_text(text: str) -> str:
    """The form in which two texts are compared: compatibility form, case folded, white space collapsed."""
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


def fold_name(text: str) -> str:
    """The form in which two device names are compared: `fold_text`, with `_` counted as white space."""
    return fold_text(text.replace("_", " "))


def fold_id(text: str) -> str:
    """The form in which two ids are compared: case folded, nothing else."""
    return text.casefold()


def _escaped(char: str) -> str:
    short = _SHORT.get(char)
    if short is not None:
        return short
    if char == "\u00a0":
        return " "
    if char.isprintable() and not _INVISIBLE.match(char):
        return char
    if unicodedata.category(char) == "Zs":
        return " "
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\u{{{code:x}}}"


def visible(text: str) -> str:
    """The text with everything unseen, or able to steer a terminal or a reader, written as an escape.

    Control, format (zero width, bidirectional), private and unassigned characters, fillers, line breaks,
    quotes and backslashes are escaped, so that the result is one line and can stand between double quotes.
    Any kind of space is shown as a plain one.
    """
    if text.isprintable() and not _INVISIBLE.search(text):
        return text
    return "".join(map(_escaped, text))


def quoted(text: str, limit: int = 80) -> str:
    """The text between double quotes, made `visible` and cut after `limit` characters (the cut is shown)."""
    if len(text) > limit:
        return f'"{visible(text[:limit])}…"'
    return f'"{visible(text)}"'


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)} or {text}


def nearest(word: str, texts: Iterable[str], n: int = 5, cutoff: float = 0.55) -> list[str]:
    """The texts most like `word`, best first; equals in alphabetical order.

    Both sides should be folded already. A text that contains the word, or is contained in it, always counts
    as near. Linear in the number of texts with a small constant: only the 40 that share the most letter pairs
    are compared in full.
    """
    if not word:
        return []
    mine = _pairs(word)
    rough: list[tuple[float, str]] = []
    for text in set(texts):
        if not text:
            continue
        theirs = _pairs(text)
        score = 2 * len(mine & theirs) / (len(mine) + len(theirs))
        if word in text or (len(text) > 2 and text in word):
            score += 1
        if score > 0.2:
            rough.append((-score, text))
    rough.sort()
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(word)
    scored: list[tuple[float, str]] = []
    for score, text in rough[:40]:
        matcher.set_seq1(text[:512])
        ratio = matcher.ratio()
        if ratio >= cutoff or -score > 1:
            scored.append((-ratio, text))
    scored.sort()
    return [text for _, text in scored[:n]]
