"""clipboard: reading what is on a device's clipboard, and putting text, a picture or files there."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.to_thread
from pydantic import Field

from anydevice_schemas import Example, Plan, Rect
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, PermissionMissing, Unsupported

from .. import paths
from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Acted, Clip, Clipboard, ClipKind, Image
from ..kit import images
from ._device_paths import DevicePaths

TEXT_MOST = 1_000_000
"""Characters that can be written at once."""
SHOWN = {"digest": 2_000, "default": 20_000, "full": 200_000}
"""Characters of a text that an answer holds at most."""
FILES_SHOWN = 200
PICTURE_MOST = 32 * 1024 * 1024
"""Bytes of a picture that is read or written."""


class ClipboardInput(Input):
    """Inputs of `clipboard`."""

    action: Literal["read", "write"] = Field(default="read", description="What to do.")
    kind: Literal["text", "image", "files"] | None = Field(
        default=None, description="Read it as this only; omitted: the first of text, files, image that is there."
    )
    text: str | None = Field(default=None, max_length=TEXT_MOST, description="Write: this text.")
    image: str | None = Field(
        default=None,
        min_length=1,
        max_length=4096,
        description="Write: this PNG file (a path of yours or an artefact).",
    )
    files: list[str] | None = Field(
        default=None, min_length=1, max_length=1000, description="Write: these files, as a file manager copies them."
    )


def _write(kind: str) -> Plan:
    return Plan(name="clipboard", operations=[f"clipboard.write_{kind}"], when={"action": ["write"], kind: ["*given*"]})


@command(
    name="clipboard",
    summary="Reads the clipboard (text, files, or a picture, which becomes an artefact), or writes text, a PNG file or "
    "files to it and reads that back. Where the platform forbids to read it is permission_missing, no empty answer. "
    "To put text into a field use fill.",
    effect="mutate",
    reads_when={"action": ["read", "*absent*"]},
    idempotent=True,
    toolset="desktop",
    input=ClipboardInput,
    plans=[
        Plan(name="clipboard", operations=["clipboard.read"], when={"action": ["read", "*absent*"]}),
        _write("text"),
        _write("image"),
        _write("files"),
        # Nothing is named to write: refused by the handler, on any device that has a clipboard.
        Plan(
            name="clipboard",
            operations=["clipboard.write_text"],
            when={"action": ["write"], "text": ["*absent*"], "image": ["*absent*"], "files": ["*absent*"]},
        ),
    ],
    deadline=30.0,
    output={
        "kinds": {"type": "array", "description": "What it can be read as; empty: nothing is on it."},
        "kind": {"type": "string", "description": "What it was read as, or written."},
        "text": {"type": "string", "description": "Untrusted."},
        "files": {"type": "array", "description": "Paths on the device; untrusted."},
    },
    examples=[
        Example(why="What is on it", arguments={}),
        Example(why="Text to paste", arguments={"action": "write", "text": "hello"}),
    ],
)
async def clipboard(ctx: Context, args: ClipboardInput) -> Outcome:
    """Reads or writes the clipboard."""
    given = [name for name in ("text", "image", "files") if getattr(args, name) is not None]
    if args.action == "read":
        if given:
            raise ctx.bad_argument(given[0], "goes with action write only", "action write")
        return await _read(ctx, args.kind)
    if args.kind is not None:
        raise ctx.bad_argument("kind", "goes with action read only", "no kind")
    if len(given) != 1:
        problem = "nothing to write is named" if not given else f"{' and '.join(given)} are given together"
        raise ctx.bad_argument(given[0] if given else "text", problem, "exactly one of text, image, files")
    kind: ClipKind = given[0]  # type: ignore[assignment]
    content, acted = await _put(ctx, args)
    data: dict[str, Any] = {"kind": kind}
    verified = await _back(ctx, kind, content, acted, data)
    return Outcome(data=data, verified=verified, method=acted.method)


# --- reading ---------------------------------------------------------------------------------------------


async def _read(ctx: Context, kind: ClipKind | None) -> Outcome:
    clip: Clip = await ctx.use(Clipboard).read(kind)
    outcome = Outcome(data={"kinds": sorted(clip.kinds)})
    if clip.text is not None:
        most = SHOWN[ctx.level]
        outcome.data |= {"kind": "text", "text": clip.text[:most]}
        if len(clip.text) > most:
            outcome.truncated = [f"text (limit {most} of {len(clip.text)} characters)"]
    elif clip.files is not None:
        own = await DevicePaths.of(ctx)
        outcome.data |= {"kind": "files", "files": await own.told_all(clip.files[:FILES_SHOWN])}
        if len(clip.files) > FILES_SHOWN:
            outcome.truncated = [f"{len(clip.files) - FILES_SHOWN} files"]
    elif clip.image is not None:
        size = _measured(clip.image)
        picture = Image(clip.image, size.mime, size.width, size.height, 1.0, Rect(0, 0, size.width, size.height))
        outcome.artefacts = [await ctx.save_image(picture, "clipboard")]
        outcome.data |= {"kind": "image", "mime": size.mime, "width": size.width, "height": size.height}
    return outcome


def _measured(data: bytes) -> images.Picture:
    if len(data) > PICTURE_MOST:
        raise Unsupported("The picture on the clipboard is too large.", operation="clipboard.read", alternatives=[])
    try:
        return images.inspect(data)
    except ValueError:
        raise Unsupported(
            "The picture on the clipboard is of a kind that is not understood.",
            operation="clipboard.read",
            alternatives=[],
        ) from None


# --- writing ---------------------------------------------------------------------------------------------


async def _put(ctx: Context, args: ClipboardInput) -> tuple[Any, Acted]:
    """Writes; what was written, and how."""
    board = ctx.use(Clipboard)
    if args.text is not None:
        return args.text, await board.write_text(args.text)
    if args.image is not None:
        png = await _picture(ctx, args.image)
        return png, await board.write_image(png)
    assert args.files is not None
    own = await DevicePaths.of(ctx)
    found = [await own.there(name) for name in args.files]
    return found, await board.write_files(found)


async def _picture(ctx: Context, name: str) -> bytes:
    path = await paths.readable(ctx, name)

    def load() -> bytes:
        with Path(path).open("rb") as file:
            return file.read(PICTURE_MOST + 1)

    data = await anyio.to_thread.run_sync(load)
    if len(data) > PICTURE_MOST:
        raise ctx.bad_argument("image", "the file is too large", f"at most {PICTURE_MOST // 1024 // 1024} MB")
    try:
        mime = images.inspect(data).mime
    except ValueError:
        mime = ""
    if mime != "image/png":
        raise ctx.bad_argument("image", "this is no PNG file", "a PNG file")
    return data


async def _back(ctx: Context, kind: ClipKind, content: Any, acted: Acted, data: dict[str, Any]) -> bool:
    """Reads back what was written; whether it is there as it was written.

    Raises:
        ActionUnverified: Something else is on the clipboard.
    """
    if ctx.driver is None or not ctx.driver.has("clipboard.read"):
        return bool(acted.verified)
    try:
        clip: Clip = await ctx.use(Clipboard).read(kind)
    except PermissionMissing:
        data["unread"] = "the platform does not let the clipboard be read"
        return bool(acted.verified)
    except AnydeviceError as error:
        if error.code != Unsupported.code:
            raise
        return bool(acted.verified)
    had = getattr(clip, kind)
    if kind == "image":
        return _same_picture(content, had)
    if kind == "files":
        had = list(had) if had is not None else None
    elif had is not None and had != content:  # some platforms turn line ends into their own
        had, content = had.replace("\r\n", "\n"), content.replace("\r\n", "\n")
    if had != content:
        raise _unwritten(kind, _told(content), _told(had))
    return True


def _same_picture(sent: bytes, had: bytes | None) -> bool:
    """Whether it is the very file; platforms may encode a picture anew, but never change its size."""
    if had == sent:
        return True
    try:
        before, after = images.inspect(sent), images.inspect(had or b"")
    except ValueError:
        raise _unwritten("image", "the picture", "no picture") from None
    if (before.width, before.height) != (after.width, after.height):
        raise _unwritten("image", f"{before.width}x{before.height}", f"{after.width}x{after.height}")
    return False


def _unwritten(kind: str, expected: Any, actual: Any) -> ActionUnverified:
    return ActionUnverified(
        "Something else is on the clipboard than was written.",
        hint="Repeat the call; another program may have taken the clipboard.",
        kind=kind,
        expected=expected,
        actual=actual,
    )


def _told(content: Any) -> Any:
    """What an error says of a content: never the content itself."""
    if content is None:
        return "nothing of this kind"
    return f"{len(content)} {'characters' if isinstance(content, str) else 'files'}"
