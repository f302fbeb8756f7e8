"""Named profiles and endpoints, as a person added them, and who is using a profile right now."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anydevice.kit.pids import alive
from anydevice_schemas.errors import InvalidArgument

FILE = "profiles.json"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LOCK = "SingletonLock"


@dataclass(slots=True, frozen=True)
class Profile:
    """A named profile: state of a browser that survives its shutdown."""

    name: str
    browser: str


@dataclass(slots=True, frozen=True)
class Endpoint:
    """A running browser's DevTools address."""

    name: str
    url: str


class Profiles:
    """What is remembered in the backend's data folder. Touches the file system; call it off the event loop."""

    def __init__(self, data_dir: str) -> None:
        self._folder = Path(data_dir)

    def read(self) -> tuple[list[Profile], list[Endpoint]]:
        """Everything remembered; a file that cannot be read counts as empty, and is never written over."""
        table = self._table()
        return (
            [Profile(name, str(entry.get("browser", "chromium"))) for name, entry in table["profiles"].items()],
            [Endpoint(name, str(entry.get("url", ""))) for name, entry in table["endpoints"].items()],
        )

    def add_profile(self, name: str, browser: str) -> None:
        """Remembers a profile.

        Raises:
            InvalidArgument: The name cannot be used, or names something else already.
        """
        table = self._writable()
        self._check(table, name, taken=table["profiles"].get(name) not in (None, {"browser": browser}))
        if name in table["endpoints"]:
            self._check(table, name, taken=True)
        table["profiles"][name] = {"browser": browser}
        self._write(table)
        self.folder(Profile(name, browser)).mkdir(mode=0o700, parents=True, exist_ok=True)

    def add_endpoint(self, name: str, url: str) -> None:
        """Remembers an endpoint.

        Raises:
            InvalidArgument: The name cannot be used, or names something else already.
        """
        table = self._writable()
        taken = name in table["profiles"] or table["endpoints"].get(name) not in (None, {"url": url})
        self._check(table, name, taken=taken)
        table["endpoints"][name] = {"url": url}
        self._write(table)

    def remove(self, name: str, *, delete_data: bool) -> Profile | Endpoint:
        """Forgets a profile or endpoint; with `delete_data` the profile's own folder is deleted too.

        Raises:
            InvalidArgument: Nothing is remembered under this name.
        """
        table = self._writable()
        profile, endpoint = table["profiles"].pop(name, None), table["endpoints"].pop(name, None)
        if profile is None and endpoint is None:
            known = sorted([*table["profiles"], *table["endpoints"]])
            raise InvalidArgument(
                "No profile or endpoint has this name.", param="name", expected="a name from the list", known=known
            )
        self._write(table)
        if profile is None:
            return Endpoint(name, str(endpoint.get("url", "")))
        gone = Profile(name, str(profile.get("browser", "chromium")))
        if delete_data:
            shutil.rmtree(self.folder(gone), ignore_errors=True)
        return gone

    def folder(self, profile: Profile) -> Path:
        """Where a profile's data lives."""
        return self._folder / "profiles" / f"{profile.browser}-{profile.name}"

    def _table(self) -> dict[str, Any]:
        try:
            table = json.loads((self._folder / FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            table = {}
        if not isinstance(table, dict):
            table = {}
        return {part: dict(table.get(part) or {}) for part in ("profiles", "endpoints")}

    def _writable(self) -> dict[str, Any]:
        path = self._folder / FILE
        if path.exists():
            try:
                json.loads(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise InvalidArgument(
                    f"The file {FILE} in the backend's data folder cannot be read; nothing was changed.",
                    hint="Repair or remove that file.",
                    param="name",
                    expected="a readable profiles file",
                ) from error
        return self._table()

    def _write(self, table: dict[str, Any]) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / FILE
        scratch = path.with_suffix(f".{os.getpid()}.new")
        scratch.write_text(json.dumps(table, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        scratch.replace(path)

    @staticmethod
    def _check(table: dict[str, Any], name: str, *, taken: bool) -> None:
        if not NAME.fullmatch(name):
            raise InvalidArgument(
                "This name cannot be used.", param="name", expected="letters, digits, . _ -, at most 64"
            )
        if taken:
            known = sorted([*table["profiles"], *table["endpoints"]])
            raise InvalidArgument("This name is taken.", param="name", expected="a name not in use", known=known)


@dataclass(slots=True, frozen=True)
class LockOwner:
    """The browser that uses a profile: process id, and the host it runs on."""

    pid: int
    host: str
    here: bool


def lock_owner(folder: Path) -> LockOwner | None:
    """Who uses a profile folder now; None when nobody does (a lock whose owner died counts as nobody).

    The browser marks a profile in use by a symbolic link that points at `HOST-PID`.
    """
    try:
        text = os.readlink(folder / LOCK)
    except OSError:
        return None
    host, _, pid = text.rpartition("-")
    if not pid.isdigit():
        return None
    here = host == socket.gethostname()
    if here and not alive(int(pid)):
        return None
    return LockOwner(int(pid), host, here)
