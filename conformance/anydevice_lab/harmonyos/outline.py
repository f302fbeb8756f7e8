"""Simple lines that call programs of the device, run without a shell of this host.

Clients that want to know how a command ended write `(COMMAND) 2>&1; echo MARK$?`, with a line end after the command.
Where that is plain calls of the device's own programs, one after the other, perhaps with a look through `grep` before
them, it means the same without a shell, and spares the time that process starts take on this host: an interpreter a
program. Known are `&&`, `;`, `echo`, `cat` and `rm` of one file, `exit`, and `if CALL | grep …; then …; else …; fi`.
Whatever else is in a line (other quotes, expansions, redirections, other programs) goes through a real shell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ..guest.programs import Guest
from ..guest.shell import Pipe, direct, plain_words

_WORD: Final = r"(?:[\w@%+:,./=-]|'[^']*')+"
_CALL: Final = rf"[\w./-]+(?: +{_WORD})*"
_THEN: Final = r" *(?:&&|;) *"
_CHAIN: Final = rf"{_CALL}(?:{_THEN}{_CALL})*"
_TEST: Final = rf"{_CALL}(?: \| grep(?: +{_WORD})+)+"
_BODY: Final = rf"(?:if (?P<test>{_TEST}); then (?P<yes>{_CHAIN}); else (?P<no>{_CHAIN}); fi|(?P<all>{_CHAIN}))"
_LINE: Final = re.compile(rf"\({_BODY} *\n?\) 2>&1; echo (?P<mark>\w+=)\$\?", re.ASCII)
_STEP: Final = re.compile(rf"(?P<call>{_CALL})(?P<then>{_THEN})?", re.ASCII)
_SAID: Final = re.compile(r"\w+", re.ASCII)
_FLAGS: Final = re.compile(r"-[iqv]+")

Step = tuple[list[str], bool]
"""The words of a call, and whether it runs only where the one before it ended well."""


class _NeedsShell(Exception):
    """A shell has to read the line."""


@dataclass(slots=True, frozen=True)
class Outline:
    """What a line does.

    Attributes:
        test: A call whose output is looked through, and how: flags and pattern of each `grep`; empty = none.
        steps: What runs; where there is a test, where it held.
        other: What runs where it did not.
        mark: What stands before the status.
    """

    test: tuple[list[str], list[tuple[str, re.Pattern[str]]]] | None
    steps: list[Step]
    other: list[Step]
    mark: str


def outline(device: Guest, line: str) -> Outline | None:
    """What a line does; None where a shell has to read it."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    try:
        if found["all"] is not None:
            return Outline(None, _steps(device, found["all"]), [], found["mark"])
        call, *greps = found["test"].split(" | grep ")
        looks = [_grep(one) for one in greps]
        if ["q" in flags for flags, _ in looks] != [False] * (len(looks) - 1) + [True]:
            return None
        test = _words(device, call), looks
        return Outline(test, _steps(device, found["yes"]), _steps(device, found["no"]), found["mark"])
    except _NeedsShell:
        return None


def _steps(device: Guest, chain: str) -> list[Step]:
    steps: list[Step] = []
    only_then = False
    for step in _STEP.finditer(chain):
        steps.append((_words(device, step["call"]), only_then))
        only_then = "&&" in (step["then"] or "")
    return steps


def _words(device: Guest, call: str) -> list[str]:
    words = plain_words(call)
    if words is None:
        raise _NeedsShell
    words[0] = words[0].removeprefix(f"{device.files.layout.programs}/")
    name, *rest = words
    fits = {
        "echo": all(map(_SAID.fullmatch, rest)),
        "cat": len(rest) == 1 and rest[0].startswith("/"),
        "rm": len(rest) == 2 and rest[0] == "-f" and rest[1].startswith("/"),
        "exit": len(rest) == 1 and rest[0].isdigit() and int(rest[0]) < 256,
    }
    if not fits.get(name, name in device.commands):
        raise _NeedsShell
    return words


def _grep(words: str) -> tuple[str, re.Pattern[str]]:
    """Flags and pattern; only patterns that mean the same to `re`."""
    parts = plain_words(f"grep {words}") or []
    flags = "".join(part[1:] for part in parts[1:-1] if _FLAGS.fullmatch(part))
    if (
        len(parts) < 2
        or len(flags) != sum(len(part) - 1 for part in parts[1:-1])
        or re.search(r"[\\+?{}()|]", parts[-1])
    ):
        raise _NeedsShell
    return flags, re.compile(parts[-1], re.IGNORECASE if "i" in flags else 0)


class _Kept:
    """Keeps what a call prints."""

    def __init__(self) -> None:
        self.data = b""

    async def out(self, data: bytes) -> None:
        """Keeps it."""
        self.data += data

    async def err(self, data: bytes) -> None:
        """Errors do not go through a pipe; nobody asks for them here."""

    async def read(self) -> bytes:
        """There is no input."""
        return b""


async def follow(device: Guest, pipe: Pipe, plan: Outline) -> None:
    """Does what a shell would do, and tells the last status behind the mark."""
    steps = plan.steps
    if plan.test is not None and not await _holds(device, *plan.test):
        steps = plan.other
    status = 0
    for words, only_then in steps:
        if only_then and status != 0:
            continue
        if words[0] == "exit":
            status = int(words[1])
            break
        status = await _step(device, pipe, words)
    await pipe.out(f"{plan.mark}{status}\n".encode())


async def _holds(device: Guest, call: list[str], greps: list[tuple[str, re.Pattern[str]]]) -> bool:
    kept = _Kept()
    await direct(device, kept, call[0], call[1:])
    lines = kept.data.decode("utf-8", "replace").splitlines()
    for flags, pattern in greps:
        lines = [line for line in lines if (pattern.search(line) is None) == ("v" in flags)]
    return bool(lines)


async def _step(device: Guest, pipe: Pipe, words: list[str]) -> int:
    name, *rest = words
    if name == "echo":
        await pipe.out(" ".join(rest).encode() + b"\n")
        return 0
    if name in ("cat", "rm") and name not in device.commands:
        path = device.files.host(rest[-1])
        if name == "rm" and not path.is_dir():
            path.unlink(missing_ok=True)
            return 0
        if name == "cat" and path.is_file():
            await pipe.out(path.read_bytes())
            return 0
        await pipe.err(
            f"{name}: {rest[-1]}: {'Is a directory' if path.is_dir() else 'No such file or directory'}\n".encode()
        )
        return 1
    return await direct(device, pipe, name, rest)
