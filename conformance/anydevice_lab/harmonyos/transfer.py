"""Files and packages: read and written by the server itself, or by the client in frames (`remote`)."""

from __future__ import annotations

import os
import secrets
import tarfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from ..guest.shell import direct
from . import wire
from .wire import Transfer

if TYPE_CHECKING:
    from .channel import Channel
    from .device import HarmonyDevice

STAGE = "/data/local/tmp"
UNSAFE = ";|&$`<>\\!\n"
"""What no name of a bundle may hold, because a shell would read it."""
WRITABLE = (STAGE, "/storage/media/100/local/files")
"""Where the shell's user may write."""


def words_of(text: str) -> list[str]:
    """The words of a command, as the server takes them apart: quotes hold words together, and nothing escapes one."""
    found: list[str] = []
    word, quoted, began = "", False, False
    for letter in text:
        if letter == '"':
            quoted, began = not quoted, True
        elif letter in " \t\r\n" and not quoted:
            if began:
                found.append(word)
            word, began = "", False
        else:
            word, began = word + letter, True
    return [*found, word] if began else found


def _reason(error: OSError) -> str:
    return (os.strerror(error.errno or 0)).lower()


class Refused(Exception):
    """A transfer ends here; its text is what is said."""


async def file(channel: Channel, device: HarmonyDevice, rest: str) -> None:
    """`file send|recv [options] FROM TO`."""
    verb, _, text = rest.partition(" ")
    words = words_of(text)
    theirs = "remote" in words[:1]
    folder, paths, wrong = "", [], ""
    while words:
        word = words.pop(0)
        if word == "-cwd" and words:
            folder = words.pop(0)
        elif word == "-b" and words:
            wrong = f"[E005101] Invalid bundle name: {words.pop(0)}"
        elif word.startswith("-") and word not in ("-a", "-s", "-z", "-m", "-sync"):
            wrong = f"Unknown file option: {word}"
        elif not word.startswith("-") and word != "remote":
            paths.append(word)
    if len(paths) == 1:
        wrong = wrong or ("There is no remote path" if verb == "send" else "")
        paths.append(".")
    if len(paths) < 2 or wrong:
        await channel.fail(wrong or "Transfer path split failed")
        return
    source, target = paths[-2:]
    try:
        if verb == "send" and theirs:
            await _take(channel, device, text.replace("remote ", "", 1))
        elif verb == "send":
            await _send(channel, device, Path(folder, source), target)
        elif theirs:
            await _give(channel, device, source, target, folder)
        else:
            await _recv(channel, device, source, Path(folder, target))
    except Refused as refused:
        await channel.fail(str(refused))
    except ValueError as error:
        await channel.fail(f"Transfer path failed, {error}")


def place(device: HarmonyDevice, target: str, name: str) -> tuple[str, Path]:
    """Where a file of a name goes that is sent to a path of the device, there and here.

    Raises:
        Refused: It cannot be opened.
    """
    here = device.files.host(target)
    if here.is_dir() or target.endswith("/"):
        target = f"{target.rstrip('/')}/{name}"
        here = device.files.host(target)
    fault = device.faults.active("channel_failed", target)
    if fault is not None:
        raise Refused(f"Error opening file: {fault.text or 'no space left on device'}, path:{target}")
    if not target.startswith(WRITABLE):
        raise Refused(f"Error opening file: permission denied, path:{target}")
    try:
        here.open("wb").close()
    except OSError as error:
        raise Refused(f"Error opening file: {_reason(error)}, path:{target}") from None
    return target, here


def _files(path: Path) -> tuple[bool, list[Path]]:
    """Whether a path is a folder, and all files in it, or it alone."""
    if not path.is_dir():
        return False, [path]
    return True, sorted(one for one in path.rglob("*") if one.is_file())


