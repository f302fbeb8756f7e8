"""Facts as text: one line a field, as few marks as reading needs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[\w.:/@+%#-]+")
_SHORT_LIST = 160


def dense(value: Any) -> str:
    """A value as compact JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def scalar(value: Any) -> str:
    """A value as a word: text that could be taken for something else is quoted."""
    if isinstance(value, str):
        return value if _BARE.fullmatch(value) and value not in ("true", "false", "null") else dense(value)
    return dense(value)


def row(fields: Mapping[str, Any]) -> str:
    """An object on one line: `id=chromium name="My browser" state=ready`."""
    return " ".join(f"{name}={scalar(value)}" for name, value in fields.items() if value is not None)


def block(data: Mapping[str, Any]) -> str:
    """Fields one a line; `text` comes last, as it is."""
    lines: list[str] = []
    for name, value in data.items():
        if value is None or (name == "text" and isinstance(value, str)):
            continue
        lines.extend(_field(name, value))
    text = data.get("text")
    if isinstance(text, str):
        lines.append(text if lines or text else '""')
    return "\n".join(lines)


def _field(name: str, value: Any) -> list[str]:
    if isinstance(value, str):
        return [f"{name}: {value}" if value and "\n" not in value else f"{name}: {dense(value)}"]
    if isinstance(value, list) and value:
        if all(isinstance(item, dict) for item in value):
            return [f"{name} ({len(value)}):", *(f"- {row(item)}" for item in value)]
        words = [item if isinstance(item, str) and "\n" not in item else scalar(item) for item in value]
        if all(isinstance(item, int | float) for item in value):
            return [f"{name}: {', '.join(words)}"]
        joined = ", ".join(words)
        if len(joined) <= _SHORT_LIST and all(_BARE.fullmatch(word) for word in words):
            return [f"{name}: {joined}"]
        return [f"{name} ({len(value)}):", *(f"- {word}" for word in words)]
    if isinstance(value, dict) and value:
        return [f"{name}: {row(value)}"]
    return [f"{name}: {dense(value)}"]
