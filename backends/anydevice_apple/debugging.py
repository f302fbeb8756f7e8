"""The command this backend brings: `debug`, which names the functions of a crash report or of bare addresses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import anyio.to_thread

from anydevice import paths
from anydevice.context import Context, Outcome
from anydevice_schemas import Artefact
from anydevice_schemas.errors import InvalidArgument, PathNotFound

from . import symbols
from .backend import AppleBackend
from .reading.crashreport import EXCEPTION, Frame, NoReport, Report, parse
from .symbols import Named, Symbols
from .xcrun import Xcrun

REPORT_MOST: Final = 32 << 20
"""Bytes of a crash report."""
SHOWN: Final = 50
"""Frames in the answer; all of them are in the artefact."""
IMAGES: Final = 20
SYSTEM: Final = ("/System/", "/usr/lib/")
"""Where the system's own images are, whose symbols nobody is asked for."""


async def debug(ctx: Context, args: Any) -> Outcome:
    """Names the functions of a crash report, or of addresses.

    Raises:
        InvalidArgument: What is given does not go together, or is no crash report.
        PathNotFound, PathRefused: A path cannot be read, or has no symbols of the architecture that is meant.
        ToolMissing, CallTimeout, UpstreamUnavailable: `atos` cannot be asked.
    """
    assert isinstance(ctx.backend, AppleBackend)
    xcrun = ctx.backend.xcrun(ctx.environment)
    if (args.report is None) == (args.addresses is None):
        raise ctx.bad_argument("report", "give a crash report, or addresses", "one of the two")
    if args.addresses is not None:
        return await _addresses(ctx, xcrun, args)
    for name in ("load_address", "arch"):
        if getattr(args, name) is not None:
            raise ctx.bad_argument(_camel(name), "goes with addresses only; a report tells it", "nothing")
    file = await paths.readable(ctx, args.report)
    report = await anyio.to_thread.run_sync(_read, file)
    place = await paths.readable(ctx, args.dsym, kind="any") if args.dsym is not None else file.parent
    return await _report(ctx, xcrun, report, place)


async def _addresses(ctx: Context, xcrun: Xcrun, args: Any) -> Outcome:
    for name in ("dsym", "load_address"):
        if getattr(args, name) is None:
            raise ctx.bad_argument(_camel(name), "addresses need it", "where the symbols are, and the image was loaded")
    base = int(args.load_address, 16)
    asked = [int(word, 16) for word in args.addresses]
    if low := [word for word, one in zip(args.addresses, asked, strict=True) if one < base]:
        raise ctx.bad_argument("addresses", f"{low[0]} lies before loadAddress", "addresses within the image")
    place = await paths.readable(ctx, args.dsym, kind="any")
    found, _ = await anyio.to_thread.run_sync(symbols.inside, place, abandon_on_cancel=True)
    fitting = [one for one in found if args.arch in (None, one.arch)]
    if not fitting:
        raise PathNotFound(
            "There are no debug symbols" + (" of this architecture" if found else "") + ".",
            hint="Give dsym as a .dSYM, or as an app's own program that was not stripped.",
            path=args.dsym,
            archs=sorted({one.arch for one in found}),
        )
    if len(fitting) > 1:
        raise ctx.bad_argument(
            "dsym" if args.arch or len({one.path for one in fitting}) > 1 else "arch",
            "several symbols fit",
            ", ".join(sorted({f"{one.path.name} {one.arch}" for one in fitting})[:IMAGES]),
        )
    named = await symbols.names(xcrun, fitting[0], base, asked)
    frames = [_told(f"{one:#x}", named.get(one)) for one in asked]
    resolved = sum(one in named for one in asked)
    return Outcome(
        data={
            "frames": frames,
            "images": [{"image": fitting[0].path.name, "arch": fitting[0].arch, "uuid": _dashed(fitting[0].uuid)}],
            "resolved": resolved,
            "unresolved": len(asked) - resolved,
        },
        method="atos",
    )


