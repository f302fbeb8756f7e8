"""One device as its driver reaches it: commands, the queue of its automation program, its screen, what is in front."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import anyio

from anydevice_schemas import Point, Rect
from anydevice_schemas.errors import (
    AnydeviceError,
    BackendBroken,
    CallTimeout,
    DeviceNotReady,
    InvalidArgument,
    UpstreamUnavailable,
)

from .hdc import HdcDevice, ShellDone, line
from .hdc.device import TEMPORARY
from .reading import display as displays
from .reading import inputs, missions, windows
from .reading.missions import Mission

SCREEN: Final = "hidumper -s RenderService -a screen"
DISPLAY: Final = "hidumper -s DisplayManagerService -a -a"
WINDOWS: Final = "hidumper -s WindowManagerService -a -a"
MISSIONS: Final = "aa dump -l"
START: Final = 15.0
"""Seconds the input program may take besides what the gesture takes."""
DARK: Final = 93
"""Status with which our own line says that the screen is off, after the mark."""
EDGE: Final = 1
"""Pixels at the edge of a screen that the input program refuses."""
_DARK_MARK = "__anydevice_dark"


@dataclass(slots=True, frozen=True)
class View:
    """A screen as it is turned now: pixels, pixels per point, quarter turns, and the app in front."""

    width: int
    height: int
    scale: float
    turned: int = 0
    app: str = ""
    ability: str = ""

    @property
    def viewport(self) -> Rect:
        """The screen in points."""
        return Rect(0, 0, self.width / self.scale, self.height / self.scale)


@dataclass(slots=True)
class Slot:
    """What all drivers of one device share, one after the other.

    Attributes:
        queue: Of the device's automation program; calls that overlap there block each other.
        left: Temporary files of ours on the device that are to be removed.
    """

    queue: anyio.Lock = field(default_factory=anyio.Lock)
    left: set[str] = field(default_factory=set)


class Reach:
    """What the capabilities of one device share."""

    def __init__(self, hdc: HdcDevice, slot: Slot | None = None) -> None:
        self.hdc = hdc
        self.slot = slot or Slot()
        self._view: View | None = None

    async def away(self, path: str) -> None:
        """Removes a temporary file of ours, also while its caller is cancelled; `tidy` does it where this cannot."""
        self.slot.left.add(path)
        with anyio.CancelScope(shield=True), suppress(AnydeviceError):
            await self.tidy()

    async def tidy(self) -> None:
        """Removes what `away` could not.

        Raises:
            AnydeviceError: As `HdcDevice.shell`; it stays remembered.
        """
        if self.slot.left:
            names = sorted(self.slot.left)
            await self.hdc.shell(line("rm", "-f", *names), deadline=2.0)
            self.slot.left.difference_update(names)

    async def run(self, *words: str | int, deadline: float = 10.0) -> ShellDone:
        """Runs a program on the device; each word reaches it as it is.

        Raises:
            AnydeviceError: As `HdcDevice.shell`.
        """
        return await self.hdc.shell(line(*words), deadline=deadline)

    async def several(self, *commands: str, deadline: float = 10.0, most: int = 8 << 20) -> list[str]:
        """Runs command lines one after the other in one round trip; returns what each printed.

        Raises:
            AnydeviceError: As `HdcDevice.shell`.
        """
        mark = f"__part_{secrets.token_hex(4)}"
        done = await self.hdc.shell(f"; echo {mark}; ".join(commands), deadline=deadline, most=most)
        parts = done.text.split(mark + "\n")
        return [*parts, *([""] * (len(commands) - len(parts)))]

    async def uitest(
        self, command: str, *, deadline: float = START, most: int = 64 << 20, acts: bool = False
    ) -> ShellDone:
        """Runs a line with calls of the automation program, alone: one deadline for the wait in the queue and the call.

        Args:
            command: The line.
            deadline: Seconds for all of it.
            most: Bytes kept of the output.
            acts: It must not be repeated where it is not known whether it was carried out.

        Raises:
            OutcomeUnknown: `acts`, and it was sent, and no answer came.
            CallTimeout: It did not get its turn, or did not end, in time.
            AnydeviceError: As `HdcDevice.shell`.
        """
        end = anyio.current_time() + deadline
        try:
            with anyio.fail_after(deadline):
                await self.slot.queue.acquire()
        except TimeoutError:
            raise CallTimeout(
                "The device's automation program is busy with another call.", after=deadline, waiting_for="uitest"
            ) from None
        try:
            left = max(0.1, end - anyio.current_time())
            if acts:
                return await self.hdc.act(command, deadline=left)
            return await self.hdc.shell(command, deadline=left, most=most)
        finally:
            self.slot.queue.release()

    async def input(self, *commands: str, seconds: float = 0.0, seen: bool = False) -> inputs.Verdict:
        """Gives input, if the screen is on and has a size: the device says `No Error` where nothing arrives.

        Args:
            commands: Command lines, run one after the other until one fails.
            seconds: What they take by themselves.
            seen: The screen was just seen to be on, by input that went before; it is not asked again.

        Raises:
            DeviceNotReady: The screen is off.
            InvalidArgument: The device refuses the place.
            UpstreamUnavailable: It refuses otherwise.
            OutcomeUnknown: It did not answer.
            AnydeviceError: As `uitest`.
        """
        chain = " && ".join(commands)
        whole = (
            chain
            if seen
            else (
                f"if {SCREEN} | grep -i {displays.ON} | grep -qv '[=:] *0x0'; then {chain}; "
                f"else echo {_DARK_MARK}; exit {DARK}; fi"
            )
        )
        done = await self.uitest(whole, deadline=START + seconds, acts=True)
        if done.status == DARK and done.text.strip() == _DARK_MARK:
            raise DeviceNotReady(
                "The screen is off, so input would not arrive.",
                hint="Call key chord=wakeup, then repeat the call.",
                state="asleep",
                fix="Turn the screen on.",
            )
        if all(command.startswith("uinput ") for command in commands):
            if done.status == 0:  # its words differ from build to build, and only its status says anything
                return inputs.Verdict(True)
            found = inputs.Verdict(False, "coordinates" if done.status == 255 else "other", said=done.text[:300])
        else:
            found = inputs.verdict(done.text, done.status)
        if found.ok:
            return found
        raise refused(found, done.status)

    async def view(self, *, fresh: bool = False) -> View:
        """The screen as it is turned now; read once, and again when asked to.

        Raises:
            BackendBroken: The device does not say how large it is.
            AnydeviceError: As `HdcDevice.shell`.
        """
        if self._view is None or fresh:
            told, rendered = await self.several(DISPLAY, SCREEN)
            self._view = _view(told, rendered)
            if self._view is None:
                raise BackendBroken(
                    "The device does not say how large its screen is.",
                    backend="harmonyos",
                    reason="hidumper",
                    said=rendered[:500],
                )
        return self._view

    def seen(self, width: int, height: int) -> View | None:
        """The screen with the size a layout has told: it was turned or folded, if that is another one."""
        view = self._view
        if view is not None and (view.width, view.height) != (width, height):
            self._view = None  # turned, folded, or another density: asked anew before the next use
            return View(width, height, view.scale, view.turned)
        return view

    async def pixels(self, *points: Point, whole: bool = False) -> list[int]:
        """Points as pixels, x and y in turn, never nearer to an edge than the device takes.

        Args:
            whole: Points outside of the screen are brought to its edge; else they are refused.

        Raises:
            InvalidArgument: A point is not on the screen.
            AnydeviceError: As `view`.
        """
        view = await self.view()
        found: list[int] = []
        for point in points:
            for value, side in ((point.x, view.width), (point.y, view.height)):
                at = value * view.scale
                if not whole and not -EDGE <= round(min(max(at, -side), 2 * side)) <= side + EDGE:
                    raise InvalidArgument(
                        "The point is not on the screen.",
                        param="x",
                        expected=f"within {view.viewport.width:g}x{view.viewport.height:g} points",
                    )
                found.append(round(min(max(at, EDGE), side - EDGE)))
        return found

    async def front(self) -> Mission | None:
        """The mission in front; None where the home screen is.

        Raises:
            AnydeviceError: As `HdcDevice.shell`.
        """
        return missions.front((await self.hdc.shell(MISSIONS)).text)

    async def windows(self) -> windows.Windows:
        """The window manager's table.

        Raises:
            AnydeviceError: As `HdcDevice.shell`.
        """
        return windows.parse_windows((await self.hdc.shell(WINDOWS)).text)

    async def pids(self, app: str) -> list[int]:
        """Processes of an app.

        Raises:
            AnydeviceError: As `HdcDevice.shell`.
        """
        done = await self.run("pidof", app, deadline=5.0)
        return [int(word) for word in done.text.split() if word.isdigit()] if done.status == 0 else []

    def temporary(self, suffix: str) -> str:
        """A name for a file of the device that nobody else uses."""
        return f"{TEMPORARY}/anydevice_{secrets.token_hex(8)}{suffix}"


def refused(found: inputs.Verdict, status: int) -> InvalidArgument | UpstreamUnavailable:
    """The error of input that the device did not take."""
    if found.why == "coordinates":
        return InvalidArgument(
            "The device does not take this place.", param="x", expected="a point on the screen", said=found.said
        )
    return UpstreamUnavailable(
        "The device's input program refused.",
        upstream="uitest",
        enable_hint="See details; call doctor.",
        status=status,
        said=found.said,
    )


def _view(told: str, rendered: str) -> View | None:
    shown, panel = displays.display(told), displays.panel(rendered)
    turned = shown.quarters if shown.quarters is not None else shown.turned or 0
    width, height = shown.width or 0, shown.height or 0
    if not width or not height:
        if panel is None or not panel.width or not panel.height:
            return None
        width, height = (panel.width, panel.height) if turned % 2 == 0 else (panel.height, panel.width)
    scale = shown.scale or (displays.scale_of(panel) if panel is not None else 1.0)
    return View(width, height, scale, turned)
