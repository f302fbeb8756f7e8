"""files, add-media: between files of the caller and the device."""

from __future__ import annotations

import os
import posixpath
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.to_thread
from pydantic import Field

from anydevice_schemas import Artefact, Example, Plan
from anydevice_schemas.errors import ActionUnverified, PathRefused, UpstreamUnavailable

from .. import paths
from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Files
from ..kit import images, movies

TEXT_MOST = 1 << 20
"""Bytes up to which a file that was fetched is looked at to see whether it is text."""
HEAD = 64 * 1024
MEDIA = {b"GIF8": 0, b"WEBP": 8, b"ftypheic": 4, b"ftypheix": 4, b"ftypmif1": 4, b"ftypavif": 4}
"""What pictures begin with besides PNG and JPEG, and at which byte."""


class FilesInput(Input):
    """Inputs of `files`."""

    action: Literal["push", "pull"] = Field(description="push: onto the device; pull: from it.")
    host_path: str | None = Field(
        default=None, min_length=1, max_length=4096, description="Yours. Pull: a free name; omitted: an artefact."
    )
    device_path: str = Field(min_length=1, max_length=4096, description="The device's; with / at its end, a folder.")
    timeout_ms: int = Field(default=120_000, ge=1, le=1_800_000, description="When to give up.")


@command(
    name="files",
    toolset="debug",
    summary="Copies a file or folder from your folders onto the device, or from the device to a name that is free yet. "
    "For pictures and videos of the gallery use add-media, for apps install.",
    effect="mutate",
    leaves_device=True,
    deadline=15.0,
    input=FilesInput,
    plans=[
        Plan(name="push", operations=["files.push"], when={"action": ["push"]}),
        Plan(name="pull", operations=["files.pull"], when={"action": ["pull"]}),
    ],
    output={
        "hostPath": {"type": "string"},
        "devicePath": {"type": "string"},
        "files": {"type": "integer", "description": "How many were copied."},
        "bytes": {"type": "integer"},
    },
    examples=[
        Example(why="Onto it", arguments={"action": "push", "hostPath": "seed.db", "devicePath": "/storage/seed.db"}),
        Example(why="From it, as an artefact", arguments={"action": "pull", "devicePath": "/storage/log.txt"}),
    ],
)
async def files(ctx: Context, args: FilesInput) -> Outcome:
    """Copies files."""
    if "\0" in args.device_path:
        raise ctx.bad_argument("devicePath", "is no path", "a path of the device")
    return await (_push(ctx, args) if args.action == "push" else _pull(ctx, args))


async def _push(ctx: Context, args: FilesInput) -> Outcome:
    if args.host_path is None:
        raise ctx.bad_argument("hostPath", "action push needs it", "a file or folder of yours")
    source = await paths.readable(ctx, args.host_path, kind="any")
    count, size = await _measured(ctx, source)
    target = args.device_path + (source.name if args.device_path.endswith("/") else "")
    acted = await ctx.use(Files).push(str(source), target, deadline=args.timeout_ms / 1000)
    if acted.verified is False:
        raise ActionUnverified(
            "The device took the file and does not have it as it is.", expected=f"{size} bytes", actual="something else"
        )
    data = {"hostPath": await paths.told(ctx, source), "devicePath": target, "files": count, "bytes": size}
    return Outcome(data=data, verified=acted.verified is True, method=acted.method)


async def _measured(ctx: Context, source: Path) -> tuple[int, int]:
    """How many files a path of the host holds, and of how many bytes; nothing in it may lead out."""

    def count() -> tuple[int, int]:
        if not source.is_dir():
            return 1, source.stat().st_size
        inside = [path for path in source.rglob("*") if path.is_file()]
        return len(inside), sum(path.stat().st_size for path in inside)

    if await anyio.Path(source).is_dir():
        await paths.within(ctx, source)
    return await anyio.to_thread.run_sync(count, abandon_on_cancel=True)


async def _pull(ctx: Context, args: FilesInput) -> Outcome:
    name = posixpath.basename(args.device_path.rstrip("/")) or "root"
    if args.host_path is None:
        return await _pull_artefact(ctx, args, name)
    given = args.host_path + (name if args.host_path.endswith("/") else "")
    target = await paths.writable(ctx, given)
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        await ctx.use(Files).pull(args.device_path, str(part), deadline=args.timeout_ms / 1000)
        count, size, links = await anyio.to_thread.run_sync(_received, part)
        await anyio.to_thread.run_sync(_settle, part, target, given)
    finally:
        await _cleared(part)
    data = {
        "hostPath": await paths.told(ctx, target),
        "devicePath": args.device_path,
        "files": count,
        "bytes": size,
    }
    return Outcome(data=data, verified=True, truncated=[f"{links} links left out"] if links else [])


