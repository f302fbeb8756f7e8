"""install, uninstall, reinstall, install-from-source: apps of the device, from packages."""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from pydantic import Field

from anydevice_schemas import Confirm, Example, Plan
from anydevice_schemas.errors import (
    ActionUnverified,
    AmbiguousElement,
    AnydeviceError,
    AppNotFound,
    Refused,
)

from .. import paths
from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Acted, App, Apps
from ..kit import fetching, unpacking
from ..settings import private_folder
from ..text import fold_text, nearest

T = TypeVar("T")
CHUNK = 1 << 20
PACKAGE_MOST = 4 * 1024**3
"""Bytes of a package that is downloaded."""
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
INSTALL = [
    Plan(name="package", operations=["apps.install", "apps.list"]),
    Plan(name="package", operations=["apps.install"]),
]
OUTPUT = {
    "app": {"type": "string", "description": "Id of the app; untrusted."},
    "updated": {"type": "boolean", "description": "It was there before."},
}


class InstallInput(Input):
    """Inputs of `install`."""

    path: str = Field(min_length=1, max_length=4096, description="Package in your folders: a file, or a folder.")
    timeout_ms: int = Field(default=180_000, ge=1, le=1_800_000, description="When to give up.")


@command(
    name="install",
    toolset="apps",
    summary="Installs an app from a package in your folders, or updates it and keeps its data. Then call open. To "
    "begin with no data use reinstall, for a package from the network install-from-source.",
    effect="mutate",
    leaves_device=True,
    deadline=30.0,
    input=InstallInput,
    plans=INSTALL,
    output=OUTPUT,
    examples=[Example(why="A build of yours", arguments={"path": "build/app.package"})],
)
async def install(ctx: Context, args: InstallInput) -> Outcome:
    """Installs an app."""
    package = await paths.readable(ctx, args.path, kind="any")
    return await _install(ctx, package, args.timeout_ms / 1000)


class UninstallInput(Input):
    """Inputs of `uninstall`."""

    app: str = Field(min_length=1, max_length=256, description="Id or name of the app.")


@command(
    name="uninstall",
    toolset="apps",
    summary="Removes an app with all its data from the device, and sees it gone. A person approves it first. To end an "
    "app use close.",
    effect="destroy",
    deadline=60.0,
    input=UninstallInput,
    plans=[
        Plan(name="package", operations=["apps.uninstall", "apps.list"]),
        Plan(name="package", operations=["apps.uninstall"]),
    ],
    confirm=[Confirm(because="removes an app and its data")],
    output={"app": {"type": "string", "description": "Id of the app that went; untrusted."}},
    examples=[Example(why="Away with it", arguments={"app": "com.example.app"})],
)
async def uninstall(ctx: Context, args: UninstallInput) -> Outcome:
    """Removes an app."""
    app = _meant(ctx, args.app, await _apps(ctx))
    acted, gone = await _remove(ctx, app)
    return Outcome(data={"app": app}, verified=gone, method=acted.method)


class ReinstallInput(InstallInput):
    """Inputs of `reinstall`."""

    app: str = Field(min_length=1, max_length=256, description="Id or name of the app to remove first, if it is there.")


@command(
    name="reinstall",
    toolset="apps",
    summary="Removes an app with all its data, if it is there, and installs it anew from a package in your folders. A "
    "person approves it first. To keep the data use install.",
    effect="destroy",
    leaves_device=True,
    deadline=60.0,
    input=ReinstallInput,
    plans=[Plan(name="package", operations=["apps.install", "apps.uninstall", "apps.list"])],
    confirm=[Confirm(because="removes an app and its data before it is installed anew")],
    output={**OUTPUT, "removed": {"type": "boolean", "description": "It was there before, and was removed."}},
    examples=[
        Example(why="As on the first day", arguments={"app": "com.example.app", "path": "build/app.package"})
    ],
)  # fmt: skip
async def reinstall(ctx: Context, args: ReinstallInput) -> Outcome:
    """Removes an app and installs it anew."""
    package = await paths.readable(ctx, args.path, kind="any")
    app: str | None = None
    try:
        app = _meant(ctx, args.app, await _apps(ctx))
        await _remove(ctx, app)
    except AppNotFound:
        app = None
    try:
        outcome = await _install(ctx, package, args.timeout_ms / 1000)
    except AnydeviceError as error:
        if app is not None:
            error.details["removed"] = args.app  # who asked has to know that it is gone
        raise
    installed = outcome.data.get("app")
    if app is not None and installed is not None and installed != app:
        raise ActionUnverified("The package holds another app than the one that was removed.",
                               expected=app, actual=installed, removed=app)  # fmt: skip
    outcome.data["removed"] = app is not None
    return outcome


