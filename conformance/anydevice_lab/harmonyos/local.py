"""Commands of the hdc server itself: lists, connections, forwards, its version."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import anyio

from . import wire

if TYPE_CHECKING:
    from .channel import Channel
    from .server import HdcServer

EMPTY = "[Empty]"
NO_KEY = "ExecuteCommand need connect-key? please confirm a device by help info"
NODES = ("tcp:", "localabstract:", "localreserved:", "localfilesystem:", "dev:", "jdwp:", "ark:")
KNOWN = (
    "list targets", "start", "kill", "checkserver", "wait", "any", "tconn", "shell", "file send", "file recv", "fport",
    "rport", "install", "uninstall", "target mount", "jpid", "track-jpid", "target boot", "tmode", "hilog", "smode",
    "sideload", "bugreport", "alive", "discover", "version", "help", "reconnect",
)  # fmt: skip
CONNECTS_WITHIN = 0.5
"""Seconds after which a connection to nobody has failed; a real server tries for longer."""


def mistake(line: str) -> str:
    """What is wrong with a command before anything is done; empty = nothing."""
    if not line.startswith(KNOWN):
        return "Unknown command..."
    if line.startswith("tconn "):
        return _address_mistake(line)
    if line.startswith(("fport ", "rport ")) and line[6:8] not in ("ls", "rm") and not line[6:].startswith(NODES):
        return "Incorrect forward command"
    if line.startswith("tmode"):
        words = line.split()[1:]
        if not words:
            return "Error input parameter"
        if words[0] not in ("port", "usb"):
            return "Error tmode command"
        if words[1:] and words[1] != "close" and not 0 < _number(words[1]) < 65536:
            return "Incorrect port range"
    return ""


def _address_mistake(line: str) -> str:
    key = line[6:].removesuffix(" -remove")
    host, colon, port = key.partition(":")
    if not colon:
        return ""
    if host != "localhost" and not re.fullmatch(r"(\d{1,3}\.){3}\d{1,3}", host):
        return "[E001104]:IP address incorrect"
    if not port.isdigit():
        return "Port incorrect"
    return "" if 0 < int(port) < 65536 else "IP:Port incorrect"


def _number(word: str) -> int:
    return int(word) if word.isdigit() else 0


async def serve(server: HdcServer, channel: Channel, line: str) -> None:
    """Does one command that has no device."""
    if line.startswith("list targets"):
        await channel.tell(targets(server, " -v" in line) or EMPTY)
    elif line.startswith("checkserver"):
        await channel.order(wire.CHECK_SERVER, server.number.encode())
    elif line.startswith("version"):
        await channel.tell(server.number)
    elif line.startswith("help"):
        await channel.tell("OpenHarmony device connector(hdc) ...\n")
    elif line.startswith("wait"):
        await _wait(server, channel)
    elif line.startswith("tconn "):
        await _connect(server, channel, line[6:])
    elif line.startswith("fport ls"):
        await channel.tell(server.forwards.rows() or EMPTY)
    elif line.startswith("fport rm"):
        rule = line[9:]
        if await server.forwards.remove(rule):
            await channel.tell(f"Remove forward ruler success, ruler:{rule}")
        else:
            await channel.fail(f"Remove forward ruler failed, ruler is not exist {rule}")
    elif line.startswith("start"):
        return  # it has started already, and says nothing
    else:
        await channel.fail(NO_KEY)


def targets(server: HdcServer, whole: bool) -> str:
    """The list of devices: keys of those that are connected, or a row for each; sorted, as the server's map is."""
    rows = {}
    last = "\thdc" if server.old else ""  # newer clients add that column themselves
    for key, device in server.devices.items():
        if not device.listed:
            continue
        state: str = device.kind.state if not device.away else "Offline"
        if state == "Unauthorized" and device.approved:
            state = "Connected"
        if whole:
            name = device.hostname if state == "Connected" else "unknown..."
            connection = device.kind.connection if key == device.key else "TCP"
            rows[key] = f"{key}\t\t{connection}\t{state}\t{name}{last}\n"
        elif device.connected:
            rows[key] = key + ("\tUnauthorized\n" if device.unauthorized else "\n")
    if whole:
        for key in server.lost - rows.keys():
            rows[key] = f"{key}\t\tTCP\tOffline\tunknown...{last}\n"
    return "".join(rows[key] for key in sorted(rows))


async def _wait(server: HdcServer, channel: Channel) -> None:
    wanted = channel.key
    while True:
        found = sorted(key for key, one in server.devices.items() if one.connected and wanted in ("", "any", key))
        if found:
            await channel.tell(f"Wait for connected target is {found[0]}")
            return
        await channel.fail("No any connected target")
        await channel.receive()  # the client asks again


async def _connect(server: HdcServer, channel: Channel, words: str) -> None:
    key = words.removesuffix(" -remove").replace("localhost", "127.0.0.1")
    if ":" not in key:
        key += ":10178"
    device = server.devices.get(key)
    if words.endswith(" -remove"):
        if device is None or not device.connected:
            await channel.fail("No target available")
        elif key != device.key:
            await server.drop(device)
        else:
            device.listed = False
        return
    other = next((one for one in server.devices.values() if one.network == key and not one.away), None)
    if device is None and other is not None:
        server.devices[key] = other
        server.lost.discard(key)
        await channel.tell("Connect OK")
    elif device is not None and device.listed and device.connected:
        await channel.inform("Target is connected, repeat operation")
    elif device is not None and device.reachable:
        device.listed = True
        server.lost.discard(key)
        await channel.tell("Connect OK")
    else:
        await anyio.sleep(CONNECTS_WITHIN)
        server.lost.add(key)
        await channel.fail("Connect failed")
