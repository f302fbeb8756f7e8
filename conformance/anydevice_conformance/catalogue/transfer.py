"""Files between the caller and the device, and where they may come from and go to."""

from __future__ import annotations

import secrets
from struct import pack
from typing import Any

from ..case import case
from ..hands import folder
from ..trial import CaseBlocked, Trial

BYTES = bytes(range(256)) * 200
PNG = b"\x89PNG\r\n\x1a\n" + pack(">I4sIIBBBBB", 13, b"IHDR", 1, 1, 8, 0, 0, 0, 0) + bytes(4)
TRANSFER: dict[str, Any] = {"needs": ("files.push", "files.pull"), "bundle": "transfer", "screen": None}


def _place(t: Trial, name: str) -> str:
    """A path on the device where a file may be made.

    Raises:
        CaseBlocked: The manifest names no folder.
    """
    if not t.manifest.practice.folder:
        raise CaseBlocked("the backend's manifest names no folder of the device for files")
    return f"{t.manifest.practice.folder.rstrip('/')}/{name}-{secrets.token_hex(4)}"


@case(
    "transfer.bytes-arrive-as-they-were",
    "A file MUST arrive on the device and come back byte for byte, and the same name MUST mean the newer one after.",
    **TRANSFER,
)
async def bytes_arrive(t: Trial) -> None:
    place = _place(t, "case bytes ü")
    async with folder(t) as (here, by):
        (here / "out.bin").write_bytes(BYTES)
        answer = await t.call("files", by=by, action="push", hostPath="out.bin", devicePath=place)
        t.equal(answer.data["bytes"], len(BYTES), "bytes that were sent")
        await t.call("files", by=by, action="pull", devicePath=place, hostPath="back.bin")
        t.require((here / "back.bin").read_bytes() == BYTES, "what came back is not what was sent")
        (here / "out.bin").write_bytes(b"newer")
        await t.call("files", by=by, action="push", hostPath="out.bin", devicePath=place)
        answer = await t.call("files", by=by, action="pull", devicePath=place)
        t.equal(len(answer.artefacts), 1, "files of a pull without a name")
        t.equal(t.router.services.artefacts.read(answer.artefacts[0].uri), b"newer", "what came back then")
        t.equal(sorted(path.name for path in here.iterdir()), ["back.bin", "out.bin"], "files of the caller")


@case(
    "transfer.paths-keep-to-the-callers-folders",
    "A path of the host outside of the caller's folders, also by a link, MUST be path_refused, and nothing MUST be "
    "copied either way.",
    **TRANSFER,
)
async def paths_keep(t: Trial) -> None:
    place = _place(t, "case-paths")
    async with folder(t) as (outside, _), folder(t) as (here, by):
        (outside / "secret").write_text("secret")
        (here / "link").symlink_to(outside / "secret")
        (here / "mine").write_text("mine")
        for source in (str(outside / "secret"), f"../{outside.name}/secret", "link"):
            refused = await t.call(
                "files", by=by, action="push", hostPath=source, devicePath=place, expect="path_refused"
            )
            t.detail(refused, "path", "roots")
        await t.call("files", by=by, action="pull", devicePath=place, hostPath="x", expect="path_not_found")
        await t.call("files", by=by, action="push", hostPath="mine", devicePath=place)
        for target in (str(outside / "new"), f"../{outside.name}/new", "link", "mine"):
            await t.call("files", by=by, action="pull", devicePath=place, hostPath=target, expect="path_refused")
        t.equal([path.name for path in outside.iterdir()], ["secret"], "files outside")
        t.equal(((outside / "secret").read_text(), (here / "mine").read_text()), ("secret", "mine"), "what they hold")


@case(
    "transfer.what-is-not-there-is-told",
    "A file the device does not have MUST be path_not_found, and MUST leave nothing on the host.",
    **TRANSFER,
)
async def not_there(t: Trial) -> None:
    async with folder(t) as (here, by):
        place = _place(t, "case-nothing")
        await t.call("files", by=by, action="pull", devicePath=place, hostPath="x", expect="path_not_found")
        await t.call("files", by=by, action="pull", devicePath=place, expect="path_not_found")
        t.equal(list(here.iterdir()), [], "files of the caller")


@case(
    "transfer.media-are-pictures-and-videos",
    "add-media MUST take a picture, and MUST refuse what is none, whatever its name says.",
    needs=("files.add_media",),
    bundle="gallery",
    screen=None,
)
async def media(t: Trial) -> None:
    async with folder(t) as (here, by):
        (here / "case.png").write_bytes(PNG)
        (here / "text.png").write_text("a text")
        answer = await t.call("add-media", by=by, path="case.png")
        t.equal(answer.data["mime"], "image/png", "what it is taken for")
        await t.call("add-media", by=by, path="text.png", expect="invalid_argument")
