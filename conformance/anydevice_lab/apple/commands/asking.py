"""What the subcommands of simctl share: which device is meant, what an error looks like, switches and words apart."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from ..device import LabDevice
from ..programs import Invocation

SIM, POSIX, OPEN = "com.apple.CoreSimulator.SimError", "NSPOSIXErrorDomain", "FBSOpenApplicationServiceErrorDomain"
STATE, NO_DEVICE, MISFIT = 405, 404, 403
OLDER = ((7, 146), (8, 159), (11, 164))
"""The code that a wrong state had before Xcode of this number."""


class Failed(Exception):
    """A subcommand ends with this exit status and text."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


def error(call: Invocation, domain: str, code: int, text: str) -> Failed:
    """An error as simctl prints it; the exit status is its code modulo 256."""
    if domain == SIM and code == STATE:
        code = next((old for before, old in OLDER if call.world.age < before), code)
    head = f"An error was encountered processing the command (domain={domain}, code={code}):\n"
    return Failed(code % 256, f"{head}{text}\n")


def bad_state(call: Invocation, what: str, device: LabDevice) -> Failed:
    """What cannot be done in the state it is in."""
    return error(call, SIM, STATE, f"Unable to {what} in current state: {device.state}")


@dataclass
class Ask:
    """A subcommand with its words.

    Attributes:
        call: The program.
        words: What follows the subcommand.
        devices: Those of the device set it is about.
        where: Path of that set; empty = the default one.
    """

    call: Invocation
    words: list[str]
    devices: Mapping[str, LabDevice]
    where: str = ""

    def device(self, *, booted: str = "") -> LabDevice:
        """The device that the next word names.

        Args:
            booted: Refuse one that is not booted, with `Unable to …` and these words.

        Raises:
            Failed: There is none, or it is not booted.
        """
        word = self.words.pop(0) if self.words else ""
        found = self.find(word)
        if found is None:
            raise self.unknown(word)
        if booted and found.state != "Booted":
            raise bad_state(self.call, booted, found)
        return found

    def unknown(self, word: str) -> Failed:
        """No device is called so."""
        if word == "booted":
            return Failed(NO_DEVICE % 256, "No devices are booted.\n")
        return Failed(NO_DEVICE % 256, f"Invalid device: {word}\n")

    def find(self, word: str) -> LabDevice | None:
        """The device a word names: an id, `booted` (one of those that are), or a name."""
        simulators = [device for device in self.devices.values() if not device.kind.physical]
        if word == "booted":
            return next((device for device in simulators if device.state == "Booted"), None)
        exact = [device for device in simulators if device.udid == word.upper()]
        return next(iter(exact or [device for device in simulators if device.title == word]), None)

    def take(self, what: str) -> str:
        """The next word, which has to be there."""
        if not self.words:
            raise Failed(22, f"Missing argument: {what}\n")
        return self.words.pop(0)

    def switches(self, *with_value: str) -> dict[str, str]:
        """Takes the switches out of the words, up to `--`; those with a value may have it after `=` or as next word."""
        found: dict[str, str] = {}
        kept: list[str] = []
        while self.words:
            word = self.words.pop(0)
            if word == "--":
                kept += self.words
                self.words = []
            elif word.startswith("-") and len(word) > 1:
                name, mark, value = word.partition("=")
                name = name.lstrip("-")
                found[name] = value if mark else self.words.pop(0) if name in with_value and self.words else ""
            else:
                kept.append(word)
        self.words = kept
        return found


Subcommand = Callable[[Ask], Awaitable[int]]


def installed(ask: Ask, device: LabDevice, bundle: str) -> bool:
    """Whether an app is there."""
    return bundle in device.machine.apps


def joined(parts: Sequence[str]) -> str:
    """Lines, each with its end."""
    return "".join(f"{part}\n" for part in parts)
