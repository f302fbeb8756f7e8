"""Pictures and places: what they say of themselves is true, in points and in pixels."""

from __future__ import annotations

from struct import unpack
from typing import Any

from anydevice_schemas import Answer, Point, Rect

from ..case import case
from ..looking import ROOTS, has, only, states, whole
from ..trial import CaseFailed, Trial

BUNDLE = "media"
PNG = b"\x89PNG\r\n\x1a\n"
PLAY = 2.0
"""Pixels, or points, by which rounding may differ."""


def measured(data: bytes) -> tuple[str, int, int]:
    """What a picture's file itself says: its format, width and height in pixels.

    Raises:
        CaseFailed: It is neither PNG nor JPEG, or is cut off.
    """
    if data.startswith(PNG) and data[12:16] == b"IHDR" and b"IEND" in data[-12:]:
        return "image/png", *unpack(">II", data[16:24])
    if data.startswith(b"\xff\xd8") and data.rstrip(b"\0").endswith(b"\xff\xd9"):
        at = 2
        while at + 9 < len(data) and data[at] == 0xFF:
            kind, length = data[at + 1], unpack(">H", data[at + 2 : at + 4])[0]
            if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
                height, width = unpack(">HH", data[at + 5 : at + 9])
                return "image/jpeg", width, height
            at += 2 + length
    raise CaseFailed("the picture is no whole PNG or JPEG file")


def true_to_its_word(t: Trial, answer: Answer) -> tuple[Rect, Any]:
    """Checks a picture against what its answer says; returns the part it shows, in points, and its scale."""
    t.equal(len(answer.artefacts), 1, "files of one screenshot")
    file, said = answer.artefacts[0], answer.data
    data = t.router.services.artefacts.read(file.uri)
    mime, width, height = measured(data)
    t.equal((said["mime"], file.mime, file.size), (mime, mime, len(data)), "format and size of the file")
    t.equal((said["width"], said["height"]), (width, height), "width and height in pixels")
    scale = said["scale"]
    area = Rect(*said["area"])
    for word, pixels, points in (("width", width, area.width), ("height", height, area.height)):
        near = abs(pixels - points * scale) <= max(PLAY, 0.01 * pixels)
        t.require(near, f"{word}: {pixels} pixels at a scale of {scale} are not {points} points")
    t.require(bool(said.get("unit")), "it must say its unit")
    return area, scale


@case(
    "pictures.are-what-they-say",
    "A screenshot MUST be a whole picture in the format it says, of the pixels it says, and MUST tell the scale and "
    "the part in points that it shows.",
    command="screenshot",
    bundle=BUNDLE,
)
async def are_what_they_say(t: Trial) -> None:
    area, _ = true_to_its_word(t, await t.call("screenshot"))
    for name in ("home.increment", "home.media"):
        x, y, width, height = (await only(t, f"id={name}"))["rect"]
        inside = area.contains(Point(x + width / 2, y + height / 2))
        t.require(inside, f"{name} is on screen, and lies outside of the part the picture says it shows")


@case(
    "pictures.of-the-whole-content",
    "A screenshot of the whole content MUST show all of it, or be refused as unsupported; it MUST NOT be a picture of "
    "less.",
    command="screenshot",
    sample={"area": "full"},
    bundle=BUNDLE,
    screen="tall",
)
async def of_the_whole_content(t: Trial) -> None:
    answer = await t.call("screenshot", area="full", expect=None)
    if not answer.ok:
        t.equal(answer.error.code if answer.error else "", "unsupported", "the answer, where it cannot be had")
        return
    area, _ = true_to_its_word(t, answer)
    for name in ("tall.near", "tall.far"):
        _, y, _, height = (await only(t, f"id={name}"))["rect"]
        t.require(area.y - PLAY <= y and y + height <= area.y + area.height + PLAY, f"{name} must be in the picture")


@case(
    "pictures.of-one-element",
    "A screenshot of an element MUST show that element and nothing around it, brought on screen first if need be.",
    command="screenshot",
    sample={"target": "Increment"},
    bundle=BUNDLE,
    screen="tall",
)
async def of_one_element(t: Trial) -> None:
    for target in ("Near", "Far") if has(t, "elements.reveal") else ("Near",):
        answer = await t.call("screenshot", target=f"label={target} role=button")
        area, _ = true_to_its_word(t, answer)
        rect = Rect(*answer.data["element"]["rect"])
        for word in ("x", "y", "width", "height"):
            near = abs(getattr(area, word) - getattr(rect, word)) <= PLAY
            t.require(near, f"{word} of the picture's part is not that of {target}")


@case(
    "pictures.places-are-points",
    "Places MUST be points of the space that screen.geometry tells: what is on screen lies in the viewport, what is "
    "off screen outside of it, and all of it in the content.",
    needs=("screen.geometry",),
    optional=True,
    screen="tall",
)
async def places_are_points(t: Trial) -> None:
    geometry = await (await t.driver()).screen.geometry()  # type: ignore[attr-defined]
    view = geometry.viewport
    t.require(view.width > 0 and view.height > 0 and geometry.scale > 0, "viewport and scale must be told")
    for node in await whole(t):
        if "rect" not in node or node["role"] in ROOTS or "hidden" in states(node):
            continue
        rect = Rect(*node["rect"])
        on = rect.intersect(view) is not None
        t.equal("offscreen" in states(node), not on, f"off screen, of {node['role']} {node.get('name', '')[:40]}")
        if geometry.content is not None:
            whole_of_it = rect.x >= geometry.content.x - PLAY and rect.y >= geometry.content.y - PLAY
            end = geometry.content.y + geometry.content.height
            t.require(whole_of_it and rect.y + rect.height <= end + PLAY, "an element lies outside of the content")
