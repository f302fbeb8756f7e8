"""The automation server on the device, where the configuration allows one: quicker trees, any text, several fingers.

The server is `u2.jar`, which the Python package uiautomator2 carries (MIT); it is neither an app nor an input method,
and nothing is installed. It is started by a shell command whose connection is kept, so that it ends with the
connection, and spoken to by JSON-RPC over HTTP on a socket of the device. While it runs it holds the device's one
automation slot; it is ended when nobody used it for a while, and when the device is given back.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import anyio
import structlog

from anydevice.kit import background
from anydevice_adb import AdbDevice, Connection
from anydevice_adb.shell import ShellStream
from anydevice_adb.wire import Closed
from anydevice_schemas.errors import AnydeviceError, CallTimeout, ConnectionLost, ToolMissing, UpstreamUnavailable

from .reach import Reach

log = structlog.get_logger("anydevice.android")

PORT: Final = 9018
"""Port on the device: not the 9008 of a user's own uiautomator2."""
TARGET: Final = "/data/local/tmp/anydevice-u2.jar"
MAIN: Final = "com.wetest.uia2.Main"
START = 15.0
"""Seconds the server may take to answer its first request."""
DUMPING = 15.0
"""Seconds a tree may take."""
ENDING = 2.0
"""Seconds it may take to be gone."""
IDLE = 60.0
"""Seconds without use after which it is ended."""
REST = 500
"""Milliseconds it waits for a screen to rest before it dumps it."""
HEAD_MOST, BODY_MOST = 64 << 10, 32 << 20
ONCE: Final = frozenset({"gesture"})
"""What must not be done a second time where it is not known whether it was done."""
MASKS: Final = frozenset("•●∙·*")
"""What a secure field gives instead of what it holds."""
FOCUSED: Final = {"mask": 0x020000, "childOrSibling": [], "childOrSiblingSelector": [], "focused": True}
"""The element with the focus, as the server takes selectors."""


def jar(setting: object) -> Path | None:
    """Where the server's file is: the path that is configured, else in the package uiautomator2; None = not to be used.

    Raises:
        ToolMissing: It is wanted and not there.
    """
    if setting in (None, False, ""):
        return None
    if isinstance(setting, str):
        path = Path(setting).expanduser()
    else:
        spec = find_spec("uiautomator2")
        path = Path(next(iter(spec.submodule_search_locations or []), "")) / "assets" / "u2.jar" if spec else Path()
    if not path.is_file():
        raise ToolMissing(
            "The automation server's file is not there.",
            tools=["u2.jar"],
            install="pip install uiautomator2",
        )
    return path


