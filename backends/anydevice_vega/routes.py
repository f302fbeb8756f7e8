"""How keys get to the device: two roads, of which either may say that it worked and reach nothing.

The toolkit's is quick and there where the app was started with it; `inputd-cli` is always there where developer mode is
on. A road counts as good once a press by it was seen to move the focus. Until then an arrow (and home) that changed
nothing is pressed by the other road as well; other keys are not, since pressing them twice may do a thing twice.
"""

from __future__ import annotations

from typing import Final, Literal

import anyio

from anydevice_schemas.errors import AnydeviceError, DeviceNotReady, PermissionMissing, UpstreamUnavailable

from .codes import HOME, Key
from .glance import Change, compare
from .reach import Reach
from .reading.page import Page

Road = Literal["toolkit", "inputd"]
PATIENCE: Final = 0.3
"""Seconds a press by a good road is given to show."""
DOUBT: Final = 1.2
"""Seconds a press by a road that is not known yet is given to show."""
LOOK: Final = 0.03
REST: Final = 0.06
"""Seconds after which what says something else has to say the same still."""
SHORT: Final = 1
"""Milliseconds a button is held for a short press: inputd-cli's own word for one takes five times as long in all."""
NO_SHELL: Final = "com.amazon.dev.shell.service"
"""What is not running while developer mode is off."""


class Routes:
    """The roads of one device. Not for two tasks at once."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self.good: set[Road] = set()
        self.dead: set[Road] = set()

    async def press(self, key: Key, *, seconds: float = 0.0) -> tuple[Road, bool | None]:
        """Presses a key, held for `seconds` where that is more than 0; by which road, and whether the screen changed.

        None where the screen cannot be read.

        Raises:
            PermissionMissing: Developer mode is off, and there is no other road.
            AnydeviceError: The device cannot be reached.
        """
        before = await self._look()
        roads = self._roads(before)
        road = roads[0]
        await self.send(road, key, seconds)
        seen = await self._changed(road, before)
        twice = key.arrow or key == HOME
        if seen is not False or not twice or road in self.good or len(roads) == 1:
            return road, seen
        other = roads[1]
        await self.send(other, key, seconds)
        seen = await self._changed(other, before)
        if seen and other in self.good:
            self.dead.add(road)
        return other, seen

    async def repeat(self, key: Key, count: int) -> tuple[Road, bool | None]:
        """Presses a key several times in a row; by which road, and whether the screen changed. Errors as `press`."""
        road, seen = await self.press(key)
        if count < 2:
            return road, seen
        before = await self._look()
        for _ in range(count - 1):
            await self.send(road, key)
        after = await self._changed(road, before)
        return road, None if after is None else after or bool(seen)

    async def send(self, road: Road, key: Key, seconds: float = 0.0) -> None:
        """Sends a key by one road.

        Raises:
            AnydeviceError: As `press`.
        """
        ms = round(seconds * 1000)
        if road == "toolkit":
            params = {"inputKeyEvent": str(key.code), "holdDuration": ms or SHORT}
            await self._reach.ask("injectInputKeyEvent", params, deadline=5.0 + seconds)
            return
        words = ["inputd-cli", "button_press", key.name, "--holdDuration", str(ms or SHORT)]
        await self.inputd(*words, deadline=10.0 + seconds)

    async def inputd(self, *words: str, deadline: float = 10.0) -> str:
        """Runs `inputd-cli`; what it printed.

        Raises:
            PermissionMissing: Developer mode is off.
            UpstreamUnavailable: It does not know the words, or failed.
            OutcomeUnknown: It did not answer.
        """
        done = await self._reach.act(*words, deadline=deadline)
        if NO_SHELL in done.both:
            raise PermissionMissing(
                "The device takes no keys from outside: developer mode is off.",
                permission="developer mode",
                fix="On the device: Settings, developer options; or in a shell of it: vsm developer-mode enable",
            )
        if done.status != 0 or "Unrecognized command" in done.both:
            raise UpstreamUnavailable(
                "The device's input program failed.",
                upstream="inputd-cli",
                enable_hint="See details; call doctor.",
                status=done.status,
                said=done.both[-500:],
            )
        return done.text

    def _roads(self, before: Page | None) -> list[Road]:
        both: list[Road] = ["toolkit", "inputd"] if before is not None else ["inputd"]
        return [road for road in both if road not in self.dead] or both

    async def _look(self) -> Page | None:
        """The screen; None where it cannot be read, which keeps no key from being pressed."""
        try:
            return await self._reach.recent()
        except (DeviceNotReady, UpstreamUnavailable):
            return None

    async def _changed(self, road: Road, before: Page | None) -> bool | None:
        """Whether the screen shows something else within a moment; None where it cannot be read any more."""
        if before is None:
            return None
        differs = False
        with anyio.move_on_after(PATIENCE if road in self.good else DOUBT):
            try:
                while True:
                    after = await self._reach.page()
                    change = compare(before, after)
                    if change.focus:
                        self.good.add(road)
                        self.dead.discard(road)
                        return True
                    differs = differs or change.other or bool(change.texts and await self._rests(after, change))
                    if differs and road in self.good:
                        return True
                    await anyio.sleep(LOOK)
            except AnydeviceError:
                return None
        return differs

    async def _rests(self, after: Page, change: Change) -> bool:
        """Whether something of what says something else has come to rest: what moves by itself is no evidence."""
        await anyio.sleep(REST)
        still = compare(after, await self._reach.page())
        return still.focus or still.other or bool(change.texts - still.texts)
