"""One device behind an hdc server: commands with their status, files, packages, ports; each call bounded as a whole."""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

from anydevice_schemas.errors import (
    CallTimeout,
    ConnectionLost,
    InvalidArgument,
    OutcomeUnknown,
    UpstreamUnavailable,
)

from . import program
from .server import HdcServer
from .verdicts import AppVerdict, FileVerdict, app_verdict, error_of, file_verdict, refusal
from .wire import Connection

DEADLINE: Final = 10.0
"""Seconds a command may take unless told otherwise."""
MOST: Final = 8 << 20
"""Bytes of an output that are kept, the last of them."""
TEMPORARY: Final = "/data/local/tmp"
"""Folder of every device that its shell may write."""
_NEVER = frozenset('\0\r\n\t"')
"""Characters that the server's own reading of a line takes for its ends, within quotation marks too."""


@dataclass(slots=True, frozen=True)
class ShellDone:
    """What a command of the device did: its status, and both its outputs in one (untrusted)."""

    status: int
    stdout: bytes
    cut: int = 0

    @property
    def text(self) -> str:
        """The output as text; what is no UTF-8 is replaced."""
        return self.stdout.decode("utf-8", "replace")


def quote(word: str | int) -> str:
    """A word as the device's shell takes it, whatever is in it."""
    return shlex.quote(str(word))


def line(*words: str | int) -> str:
    """Words as a command line."""
    return " ".join(map(quote, words))


