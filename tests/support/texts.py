"""Texts that are changed: what was to be changed has to be there."""

from __future__ import annotations


def changed(text: str, *pairs: tuple[str, str]) -> str:
    """The text with each first part replaced by its second one, wherever it is.

    Raises:
        AssertionError: A first part is not in it; `str.replace` would leave the text as it was, and say nothing.
    """
    for old, new in pairs:
        assert old in text, f"{old!r} is not in {text[:200]!r}"
        text = text.replace(old, new)
    return text
