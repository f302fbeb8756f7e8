"""Pictures and videos into the library of a simulator."""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from anydevice.driver import Acted, Files
from anydevice_schemas.errors import InvalidArgument, PathNotFound

from .reach import Reach
from .simctl import SimctlFailed, typed


class AppleFiles(Files):
    """See `Files`. Other files of a device have no way in or out that does not go through an app."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def add_media(self, source: str, *, deadline: float) -> Acted:
        """See `Files.add_media`.

        Raises:
            PathNotFound: There is no such file.
            InvalidArgument: The library does not take it.
        """
        if not await anyio.to_thread.run_sync(Path(source).is_file):
            raise PathNotFound("There is no such file.", path=Path(source).name)
        try:
            await self._reach.sim.run("addmedia", source, deadline=deadline)
        except SimctlFailed as error:
            if error.failure.kind in ("other", "absent"):
                raise InvalidArgument(
                    "The library of the device does not take this file.",
                    param="path",
                    expected="a picture or a video",
                    said=error.said[:1000],
                ) from None
            raise typed(error) from None
        return Acted("simctl", verified=None)
