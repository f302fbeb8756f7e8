"""Starting and stopping a virtual desktop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from anydevice.driver import Acted, Power
from anydevice_schemas.errors import Unsupported

from .desktop import Desktop
from .live import Lives
from .running import Running


class LinuxPower(Power):
    """The processes of a virtual desktop. A display that somebody else started is not ours to start or stop."""

    def __init__(
        self,
        desktop: Desktop | None,
        running: Running,
        lives: Lives,
        before: Callable[[], Awaitable[None]],
    ) -> None:
        """`before` is called before the desktop is ended: what runs on it is finished while it is there."""
        self._desktop, self._running, self._lives, self._before = desktop, running, lives, before

    async def boot(self, *, headless: bool | None, deadline: float) -> Acted:
        """See `Power.boot`. It has no window, whatever `headless` says.

        Raises:
            Unsupported: A window was asked for, or it is not a virtual desktop.
            AnydeviceError: As `Desktop.boot`.
        """
        desktop = self._own()
        if headless is False:
            raise Unsupported(
                "A virtual desktop has no window on a screen.",
                hint="Leave headless out, and look at it with screenshot.",
                operation="power.boot",
                alternatives=["screen.image"],
            )
        started = await desktop.boot(deadline=deadline)
        if started:
            self._running.ended()
        seat = desktop.running()
        data = {"display": seat.display, "size": list(desktop.plan.size), "headless": True}
        return Acted("launch", (), True, data if started else {**data, "already_running": True})

    async def shutdown(self, *, deadline: float) -> Acted:
        """See `Power.shutdown`.

        Raises:
            Unsupported: It is not a virtual desktop.
            DeviceNotReady: A process of it cannot be ended.
        """
        desktop = self._own()
        await self._before()
        await self._lives.aclose()
        stopped = await desktop.shutdown()
        self._running.ended()
        return Acted("end", (), True, {} if stopped else {"already_down": True})

    def _own(self) -> Desktop:
        if self._desktop is None:
            raise Unsupported(
                "This desktop is started and stopped by whoever owns it.",
                operation="power",
                alternatives=[],
            )
        return self._desktop
