"""Video and sound: a recording is a whole file of the time it ran, one a device, and ends with whoever made it."""

from __future__ import annotations

import struct
from typing import Any

import anyio

from anydevice_schemas import Answer

from ..case import case
from ..looking import has
from ..trial import CaseBlocked, CaseFailed, Trial

RECORD: dict[str, Any] = {"command": "record", "sample": {"action": "start"}, "bundle": "recording"}
AUDIO: dict[str, Any] = {"command": "audio", "sample": {"action": "start"}, "bundle": "audio"}
PLAY = 1.5
"""Seconds by which a video may be longer or shorter than the time between start and stop."""
WITHIN = 15.0
"""Seconds something is given to end by itself."""


def measured(data: bytes) -> tuple[float | None, int, int]:
    """What a video file itself says: seconds (None where it does not), width and height in pixels (0: not told).

    Raises:
        CaseFailed: It is no video, or is cut off.
    """
    if data.startswith(b"\x1a\x45\xdf\xa3"):
        return None, 0, 0
    boxes = dict(_boxes(data))
    if b"ftyp" not in boxes or b"mdat" not in boxes or b"moov" not in boxes:
        raise CaseFailed("the video is no whole MP4, QuickTime or WebM file")
    seconds, sizes = None, []
    for kind, body in _boxes(boxes[b"moov"]):
        if kind == b"mvhd":
            wide = body[0] == 1
            scale, length = struct.unpack_from(">IQ" if wide else ">II", body, 20 if wide else 12)
            seconds = length / scale if scale and length else None
        elif kind == b"trak":
            head = dict(_boxes(body)).get(b"tkhd", bytes(8))
            sizes.append(tuple(value >> 16 for value in struct.unpack(">II", head[-8:])))
    width, height = max(sizes, default=(0, 0))
    return seconds, width, height


def _boxes(data: bytes) -> list[tuple[bytes, bytes]]:
    found, at = [], 0
    while at + 8 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        skip = 8
        if size == 1:
            size, skip = struct.unpack_from(">Q", data, at + 8)[0], 16
        elif size == 0:
            size = len(data) - at
        if size < skip or at + size > len(data):
            raise CaseFailed("the video is cut off")
        found.append((kind, data[at + skip : at + size]))
        at += size
    return found


async def started(t: Trial, **arguments: Any) -> Answer:
    """Starts a recording.

    Raises:
        CaseBlocked: What makes videos is not installed.
    """
    answer = await t.call("record", action="start", expect=None, **arguments)
    if answer.error is not None and answer.error.code == "tool_missing":
        raise CaseBlocked(f"no video can be made here: {answer.error.message}")
    if not answer.ok:
        raise CaseFailed(f"record does not start: {answer.error.message if answer.error else ''}")
    t.equal(answer.data["recording"], True, "recording, after start")
    return answer


def the_file(t: Trial, answer: Answer) -> tuple[float | None, int, int]:
    """Measures the one file of an answer, which must be what the answer says."""
    t.equal(len(answer.artefacts), 1, "files of one recording")
    data = t.router.services.artefacts.read(answer.artefacts[0].uri, limit=256 << 20)
    t.equal(answer.artefacts[0].size, len(data), "size of the file")
    seconds, width, height = measured(data)
    if seconds is not None:
        near = abs(seconds - answer.data["seconds"]) <= 0.1
        t.require(near, f"the file plays {seconds:.2f} s, and the answer says {answer.data['seconds']}")
    if width:
        said = (answer.data.get("width"), answer.data.get("height"))
        t.equal(said, (width, height), "width and height in pixels")
    return seconds, width, height


@case(
    "media.a-video-is-whole-and-of-the-time-it-ran",
    "A recording MUST become one whole video file that plays as long as was recorded, in the shape of the screen.",
    mutates=True,
    **RECORD,
)
async def whole_and_of_its_time(t: Trial) -> None:
    before = anyio.current_time()
    name = (await started(t)).data["name"]
    began = anyio.current_time()
    await t.call("press", target="Increment")
    await t.heard("press", id="home.increment")
    await anyio.sleep(2.0)
    running = await t.call("record")
    t.equal((running.data["recording"], running.data.get("name")), (True, name), "what status says meanwhile")
    ending = anyio.current_time()
    answer = await t.call("record", action="stop")
    after = anyio.current_time()
    t.equal(answer.data["ended"], "stopped", "how it ended")
    seconds, width, height = the_file(t, answer)
    length = answer.data["seconds"] if seconds is None else seconds
    if not ending - began - PLAY <= length <= after - before + PLAY:
        raise CaseFailed(f"recorded for {ending - began:.2f} s or more, and the video plays {length:.2f} s")
    if width and has(t, "screen.geometry"):
        view = (await (await t.driver()).screen.geometry()).viewport  # type: ignore[attr-defined]
        shape = (width / height) / (view.width / view.height)
        t.require(0.95 <= shape <= 1.05, f"a video of {width}x{height} is not in the shape of the screen")
    t.equal((await t.call("record")).data["recording"], False, "recording, after stop")


