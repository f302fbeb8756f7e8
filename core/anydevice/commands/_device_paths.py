"""Paths on a device whose files may be files of this host: then the caller's folders are the limit there too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import paths
from ..context import Context
from ..driver import Files


@dataclass(slots=True, frozen=True)
class DevicePaths:
    """How paths of the device are read and told.

    Attributes:
        of_host: The device's files are files of this host.
        home: Its own folder there, which `~` then means.
    """

    ctx: Context
    of_host: bool
    home: str | None = None

    @staticmethod
    async def of(ctx: Context) -> DevicePaths:
        """Asks the device where its files are."""
        assert ctx.driver is not None
        if not ctx.driver.has("files.home"):
            return DevicePaths(ctx, of_host=False)
        return DevicePaths(ctx, of_host=True, home=await ctx.use(Files).home())

    async def there(self, text: str, *, kind: paths.Kind = "any") -> str:
        """Something that is there and may be read, links followed."""
        if not self.of_host:
            return text
        return str(await paths.readable(self.ctx, text, kind=kind, home=self.home))

    async def movable(self, text: str) -> str:
        """Something that is there and may be moved; a link at its end stays one."""
        if not self.of_host:
            return text
        return str(await paths.movable(self.ctx, text, home=self.home))

    async def told(self, path: str) -> str:
        """How an answer names a path of the device."""
        return (await self.told_all([path]))[0]

    async def told_all(self, given: Sequence[str]) -> list[str]:
        """How an answer names paths of the device."""
        words = await paths.told_all(self.ctx, given, home=self.home) if self.of_host else given
        return [_plain(word) for word in words]


def _plain(path: str) -> str:
    """A name that is no UTF-8 with marks in the place of what cannot be written."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
