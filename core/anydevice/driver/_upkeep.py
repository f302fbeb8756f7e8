"""Everything around an app: settings, files, the shell, notifications, forwarded ports, a TV's remote control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._base import Capability, undeclared
from ._data import Acted


@dataclass(slots=True, frozen=True)
class Setting:
    """One setting as it was read from the device.

    Attributes:
        value: As the device has it, in our words (`dark`, `on`, `landscape-left`); None where it has none set.
        choices: Values it can be given here; empty where any will do.
        data: More facts, in the device's own words. Untrusted.
    """

    value: str | None
    choices: Sequence[str] = ()
    data: Mapping[str, Any] = field(default_factory=dict)


class Settings(Capability):
    """Settings of the device. Every change is read back by core through `read`.

    What a holder changed is put back by `Driver.clean`, where the platform can tell what it was before.
    """

    name = "settings"

    async def read(self, area: str, *, app: str | None = None, name: str | None = None) -> Setting:
        """One setting; `area` is the name of one of the methods below."""
        raise undeclared("settings", "read")

    async def appearance(self, value: str) -> Acted:
        """`light` or `dark`."""
        raise undeclared("settings", "appearance")

    async def orientation(self, value: str) -> Acted:
        """`portrait`, `landscape-left`, `landscape-right`, `portrait-upside-down`, or `auto`."""
        raise undeclared("settings", "orientation")

    async def animations(self, value: str) -> Acted:
        """`on` or `off`."""
        raise undeclared("settings", "animations")

    async def wifi(self, value: str) -> Acted:
        """`on` or `off`."""
        raise undeclared("settings", "wifi")

    async def airplane(self, value: str) -> Acted:
        """`on` or `off`."""
        raise undeclared("settings", "airplane")

    async def location(self, value: str) -> Acted:
        """`LATITUDE,LONGITUDE` in degrees, or `off`."""
        raise undeclared("settings", "location")

    async def text_size(self, value: str) -> Acted:
        """A factor such as `1.3`."""
        raise undeclared("settings", "text_size")

    async def permission(self, value: str, *, app: str, name: str) -> Acted:
        """`grant`, `deny` or `ask` for the permission `name` of an app."""
        raise undeclared("settings", "permission")

    async def app_data(self, value: str, *, app: str) -> Acted:
        """`clear`: ends an app and deletes what it has stored, so that it starts as on its first day. It stays
        installed. `read` tells a value of None where nothing shows what an app has stored.

        Raises:
            AppNotFound: It is not installed.
            Refused: The device keeps the data of this app.
        """
        raise undeclared("settings", "app_data")

    async def status_bar(self, value: str) -> Acted:
        """`demo` (fixed time, full battery and signal, for pictures that compare) or `live`."""
        raise undeclared("settings", "status_bar")


@dataclass(slots=True, frozen=True)
class ShellResult:
    """What a shell command did. Both outputs are untrusted; `cut` says that one was longer than what is kept."""

    status: int
    stdout: str
    stderr: str
    cut: bool = False


class Shell(Capability):
    """A shell on the device. Offered in profile `full` only."""

    name = "shell"

    async def run(self, command: str, *, cwd: str | None = None, deadline: float = 30.0) -> ShellResult:
        """Runs a command line; a cancelled or late one is ended with all its children.

        Raises:
            CallTimeout: It did not end in time; it was ended.
            PathNotFound: `cwd` is no folder.
        """
        raise undeclared("shell", "run")


@dataclass(slots=True, frozen=True)
class FileInfo:
    """A file of the device: its path there, size in bytes, when it changed (seconds since the epoch), its tags."""

    path: str
    size: int | None = None
    changed: float | None = None
    folder: bool = False
    tags: Sequence[str] = ()


@dataclass(slots=True, frozen=True)
class FileList:
    """Files that were found; `cut` says why there may be more of them, and is empty when there are not."""

    files: Sequence[FileInfo]
    cut: str = ""


class Files(Capability):
    """Files of the device. Paths are absolute, except where the device itself has others."""

    name = "files"

    async def home(self) -> str | None:
        """Only where the device's files are files of this host: the folder that is this device's own, if there is one.

        Core keeps callers of such a device inside of their own folders and this one.
        """
        raise undeclared("files", "home")

    async def push(self, source: str, target: str, *, deadline: float) -> Acted:
        """Copies a file or folder of the host onto the device, in place of a file of that path.

        `Acted.verified` says whether it was seen there whole.

        Raises:
            PathNotFound: There is no folder of the device that it could go into.
        """
        raise undeclared("files", "push")

    async def pull(self, source: str, target: str, *, deadline: float) -> Acted:
        """Copies a file or folder of the device to a path of the host that does not exist yet.

        Raises:
            PathNotFound: The device has no such file.
        """
        raise undeclared("files", "pull")

    async def add_media(self, source: str, *, deadline: float) -> Acted:
        """Puts a picture or video of the host into the device's gallery."""
        raise undeclared("files", "add_media")

    async def trash(self, path: str) -> Acted:
        """Moves a file or folder into the trash, from where it can be restored. Never deletes, never copies.

        `Acted.verified` says whether it was seen there and gone from where it was; `Acted.data["trashed"]` is where it
        lies now. A link is moved itself.
        """
        raise undeclared("files", "trash")

    async def tags(self, path: str) -> Sequence[str]:
        """The tags of a file."""
        raise undeclared("files", "tags")

    async def set_tags(self, path: str, tags: Sequence[str]) -> Acted:
        """Gives a file exactly these tags; none takes them all away.

        Raises:
            Unsupported: Where the file lies, files have no tags.
        """
        raise undeclared("files", "set_tags")

    async def search(
        self, name: str, *, under: str | None = None, most: int = 100, hidden: bool = False, deadline: float = 10.0
    ) -> FileList:
        """Files and folders by name, newest first: part of the name in any case, or a pattern with `*` and `?`.

        Links are never followed; what begins with a dot, and what is inside of it, is left out unless `hidden`. Ends in
        time with what it has found.

        Raises:
            PathNotFound: `under` is no folder.
        """
        raise undeclared("files", "search")


