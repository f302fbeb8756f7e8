"""Mutants of the cases about logs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anydevice.commands import logs
from anydevice.driver import LogPage
from anydevice.testing import ReferenceBackend, diagnosis

from . import Mutant


def reads(change: Callable[[dict[str, object]], dict[str, object]]) -> Mutant:
    """The log is read with other arguments than were asked for."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        sound = diagnosis.FakeLogs.read

        async def read(self: diagnosis.FakeLogs, cursor: str | None, **how: object) -> LogPage:
            changed = change({"cursor": cursor, **how})
            return await sound(self, changed.pop("cursor"), **changed)  # type: ignore[arg-type]

        monkeypatch.setattr(diagnosis.FakeLogs, "read", read)

    return mutant


def from_the_beginning(how: dict[str, object]) -> dict[str, object]:
    return {**how, "cursor": "0" if how["cursor"] is not None and "until" not in how else how["cursor"]}


def to_the_end(how: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in how.items() if name != "until"}


def clears_the_device(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """To clear is to delete."""
    sound = diagnosis.FakeLogs.now

    async def now(self: diagnosis.FakeLogs) -> str:
        self.diary.rotate(0)
        return await sound(self)

    monkeypatch.setattr(diagnosis.FakeLogs, "now", now)


def pages_overlap(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The place to go on is one line too early."""
    sound = diagnosis.FakeLogs.read

    async def read(self: diagnosis.FakeLogs, cursor: str | None, **how: object) -> LogPage:
        page = await sound(self, cursor, **how)  # type: ignore[arg-type]
        if not page.more or cursor is None:
            return page
        return LogPage(page.lines, str(max(int(cursor), int(page.cursor) - 1)), page.lost, page.more)

    monkeypatch.setattr(diagnosis.FakeLogs, "read", read)
    monkeypatch.setattr(logs, "PAGE", 2)


def knows_every_app(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """An app nobody knows has an empty log."""
    monkeypatch.setattr(diagnosis, "_tag", lambda app: app)


MUTANTS: dict[str, Mutant] = {
    "logs.only-what-came-since": reads(from_the_beginning),
    "logs.marks-stand-where-they-were-put": reads(to_the_end),
    "logs.clear-begins-anew-and-deletes-nothing": clears_the_device,
    "logs.pages-join-without-a-gap": pages_overlap,
    "logs.an-unknown-app-is-refused": knows_every_app,
}
