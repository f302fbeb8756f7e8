"""The optional engines: `axe` and `idb`, programs that read and touch the screen of a simulator without an agent on it.

They know neither dialogs nor what is in front, type only what a US keyboard has, and use one finger. They stand in
where no WebDriverAgent is, and say so.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import anyio

from anydevice.driver import Dialog
from anydevice.kit import images, processes
from anydevice_schemas import Node, Point
from anydevice_schemas.errors import AnydeviceError, InvalidArgument, ToolMissing, UpstreamUnavailable

from .engine import Front, Look, Move, missing
from .keymap import HID
from .reading.accessibility import read
from .reading.elements import NoSource
from .tree import size_of

START: Final = 15.0
"""Seconds such a program may take besides what it does."""
OUTPUT: Final = 16 << 20
_US: Final = re.compile(r"[\x20-\x7e\n\t]*")


@dataclass(slots=True, frozen=True)
class Dialect:
    """How one of the programs is told things; None where it has no such word. Each ends with the UDID's option."""

    program: str
    read: Sequence[str]
    tap: Callable[[str, str], Sequence[str]]
    swipe: Callable[[str, str, str, str, str], Sequence[str]]
    hold: Callable[[str, str, str], Sequence[str]]
    text: Callable[[str], tuple[Sequence[str], bytes]]
    key: Callable[[int], Sequence[str]]
    buttons: Mapping[str, Sequence[str]]


AXE: Final = Dialect(
    "axe",
    ("describe-ui",),
    lambda x, y: ("tap", "-x", x, "-y", y),
    lambda x, y, to_x, to_y, seconds: (
        "swipe", "--start-x", x, "--start-y", y, "--end-x", to_x, "--end-y", to_y, "--duration", seconds,
    ),
    lambda x, y, seconds: ("touch", "-x", x, "-y", y, "--down", "--up", "--delay", seconds),
    lambda text: (("type", "--stdin"), text.encode()),
    lambda code: ("key", str(code)),
    {"home": ("button", "home"), "lock": ("button", "lock"), "siri": ("button", "siri"),
     "side": ("button", "side-button"), "apple-pay": ("button", "apple-pay")},
)  # fmt: skip
IDB: Final = Dialect(
    "idb",
    ("ui", "describe-all", "--json"),
    lambda x, y: ("ui", "tap", x, y),
    lambda x, y, to_x, to_y, seconds: ("ui", "swipe", "--duration", seconds, x, y, to_x, to_y),
    lambda x, y, seconds: ("ui", "tap", "--duration", seconds, x, y),
    lambda text: (("ui", "text", text), b""),
    lambda code: ("ui", "key", str(code)),
    {"home": ("ui", "button", "HOME"), "lock": ("ui", "button", "LOCK"), "siri": ("ui", "button", "SIRI"),
     "side": ("ui", "button", "SIDE_BUTTON"), "apple-pay": ("ui", "button", "APPLE_PAY")},
)  # fmt: skip
DIALECTS: Final = {dialect.program: dialect for dialect in (AXE, IDB)}


def found(name: str) -> bool:
    """Whether such a program is here."""
    return shutil.which(name) is not None


