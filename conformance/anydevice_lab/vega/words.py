"""Words of a command line of the `vega` program."""

from __future__ import annotations

from typing import Any

from ..guest.programs import Invocation


def option(words: list[str], *names: str) -> str | None:
    """The word behind one of these options."""
    for name in names:
        if name in words[:-1]:
            return words[words.index(name) + 1]
        found = next((word for word in words if word.startswith(f"{name}=")), None)
        if found is not None:
            return found.partition("=")[2]
    return None


async def said(call: Invocation[Any], text: str, code: int = 0) -> int:
    """Says how it went: on stderr where it went wrong. Returns the exit status."""
    await (call.err if code else call.out)(text + "\n")
    return code