class SourceInput(Input):
    """Inputs of `install-from-source`."""

    source: str = Field(
        min_length=1, max_length=4096, description="http(s) address of a package, or a path in your folders."
    )
    sha256: str | None = Field(
        default=None, pattern=r"^[0-9a-fA-F]{64}$", description="What the file's SHA-256 has to be."
    )
    timeout_ms: int = Field(default=300_000, ge=1, le=1_800_000, description="When to give up, download included.")


@command(
    name="install-from-source",
    toolset="apps",
    summary="Installs an app from an http(s) address, or from a file in your folders; a zip or tar with one app in it "
    "is unpacked. With sha256 nothing but that very file is installed. Private addresses are refused unless "
    "configured.",
    effect="mutate",
    leaves_device=True,
    deadline=30.0,
    input=SourceInput,
    plans=INSTALL,
    output={
        **OUTPUT,
        "sha256": {"type": "string", "description": "Of the file that was used."},
        "bytes": {"type": "integer"},
        "from": {"type": "string", "description": "Address it really came from."},
    },
    examples=[
        Example(why="A build of your server", arguments={"source": "https://example.org/app.zip", "sha256": "0" * 64})
    ],
)
async def install_from_source(ctx: Context, args: SourceInput) -> Outcome:
    """Installs an app from an address or a path."""
    data: dict[str, Any] = {}
    async with _workplace(ctx) as folder:
        if ADDRESS.match(args.source) and not args.source.startswith("anydevice:"):
            package = await _fetched(ctx, args, folder, data)
        else:
            package = await paths.readable(ctx, args.source, kind="any")
            if await anyio.Path(package).is_file():
                # A copy of our own: what was looked at is what is installed.
                package = await _beside(partial(_copied, package, folder))
                data |= {"sha256": await _beside(partial(_digest, package)), "bytes": package.stat().st_size}
            elif args.sha256 is not None:
                raise ctx.bad_argument("sha256", "a folder has none", "a file, or no sha256")
        if args.sha256 is not None and data["sha256"] != args.sha256.lower():
            raise Refused(
                "The file is not the one that was meant.",
                reason="its SHA-256 differs",
                alternative="the file with this SHA-256",
                expected=args.sha256.lower(),
                actual=data["sha256"],
            )
        package = await _beside(partial(_unpacked, package, folder))
        outcome = await _install(ctx, package, max(1.0, ctx.remaining() - 5.0))
    outcome.data |= data
    return outcome


async def _fetched(ctx: Context, args: SourceInput, folder: Path, data: dict[str, Any]) -> Path:
    await ctx.progress(None, "downloading")
    got = await fetching.fetch(
        args.source,
        folder,
        most=PACKAGE_MOST,
        seconds=args.timeout_ms / 1000,
        allow=ctx.services.settings.private_hosts,
    )
    data |= {"sha256": got.sha256, "bytes": got.size, "from": got.url.partition("?")[0]}
    return got.path


async def _beside(work: Callable[[Event], T]) -> T:
    """Does blocking work in a thread, which is told when nobody waits any more, and given a moment to end."""
    stop, done = Event(), Event()

    def run() -> T:
        try:
            return work(stop)
        finally:
            done.set()

    try:
        return await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
    finally:
        stop.set()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(done.wait, 5.0)


