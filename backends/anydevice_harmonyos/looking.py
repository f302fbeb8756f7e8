"""Getting a layout of the screen, with the app in front, mostly in one round trip."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from anydevice_schemas.errors import AnydeviceError, DeviceNotReady, ToolMissing, UpstreamUnavailable

from .hdc.device import quote
from .reach import Reach, View
from .reading import missions
from .reading.layout import LAUNCHER, Layout, LayoutWindow, NoLayout, parse_layout

DEADLINE: Final = 20.0
"""Seconds of a layout, the wait in the queue included."""
SAVED: Final = "DumpLayout saved to:"


class Looking:
    """The source of a device's trees."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def take(self) -> tuple[Layout, View]:
        """A layout, and the screen it is of with the app in front.

        Raises:
            DeviceNotReady: The device shows nothing that can be read.
            UpstreamUnavailable: It gave no whole layout.
            ToolMissing: It has no uitest.
            AnydeviceError: As `Reach.uitest`.
        """
        view = await self._reach.view()
        try:
            layout, front = await self._once()
        except NoLayout as none:
            if none.why != "cut off":
                raise _typed(none) from none
            try:  # another program may have written over it, or taken it away
                layout, front = await self._once()
            except NoLayout as again:
                raise _typed(again) from again
        if layout.bounds is not None and layout.bounds[2] > 0 and layout.bounds[3] > 0:
            seen = self._reach.seen(layout.bounds[2], layout.bounds[3])
            view = seen or view
        app, ability = (front.app, front.ability) if front is not None else _scene(layout)
        return layout, replace(view, app=app, ability=ability)

    async def _once(self) -> tuple[Layout, missions.Mission | None]:
        file = quote(self._reach.temporary(".json"))
        mark = "__anydevice_part"
        line = f"uitest dumpLayout -p {file}; echo; echo {mark}; cat {file}; rm -f {file}"
        done = await self._reach.uitest(line, deadline=DEADLINE)
        said, _, text = done.text.partition(mark + "\n")
        if SAVED not in said:
            raise NoLayout("missing" if "not found" in said else "failed", said)
        layout = parse_layout(text)
        return layout, _holder(layout) or await self._reach.front()


def _holder(layout: Layout) -> missions.Mission | None:
    """The app whose own window has the focus, which is the one in front; None where that is another kind of window."""
    window = layout.windows[0] if layout.windows else None
    if window is None or window.keyboard or window.bundle in ("", LAUNCHER) or not window.ability:
        return None
    told = window.attributes_of_window
    if told.get("type") != "root" or told.get("focused") != "true":
        return None
    return missions.Mission(window.bundle, window.ability, front=True)


def _scene(layout: Layout) -> tuple[str, str]:
    """What is in front where no mission is: a system's window over the whole screen, else nothing that is told."""
    window = front_window(layout)
    return (window.bundle or LAUNCHER, window.ability) if window is not None else ("", "")


def front_window(layout: Layout) -> LayoutWindow | None:
    """The topmost window that is neither a bar nor a keyboard: the largest, and of equals the first."""
    best: LayoutWindow | None = None
    for window in layout.windows:
        if window.keyboard or window.bounds is None:
            continue
        if best is None or _area(window) > _area(best):
            best = window
    return best


def _area(window: LayoutWindow) -> int:
    left, top, right, bottom = window.bounds or (0, 0, 0, 0)
    return (right - left) * (bottom - top)


def _typed(none: NoLayout) -> AnydeviceError:
    if none.why == "missing":
        return ToolMissing(
            "The device has no uitest.", tools=["uitest"], install="It is part of HarmonyOS NEXT and OpenHarmony 4."
        )
    if none.why == "failed" and "get window" in none.said.casefold():
        return DeviceNotReady(
            "The device shows no window that can be read.",
            hint="Call key chord=wakeup, then repeat the call.",
            state="no_window",
            fix="Turn the screen on and unlock it.",
            said=none.said,
        )
    return UpstreamUnavailable(
        "The device's layout of its screen cannot be read.",
        upstream="uitest",
        enable_hint="Call screenshot to see the screen, then repeat the call.",
        retryable=True,
        reason=none.why,
        said=none.said,
    )
