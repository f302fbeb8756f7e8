"""Evidence: recordings, logs, performance, sound, network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from anydevice_schemas import Rect

from ._base import Capability, undeclared
from ._data import Acted


@dataclass(slots=True, frozen=True)
class RecordRequest:
    """What to record.

    Attributes:
        path: File on the host to write, without a suffix; the driver adds the one of its format.
        longest: Seconds after which the recording ends by itself, finalised.
        fps: Frames a second wanted; a driver that cannot choose takes what it gets and says so.
        area: Part of the screen in points; None = all of it.
    """

    path: str
    longest: float = 600.0
    fps: float = 10.0
    area: Rect | None = None


@dataclass(slots=True, frozen=True)
class Recorded:
    """A finished recording.

    Attributes:
        path: The file on the host: whole, and playable.
        mime: `video/mp4`, `video/webm`, …
        seconds: How long it plays.
        width, height: Pixels.
        frames: Pictures in it; None where nobody counted.
        ended: `stopped`, `longest` (it ran into its limit), or `device` (the device went away; what was there is kept).
        data: More facts (engine, segments).
    """

    path: str
    mime: str
    seconds: float
    width: int
    height: int
    frames: int | None = None
    ended: Literal["stopped", "longest", "device"] = "stopped"
    data: Mapping[str, Any] = field(default_factory=dict)


class Recording(Capability):
    """Video of the screen: one recording a device at a time. `Driver.clean` and `aclose` finalise what runs."""

    name = "recording"

    async def start(self, request: RecordRequest) -> Acted:
        """Starts, and returns once frames are taken."""
        raise undeclared("recording", "start")

    async def stop(self) -> Recorded:
        """Ends it and returns once the file is whole; also what ended by itself and was not fetched yet."""
        raise undeclared("recording", "stop")

    async def status(self) -> Mapping[str, Any] | None:
        """Of the recording that runs or waits to be fetched: `seconds`, `frames`, `ended`; None where there is none."""
        raise undeclared("recording", "status")


@dataclass(slots=True, frozen=True)
class LogLine:
    """One line of a log; `text` and `tag` are untrusted. `time` is seconds since the epoch, None where not told."""

    text: str
    level: Literal["debug", "info", "warning", "error"] | None = None
    tag: str = ""
    pid: int | None = None
    time: float | None = None


@dataclass(slots=True, frozen=True)
class LogPage:
    """Lines of a log.

    Attributes:
        lines: Oldest first.
        cursor: Where to go on reading; opaque.
        lost: Lines between the cursor asked for and the first line that are gone (rotated away); None = unknown.
        more: There are more lines now; ask again with `cursor`.
    """

    lines: Sequence[LogLine]
    cursor: str
    lost: int | None = 0
    more: bool = False


class Logs(Capability):
    """The logs of an app or of the device."""

    name = "logs"

    async def now(self) -> str:
        """The cursor of this moment: reading from it gives only what comes later."""
        raise undeclared("logs", "now")

    async def read(
        self, cursor: str | None, *, app: str | None = None, most: int = 1000, until: str | None = None
    ) -> LogPage:
        """At most `most` lines after a cursor (None = the newest `most` there are), of one app or of all.

        `until` is a cursor at which reading ends, so that what came before a moment is told from what came after it.

        Raises:
            AppNotFound: No log is kept of this app.
            InvalidArgument: A cursor is none that this driver gave.
        """
        raise undeclared("logs", "read")


class Perf(Capability):
    """Measuring an app. Every number says its unit in its name (`residentKb`, `cpuPercent`, `frameMsP90`)."""

    name = "perf"

    async def memory(self, app: str | None = None) -> Mapping[str, Any]:
        """Memory an app takes now."""
        raise undeclared("perf", "memory")

    async def cpu(self, app: str | None = None, *, seconds: float = 1.0) -> Mapping[str, Any]:
        """Processor time an app takes over `seconds`; 100 percent is one core."""
        raise undeclared("perf", "cpu")

    async def frames(self, app: str | None = None, *, seconds: float = 1.0) -> Mapping[str, Any]:
        """How smoothly an app draws over `seconds`."""
        raise undeclared("perf", "frames")


class Audio(Capability):
    """Listening to what a device plays; nothing of it is kept but how loud it is. `Driver.clean` ends it.

    `level` and `stop` are `ActionUnverified` while nobody listens.
    """

    name = "audio"

    async def start(self) -> Acted:
        """Starts to listen, anew where somebody listens already."""
        raise undeclared("audio", "start")

    async def level(self) -> Mapping[str, Any]:
        """Since it was started: `seconds`, `rmsDbfs`, `peakDbfs`, `silent`."""
        raise undeclared("audio", "level")

    async def stop(self) -> Mapping[str, Any]:
        """Stops, and says the same of the whole time."""
        raise undeclared("audio", "stop")


class Network(Capability):
    """What an app sent over the network, where the platform lets one see it."""

    name = "network"

    async def requests(self, *, app: str | None = None, most: int = 100) -> Sequence[Mapping[str, Any]]:
        """The newest `most` requests, oldest first: `method`, `url`, `status`, `ms`, `bytes`. All untrusted."""
        raise undeclared("network", "requests")
