"""Sizes, densities, rotations, displays, and the picture that `screencap` really sent."""

from __future__ import annotations

import re
from dataclasses import dataclass

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_END = b"IEND\xaeB`\x82"
_SIZE = re.compile(r"^(?P<which>Physical|Override) size: (?P<w>\d+)x(?P<h>\d+)", re.M)
_DENSITY = re.compile(r"^(?P<which>Physical|Override) density: (?P<dpi>\d+)", re.M)
_DISPLAY = re.compile(r"^Display (?P<id>\d+) \(HWC display (?P<number>\d+)\):", re.M)
_ROTATION = re.compile(
    r"\b(?:mCurrentOrientation|mRotation|mCurrentRotation|SurfaceOrientation|orientation|rotation)"
    r"[=:]\s*(?:ROTATION_)?(?P<n>\d+)"
)
_CURRENT = re.compile(
    r"\binit=(?P<iw>\d+)x(?P<ih>\d+) (?P<idpi>\d+)dpi(?: base=(?P<bw>\d+)x(?P<bh>\d+)(?: (?P<bdpi>\d+)dpi)?)?"
    r"(?: [A-Za-z]+=\S+)*? cur=\d+x\d+"
)
BASE = 160
"""Dots per inch at which one point is one pixel."""


@dataclass(slots=True, frozen=True)
class ScreenSize:
    """A screen in its natural orientation, in pixels, and its dots per inch."""

    width: int
    height: int
    dpi: int = BASE

    @property
    def scale(self) -> float:
        """Pixels per point."""
        return self.dpi / BASE


def size(text: str) -> tuple[int, int] | None:
    """Width and height in pixels as `wm size` says; an override is what is drawn and what input means."""
    found = {match["which"]: (int(match["w"]), int(match["h"])) for match in _SIZE.finditer(text)}
    return found.get("Override") or found.get("Physical")


def density(text: str) -> int | None:
    """Dots per inch as `wm density` says."""
    found = {match["which"]: int(match["dpi"]) for match in _DENSITY.finditer(text)}
    return found.get("Override") or found.get("Physical")


def current(text: str) -> ScreenSize | None:
    """The first display of `dumpsys window displays` as it is measured now, overrides and all; None where not told."""
    found = _CURRENT.search(text)
    if found is None:
        return None
    sides = (found["bw"] or found["iw"], found["bh"] or found["ih"])
    return ScreenSize(int(sides[0]), int(sides[1]), int(found["bdpi"] or found["idpi"]))


def rotation(text: str) -> int | None:
    """Quarter turns from the natural orientation, 0 to 3, from a display's dump; None where it is not told."""
    found = _ROTATION.search(text)
    if found is None:
        return None
    number = int(found["n"])
    return number // 90 if number in (90, 180, 270) else number if number <= 3 else None


def displays(text: str) -> list[str]:
    """Ids of the physical displays, as `screencap -d` takes them; they need 64 bits and are kept as text."""
    return [match["id"] for match in _DISPLAY.finditer(text)]


def png(data: bytes) -> bytes | None:
    """The whole PNG in what `screencap` sent: warnings before it are cut off; None where it is no whole picture."""
    start = data.find(SIGNATURE)
    if start < 0:
        return None
    end = data.rfind(_END)
    return data[start : end + len(_END)] if end > start else None


def said_before(data: bytes) -> str:
    """What was printed in front of the picture. Untrusted."""
    start = data.find(SIGNATURE)
    return data[: max(0, start) if start >= 0 else 2000][:2000].decode("utf-8", "replace").strip()