class Remote(Capability):
    """A TV's remote control."""

    name = "remote"

    async def press(self, button: str, *, seconds: float = 0.0) -> Acted:
        """Presses a button: up, down, left, right, select, back, home, menu, play-pause, …

        `seconds` above 0 is a long press; where the device knows only one length of it, it is that one.
        """
        raise undeclared("remote", "press")

    async def repeat(self, button: str, *, count: int) -> Acted:
        """Presses a button `count` times in a row, in one go; only where that is quicker than one `press` each."""
        raise undeclared("remote", "repeat")

    async def hold(self, button: str, *, seconds: float) -> Acted:
        """Holds a button for as long as it is told to."""
        raise undeclared("remote", "hold")


class Notifications(Capability):
    """Notifications to an app."""

    name = "notifications"

    async def push(self, app: str, payload: Mapping[str, Any]) -> Acted:
        """Delivers a push notification to an app, as far as the platform can without its service."""
        raise undeclared("notifications", "push")


@dataclass(slots=True, frozen=True)
class Forward:
    """A forwarded port: `device` is an address on the device, `host` one on the host."""

    host: str
    device: str
    reverse: bool = False


class Forwards(Capability):
    """Ports of the device on the host, and the other way round. `Driver.clean` takes away those it made."""

    name = "forwards"

    async def list(self) -> Sequence[Forward]:
        """Those that are there for this device, also of other programs."""
        raise undeclared("forwards", "list")

    async def add(self, forward: Forward) -> Forward:
        """Adds one; port 0 lets the system choose, and the one returned has the number."""
        raise undeclared("forwards", "add")

    async def remove(self, forward: Forward) -> Acted:
        """Takes away one that this driver added.

        Raises:
            Refused: It did not add it.
        """
        raise undeclared("forwards", "remove")
