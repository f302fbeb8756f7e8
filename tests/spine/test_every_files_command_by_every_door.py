"""Shell, files, apps and ports by every door, on a phone of the fake backend; judged by its own shell and by the host.

Nothing absolute comes out of MCP, whatever a command is about.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ..support.daemons import Home, only
from .doors import DOORS, Door, Said, opened

pytestmark = pytest.mark.daemon
CONFIG = only("mcp") + '[policy]\nprofile = "full"\n'
DEVICE, KEY = "fake-1", "fake:fake-1"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0" + b"\0" * 8
numbers = itertools.count(1)


@dataclass
class Phone:
    """A fake phone, one caller's way to it, and the folder the caller works in."""

    door: Door
    home: Home
    cwd: Path

    def do(self, command: str, **arguments: Any) -> Said:
        said = self.door.do(command, device=DEVICE, **arguments)
        assert said.device == KEY
        return self._checked(said)

    def refused(self, code: str, command: str, **arguments: Any) -> Said:
        return self._checked(self.door.refused(code, command, device=DEVICE, **arguments))

    def approval(self, command: str, **arguments: Any) -> str:
        """A token for a call, which a person approved at the command line, and not before."""
        token = str(self.refused("confirmation_required", command, **arguments).details["token"])
        self.refused("confirmation_invalid", command, confirmToken=token, **arguments)
        done = self.home.cli("approve", token)
        assert done.returncode == 0, done.stderr
        return token

    def says(self, line: str) -> str:
        """What the device's own shell says."""
        return str(self.do("shell", commandLine=line).data["stdout"])

    def _checked(self, said: Said) -> Said:
        if self.door.name == "mcp":
            assert str(self.cwd) not in said.text and str(self.home.path) not in said.text
        return said


@pytest.fixture(scope="module")
def served() -> Iterator[Home]:
    with Home.made(CONFIG) as home:
        home.serve()
        yield home


@pytest.fixture(scope="module", params=DOORS)
def phone(request: pytest.FixtureRequest, served: Home) -> Iterator[Phone]:
    cwd = served.path.parent / f"project-{request.param}"
    with opened(request.param, served, cwd) as door:
        yield Phone(door, served, cwd)
        door.call("session", action="end")
        for row in door.do("session").data["sessions"]:
            door.call("session", action="end", name=row["name"])


@pytest.fixture
def name(phone: Phone) -> str:
    """A name no other test's file has."""
    return f"{phone.door.name}-{next(numbers)}"


def test_shell_says_how_it_ended(phone: Phone, name: str) -> None:
    said = phone.do("shell", commandLine=f"echo {name}; echo no >&2; exit 3")
    assert said.data == {"ok": False, "status": 3, "stdout": f"{name}\n", "stderr": "no\n"}
    assert said.ok and said.verified is False


def test_files_go_and_come(phone: Phone, name: str) -> None:
    data = bytes(range(256))
    (phone.cwd / name).write_bytes(data)
    said = phone.do("files", action="push", hostPath=name, devicePath=f"/storage/{name}")
    assert said.data["hostPath"] == name and said.verified is True
    phone.do("files", action="pull", devicePath=f"/storage/{name}", hostPath=f"{name}.back")
    assert (phone.cwd / f"{name}.back").read_bytes() == data
    said = phone.do("files", action="pull", devicePath=f"/storage/{name}")
    (made,) = said.wire["artefacts"]
    assert (phone.home.path / "artefacts" / made["name"]).read_bytes() == data
    phone.refused("path_refused", "files", action="push", hostPath="/etc/passwd", devicePath="/storage/x")
    phone.refused("path_refused", "files", action="pull", devicePath=f"/storage/{name}", hostPath="../x")


def test_add_media_takes_a_picture(phone: Phone, name: str) -> None:
    (phone.cwd / f"{name}.png").write_bytes(PNG)
    said = phone.do("add-media", path=f"{name}.png")
    assert said.data == {"path": f"{name}.png", "mime": "image/png", "bytes": len(PNG)}
    assert f"{name}.png" in phone.do("file-search", name=name).data["files"][0]["path"]
    phone.refused("path_refused", "add-media", path="/etc/passwd")


def test_trash_moves_once_a_person_approved(phone: Phone, name: str) -> None:
    phone.says(f"echo precious > {name}")
    token = phone.approval("trash", path=f"/storage/{name}")
    said = phone.do("trash", path=f"/storage/{name}", confirmToken=token)
    assert said.verified is True
    assert phone.says(f"cat {said.data['trashed']}") == "precious\n"
    assert phone.do("shell", commandLine=f"cat {name}").data["ok"] is False
    phone.refused("confirmation_invalid", "trash", path=f"/storage/{name}", confirmToken=token)


def test_tags_and_search(phone: Phone, name: str) -> None:
    phone.says(f"echo x > {name}")
    path = f"/storage/{name}"
    said = phone.do("tags", action="set", path=path, tags=["urgent", "über"])
    assert (said.data["tags"], said.verified) == (["urgent", "über"], True)
    assert phone.do("tags", path=path).data["tags"] == ["urgent", "über"]
    said = phone.do("file-search", name=name.upper())
    assert [row["path"] for row in said.data["files"]] == [path]
    assert said.data["files"][0]["tags"] == ["urgent", "über"]


def test_apps_come_and_go(phone: Phone, name: str) -> None:
    app = f"app.{name}"
    data = json.dumps({"package": app, "name": f"App {name}"}).encode()
    (phone.cwd / f"{name}.package").write_bytes(data)
    said = phone.do("install", path=f"{name}.package")
    assert (said.data, said.verified) == ({"app": app, "updated": False}, True)
    said = phone.do("apps", name=name)
    assert said.data == {
        "apps": [{"id": app, "name": f"App {name}", "running": False, "foreground": False}],
        "count": 1,
    }
    what = {"app": f"App {name}", "path": f"{name}.package"}
    said = phone.do("reinstall", confirmToken=phone.approval("reinstall", **what), **what)
    assert said.data["removed"] is True
    assert phone.do("uninstall", app=app, confirmToken=phone.approval("uninstall", app=app)).data == {"app": app}
    right = hashlib.sha256(data).hexdigest()
    said = phone.do("install-from-source", source=f"{name}.package", sha256=right)
    assert (said.data["app"], said.data["sha256"]) == (app, right)
    phone.refused("refused", "install-from-source", source="http://127.0.0.1:9/x")
    phone.refused("refused", "install-from-source", source=f"{name}.package", sha256="0" * 64)


def test_ports_are_forwarded_until_they_are_removed(phone: Phone) -> None:
    made = phone.do("forward", action="add", hostPort=0, devicePort=8080).data["forward"]
    assert made["hostPort"] > 0 and made in phone.do("forward").data["forwards"]
    phone.do("forward", action="remove", **made)
    assert made not in phone.do("forward").data["forwards"]