def _read(file: Path) -> Report:
    """Blocks."""
    if file.stat().st_size > REPORT_MOST:
        raise InvalidArgument("The report is too large.", param="report", expected=f"at most {REPORT_MOST >> 20} MiB")
    try:
        return parse(file.read_text("utf-8", "replace"))
    except NoReport as error:
        raise InvalidArgument(
            "This is no crash report that can be read.",
            hint="Give an .ips or .crash file as the system or Xcode wrote it.",
            param="report",
            expected="an .ips or .crash file with a backtrace",
            reason=str(error),
        ) from None


async def _report(ctx: Context, xcrun: Xcrun, report: Report, place: Path) -> Outcome:
    found, whole = await anyio.to_thread.run_sync(symbols.inside, place, abandon_on_cancel=True)
    builds: dict[str, Symbols] = {one.uuid: one for one in found}
    truncated = [] if whole else [f"files looked through for symbols (limit {symbols.ENTRIES})"]
    if report.cut:
        truncated.append(f"{report.cut} frames of the report")
    images: list[dict[str, Any]] = []
    missing: list[dict[str, Any]] = []
    resolved = 0
    for number, image in enumerate(report.images):
        mine = [frame for frame in report.frames if frame.image == number]
        if not mine:
            continue
        row = {"image": image.name, "uuid": _dashed(image.uuid), "arch": image.arch, "frames": len(mine)}
        build = builds.get(image.uuid) if image.uuid else None
        if build is None:
            if not image.path.startswith(SYSTEM) and not all(frame.symbol for frame in mine):
                missing.append(row)
            continue
        named = await symbols.names(xcrun, build, image.base, (frame.address for frame in mine))
        for frame in mine:
            if one := named.get(frame.address):
                frame.symbol, frame.place = one.symbol, one.place
                resolved += 1
        images.append(row | {"resolved": sum(frame.address in named for frame in mine)})
    if missing:
        ctx.notice(
            "symbols_missing",
            "Of images in data.missing no symbols of the very build were found; others are never used. Name the folder "
            "of its .xcarchive or .dSYM with dsym.",
        )
    shown = [one for one in report.frames if one.thread in (EXCEPTION, report.crashed)] or report.frames
    if len(shown) > SHOWN:
        truncated.append(f"{len(shown) - SHOWN} frames (limit {SHOWN}); the artefact has them")
    for name, rows in (("images", images), ("missing", missing)):
        if len(rows) > IMAGES:
            truncated.append(f"{len(rows) - IMAGES} {name} (limit {IMAGES})")
    data: dict[str, Any] = {
        "report": report.facts,
        **({"thread": report.crashed} if report.crashed is not None else {}),
        "frames": [_frame(report, one) for one in shown[:SHOWN]],
        "images": images[:IMAGES],
        "missing": missing[:IMAGES],
        "resolved": resolved,
        "unresolved": sum(not one.symbol for one in report.frames),
    }
    return Outcome(data=data, method="atos", truncated=truncated, artefacts=[await _saved(ctx, report)])


async def _saved(ctx: Context, report: Report) -> Artefact:
    """Every frame of every thread as a file."""
    whole = {"report": report.facts, "crashed": report.crashed, "frames": [_frame(report, f) for f in report.frames]}
    text = json.dumps(whole, ensure_ascii=False, indent=1).encode()
    return await anyio.to_thread.run_sync(
        lambda: ctx.services.artefacts.save(text, "application/json", stem="symbolicated")
    )


def _frame(report: Report, frame: Frame) -> dict[str, Any]:
    image = report.images[frame.image].name if frame.image is not None else "?"
    thread = "exception" if frame.thread == EXCEPTION else frame.thread
    named = Named(frame.symbol, frame.place) if frame.symbol else None
    return {"thread": thread, "index": frame.index, "image": image, **_told(f"{frame.address:#x}", named)}


def _told(address: str, named: Named | None) -> dict[str, Any]:
    if named is None:
        return {"address": address}
    return {"address": address, "symbol": named.symbol, **({"place": named.place} if named.place else {})}


def _dashed(uuid: str) -> str:
    """As Xcode writes it."""
    return "-".join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:])) if uuid else ""


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)
