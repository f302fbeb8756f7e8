"""Mutants of the cases about video and sound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from anydevice.commands import record
from anydevice.context import Context, Outcome
from anydevice.driver import Acted, RecordRequest
from anydevice.testing import ReferenceBackend
from anydevice.testing.driver import CleaningDriver
from anydevice.testing.media import SILENCE, FakeAudio, FakeRecording, Tape

from . import Mutant


def begins_late(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What happens first is not filmed."""
    sound = FakeRecording.start

    async def start(self: FakeRecording, request: RecordRequest) -> Acted:
        acted = await sound(self, request)
        if self.tape is not None:
            self.tape.began += 1.9
        return acted

    monkeypatch.setattr(FakeRecording, "start", start)


def throws_the_first_away(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start begins anew, whatever runs."""
    sound = record._start

    async def start(ctx: Context, args: record.RecordInput) -> Outcome:
        backend.tapes.clear()
        return await sound(ctx, args)

    monkeypatch.setattr(record, "_start", start)


def stops_what_never_ran(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop is fine whatever was before."""

    async def stop(ctx: Context, name: str | None) -> Outcome:
        return Outcome(data={"recording": False}, verified=True)

    monkeypatch.setattr(record, "_stop", stop)


def records_for_ever(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time it was given is not heeded."""
    monkeypatch.setattr(Tape, "look", lambda self, now, deeds: None)


def leaves_it_running(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is ended after a holder."""

    async def clean(self: CleaningDriver) -> None:
        return None

    monkeypatch.setattr(CleaningDriver, "clean", clean)


def counts_no_time(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time that was listened is a constant."""
    sound = FakeAudio._level
    monkeypatch.setattr(FakeAudio, "_level", lambda self: sound(self) | {"seconds": 1.0})


def makes_silence_up(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who does not listen hears nothing."""

    async def level(self: FakeAudio) -> Mapping[str, Any]:
        return {"seconds": 0.0, "rmsDbfs": SILENCE, "peakDbfs": SILENCE, "silent": True}

    monkeypatch.setattr(FakeAudio, "level", level)
    monkeypatch.setattr(FakeAudio, "stop", level)


MUTANTS: dict[str, Mutant] = {
    "media.a-video-is-whole-and-of-the-time-it-ran": begins_late,
    "media.one-recording-a-device": throws_the_first_away,
    "media.nothing-is-made-of-nothing": stops_what_never_ran,
    "media.a-recording-ends-by-itself": records_for_ever,
    "media.a-recording-ends-with-its-session": leaves_it_running,
    "audio.a-level-is-of-the-time-since-start": counts_no_time,
    "audio.nothing-is-heard-before-start": makes_silence_up,
}
