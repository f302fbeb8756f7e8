"""The one place where text becomes part of a command line of a device's shell."""

from __future__ import annotations

import shlex

from anydevice_schemas.errors import InvalidArgument


def quote(text: str) -> str:
    """One word of a command line, exactly as it is, whatever it holds.

    POSIX single quotes: the shells of devices (mksh, toybox sh) take everything between them literally.

    Raises:
        InvalidArgument: It holds a NUL or half a surrogate pair, which no command line can carry.
    """
    if "\0" in text:
        raise InvalidArgument(
            "A command line cannot carry a NUL character.", param="text", expected="text without NUL characters"
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(
            "The text holds half a character.", param="text", expected="whole Unicode characters"
        ) from None
    return shlex.quote(text)


def line(*words: str | int) -> str:
    """A command line of words, each quoted.

    Raises:
        InvalidArgument: As `quote`.
    """
    return " ".join(quote(str(word)) for word in words)
