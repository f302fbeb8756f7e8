"""Whether an on-screen keyboard is shown, from `dumpsys input_method`.

Of the lines that speak of it the ones about the window are right; `mInputShown` may be true of a keyboard that is not
drawn (a hardware keyboard is there), and `mIsInputViewShown` may be left over from before.
"""

from __future__ import annotations

import re

_WORDS = (
    ("mWindowVisible", "mDecorViewVisible", "mInShowWindow"),
    ("mImeWindowVis",),
    ("mInputShown",),
    ("mIsInputViewShown",),
)


def shown(text: str) -> bool | None:
    """True or False as the best witness says; None where there is none."""
    for words in _WORDS:
        said = [_truth(match) for word in words for match in re.findall(rf"\b{word}=(\w+)", text)]
        if said:
            return any(said)
    return None


def method(text: str) -> str:
    """The input method in use (`package/class`), or empty."""
    found = re.search(r"\bmCurMethodId=([\w.]+/[\w.$]+)", text)
    return found[1] if found else ""


def _truth(word: str) -> bool:
    if word.startswith("0x"):
        return int(word, 16) & 1 == 1
    return word in ("true", "1")
