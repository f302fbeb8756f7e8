"""Text that came from a device: marked where it cannot be seen, fenced where a model reads it, paths taken out.

The fence has a number made anew for every call, so nothing on a screen can close it. What is inside is data: the
server's instructions say so, and nothing of a device ever stands outside of it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from anydevice.text import visible

_UNUSUAL = re.compile(r"[^\x20-\x7e\n\t]+")


def marked(value: Any) -> Any:
    """A JSON value with everything in its texts that cannot be seen (zero width, direction marks, controls)
    written as an escape. Line ends and tabs stay."""
    if isinstance(value, str):
        if value.isascii() and value.isprintable():
            return value
        return _UNUSUAL.sub(lambda run: visible(run[0]), value.replace("\r\n", "\n"))
    if isinstance(value, dict):
        return {marked(name) if isinstance(name, str) else str(name): marked(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [marked(item) for item in value]
    return value


def said(value: Any) -> str:
    """A line that stands outside of the fence: what it quotes cannot begin another one."""
    text = marked(str(value))
    return text if "\n" not in text else " ".join(line.strip() for line in text.splitlines() if line.strip())


@dataclass(slots=True, frozen=True)
class Fence:
    """The fence of one call.

    Attributes:
        source: Where the text is from, in our words, e.g. `screen of web:3f2a`.
    """

    source: str
    number: str = field(default_factory=lambda: secrets.token_hex(4))

    def around(self, text: str) -> str:
        """The text between the fence's two lines."""
        return f'<untrusted-{self.number} source="{visible(self.source)}">\n{text}\n</untrusted-{self.number}>'


Scrub = Callable[[str], str]


def scrubber(places: Iterable[tuple[str, str]]) -> Scrub:
    """A function that replaces known folders in a text by a word for each.

    Args:
        places: Absolute path and the word for it; the longest path wins.
    """
    known = sorted(((path.rstrip("/"), word) for path, word in places if path.rstrip("/")), key=lambda p: -len(p[0]))
    if not known:
        return lambda text: text
    words = dict(known)
    pattern = re.compile("(?:" + "|".join(re.escape(path) for path, _ in known) + r")(?![\w.-])")
    return lambda text: pattern.sub(lambda hit: words[hit[0]], text) if "/" in text else text


def scrubbed(value: Any, scrub: Scrub) -> Any:
    """A JSON value with `scrub` applied to every text in it."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, dict):
        return {name: scrubbed(item, scrub) for name, item in value.items()}
    if isinstance(value, list):
        return [scrubbed(item, scrub) for item in value]
    return value