def _copied(package: Path, folder: Path, stop: Event) -> Path:
    copy = folder / package.name
    with package.open("rb") as source, copy.open("xb") as target:
        while chunk := source.read(CHUNK):
            if stop.is_set():
                raise TimeoutError
            target.write(chunk)
    return copy


def _digest(path: Path, stop: Event) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while (chunk := file.read(CHUNK)) and not stop.is_set():
            digest.update(chunk)
    return digest.hexdigest()


def _unpacked(package: Path, folder: Path, stop: Event) -> Path:
    """The package itself, out of the archive that wraps it."""
    if package.is_dir():
        return package
    unpacking.check(package, stop)
    if not unpacking.wraps(package):
        return package
    into = folder / "unpacked"
    into.mkdir()
    return unpacking.unpack(package, into, stop)


@asynccontextmanager
async def _workplace(ctx: Context) -> AsyncIterator[Path]:
    """A folder of this call alone, gone with it."""
    folder = ctx.services.settings.run_dir / "packages" / secrets.token_hex(8)
    await anyio.to_thread.run_sync(lambda: (private_folder(folder.parent), private_folder(folder)))
    try:
        yield folder
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


# --- what all of them do ----------------------------------------------------------------------------------


def _lists(ctx: Context) -> bool:
    assert ctx.plan is not None
    return "apps.list" in ctx.plan.operations


async def _apps(ctx: Context) -> Sequence[App]:
    return await ctx.use(Apps).list() if _lists(ctx) else ()


async def _install(ctx: Context, package: Path, seconds: float) -> Outcome:
    """Installs a package and looks whether the app is there now."""
    before = {app.id for app in await _apps(ctx)}
    await ctx.progress(None, "installing")
    acted: Acted = await ctx.use(Apps).install(str(package), deadline=seconds)
    app = str(acted.data["app"]) if acted.data.get("app") else None
    if not _lists(ctx):
        return Outcome(data={"app": app} if app else {}, verified=acted.verified is True, method=acted.method)
    after = {one.id for one in await _apps(ctx)}
    new = sorted(after - before)
    if app is None and len(new) == 1:
        app = new[0]
    if app is not None and app not in after:
        raise ActionUnverified("The package was installed and no such app is there.", expected=app, actual="not listed")
    if app is None:  # an update of something, or nothing
        return Outcome(data={}, verified=acted.verified is True, method=acted.method)
    return Outcome(data={"app": app, "updated": app in before}, verified=True, method=acted.method)


async def _remove(ctx: Context, app: str) -> tuple[Acted, bool]:
    """Removes an app and looks whether it is gone."""
    acted: Acted = await ctx.use(Apps).uninstall(app)
    if not _lists(ctx):
        return acted, acted.verified is True
    if any(one.id == app for one in await _apps(ctx)):
        raise ActionUnverified("The app was removed and is still there.", expected="not listed", actual=app)
    return acted, True


def _meant(ctx: Context, text: str, apps: Sequence[App]) -> str:
    """The id of the one app that is meant: by id, else by name.

    Raises:
        AppNotFound: There is none.
        AmbiguousElement: There are several of this name.
    """
    if not _lists(ctx):
        return text
    for same in (
        lambda app: app.id == text,
        lambda app: app.id.casefold() == text.casefold(),
        lambda app: fold_text(app.name) == fold_text(text),
    ):
        found = [app for app in apps if same(app)]
        if len(found) == 1:
            return found[0].id
        if found:
            raise AmbiguousElement(
                "Several apps have this name.",
                candidates=[{"id": app.id, "name": app.name} for app in found],
                matches=len(found),
                hint="Repeat the call with the id of one of details.candidates.",
            )
    near = nearest(fold_text(text), [word for app in apps for word in (app.id, fold_text(app.name))])
    raise AppNotFound("No such app is installed.", nearest_matches=near, hint="Call apps to see what is installed.")
