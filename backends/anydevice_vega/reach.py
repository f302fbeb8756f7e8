"""One device as its driver reaches it: command lines, the toolkit, the screen, the keys that work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import anyio

from anydevice_adb import AdbDevice, ShellDone, line
from anydevice_schemas import Tree
from anydevice_schemas.errors import (
    AnydeviceError,
    CallTimeout,
    ConnectionLost,
    DeviceNotReady,
    DeviceOffline,
    OutcomeUnknown,
    UpstreamUnavailable,
)

from .reading import guest
from .reading.page import NoPage, Page, parse_page
from .toolkit import DEADLINE, Toolkit, ToolkitOff, ToolkitSaidNo, source
from .tree import build, is_home

T = TypeVar("T")
BACK_WITHIN: Final = 8.0
"""Seconds a device that is offline is waited for: the transport has such moments of about five."""
STEP: Final = 0.25
SOURCE: Final = "getPageSource"
ACTS: Final = frozenset({"click", "clickCenter", "injectInputKeyEvent", "setText", "perform"})
"""Methods that must not be called again where it is not known whether they did what they do."""
FRESH: Final = 0.25
"""Seconds for which a look at the screen serves the next press as well."""
READY: Final = "device"


class Reach:
    """What the capabilities of one device share."""

    def __init__(self, adb: AdbDevice, left: set[str] | None = None) -> None:
        """`left` are temporary files of ours that are to be removed; all drivers of the device share them."""
        self.adb = adb
        self.toolkit = Toolkit(adb)
        self._last: tuple[float, Page] | None = None
        self._left: set[str] = set() if left is None else left

    async def run(self, *words: str | int, deadline: float = 10.0) -> ShellDone:
        """Runs a program on the device; each word reaches it as it is.

        Raises:
            AnydeviceError: As `AdbDevice.shell`.
        """
        return await self.sh(line(*words), deadline=deadline)

    async def sh(self, command: str, *, deadline: float = 10.0) -> ShellDone:
        """Runs a command line on the device.

        Raises:
            AnydeviceError: As `AdbDevice.shell`.
        """
        self._last = None
        return await self.patiently(lambda: self.adb.shell(command, deadline=deadline))

    async def ask(self, method: str, params: dict[str, Any] | None = None, *, deadline: float = DEADLINE) -> Any:
        """Asks the toolkit.

        Raises:
            DeviceNotReady: It does not listen.
            UpstreamUnavailable: It refused, or gave no answer.
            CallTimeout: It did not answer in time.
            OutcomeUnknown: Instead of these two, where the method does something.
            AnydeviceError: The device cannot be reached.
        """
        if method != SOURCE:
            self._last = None
        try:
            return await self.patiently(lambda: self.toolkit.call(method, params, deadline=deadline))
        except ToolkitOff as error:
            raise toolkit_off() from error
        except ToolkitSaidNo as error:
            raise UpstreamUnavailable(
                "The automation toolkit did not do it.",
                upstream="automation toolkit",
                enable_hint="Call snapshot to see what is on the screen; see details.said.",
                method=method,
                said=error.said,
            ) from error
        except (CallTimeout, ConnectionLost, UpstreamUnavailable) as error:
            if method not in ACTS:
                raise
            raise unknown(method, error) from error

    async def act(self, *words: str | int, deadline: float = 10.0) -> ShellDone:
        """As `run`, for what must not be done again where it is not known whether it was carried out.

        Raises:
            OutcomeUnknown: It was sent, and no answer came.
            AnydeviceError: As `run`.
        """
        return await self.act_line(line(*words), str(words[0]), deadline=deadline)

    async def act_line(self, command: str, what: str, *, deadline: float = 10.0) -> ShellDone:
        """As `act`, of a command line; `what` is the word for it in the error.

        Raises:
            OutcomeUnknown: It was sent, and no answer came.
            AnydeviceError: As `sh`.
        """
        try:
            return await self.sh(command, deadline=deadline)
        except (CallTimeout, ConnectionLost) as error:
            raise unknown(what, error) from error

    async def away(self, path: str) -> None:
        """Removes a temporary file or folder of ours, also while its caller is being cancelled. Where the device cannot
        be reached it is remembered, for `tidy`."""
        self._left.add(path)
        with anyio.move_on_after(5.0, shield=True), suppress(AnydeviceError):
            await self.tidy()

    async def tidy(self) -> None:
        """Removes what `away` could not.

        Raises:
            AnydeviceError: As `sh`; it stays remembered.
        """
        if self._left:
            names = sorted(self._left)
            await self.sh(line("rm", "-rf", *names), deadline=4.0)
            self._left.difference_update(names)

    async def page(self) -> Page:
        """What is shown now.

        The toolkit always tells of the home screen; of an app in front that was started without the toolkit it tells
        nothing. So where the home screen is all there is, the device is asked whether it is in front.

        Raises:
            DeviceNotReady: The toolkit tells nothing of the app in front.
            UpstreamUnavailable: What came is no page source.
            AnydeviceError: As `ask`.
        """
        text = source(await self.ask(SOURCE))
        try:
            page = await _parsed(text)
        except NoPage as error:
            raise UpstreamUnavailable(
                "The automation toolkit gave no page source.",
                upstream="automation toolkit",
                enable_hint="Repeat the call; if it stays so, open the app again.",
                retryable=True,
                said=error.said,
            ) from error
        shown = page.front()
        if shown is None or is_home(shown.name):
            await self._really_home()
        self._last = anyio.current_time(), page
        return page

    async def _really_home(self) -> None:
        rows = guest.running((await self.run("vlcm", "list", deadline=5.0)).text)
        if any(row.front and not is_home(row.component.rpartition(".")[0]) for row in rows):
            raise toolkit_off()

    async def tree(self) -> Tree:
        """The whole of what is shown now, dialogs and all.

        Raises:
            AnydeviceError: As `page`.
        """
        return build(await self.page())

    async def recent(self) -> Page:
        """As `page`; the last one, where that was read a moment ago and nothing was asked of the device since.

        Raises:
            AnydeviceError: As `page`.
        """
        if self._last is not None and anyio.current_time() - self._last[0] < FRESH:
            return self._last[1]
        return await self.page()

    async def patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Asks once more, when the device is there again, what was refused because it was not: nothing had been sent.

        Raises:
            DeviceOffline: It did not come back.
        """
        try:
            return await ask()
        except DeviceOffline:
            if not await self._back():
                raise
        return await ask()

    async def _back(self) -> bool:
        with anyio.move_on_after(BACK_WITHIN):
            while True:
                try:
                    rows = await self.adb.server.devices()
                except AnydeviceError:
                    rows = []
                mine = [row for row in rows if row.serial == self.adb.serial]
                if not mine:
                    return False
                if mine[0].state == READY:
                    return True
                await anyio.sleep(STEP)
        return False


LARGE: Final = 200_000
"""Characters of a page source from which it is read in a thread of its own."""


async def _parsed(text: str) -> Page:
    if len(text) < LARGE:
        return parse_page(text)
    import anyio.to_thread

    return await anyio.to_thread.run_sync(parse_page, text)


def unknown(sent: str, error: AnydeviceError) -> OutcomeUnknown:
    """The error of what was sent and not answered."""
    return OutcomeUnknown(
        "The device did not answer: it may or may not have done that.",
        hint="Look before doing it again (snapshot, or screenshot).",
        sent=sent,
        reason=error.code,
    )


def toolkit_off() -> DeviceNotReady:
    """The refusal to read a screen of which the toolkit tells nothing."""
    return DeviceNotReady(
        "The screen cannot be read: the app in front was not started with the automation toolkit.",
        hint="Call open with the app's id: it is then started with the toolkit.",
        state="ready",
        fix="Open the app with open.",
        reason="toolkit_off",
    )