class Automation:
    """The server of one device: started on first use."""

    def __init__(self, adb: AdbDevice, file: Path) -> None:
        self._adb, self._file = adb, file
        self._lock = anyio.Lock()
        self._numbers = itertools.count(1)
        self._kept: AsyncExitStack | None = None
        self._pipe: Connection | None = None
        self._used = 0.0
        self._watch: background.Background | None = None

    @property
    def running(self) -> bool:
        """Whether it holds the slot now."""
        return self._kept is not None

    async def ask(self, method: str, *params: Any, deadline: float = 10.0) -> Any:
        """Calls one of its methods.

        Raises:
            Refusal: The server did not do it.
            UpstreamUnavailable: It did not start: something else holds the slot.
            CallTimeout: It did not answer; it is ended, so that the slot is free.
            ConnectionLost: It ended in the middle of what must not be done twice.
            AnydeviceError: As `AdbDevice.shell`.
        """
        async with self._lock:
            whole = deadline + (0.0 if self.running else START)
            try:
                with anyio.fail_after(whole):
                    return await self._ask(method, params)
            except TimeoutError:
                await self._end()  # one that hangs would keep the slot from the other source as well
                raise CallTimeout(
                    "The automation server did not answer in time.", after=whole, waiting_for="automation server"
                ) from None

    async def _ask(self, method: str, params: Any) -> Any:
        fresh = not self.running
        if fresh:
            await self._start()
        try:
            if method in ONCE and not fresh:
                await self._again("deviceInfo", ())  # so that it is known to be there
            if method not in ONCE:
                return await self._again(method, params)
            return await self._call(method, params)
        except Closed:
            raise ConnectionLost(
                "The automation server ended while it was at work.", restarted=False, lost="automation"
            ) from None
        except BaseException:
            self._drop_pipe()  # half an answer may be in it
            raise

    async def _again(self, method: str, params: Any) -> Any:
        """Calls what may be done twice; where the server died, or its connection did, once more on a new one."""
        try:
            return await self._call(method, params)
        except (Closed, ConnectionLost):
            await self._end()
            await self._start()
            return await self._call(method, params)

    async def hierarchy(self) -> str:
        """The tree as XML."""
        text = await self.ask("dumpWindowHierarchy", False, 50, deadline=DUMPING)
        return str(text or "")

    async def aclose(self) -> None:
        """Ends the server; the slot is free afterwards."""
        async with self._lock:
            await self._end()

    async def _start(self) -> None:
        await self._put()
        kept = AsyncExitStack()
        try:
            command = f"CLASSPATH={TARGET} app_process / {MAIN} -p {PORT}"
            stream = await kept.enter_async_context(self._adb.stream(command))
            said = bytearray()
            reader = background.start(self._hear, stream, said, name="automation server")
            kept.push_async_callback(_stopped, reader)
            with anyio.fail_after(START):
                while True:
                    try:
                        self._pipe = await self._adb.open(f"tcp:{PORT}")
                        break
                    except UpstreamUnavailable:
                        if stream.status is not None or b"registered" in said:
                            raise _not_started(bytes(said)) from None
                        await anyio.sleep(0.05)
            self._kept = kept
            await self._call("setConfigurator", [{"waitForIdleTimeout": REST}])
        except BaseException:
            with anyio.CancelScope(shield=True):
                self._drop_pipe()
                await kept.aclose()
                await self._free()
            self._kept = None
            raise
        self._used = anyio.current_time()
        self._watch = background.start(self._idle, name="automation idle")

    async def _put(self) -> None:
        size = self._file.stat().st_size
        with suppress(AnydeviceError):
            if (await self._adb.stat(TARGET)).size == size:
                return
        await self._adb.push(self._file, TARGET)

    async def _hear(self, stream: ShellStream, said: bytearray) -> None:
        with suppress(Closed):
            async for chunk in stream:
                said += chunk
                del said[:-8192]

    async def _idle(self) -> None:
        while (left := self._used + IDLE - anyio.current_time()) > 0:  # noqa: ASYNC110 - there is nothing to be told by
            await anyio.sleep(left)
        async with self._lock:
            self._watch = None  # it is this very task, which must not wait for itself
            await self._end()

    async def _end(self) -> None:
        self._drop_pipe()
        kept, self._kept = self._kept, None
        watch, self._watch = self._watch, None
        # Who is cancelled in the middle would leave it running, and nobody to end it.
        with anyio.CancelScope(shield=True):
            if watch is not None:
                await _stopped(watch)
            if kept is not None:
                await kept.aclose()
                await self._free()

    async def _free(self) -> None:
        """Waits until it is gone from the device: only then is the slot free."""
        with anyio.move_on_after(ENDING), suppress(AnydeviceError):
            while True:
                (await self._adb.open(f"tcp:{PORT}", deadline=ENDING)).close()
                await anyio.sleep(0.02)

    def _drop_pipe(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None

    async def _call(self, method: str, params: Any) -> Any:
        if self._pipe is None:
            self._pipe = await self._adb.open(f"tcp:{PORT}")
        number = next(self._numbers)
        body = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}).encode()
        head = (
            f"POST /jsonrpc/0 HTTP/1.1\r\nHost: localhost:{PORT}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        await self._pipe.send(head.encode() + body)
        try:
            answer = json.loads(await _body(self._pipe))
        except ValueError:
            answer = None
        self._used = anyio.current_time()
        if not isinstance(answer, dict) or answer.get("id") != number:
            raise ConnectionLost("The automation server answered something else.", restarted=False, lost="automation")
        if answer.get("error"):
            raise Refusal(answer["error"])
        return answer.get("result")


class Refusal(Exception):
    """The server's own error. Untrusted."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message", ""))[:500])


class AutomationWriter:
    """Text into the focused field through accessibility, for text that keys cannot type."""

    def __init__(self, automation: Automation, reach: Reach) -> None:
        self._automation, self._reach = automation, reach

    async def write(self, text: str, *, replace: bool) -> bool | None:
        """See `Writer.write`."""
        async with self._reach.slot:
            try:
                before = "" if replace else await self._held()
                if before is None or not await self._automation.ask("setText", FOCUSED, before + text):
                    return None
                return await self._text() == before + text
            except Refusal:
                return None

    async def _text(self) -> str:
        return str(await self._automation.ask("getText", FOCUSED) or "")

    async def _held(self) -> str | None:
        """What the field holds, to be added to; None where it does not tell: its text would be lost."""
        told = await self._text()
        if not told:
            return ""
        if not set(told) - MASKS:
            return None
        # An empty field tells its hint for a text. Emptied, it still does; whatever else it told is written anew.
        if not await self._automation.ask("setText", FOCUSED, ""):
            return None
        return "" if await self._text() == told else told


async def _body(pipe: Connection) -> bytes:
    """The body of one HTTP answer.

    Raises:
        Closed: It is cut off.
        ConnectionLost: It is no HTTP answer, or not 200.
    """
    head = bytearray()
    while b"\r\n\r\n" not in head:
        chunk = await pipe.receive()
        if not chunk or len(head) > HEAD_MOST:
            raise Closed
        head += chunk
    top, _, rest = bytes(head).partition(b"\r\n\r\n")
    lines = top.decode("latin-1").split("\r\n")
    fields = {name.strip().lower(): value.strip() for name, _, value in (row.partition(":") for row in lines[1:])}
    length = fields.get("content-length", "")
    if " 200 " not in lines[0] + " " or not length.isdigit() or int(length) > BODY_MOST:
        raise ConnectionLost("The automation server answered no result.", restarted=False, lost="automation")
    missing = int(length) - len(rest)
    return rest + await pipe.exactly(missing) if missing > 0 else rest


async def _stopped(work: background.Background) -> None:
    work.cancel()
    await work.wait()


def _not_started(said: bytes) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "The automation server did not start: another client holds the device's one automation slot.",
        upstream="uiautomation",
        enable_hint="End the other client (Appium, uiautomator2, another tool), then repeat the call.",
        reason="slot_taken",
        retryable=True,
        said=said.decode("utf-8", "replace")[-1000:],
    )