class ProgramEngine:
    """See `Engine`."""

    def __init__(self, dialect: Dialect, udid: str, picture: Callable[[], Awaitable[bytes]]) -> None:
        """`picture` takes one of the screen by other means."""
        self.name = dialect.program
        self._dialect, self._udid, self._picture = dialect, udid, picture

    async def look(self, *, deadline: float) -> Look:
        """See `Engine.look`. What is visible these programs do not say.

        Raises:
            UpstreamUnavailable: It prints no screen.
        """
        done = await self._run(self._dialect.read, deadline=deadline)
        try:
            source = read(done.text)
        except NoSource as error:
            raise UpstreamUnavailable(
                "The screen could not be read.",
                upstream=self.name,
                enable_hint="Call screenshot to see the screen.",
                reason=str(error),
            ) from None
        return Look(source, "degraded" if len(source.elements) < 2 else "complete", False)

    async def size(self) -> tuple[float, float]:
        """See `Engine.size`."""
        size = size_of((await self.look(deadline=START)).source)
        if size is None:
            raise UpstreamUnavailable(
                "The size of the screen is not told.", upstream=self.name, enable_hint="Call doctor."
            )
        return size

    async def scale(self) -> float:
        """See `Engine.scale`: measured, from a picture."""
        width, _ = await self.size()
        return images.inspect(await self.picture()).width / width

    async def front(self) -> Front | None:
        """See `Engine.front`: it is not told."""
        return None

    async def tap(self, point: Point, count: int) -> None:
        """See `Engine.tap`."""
        for _ in range(count):
            await self._run(self._dialect.tap(*_place(point)))

    async def touch(self, fingers: Sequence[Move]) -> None:
        """See `Engine.touch`: one finger.

        Raises:
            Unsupported: Several, or one that rests before it moves.
        """
        move = fingers[0]
        if len(fingers) > 1:
            raise missing(self.name, "touch.multi_touch")
        if len(move.path) == 1:
            await self._run(self._dialect.hold(*_place(move.path[0]), f"{move.rest:g}"), deadline=START + move.rest)
            return
        if len(move.path) > 2 or move.rest > 0 or move.end_rest > 0:
            raise missing(self.name, "touch.drag", ["touch.swipe"])
        words = self._dialect.swipe(*_place(move.path[0]), *_place(move.path[1]), f"{move.seconds:g}")
        await self._run(words, deadline=START + move.seconds)

    async def write(self, text: str) -> None:
        """See `Engine.write`.

        Raises:
            InvalidArgument: A US keyboard cannot type it whole; nothing was typed.
        """
        if not _US.fullmatch(text):
            raise InvalidArgument(
                "What drives this screen types only what a US keyboard has; nothing was typed.",
                param="text",
                expected="ASCII, or WebDriverAgent on the device, which types anything",
                characters=sorted({f"U+{ord(sign):04X}" for sign in text if not _US.fullmatch(sign)})[:20],
            )
        words, stdin = self._dialect.text(text)
        await self._run(words, stdin=stdin, deadline=START + len(text) / 10, secret=text)

    async def clear(self) -> None:
        """See `Engine.clear`: nothing of the kind.

        Raises:
            Unsupported: Always.
        """
        raise missing(self.name, "keys.press", ["keys.type_text"])

    async def keys(self, held: Sequence[str], key: str) -> None:
        """See `Engine.keys`.

        Raises:
            Unsupported: A chord, or a key it does not know.
        """
        if held or key not in HID:
            raise missing(self.name, "keys.press")
        await self._run(self._dialect.key(HID[key]))

    async def button(self, name: str, seconds: float) -> None:
        """See `Engine.button`.

        Raises:
            Unsupported: It has no such button.
        """
        words = self._dialect.buttons.get(name)
        if words is None:
            raise missing(self.name, "keys.press")
        await self._run(words)

    async def home(self) -> None:
        """See `Engine.home`."""
        await self.button("home", 0.0)

    async def hittable(self, node: Node) -> bool | None:
        """See `Engine.hittable`: it is not told."""
        return None

    async def picture(self) -> bytes:
        """See `Engine.picture`."""
        return await self._picture()

    async def dialog(self) -> Dialog | None:
        """See `Engine.dialog`: it is part of the screen here, and not told as such."""
        return None

    async def answer(self, *, yes: bool, text: str | None = None) -> None:
        """See `Engine.answer`: nothing of the kind.

        Raises:
            Unsupported: Always.
        """
        raise missing(self.name, "alerts.accept" if yes else "alerts.dismiss", ["touch.tap"])

    async def _run(
        self, words: Sequence[str], *, stdin: bytes = b"", deadline: float = START, secret: str = ""
    ) -> processes.Result:
        argv = [processes.find(self._dialect.program), *words, "--udid", self._udid]
        done = await processes.run(argv, deadline=deadline, stdin=stdin, cap=OUTPUT)
        if done.code == 0:
            return done
        raise failed(self.name, done, secret)


def failed(name: str, done: processes.Result, secret: str = "") -> AnydeviceError:
    """What a failing program said, as an error of ours: 64 is a word it does not know, 1 something that went wrong."""
    said = done.complaint or done.text
    if "No keycode found for character" in said:
        return InvalidArgument(
            "What drives this screen types only what a US keyboard has.", param="text", expected="ASCII"
        )
    if secret:
        said = said.replace(secret, "…")
    return UpstreamUnavailable(
        "The program that drives this screen does not take it." if done.code == 64 else "The program failed.",
        upstream=name,
        enable_hint=f"Use a newer {name}, or install WebDriverAgent on the simulator." if done.code == 64
        else "See details.said, which are its own words.",
        status=done.code,
        said=said[:1000],
    )  # fmt: skip


def _place(point: Point) -> tuple[str, str]:
    return f"{point.x:g}", f"{point.y:g}"


class Either:
    """The engine of a simulator: its agent where there is one, else a program that is here. Chosen at first use."""

    def __init__(self, first: Callable[[], Awaitable[object]], others: Sequence[str]) -> None:
        self._first, self._others = first, others
        self.chosen: str | None = None
        self._lock = anyio.Lock()

    async def choose(self) -> str:
        """Name of the engine to use.

        Raises:
            ToolMissing: There is no agent, and no program in its place.
        """
        async with self._lock:
            if self.chosen is None:
                try:
                    await self._first()
                    self.chosen = "wda"
                except ToolMissing:
                    other = next((name for name in self._others if found(name)), None)
                    if other is None:
                        raise
                    self.chosen = other
            return self.chosen