class HdcDevice:
    """A device by its connect key. Holds no connection: each call has its own, so calls run side by side."""

    def __init__(
        self, server: HdcServer, key: str, variables: Mapping[str, str] | None = None, configured: str = ""
    ) -> None:
        """`variables` and `configured` say where the program hdc is, for a server on another host."""
        self.server, self.key = server, key
        self._variables, self._configured = dict(variables or {}), configured

    async def shell(self, command: str, *, deadline: float = DEADLINE, most: int = MOST) -> ShellDone:
        """Runs a command line to its end; its status is told by a line of our own after its output.

        A call that is late or cancelled closes its channel, which ends the command.

        Args:
            command: For the device's shell. Put words into it by `quote` or `line` only.
            deadline: Seconds for all of it.
            most: Bytes kept of the output.

        Raises:
            CallTimeout: It did not end in time.
            DeviceOffline, DeviceUnauthorized, DeviceNotReady: The device cannot be reached.
            ConnectionLost: The channel ended before the command did.
            MachineUnreachable, UpstreamUnavailable: The server cannot be reached.
        """
        return await self._shell(command, deadline, most, [])

    async def act(self, command: str, *, deadline: float = DEADLINE) -> ShellDone:
        """As `shell`, for a command that must not be repeated where it is not known whether it was carried out.

        Raises:
            OutcomeUnknown: It was sent, and no answer came.
            AnydeviceError: As `shell`, of what was not sent.
        """
        with _done_or_unknown("shell") as sent:
            return await self._shell(command, deadline, MOST, sent)

    async def _shell(self, command: str, deadline: float, most: int, sent: list[bool]) -> ShellDone:
        """`sent` is told whether the command got through."""
        mark = f"__rc_{secrets.token_hex(6)}="
        # In a shell of its own: whatever the command does to its shell (exit, cd, set), the mark comes after it.
        whole = f"shell ({command}\n) 2>&1; echo {mark}$?"
        async with self._channel(deadline, "shell") as channel:
            await channel.command(whole)
            sent.append(channel.sent)
            answer, dropped = await channel.answer(most)
        at = answer.rfind(mark.encode())
        if at < 0:
            found = refusal(answer[:4096].decode("utf-8", "replace"))
            if found is not None:
                raise error_of(found)
            raise ConnectionLost(
                "The device's shell ended before the command did.",
                restarted=False,
                lost="shell",
                said=answer[-1000:].decode("utf-8", "replace"),
            )
        status = answer[at + len(mark) :].strip()
        return ShellDone(int(status) if status.isdigit() else -1, answer[:at], dropped)

    async def send(self, source: str, target: str, *, deadline: float) -> FileVerdict:
        """Copies a file of this host to a path of the device.

        Raises:
            PathNotFound: One of the two cannot be opened.
            InvalidArgument: A path cannot be told to the server.
            UpstreamUnavailable: It was not copied whole.
            AnydeviceError: As `shell`.
        """
        text = await self._transfer("file", "send", source, target, deadline=deadline)
        return _whole(file_verdict(text))

    async def receive(self, source: str, target: str, *, deadline: float) -> FileVerdict:
        """Copies a file of the device to a path of this host.

        Raises:
            AnydeviceError: As `send`.
        """
        text = await self._transfer("file", "recv", source, target, deadline=deadline)
        return _whole(file_verdict(text))

    async def install(self, path: str, *, deadline: float) -> AppVerdict:
        """Installs a package of this host over what is there.

        Raises:
            InvalidArgument: Its path cannot be told to the server.
            OutcomeUnknown: It was sent, and no answer came.
            AnydeviceError: As `shell`.
        """
        with _done_or_unknown("install") as sent:
            return app_verdict(await self._transfer("install", "-r", path, deadline=deadline, sent=sent))

    async def uninstall(self, app: str, *, deadline: float) -> AppVerdict:
        """Removes an app.

        Raises:
            OutcomeUnknown: It was sent, and no answer came.
            AnydeviceError: As `shell`.
        """
        with _done_or_unknown("uninstall") as sent:
            return app_verdict(await self._ask(f"uninstall {app}", deadline=deadline, sent=sent))

    async def forward(self, host: str, device: str, *, reverse: bool = False) -> None:
        """Forwards a port of this host to a socket of the device, or with `reverse` the other way.

        Raises:
            UpstreamUnavailable: The server did not do it.
            AnydeviceError: As `shell`.
        """
        words = f"rport {device} {host}" if reverse else f"fport {host} {device}"
        text = await self._ask(words)
        if not text.lstrip().startswith("Forwardport result:OK"):
            raise UpstreamUnavailable(
                "The hdc server did not forward the port.",
                upstream="hdc server",
                enable_hint="Choose another port, then repeat the call.",
                said=text.strip()[:500],
            )

    async def unforward(self, first: str, second: str) -> bool:
        """Takes a forward away, named by its ends in the order in which it was made; whether there was one.

        Raises:
            AnydeviceError: As `shell`.
        """
        for rule in (f"{first} {second}", f'"{first} {second}"'):  # builds differ in whether they take the quotes off
            text = await self._raw(f"fport rm {rule}")
            if text.lstrip().startswith("Remove forward ruler success"):
                return True
            found = refusal(text)
            if found is not None and "ruler is not exist" not in found.said:
                raise error_of(found)
        return False

    async def forwards(self) -> list[tuple[str, str, bool]]:
        """Forwards of this device: first end, second end, and whether it is a reverse one.

        Raises:
            AnydeviceError: As `shell`.
        """
        found = []
        for row in (await self.server.ask("fport ls")).replace("\r", "").split("\n"):
            words = row.split()
            if len(words) == 4 and words[0] == self.key and words[3] in ("[Forward]", "[Reverse]"):
                found.append((words[1], words[2], words[3] == "[Reverse]"))
        return found

    # --- inside ---

    @asynccontextmanager
    async def _channel(self, deadline: float, what: str) -> AsyncIterator[Connection]:
        async with (
            self.server.calling(deadline, what),
            await Connection.open(self.server.host, self.server.port, self.key) as connection,
        ):
            yield connection

    async def _raw(self, command: str, *, deadline: float = DEADLINE, sent: list[bool] | None = None) -> str:
        async with self._channel(deadline, command.partition(" ")[0]) as channel:
            await channel.command(command)
            if sent is not None:
                sent.append(channel.sent)
            answer, _ = await channel.answer(MOST)
        return answer.decode("utf-8", "replace")

    async def _ask(
        self, command: str, *, deadline: float = DEADLINE, path: str = "", sent: list[bool] | None = None
    ) -> str:
        text = await self._raw(command, deadline=deadline, sent=sent)
        found = refusal(text)
        if found is not None:
            raise error_of(found, path=path)
        return text

    async def _transfer(self, *words: str, deadline: float, sent: list[bool] | None = None) -> str:
        """A command with files of this host: a server here opens them itself, for another the program carries them."""
        named = os.path.basename(words[-1] if words[0] == "install" else words[2])
        if self.server.here:
            for word in words:
                if _NEVER & set(word):
                    raise InvalidArgument(
                        "hdc takes no path with a quotation mark or the end of a line.",
                        param="path",
                        expected="a path without quotation marks",
                    )
            told = " ".join(f'"{word}"' if " " in word else word for word in words)
            return await self._ask(told, deadline=deadline, path=named, sent=sent)
        path = await program.locate(self._variables, self._configured)
        argv = ["-s", self.server.address, "-t", self.key, *words]
        if sent is not None:
            sent.append(True)  # how far the program got is not known
        text = await program.run(path, argv, port=self.server.port, deadline=deadline)
        found = refusal(text)
        if found is not None:
            raise error_of(found, path=named)
        return text


@contextmanager
def _done_or_unknown(what: str) -> Iterator[list[bool]]:
    """For what must not be repeated where it is not known whether it was done; yields a list that is told what got
    through.

    Raises:
        OutcomeUnknown: Instead of an error that says that no answer came, where something had got through.
    """
    sent: list[bool] = []
    try:
        yield sent
    except (CallTimeout, ConnectionLost) as error:
        if not any(sent):
            raise
        raise OutcomeUnknown(
            "The device did not answer: it may or may not have done that.",
            hint=_LOOK.get(what, "Look before doing it again (snapshot, or screenshot)."),
            sent=what,
            reason=error.code,
        ) from error


_LOOK: Final = {
    "install": "Call apps to see whether it is there before installing it again.",
    "uninstall": "Call apps to see whether it is gone.",
}


def _whole(verdict: FileVerdict) -> FileVerdict:
    if not verdict.ok:
        raise UpstreamUnavailable(
            "The file was not copied whole.",
            upstream="hdc server",
            enable_hint="See details, then repeat the call.",
            retryable=True,
            said=verdict.said,
        )
    return verdict
