"""What people write in one line: chords of keys, and launch arguments that have names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anydevice_schemas.errors import InvalidArgument


def chord(text: str) -> tuple[list[str], str]:
    """A chord in lower case: the keys that are held, in order, and the one that is pressed.

    Keys are joined by `+`; the plus itself is a key too (`+`, `ctrl++`). Whether there are such keys is for the caller
    to say: of an empty text, or where one is missing, it gets an empty word.
    """
    words = ["+"] if text == "+" else [word.strip() for word in text.lower().split("+")]
    if len(words) > 1 and words[-2:] == ["", ""]:
        words = [*words[:-2], "+"]
    *held, key = words
    return held, key


def named(arguments: Sequence[str], platform: str) -> Iterator[tuple[str, str | None]]:
    """Launch arguments as names with their values; None = the name stands alone.

    Args:
        arguments: `--KEY VALUE`, `--KEY=VALUE`, or `--KEY` alone.
        platform: Whose apps take no others, for the refusal.

    Raises:
        InvalidArgument: One is neither a name nor the value of one.
    """
    waiting = list(reversed(arguments))
    while waiting:
        name, same, value = waiting.pop().partition("=")
        if not name.startswith("--") or len(name) < 3:
            raise InvalidArgument(
                f"{platform} takes launch arguments as names with values.",
                param="arguments",
                expected="--KEY VALUE, --KEY=VALUE, or --KEY alone",
            )
        if same:
            yield name[2:], value
        elif waiting and not waiting[-1].startswith("--"):
            yield name[2:], waiting.pop()
        else:
            yield name[2:], None
