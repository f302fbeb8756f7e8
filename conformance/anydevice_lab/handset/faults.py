"""Faults of a device, on request: which are set, and when they strike. What one does is where it strikes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass
class Fault:
    """One fault that is set.

    Attributes:
        name: One of `FaultList.known`.
        match: Regular expression for command lines or paths; empty = every one.
        times: How often it strikes before it is gone; None = until it is cleared.
        seconds: A time, where the fault has one.
        text, stderr, code: What is answered, where the fault answers.
        data: What the fault keeps (set by the device).
    """

    name: str
    match: str = ""
    times: int | None = None
    seconds: float = 0.0
    text: str = ""
    stderr: str = ""
    code: int = 0
    data: Any = field(default=None, repr=False)


class FaultList:
    """The faults of one device.

    Attributes:
        known: Every fault by its name, with what it does.
    """

    known: ClassVar[Mapping[str, str]] = {}

    def __init__(self) -> None:
        self._set: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Sets a fault.

        Raises:
            ValueError: There is no fault of this name.
        """
        if fault.name not in self.known:
            raise ValueError(f"there is no fault {fault.name}; there are {', '.join(self.known)}")
        re.compile(fault.match)
        self._set.append(fault)

    def clear(self, name: str | None = None) -> None:
        """Takes one kind of fault away, or all."""
        self._set = [fault for fault in self._set if name not in (None, fault.name)]

    def active(self, name: str, subject: str = "") -> Fault | None:
        """The fault of this name that strikes now; it has struck once more by that."""
        for fault in self._set:
            if fault.name == name and re.search(fault.match, subject):
                if fault.times is not None:
                    fault.times -= 1
                    if fault.times <= 0:
                        self._set.remove(fault)
                return fault
        return None
