"""content: rows of the providers of settings and media. A file is in the media index once it was scanned."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from ..files import ANDROID
from ..programs import Invocation, Program

KINDS = {
    "images": (".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic"),
    "video": (".mp4", ".webm", ".3gp", ".mkv"),
    "audio": (".mp3", ".ogg", ".wav", ".m4a", ".flac"),
}
SHOWN = "/storage/emulated/0"
_TERM = re.compile(r"(\w+)\s*(=|LIKE)\s*'((?:[^']|'')*)'", re.IGNORECASE)


def scan(call: Invocation, path: str) -> None:
    """Puts a file, or every file of a folder, into the media index."""
    host = call.device.files.host(path)
    found = [host] if host.is_file() else [one for one in host.rglob("*") if one.is_file()] if host.is_dir() else []
    root = call.device.files.host("/sdcard")
    for one in found:
        if one.is_relative_to(root):
            call.device.machine.media.add(f"{SHOWN}/{one.relative_to(root)}")


def scan_address(call: Invocation, url: str) -> None:
    """The same for a `file:` address."""
    if urlsplit(url).scheme == "file":
        scan(call, unquote(urlsplit(url).path))


async def content(call: Invocation) -> int:
    """`content query|insert|call --uri URI ...`."""
    verb, *words = call.args or [""]
    given = {words[i]: words[i + 1] for i in range(len(words) - 1) if words[i].startswith("--")}
    uri = given.get("--uri", "")
    if verb == "query":
        rows = _rows(call, uri, given)
        await call.out("".join(f"Row: {number} {row}\n" for number, row in enumerate(rows)) or "No result found.\n")
    elif verb == "call" and uri.startswith("content://media"):
        whole = given.get("--method") == "scan_volume"
        scan(call, "/sdcard" if whole else given.get("--arg", ""))
        await call.out("Result: Bundle[{}]\n")
    elif verb not in ("insert", "update", "delete", "call", "read", "write"):
        await call.err("usage: adb shell content [subcommand] [options]\n")
        return 1
    return 0


def _rows(call: Invocation, uri: str, given: dict[str, str]) -> list[str]:
    space = uri.removeprefix("content://settings/")
    machine = call.device.machine
    if space in machine.settings:
        return [f"_id={n}, name={k}, value={v}" for n, (k, v) in enumerate(sorted(machine.settings[space].items()))]
    if not uri.startswith("content://media/external/"):
        return []
    wanted = KINDS.get(uri.removeprefix("content://media/external/").partition("/")[0])
    columns = given.get("--projection", "_id:_data:_display_name").split(":")
    rows: list[str] = []
    for number, path in enumerate(sorted(machine.media), start=1000):
        host = call.device.files.host(path)
        if not host.is_file() or (wanted is not None and not path.lower().endswith(wanted)):
            continue
        facts = {"_id": str(number), "_data": path, "_display_name": host.name, "_size": str(host.stat().st_size)}
        if _fits(facts, given.get("--where", "")):
            rows.append(", ".join(f"{column}={facts.get(column, 'NULL')}" for column in columns))
    return rows


def _fits(facts: dict[str, str], where: str) -> bool:
    """Whether a row meets conditions such as `_data LIKE '%/x.png' AND _size='3'`."""
    for column, how, quoted in _TERM.findall(where):
        value = quoted.replace("''", "'")
        for name, place in ANDROID.same.items():
            if place == "sdcard" and value.startswith(f"/{name}/"):
                value = f"{SHOWN}/{value[len(name) + 2 :]}"
        if value.startswith("/sdcard/"):
            value = f"{SHOWN}/{value[8:]}"
        pattern = ".*".join(map(re.escape, value.split("%"))) if how.upper() == "LIKE" else re.escape(value)
        if not re.fullmatch(pattern, facts.get(column, ""), re.IGNORECASE if how.upper() == "LIKE" else 0):
            return False
    return True


PROGRAMS: dict[str, Program] = {"content": content}
