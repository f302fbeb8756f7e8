"""Results cut to a size a model can take, with every cut told."""

from __future__ import annotations

import json
import re
from typing import Any

LIMITS: dict[str, int] = {"digest": 6_000, "default": 20_000, "full": 80_000}
"""Characters of a result, by response level."""

_NAME = re.compile(r"\w[\w.-]{0,39}", re.ASCII)

ERROR_LIMIT = 8_000
"""Characters of an error's details."""


def size(value: Any) -> int:
    """Characters a value has as compact JSON."""
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, dict):
        return 2 + sum(len(str(key)) + 4 + size(item) for key, item in value.items())
    if isinstance(value, list):
        return 2 + sum(1 + size(item) for item in value)
    return len(json.dumps(value))


def shrink(value: Any, limit: int, where: str = "data") -> tuple[Any, list[str]]:
    """The value, cut so that its JSON has about `limit` characters, and what was cut.

    Small parts are kept whole; large ones share what is left: texts lose their end (whole lines where there are
    any), lists their last items.
    """
    cuts: list[str] = []
    return _cut(value, limit, where, cuts), cuts


def _cut(value: Any, limit: int, where: str, cuts: list[str]) -> Any:
    if size(value) <= limit:
        return value
    if isinstance(value, str):
        return _cut_text(value, limit, where, cuts)
    if isinstance(value, list):
        return _cut_list(value, limit, where, cuts)
    if isinstance(value, dict):
        return _cut_dict(value, limit, where, cuts)
    return value


def _word(name: str) -> str:
    """A field's name in words of ours: a device may have chosen it."""
    return name if _NAME.fullmatch(name) else "?"


def _cut_text(text: str, limit: int, where: str, cuts: list[str]) -> str:
    kept = text[: max(0, limit - 2)]
    line_end = kept.rfind("\n")
    if line_end > len(kept) // 2:
        kept = kept[:line_end]
    cuts.append(f"{where}: {len(text) - len(kept)} of {len(text)} characters")
    return kept


def _cut_list(items: list[Any], limit: int, where: str, cuts: list[str]) -> list[Any]:
    kept: list[Any] = []
    left = limit - 2
    for item in items:
        cost = size(item) + 1
        if cost > left:
            break
        kept.append(item)
        left -= cost
    if not kept and items and left > 40:
        kept.append(_cut(items[0], left - 1, f"{where}.0", cuts))
    if len(kept) < len(items):
        cuts.append(f"{where}: {len(items) - len(kept)} of {len(items)} items")
    return kept


def _cut_dict(fields: dict[str, Any], limit: int, where: str, cuts: list[str]) -> dict[str, Any]:
    by_size = sorted(fields, key=lambda name: size(fields[name]))
    left = limit - 2
    kept: dict[str, Any] = {}
    for done, name in enumerate(by_size):
        frame = len(name) + 4
        share = left // (len(by_size) - done) - frame
        part = _cut(fields[name], share, f"{where}.{_word(name)}", cuts) if share >= 2 else None
        if share >= 2 and size(part) + frame <= left:
            kept[name] = part
            left -= size(part) + frame
    if len(kept) < len(fields):
        cuts.append(f"{where}: {len(fields) - len(kept)} of {len(fields)} fields")
    return {name: kept[name] for name in fields if name in kept}
