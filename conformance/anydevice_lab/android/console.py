"""The console of an emulator: what answers on the port below its adb port."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
from anyio.abc import SocketStream

from .transport import GONE

if TYPE_CHECKING:
    from .adb_device import AdbDevice
    from .device import LabDevice

GREETING = "Android Console: type 'help' for a list of commands\r\nOK\r\n"
ASKING = "Android Console: Authentication required\r\nAndroid Console: type 'auth <auth_token>' to authenticate\r\n"
LINE_MOST = 4096
UNKNOWN = "KO: unknown command, try 'help'"
Answer = Callable[[list[str]], Awaitable[str]]


async def serve(device: AdbDevice, stream: SocketStream, answer: Answer) -> None:
    """Answers lines until the other side quits.

    Args:
        answer: What a line of these words is answered by, once the caller is known.
    """
    known = not device.kind.console_token
    try:
        await stream.send((GREETING if known else ASKING + "OK\r\n").encode())
        kept = b""
        while len(kept) < LINE_MOST:
            kept += await stream.receive()
            while b"\n" in kept:
                line, _, kept = kept.partition(b"\n")
                words = line.decode("utf-8", "replace").split()
                if words[:1] in (["quit"], ["exit"]):
                    return
                if words[:1] == ["auth"]:
                    known = known or words[1:] == [device.kind.console_token]
                    wrong = "KO: authentication token does not match ~/.emulator_console_auth_token"
                    text = GREETING.removesuffix("\r\n") if known else wrong
                else:
                    device.journal.add("console", line=" ".join(words))
                    text = await answer(words) if known or words[:1] == ["help"] else UNKNOWN
                await stream.send((text + "\r\n").encode())
                if words[:1] == ["kill"] and known:
                    await device.shut_down()
                    return
    except GONE:
        return
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(1):
            await stream.aclose()


async def serve_android(device: LabDevice, stream: SocketStream) -> None:
    """Serves the console of an Android emulator."""

    async def answer(words: list[str]) -> str:
        return _answer(device, words)

    await serve(device, stream, answer)


def _answer(device: LabDevice, words: list[str]) -> str:
    line = " ".join(words)
    if line == "avd name":
        return f"{device.kind.avd}\r\nOK"
    if line == "ping":
        return "I am alive!\r\nOK"
    if line == "kill":
        return "OK: killing emulator, bye bye"
    if line == "rotate":
        device.machine.rotate(device.machine.geometry.rotation + 3)
        return "OK"
    if words[:2] == ["geo", "fix"] and len(words) >= 4:
        device.machine.placed = (float(words[3]), float(words[2]))
        device.machine.hear()
        return "OK"
    if words[:1] == ["help"]:
        return "    help|h|?\r\n    avd\r\n    geo\r\n    kill\r\n    ping\r\n    rotate\r\n    quit|exit\r\nOK"
    return UNKNOWN