async def _pull_artefact(ctx: Context, args: FilesInput, name: str) -> Outcome:
    part = await anyio.to_thread.run_sync(ctx.services.artefacts.reserve, name)
    part = part.with_name(part.name + ".part")
    try:
        await ctx.use(Files).pull(args.device_path, str(part), deadline=args.timeout_ms / 1000)
        count, size, _ = await anyio.to_thread.run_sync(_received, part)
        if part.is_dir():
            raise ctx.bad_argument("hostPath", "this is a folder, which is no artefact", "a free name of yours")
        made: Artefact = await anyio.to_thread.run_sync(lambda: ctx.services.artefacts.adopt(part, _kind(part)))
    finally:
        await _cleared(part)
    return Outcome(
        data={"devicePath": args.device_path, "files": count, "bytes": size}, verified=True, artefacts=[made]
    )


def _received(part: Path) -> tuple[int, int, int]:
    """How many files and bytes have come; links among them lead who knows where, and are taken out.

    Raises:
        ActionUnverified: Nothing has come.
    """
    if not os.path.lexists(part):
        raise ActionUnverified("The file was sent and has not come.", expected="a file", actual="nothing")
    count = size = links = 0
    inside = [part] if not part.is_dir() or part.is_symlink() else list(part.rglob("*"))
    for path in inside:
        if path.is_symlink():
            path.unlink()
            links += 1
        elif path.is_file():
            count, size = count + 1, size + path.stat().st_size
    if not os.path.lexists(part):
        raise ActionUnverified("A link has come instead of a file.", expected="a file", actual="a link")
    return count, size, links


def _settle(part: Path, target: Path, given: str) -> None:
    """Gives what has come its name, and never takes that of something else."""
    if os.path.lexists(target):
        raise PathRefused("Something is there already.", path=given, roots=[], hint="Give a name that is free yet.")
    try:
        os.rename(part, target)
    except OSError as error:
        raise UpstreamUnavailable(
            "What has come cannot be given its name.",
            upstream="disk",
            enable_hint="Look at the folder it should go into.",
            reason=type(error).__name__,
        ) from error


async def _cleared(part: Path) -> None:
    def clear() -> None:
        if part.is_dir() and not part.is_symlink():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)

    with anyio.CancelScope(shield=True):
        await anyio.to_thread.run_sync(clear)


def _kind(path: Path) -> str:
    """What a file is, by its bytes."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    with suppress(ValueError):
        return images.inspect(head).mime
    with suppress(ValueError):
        return movies.inspect(path).mime
    if path.stat().st_size <= TEXT_MOST:
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" not in text:
            return "text/plain"
    return "application/octet-stream"


class AddMediaInput(Input):
    """Inputs of `add-media`."""

    path: str = Field(min_length=1, max_length=4096, description="Picture or video in your folders, or an artefact.")
    timeout_ms: int = Field(default=60_000, ge=1, le=600_000, description="When to give up.")


@command(
    name="add-media",
    toolset="device",
    summary="Puts a picture or video from your folders into the device's gallery. For other files use files.",
    effect="mutate",
    leaves_device=True,
    deadline=15.0,
    input=AddMediaInput,
    plans=[Plan(name="gallery", operations=["files.add_media"])],
    output={"path": {"type": "string"}, "mime": {"type": "string"}, "bytes": {"type": "integer"}},
    examples=[Example(why="A picture to choose in the app", arguments={"path": "portrait.jpg"})],
)
async def add_media(ctx: Context, args: AddMediaInput) -> Outcome:
    """Puts a picture or video into the gallery."""
    source = await paths.readable(ctx, args.path)
    mime = await anyio.to_thread.run_sync(_medium, source)
    if mime is None:
        raise ctx.bad_argument(
            "path", "this is no picture and no video", "PNG, JPEG, GIF, WebP, HEIC, MP4, MOV or WebM"
        )
    acted = await ctx.use(Files).add_media(str(source), deadline=args.timeout_ms / 1000)
    if acted.verified is False:
        raise ActionUnverified(
            "The device took the file and does not show it.", expected="in the gallery", actual="not there"
        )
    size = (await anyio.Path(source).stat()).st_size
    data: dict[str, Any] = {"path": await paths.told(ctx, source), "mime": mime, "bytes": size}
    return Outcome(data=data, verified=acted.verified is True, method=acted.method)


def _medium(path: Path) -> str | None:
    """The kind of a picture or video; None for anything else."""
    found = _kind(path)
    if found.startswith(("image/", "video/")):
        return found
    with path.open("rb") as file:
        head = file.read(32)
    for sign, at in MEDIA.items():
        if head[at : at + len(sign)] == sign:
            return "image/" + {b"GIF8": "gif", b"WEBP": "webp", b"ftypavif": "avif"}.get(sign, "heic")
    return None
