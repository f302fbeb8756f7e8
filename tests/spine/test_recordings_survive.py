"""A daemon that is killed, or ends, while a desktop is filmed: the video is whole, and its maker is told its name."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from anydevice.kit import encoders
from anydevice.kit.movies import inspect

from ..linux.desktop import missing
from ..support.daemons import Home, eventually, only
from ..support.versions import installed
from .conftest import caller
from .processes import needs_proc

LACKS = missing() or (None if encoders.candidates() else "no encoder")
pytestmark = [pytest.mark.daemon, needs_proc, pytest.mark.skipif(LACKS is not None, reason=LACKS or "")]
CONFIG = only("linux", "mcp")
DEVICE = "virtual"


def whole(path: Path) -> bool:
    try:
        return bool(inspect(path).seconds)
    except (OSError, ValueError):
        return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "ended"])
def test_the_video_outlives_the_daemon(number: signal.Signals) -> None:
    with Home.made(CONFIG) as home, caller(home, "cli") as door:
        home.serve()
        door.do("boot", device=DEVICE)
        name = door.do("record", action="start", device=DEVICE).data["name"]
        eventually(lambda: door.do("record", device=DEVICE).data["frames"] >= 5, "five frames are filmed")
        os.kill(home.pid, number)
        eventually(lambda: not home.running(), "the daemon is gone")
        path = home.path / "artefacts" / "unfinished" / f"{name}.mp4"
        eventually(lambda: whole(path), "the video is whole")
        said = door.do("boot", device=DEVICE)  # by a new daemon
        lost = [row for notice in said.notices("sessions_lost") for row in notice["lost"]]
        if number == signal.SIGKILL:
            assert [row["inProgress"]["recording"]["name"] for row in lost] == [name]
        stopped = door.do("record", action="stop", name=name, device=DEVICE)
        (file,) = stopped.wire["artefacts"]
        assert file["mime"] == "video/mp4" and stopped.data["seconds"] >= 0.4
        assert inspect(Path(file["path"])).frames == stopped.data["frames"]
        door.do("shutdown", device=DEVICE)


def test_a_newer_daemon_gives_out_the_video_the_older_one_began(tmp_path: Path) -> None:
    with Home.made(CONFIG) as home:
        home.extra = {"PYTHONPATH": str(home.plugins)}  # nothing of this version is on the newer one's way
        newer = installed(tmp_path, "99.0")
        home.serve()
        where = tmp_path / "project"
        where.mkdir()
        home.json("boot", "--device", DEVICE, cwd=where)
        name = home.json("record", "start", "--device", DEVICE, cwd=where)["data"]["name"]
        pid = home.pid
        eventually(
            lambda: home.json("record", "--device", DEVICE, cwd=where)["data"]["frames"] >= 5, "five frames are filmed"
        )
        said = newer.json(home, "record", "--device", DEVICE, cwd=where)
        assert home.pid == pid  # replaced in place: the desktop runs on
        assert (said["data"]["recording"], said["data"]["name"]) == (False, name)
        stopped = newer.json(home, "record", "stop", "--device", DEVICE, cwd=where)
        assert stopped["data"]["ended"] == "interrupted" and stopped["data"]["seconds"] >= 0.4
        assert newer.json(home, "record", "start", "--device", DEVICE, cwd=where)["data"]["recording"] is True
        newer.json(home, "record", "stop", "--device", DEVICE, cwd=where)
        newer.json(home, "shutdown", "--device", DEVICE, cwd=where)
