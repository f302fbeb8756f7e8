"""`vega device ...`: what goes to a device and comes from it: command lines, files, ports, logs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from anydevice.kit import processes

from ..guest import shell
from ..guest.programs import Invocation
from .words import option, said

if TYPE_CHECKING:
    from .device import VegaDevice
    from .sdk import Sdk
    from .verbs import Call


class _Pipe:
    """What the caller of the program sees of a command line on the device."""

    def __init__(self, call: Call) -> None:
        self.out, self.err, self.read = call.out, call.err, call.read


async def run_cmd(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Runs a command line on the device."""
    return await _line(call, device, option(words, "-c", "--command") or "")


async def _line(call: Call, device: VegaDevice, text: str) -> int:
    line, pipe = text.encode("utf-8", "surrogateescape"), _Pipe(call)
    device.journal.add("shell", line=text, framed=True, terminal=False)
    cut = await device.faults.strike_line(text)
    if cut is not None:
        await call.out(cut)
        return 0
    direct = shell.direct_words(device, line)
    if direct is not None:
        return await shell.direct(device, pipe, direct[0], direct[1:])
    return await shell.in_shell(device, pipe, line, merged=False)


async def open_shell(call: Call, device: VegaDevice, words: list[str]) -> int:
    """A shell that reads command lines."""
    return await shell.in_shell(device, _Pipe(call), b"", merged=False)


async def copy_to(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Copies a file of the host to where pushed files go."""
    source, target = call.path(option(words, "-s", "--source") or ""), option(words, "--destination") or ""
    place = device.pushed.host(target)
    if place.is_dir():
        place = place / source.name
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
    except OSError as error:
        return await said(call, f"Error: {error.strerror}", 1)
    return await said(call, f"Copied {source} to {target}")


async def copy_from(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Copies a file from there to the host."""
    source = device.pushed.host(option(words, "-s", "--source") or "")
    target = call.path(option(words, "-o", "--output") or source.name)
    try:
        shutil.copyfile(source, target / source.name if target.is_dir() else target)
    except OSError as error:
        return await said(call, f"Error: {error.strerror}", 1)
    return await said(call, "Copied")


async def _adb(call: Call, device: VegaDevice, *words: str) -> processes.Result:
    server = call.device.host.server
    argv = [server.program, "-s", device.serial, *words]
    return await processes.run(argv, deadline=30, env=server.environment)


async def _ports(call: Call, device: VegaDevice, words: list[str], verb: str) -> int:
    port = option(words, "--port", "-p") or ""
    kind = "forward" if (option(words, "--forward") or "true") == "true" else "reverse"
    if not port.isdigit():
        return await said(call, "Error: --port is required", 1)
    address = f"tcp:{port}"
    if verb == "is":
        listed = (await _adb(call, device, kind, "--list")).text
        return await said(call, "true" if any(address in row.split() for row in listed.splitlines()) else "false")
    asked = (kind, address, address) if verb == "start" else (kind, "--remove", address)
    code = (await _adb(call, device, *asked)).code
    return await said(call, "Success" if not code else f"Error: cannot {verb} {kind} of port {port}", int(code != 0))


async def start_port_forward(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Forwards a port of the host to the same port of the device."""
    return await _ports(call, device, words, "start")


async def stop_port_forward(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Ends that."""
    return await _ports(call, device, words, "stop")


async def is_port_forwarded(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Whether a port is forwarded."""
    return await _ports(call, device, words, "is")


async def start_log_stream(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Prints the log until it is interrupted."""
    return await _line(call, device, "loggingctl log -f")


async def get_log_info(call: Call, device: VegaDevice, words: list[str]) -> int:
    """How many lines the log has."""
    return await said(call, json.dumps({"lines": device.machine.log.count}))


async def copy_logs(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Writes the log into a file of the host."""
    target = call.path(option(words, "-o", "--output") or ".")
    if target.is_dir():
        target = target / f"{device.machine.hostname}.log"
    target.write_text("".join(line.shown("short_precise") + "\n" for line in device.machine.log.since(0)))
    return await said(call, f"Copied logs to {target}")


async def done(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Something that ends at once."""
    return await said(call, "Success")


VERBS: dict[str, Callable[[Invocation[Sdk], VegaDevice, list[str]], Awaitable[int]]] = {
    "run-cmd": run_cmd, "shell": open_shell, "copy-to": copy_to, "copy-from": copy_from,
    "start-port-forward": start_port_forward, "stop-port-forward": stop_port_forward,
    "is-port-forwarded": is_port_forwarded, "start-log-stream": start_log_stream, "stop-log-stream": done,
    "get-log-info": get_log_info, "copy-logs": copy_logs,
}  # fmt: skip
"""Every verb of these."""