@case(
    "media.one-recording-a-device",
    "A second start MUST be refused, and MUST NOT disturb the recording that runs.",
    **RECORD,
)
async def one_a_device(t: Trial) -> None:
    name = (await started(t)).data["name"]
    again = await t.call("record", action="start", expect="refused")
    t.require("stop" in t.detail(again, "reason", "alternative")["alternative"], "it must say how to go on")
    t.equal((await t.call("record")).data.get("name"), name, "the recording that runs")
    stopped = await t.call("record", action="stop")
    t.equal(stopped.data["name"], name, "the recording that was stopped")
    the_file(t, stopped)


@case(
    "media.nothing-is-made-of-nothing",
    "Stop without a recording MUST be refused, and MUST NOT make a file.",
    **RECORD,
)
async def nothing_of_nothing(t: Trial) -> None:
    t.equal((await t.call("record")).data["recording"], False, "recording, before start")
    answer = await t.call("record", action="stop", expect="action_unverified")
    t.equal(list(answer.artefacts), [], "files")


@case(
    "media.a-recording-ends-by-itself",
    "A recording MUST end by itself after the time it was given, whole, and wait to be fetched.",
    **RECORD,
)
async def ends_by_itself(t: Trial) -> None:
    await started(t, longestMs=1000)
    with anyio.move_on_after(WITHIN):
        while (await t.call("record")).data["recording"]:  # noqa: ASYNC110 - asked from outside
            await anyio.sleep(0.2)
    t.equal((await t.call("record")).data["recording"], False, f"recording, {WITHIN:g} s later")
    answer = await t.call("record", action="stop")
    t.equal(answer.data["ended"], "longest", "how it ended")
    seconds, *_ = the_file(t, answer)
    length = answer.data["seconds"] if seconds is None else seconds
    t.require(length <= 1.0 + PLAY, f"it was given 1 s and plays {length:.2f} s")


@case(
    "media.a-recording-ends-with-its-session",
    "A recording MUST end with the session it was made in: the next holder MUST NOT find it running, nor get its file "
    "without being told its name.",
    **RECORD,
)
async def ends_with_its_session(t: Trial) -> None:
    begun = await started(t)
    await anyio.sleep(0.5)
    await t.call("session", action="end", name=begun.session, named=False)
    other = t.new_caller("next")
    await t.open("home", by=other)
    t.equal((await t.call("record", by=other)).data, {"recording": False}, "what the next holder is told")
    await t.call("record", action="stop", by=other, expect="action_unverified")
    answer = await t.call("record", action="stop", name=begun.data["name"], by=other)
    t.equal(answer.data["ended"], "interrupted", "how it ended")
    the_file(t, answer)


@case(
    "audio.a-level-is-of-the-time-since-start",
    "Levels MUST be of the time since start, in dBFS at or below full scale, the mean not above the peak, and end with "
    "stop.",
    **AUDIO,
)
async def levels(t: Trial) -> None:
    await t.call("audio", action="start")
    await anyio.sleep(0.5)
    first = (await t.call("audio")).data
    await anyio.sleep(0.5)
    second = (await t.call("audio", action="stop")).data
    t.require(second["seconds"] > first["seconds"] > 0, "the time that was listened must grow")
    for level in (first, second):
        t.require(level["rmsDbfs"] <= level["peakDbfs"] + 0.1 and level["peakDbfs"] <= 0.1, f"no level: {level}")
    await t.call("audio", expect="action_unverified")


@case(
    "audio.nothing-is-heard-before-start",
    "Status and stop MUST be refused while nobody listens; silence MUST NOT be made up.",
    **AUDIO,
)
async def nothing_before_start(t: Trial) -> None:
    for action in ("status", "stop"):
        await t.call("audio", action=action, expect="action_unverified")
