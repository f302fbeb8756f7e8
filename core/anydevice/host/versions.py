"""Which of two versions is the newer one (PEP 440, as far as releases of ours go)."""

from __future__ import annotations

import re

_FORM = re.compile(
    r"v?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<stage>a|alpha|b|beta|c|rc|pre|preview)[-_.]?(?P<pre>\d*))?"
    r"(?:[-_.]?(?P<after>post|rev|r)[-_.]?(?P<post>\d*))?"
    r"(?:[-_.]?(?P<before>dev)[-_.]?(?P<dev>\d*))?"
    r"(?:\+[a-z0-9._-]*)?$",
    re.IGNORECASE | re.ASCII,
)
_STAGES = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}
_FINAL = (3, 0)
_LATE = 1 << 62


def newer(one: object, other: str) -> bool:
    """Whether `one` is a later version than `other`; False for anything that is no version."""
    if not isinstance(one, str) or len(one) > 100:
        return False
    a, b = _key(one), _key(other)
    return a is not None and b is not None and a > b


def _key(text: str) -> tuple[tuple[int, ...], tuple[int, int], int, int] | None:
    found = _FORM.match(text.strip())
    if found is None:
        return None
    release = [int(part) for part in found["release"].split(".")]
    while release and not release[-1]:
        release.pop()
    if found["stage"]:
        stage = (_STAGES[found["stage"].lower()], int(found["pre"] or 0))
    elif found["before"] and not found["after"]:
        stage = (-1, 0)  # 1.0.dev1 comes before 1.0a1
    else:
        stage = _FINAL
    post = int(found["post"] or 0) if found["after"] else -1
    dev = int(found["dev"] or 0) if found["before"] else _LATE
    return tuple(release), stage, post, dev
