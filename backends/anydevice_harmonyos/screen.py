"""Reading the screen: trees and pictures."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from anydevice.driver import Geometry, Image, Screen, TreeScope
from anydevice.kit import images, scaling
from anydevice_schemas import Rect, Tree
from anydevice_schemas.errors import AnydeviceError, InvalidArgument, Unsupported, UpstreamUnavailable

from .apps import HarmonyosApps
from .guarding import WHOLE, Guard, dialog_of, refuse
from .hdc import quote
from .looking import Looking
from .reach import Reach
from .reading.types import DIALOGS
from .tree import build

PICTURE: Final = 20.0
"""Seconds a picture may take."""


class HarmonyosScreen(Screen):
    """See `Screen`. Points are HarmonyOS's virtual pixels."""

    def __init__(self, reach: Reach, looking: Looking, guard: Guard, apps: HarmonyosApps) -> None:
        self._reach, self._looking, self._guard, self._apps = reach, looking, guard, apps
        self._png: bool | None = None  # whether this build's quick program makes PNG files; None: not tried yet

    async def tree(self, scope: TreeScope) -> Tree:
        """See `Screen.tree`. HarmonyOS tells what is on screen and no more: there is no `full` beyond it.

        Raises:
            DialogOpen: A dialog has to be answered first.
            AppCrashed: The app that was opened is gone.
            StaleRef: The element to start from is gone.
            AnydeviceError: As `Looking.take`.
        """
        layout, view = await self._looking.take()
        await self._apps.troubled(view.app)
        tree = build(layout, view, scope)
        if any(node.native_role in DIALOGS for node in tree.nodes) or dialog_of(tree) is not None:
            refuse(build(layout, view, WHOLE))
        return tree

    async def image(self, area: Rect | None = None, *, full: bool = False) -> Image:
        """See `Screen.image`: a PNG file where the device makes one quickly, else a JPEG file.

        Raises:
            Unsupported: `full`.
            InvalidArgument: The area is not on the screen.
            UpstreamUnavailable: The device gave no whole picture.
            DialogOpen: A dialog has to be answered first.
        """
        if full:
            raise Unsupported(
                "HarmonyOS has no picture of more than the screen.",
                hint="Scroll, and take a picture of each part.",
                operation="screen.image",
                alternatives=["touch.swipe"],
            )
        await self._guard.check()
        data = await self.picture()
        found = images.inspect(data)
        scale = (await self._reach.view()).scale
        whole = Rect(0, 0, found.width / scale, found.height / scale)
        if area is None:
            return Image(data, found.mime, found.width, found.height, scale, whole)
        part = area.intersect(whole)
        if part is None:
            raise InvalidArgument("The area is not on the screen.", param="area", expected="a part of the screen")
        return await anyio.to_thread.run_sync(_crop, data, part, scale)

    async def geometry(self) -> Geometry:
        """See `Screen.geometry`."""
        view = await self._reach.view(fresh=True)
        return Geometry(view.viewport, view.scale)

    async def picture(self, *, quick: bool = False) -> bytes:
        """A picture of the screen as a file; `quick`: whatever is the quickest, which is a JPEG.

        Raises:
            UpstreamUnavailable: The device gave no whole one.
            AnydeviceError: As `HdcDevice.shell`.
        """
        if not quick and self._png is not False:
            data = await self._taken("png")
            if data is not None:
                self._png = True
                return data
            self._png = False if self._png is None else self._png
        data = await self._taken("jpeg")
        if data is None:
            raise UpstreamUnavailable(
                "The device gave no whole picture of its screen.",
                upstream="snapshot_display",
                enable_hint="Turn the screen on (key chord=wakeup), then repeat the call.",
                retryable=True,
            )
        return data

    async def _taken(self, kind: str) -> bytes | None:
        """A picture of one kind; None where the program did not make it."""
        file = self._reach.temporary(f".{kind}")
        name = quote(file)
        line = f"snapshot_display -f {name} -t {kind}; test -s {name}"
        if kind == "jpeg":  # older builds know no kinds, and say with status 0 that they do not
            line += f" || {{ snapshot_display -f {name}; test -s {name}; }}"
        done = await self._reach.hdc.shell(line, deadline=PICTURE)
        if done.status != 0:
            return None
        folder = await anyio.to_thread.run_sync(tempfile.mkdtemp, None, "anydevice-")
        target = Path(folder, f"screen.{kind}")
        try:
            await self._reach.hdc.receive(file, str(target), deadline=PICTURE)
            data = await anyio.to_thread.run_sync(target.read_bytes)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(_drop, target)
                with anyio.move_on_after(3.0):
                    await _quietly(self._reach, name)
        return data if whole(data, kind) else None


async def _quietly(reach: Reach, name: str) -> None:
    try:
        await reach.hdc.shell(f"rm -f {name}", deadline=2.0)
    except AnydeviceError:
        return  # a file that stays behind keeps nobody from anything


def whole(data: bytes, kind: str) -> bool:
    """Whether a picture's file is of this kind, and was not cut off."""
    try:
        found = images.inspect(data)
    except ValueError:
        return False
    if kind == "png":
        return found.mime == "image/png" and b"IEND" in data[-16:]
    return found.mime == "image/jpeg" and data.rstrip(b"\0").endswith(b"\xff\xd9")


def _drop(target: Path) -> None:
    target.unlink(missing_ok=True)
    target.parent.rmdir()


def _crop(data: bytes, area: Rect, scale: float) -> Image:
    left, top = round(area.x * scale), round(area.y * scale)
    box = (left, top, round((area.x + area.width) * scale), round((area.y + area.height) * scale))
    part, width, height = scaling.cropped(data, box)
    shown = Rect(left / scale, top / scale, width / scale, height / scale)
    return Image(part, "image/png", width, height, scale, shown)
