"""Xcode's programs by `xcrun`: words in, a result out; each with a deadline and a process group of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Protocol

from anydevice.kit import processes
from anydevice_schemas.errors import ToolMissing

PROGRAM = "xcrun"
INSTALL = "Install Xcode, open it once, then: sudo xcode-select -s /Applications/Xcode.app"
ENVIRONMENT = ("DEVELOPER_DIR",)
"""Variables of a caller that choose the Xcode."""
FIRST_RUN = "xcodebuild -runFirstLaunch"
"""What Xcode may wait for, for ever, where nobody sees its question."""
NO_TOOL = "unable to find utility"
"""What xcrun says where this Xcode lacks a program."""
OUTPUT = 16 << 20
"""Bytes of one program's output that are kept."""


class Xcrun(Protocol):
    """How the programs are run. Tests put something else in its place."""

    async def run(
        self, *words: str, deadline: float, stdin: bytes = b"", variables: Mapping[str, str] | None = None
    ) -> processes.Result:
        """Runs one to its end.

        Args:
            words: `simctl`, `devicectl`, … and arguments.
            deadline: Seconds it may take; then its whole group is ended.
            stdin: What it reads.
            variables: Besides the environment.

        Raises:
            ToolMissing: There is no xcrun.
            CallTimeout: It did not end in time.
        """
        ...

    async def start(self, *words: str, sink: Callable[[bytes], None]) -> processes.Child:
        """Starts one that goes on; `sink` is given what it writes to stderr.

        Raises:
            ToolMissing: There is no xcrun.
        """
        ...


class Program:
    """The real ones."""

    def __init__(self, program: str = PROGRAM, variables: Mapping[str, str] | None = None) -> None:
        """`program` is a name or a path; `variables` are those of `ENVIRONMENT` that the caller has."""
        self._program = program
        self._variables = {name: value for name, value in (variables or {}).items() if name in ENVIRONMENT}

    def found(self) -> bool:
        """Whether there is such a program here."""
        try:
            processes.find(self._program)
        except ToolMissing:
            return False
        return True

    async def run(
        self, *words: str, deadline: float, stdin: bytes = b"", variables: Mapping[str, str] | None = None
    ) -> processes.Result:
        """See `Xcrun.run`."""
        argv = [processes.find(self._program, install=INSTALL), *words]
        return await processes.run(argv, deadline=deadline, stdin=stdin, env=self._environment(variables), cap=OUTPUT)

    async def start(self, *words: str, sink: Callable[[bytes], None]) -> processes.Child:
        """See `Xcrun.start`."""
        argv = [processes.find(self._program, install=INSTALL), *words]
        return await processes.start(argv, env=self._environment(None), sink=sink)

    def _environment(self, variables: Mapping[str, str] | None) -> dict[str, str]:
        return {**os.environ, **self._variables, **(variables or {})}