async def _send(channel: Channel, device: HarmonyDevice, source: Path, target: str) -> None:
    began = time.monotonic()
    folder, files = _files(source)
    if not files:
        raise Refused("Operation failed, because the source folder is empty.")
    total = 0
    for path in files:
        data = await _read(path, str(path))
        if folder:
            inner = f"{target.rstrip('/')}/{source.name}/{path.relative_to(source)}"
            device.files.host(inner).parent.mkdir(parents=True, exist_ok=True)
            there, here = place(device, inner, path.name)
        else:
            there, here = place(device, target, source.name)
        await anyio.to_thread.run_sync(here.write_bytes, data)
        device.journal.add("push", path=there, size=len(data))
        total += len(data)
    await _finish(channel, total, len(files), began)


async def _recv(channel: Channel, device: HarmonyDevice, source: str, target: Path) -> None:
    began = time.monotonic()
    found = device.files.host(source)
    folder, files = _files(found)
    total = 0
    for path in files:
        data = await _read(path, source)
        device.journal.add("pull", path=source, size=len(data))
        end = target / found.name / path.relative_to(found) if folder else target
        if end.is_dir():
            end = end / path.name
        try:
            end.parent.mkdir(parents=True, exist_ok=True)
            if device.faults.active("recv_cut", source):
                end.write_bytes(data[: len(data) // 2])
                raise Refused(f"Transfer Stop at:{len(data) // 2}/{len(data)}(Bytes), Reason: i/o error")
            await anyio.to_thread.run_sync(end.write_bytes, data)
        except OSError as error:
            raise Refused(f"Error opening file: {_reason(error)}, path:{end}") from None
        total += len(data)
    if channel.old:
        await channel.tell(f"[I][{time.strftime('%Y-%m-%d %H:%M:%S')}.000] HdcFile::TransferSummary success")
    await _finish(channel, total, len(files), began)


async def _read(path: Path, told: str) -> bytes:
    try:
        return await anyio.to_thread.run_sync(path.read_bytes)
    except OSError as error:
        raise Refused(f"Error opening file: {_reason(error)}, path:{told}") from None


async def _finish(channel: Channel, size: int, count: int, began: float) -> None:
    ms = max(1, round((time.monotonic() - began) * 1000))
    rate = f"{size / ms:.2f}kB/s"
    await channel.tell(f"FileTransfer finish, Size:{size}, File count = {count}, time:{ms}ms rate:{rate}")


# --- the client reads and writes ---


async def _take(channel: Channel, device: HarmonyDevice, text: str) -> None:
    """The client sends a file: it is told to begin, says what it is, and sends its data."""
    await channel.order(wire.FILE_INIT, text.encode())
    began, total, count = time.monotonic(), 0, 0
    while True:
        command, payload = await channel.command()
        if command == wire.FILE_FINISH:
            if payload[:1] == b"\0":
                await _finish(channel, total, count, began)
                return
            continue
        if command == wire.FILE_MODE:
            await channel.order(wire.FILE_MODE)
            continue
        if command != wire.FILE_CHECK:
            raise ValueError(f"command {command}")
        about = Transfer.unpack(payload)
        there, here = place(device, about.path, about.name)
        await channel.order(wire.FILE_BEGIN)
        size = await _write(channel, here, about.size, wire.FILE_DATA)
        device.journal.add("push", path=there, size=size)
        total, count = total + size, count + 1
        await channel.order(wire.FILE_FINISH, b"\1")


async def _write(channel: Channel, here: Path, size: int, expected: int) -> int:
    """Writes a file's data as they come; how many bytes they were."""
    got = 0
    with here.open("wb") as target:
        while True:
            command, payload = await channel.command()
            if command != expected:
                raise ValueError(f"command {command}")
            index, data = wire.data_of(payload)
            target.seek(index)
            target.write(data)
            got += len(data)
            if got >= size or not data:
                return got


async def _give(channel: Channel, device: HarmonyDevice, source: str, target: str, folder: str) -> None:
    """The client gets a file: it is told what comes, says when it may, and gets the data."""
    found = device.files.host(source)
    data = await _read(found, source)
    about = Transfer(len(data), target, found.name, folder=folder)
    await channel.order(wire.FILE_CHECK, about.pack())
    command, _ = await channel.command()
    if command == wire.FILE_MODE:
        command, _ = await channel.command()
    if command != wire.FILE_BEGIN:
        raise ValueError(f"command {command}")
    device.journal.add("pull", path=source, size=len(data))
    for index in range(0, max(1, len(data)), wire.PIECE):
        await channel.send(wire.data_frame(wire.FILE_DATA, index, data[index : index + wire.PIECE]))
    command, payload = await channel.command()
    if command != wire.FILE_FINISH:
        raise ValueError(f"command {command}")
    await channel.order(wire.FILE_FINISH, b"\0" if payload[:1] == b"\1" else payload)  # the client sums up itself


# --- packages ---


class _Heard:
    """What a program of the device prints, kept."""

    def __init__(self) -> None:
        self.text = b""

    async def out(self, data: bytes) -> None:
        """Keeps it."""
        self.text += data

    err = out

    async def read(self) -> bytes:
        """It has no stdin."""
        return b""


async def install(channel: Channel, device: HarmonyDevice, rest: str) -> None:
    """`install [options] PACKAGE...`: each is sent to the device, and `bm install` is asked there."""
    words = words_of(rest)
    theirs = words[:1] == ["remote"]
    folder, options, paths = "", [], []
    while words:
        word = words.pop(0)
        if word == "-cwd" and words:
            folder = words.pop(0)
        elif word.startswith("-"):
            options.append(word)
        elif word != "remote":
            paths.append(word)
    if theirs:
        await _install_theirs(channel, device, rest.replace("remote ", "", 1))
        return
    found = [Path(folder, path) for path in paths if path.endswith((".hap", ".hsp", ".app")) or _files(Path(path))[0]]
    if not found:
        await channel.fail("[E006001] Not any installation package was found")
        return
    for path in sorted(set(found)):
        name = secrets.token_hex(8) + (path.suffix or ".tar")
        stage = f"{STAGE}/{name}"
        try:
            if path.is_dir():
                with tarfile.open(device.files.host(stage), "w") as tar:
                    tar.add(path, ".")
            else:
                device.files.host(stage).write_bytes(await _read(path, str(path)))
        except Refused as refused:
            await channel.fail(str(refused))
            return
        said = await _bm(device, ["install", *options, "-p", stage])
        device.files.host(stage).unlink(missing_ok=True)
        await channel.inform(f"App install path:{path}{_queue(channel)} msg:{said}")
    await channel.tell("AppMod finish")


async def _install_theirs(channel: Channel, device: HarmonyDevice, text: str) -> None:
    """The client sends packages; each ends in what was said of it, and the client says the rest."""
    await channel.order(wire.APP_INIT, text.encode())
    while True:
        command, payload = await channel.command()
        if command != wire.APP_CHECK:
            return
        about = Transfer.unpack(payload)
        stage = device.files.host(f"{STAGE}/{Path(about.name).name}")
        await channel.order(wire.APP_BEGIN)
        await _write(channel, stage, about.size, wire.APP_DATA)
        said = await _bm(device, ["install", *about.options.split(), "-p", f"{STAGE}/{stage.name}"])
        stage.unlink(missing_ok=True)
        good = b"\1" if "successfully" in said else b"\0"
        await channel.order(wire.APP_FINISH, b"\1" + good + said.encode())


async def uninstall(channel: Channel, device: HarmonyDevice, rest: str) -> None:
    """`uninstall [options] BUNDLE`; who names the option `-n` has it as it is."""
    words = words_of(rest)
    options = [word for word in words if word.startswith("-")]
    names = [word for word in words if not word.startswith("-")]
    if "-n" not in options:
        options.append("-n")
    injected = any(letter in UNSAFE for letter in rest)
    said = "Incorrect package name or option" if injected else await _bm(device, ["uninstall", *options, *names])
    await channel.inform(f"App uninstall path:{_queue(channel)} msg:{said}")
    await channel.tell("AppMod finish")


def _queue(channel: Channel) -> str:
    return ", queuesize:0," if channel.old else ""


async def _bm(device: HarmonyDevice, words: list[str]) -> str:
    heard = _Heard()
    await direct(device, heard, "bm", words)
    return heard.text.decode("utf-8", "replace").replace("\n", " ")
