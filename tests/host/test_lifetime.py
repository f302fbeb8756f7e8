"""How daemons start and end: one at a time, whatever happens to them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from anydevice.host import record
from anydevice.places import CALLER_PATH

from ..support.daemons import ALONE, PATIENCE, VERSION, Home, eventually

pytestmark = pytest.mark.daemon


def test_eight_programs_that_start_at_once_end_up_with_one_daemon(home: Home) -> None:
    programs = [home.spawn("say", "hi", "--json") for _ in range(8)]
    pids = set()
    for program in programs:
        out, err = program.communicate(timeout=2 * PATIENCE)
        assert program.returncode == 0, err
        pids.add(json.loads(out)["data"]["pid"])
    assert pids == {home.pid}
    eventually(lambda: home.log().count('"event": "ready"') == 1, "the log tells of one")


def test_a_second_daemon_refuses_to_run_and_says_which_one_does(home: Home) -> None:
    pid = home.serve()
    assert home.json("serve")["data"] == {"started": False, "pid": pid, "version": VERSION}
    second = home.cli("serve", "--foreground")
    assert second.returncode == 1
    assert f"a daemon runs already (process {pid})" in second.stderr
    assert home.running()


def test_a_daemon_is_nobodys_child_and_has_a_process_group_of_its_own(home: Home) -> None:
    pid = home.serve()
    assert os.getpgid(pid) == pid
    assert os.getsid(pid) == pid
    assert home.json("say", "x")["data"]["daemonCwd"] == "/"


def test_after_kill_9_the_next_program_starts_a_new_daemon_over_what_is_left(home: Home) -> None:
    pid = home.serve()
    found = home.record
    assert found is not None
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not home.running(), "the process is gone")
    assert Path(found["socket"]).exists()
    assert home.json("say", "x")["data"]["pid"] != pid
    assert home.running()


def test_a_record_of_another_process_with_the_same_id_fools_nobody(home: Home) -> None:
    (home.path / "run").mkdir()
    stale = {
        "pid": os.getpid(),
        "started": "1",
        "version": "0",
        "socket": str(home.path / "run" / "x"),
        "state": "ready",
    }
    record.write_record(str(home.path), stale)
    assert not home.running()
    assert home.json("status")["data"] == {"running": False}
    assert home.json("stop")["data"]["stopped"] is False
    home.serve()
    assert home.pid != os.getpid()


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"pid": "x"}', "\0\0"])
def test_a_damaged_record_is_written_anew(home: Home, damage: str) -> None:
    (home.path / "run").mkdir()
    (home.path / "run" / record.RECORD).write_text(damage)
    home.serve()
    assert home.running()


def test_a_file_in_place_of_the_socket_is_told(home: Home) -> None:
    (home.path / "run").mkdir()
    (home.path / "run" / record.SOCKET).write_text("not a socket")
    failed = home.json("serve", code=1)
    assert failed["error"]["code"] == "upstream_unavailable"
    assert "in use" in failed["error"]["message"]


def test_the_run_folder_and_the_socket_are_for_their_owner_alone(home: Home) -> None:
    (home.path / "run").mkdir(mode=0o755)
    home.serve()
    found = home.record
    assert found is not None
    assert (home.path / "run").stat().st_mode & 0o777 == 0o700
    assert Path(found["socket"]).stat().st_mode & 0o777 == 0o600
    assert (home.path / "run" / record.LOG).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_leaves_nothing_behind(home: Home, number: signal.Signals) -> None:
    pid = home.serve()
    found = home.record
    assert found is not None
    os.kill(pid, number)
    eventually(lambda: not record.lives(found), "the daemon ends")
    assert not Path(found["socket"]).exists()
    assert home.record is None
    assert '"event": "stopped"' in home.log()


def test_a_stop_closes_the_drivers_of_devices_that_are_driven(home: Home) -> None:
    mark = home.path.parent / "closed"
    source = (home.plugins / "fake_vendor" / "__init__.py").read_text()
    source += (
        "\n    async def connect(self, device, env):\n"
        "        driver = await super().connect(device, env)\n"
        "        async def aclose():\n"
        f"            open({str(mark)!r}, 'a').write(device.id + ' ')\n"
        "        driver.aclose = aclose\n"
        "        return driver\n"
        "\n    async def aclose(self):\n"
        f"        open({str(mark)!r}, 'a').write('backend ')\n"
    )
    (home.plugins / "fake_vendor" / "__init__.py").write_text(source)
    home.json("appstate", "--device", "fake-1")
    home.json("appstate", "--device", "fake-2")
    assert home.json("stop")["data"]["sessionsEnded"] == 2
    assert sorted(mark.read_text().split()) == ["backend", "fake-1", "fake-2"]


def test_a_backend_that_hangs_while_closing_does_not_keep_the_daemon(home: Home) -> None:
    source = (home.plugins / "fake_vendor" / "__init__.py").read_text()
    source += "\n    async def aclose(self):\n        import anyio\n        await anyio.sleep(3600)\n"
    (home.plugins / "fake_vendor" / "__init__.py").write_text(source)
    home.json("appstate", "--device", "fake-1")
    assert home.json("stop")["data"]["stopped"] is True
    assert not home.running()


def test_a_call_that_runs_while_the_daemon_stops_is_answered(home: Home) -> None:
    home.serve()
    mark = home.path.parent / "mark"
    wire = home.hello()
    wire.send({"id": 1, "call": "vendor-slow", "arguments": {"mark": str(mark)}})
    eventually(mark.exists, "the call runs")
    home.json("stop")
    while "progress" in (reply := wire.receive()):
        pass
    assert reply["answer"]["error"]["code"] == "connection_lost"
    assert mark.read_text().split() == ["started", "cancelled"]


def test_a_client_that_does_not_read_does_not_hold_up_the_stop(home: Home) -> None:
    home.serve()
    wire = home.hello()
    for number in range(20):
        wire.send({"id": number, "call": "say", "arguments": {"text": "x" * 500_000}})
    assert home.hello().ask({"id": 1, "call": "say", "arguments": {"text": "hi"}})["answer"]["ok"]
    os.kill(home.pid, signal.SIGTERM)
    found = home.record
    assert found is not None
    eventually(lambda: not record.lives(found), "the daemon ends")
    assert "stop_took_too_long" not in home.log()


def test_a_program_that_comes_while_the_old_daemon_still_closes_gets_the_new_one(home: Home) -> None:
    source = (home.plugins / "fake_vendor" / "__init__.py").read_text()
    source += "\n    async def aclose(self):\n        import anyio\n        await anyio.sleep(1.5)\n"
    (home.plugins / "fake_vendor" / "__init__.py").write_text(source)
    pid = home.serve()
    home.json("appstate", "--device", "fake-1")
    stopping = home.spawn("stop")
    eventually(lambda: (home.record or {}).get("state") == "stopping", "it is on its way out")
    assert home.json("say", "x")["data"]["pid"] != pid
    assert stopping.wait(PATIENCE) == 0


def test_an_idle_daemon_ends_by_itself(home: Home) -> None:
    home.serve("--idle", "0.4")
    found = home.record
    assert found is not None
    eventually(lambda: not record.lives(found), "it ends")
    assert "idle for 0.4 s" in home.log()


def test_a_connection_keeps_an_idle_daemon(home: Home) -> None:
    home.serve("--idle", "2")  # time enough to connect
    wire = home.hello()
    time.sleep(4.0)
    assert wire.ask({"id": 1, "host": "status"})["result"]["idleExit"] == 2
    wire.close()
    eventually(lambda: not home.running(), "it ends once the connection has")


def test_a_session_keeps_an_idle_daemon(home: Home) -> None:
    pid = home.serve("--idle", "4")  # time enough for a program to start
    home.json("appstate", "--device", "fake-1")
    time.sleep(6.5)
    assert home.running() and home.pid == pid
    home.json("close", "--device", "fake-1")
    eventually(lambda: not home.running(), "it ends once the session has")


def test_a_home_too_deep_for_a_socket_address_gets_a_short_one(home: Home) -> None:
    home.path = home.path / ("deep-" * 12) / ("deeper-" * 10)
    home.serve()
    found = home.record
    assert found is not None
    path = Path(found["socket"])
    try:
        assert len(str(path)) <= record.PATH_LIMIT
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert home.json("say", "x")["data"]["pid"] == found["pid"]
        home.json("stop")
        assert not path.exists()
    finally:
        path.parent.rmdir()


def test_the_short_folder_is_refused_when_it_is_no_folder_of_ours(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = str(home.path / ("deep-" * 25))
    monkeypatch.setattr(tempfile, "tempdir", str(home.plugins))
    short = Path(record.socket_path(deep)).parent
    short.rmdir()
    short.symlink_to(home.plugins)
    with pytest.raises(PermissionError, match="not a folder of this user"):
        record.socket_path(deep)


def test_a_daemon_that_cannot_start_says_why_to_whoever_wanted_it(home: Home) -> None:
    (home.path / "config.toml").write_text("[policy]\nprofil = 'full'\n")
    failed = home.json("say", "x", code=1)
    assert failed["error"]["code"] == "upstream_unavailable"
    assert "unknown key policy.profil" in failed["error"]["message"]
    assert not home.running()


def test_a_daemon_that_does_not_answer_is_told_and_stop_force_ends_it(home: Home) -> None:
    pid = home.serve()
    found = home.record
    assert found is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        # The kernel still accepts for it; nobody answers.
        failed = home.json("say", "x", code=124)
        assert failed["error"]["hint"] == "Run: anydevice stop --force ; then repeat the call."
        assert home.json("stop", code=124)["error"]["hint"] == "Run: anydevice stop --force"
        assert home.json("stop", "--force")["data"]["forced"] is True
    finally:
        if record.lives(found):
            os.kill(pid, signal.SIGCONT)
    assert not record.lives(found)
    home.serve()


def test_what_libraries_print_goes_to_the_log(home: Home) -> None:
    home.json("vendor-print")
    eventually(lambda: "a stray print" in home.log() and "a stray write" in home.log(), "it is in the log")


def test_the_environment_of_whoever_starts_it_does_not_become_the_daemons(home: Home) -> None:
    home.extra = {"ANDROID_SERIAL": "first", "ANYDEVICE_APP_EVENT_URL_TEMPLATE": "a://b"}
    first = home.json("say", "x")["data"]
    path = {CALLER_PATH: home.environ["PATH"]}
    assert first["env"] == {"ANDROID_SERIAL": "first", "ANYDEVICE_APP_EVENT_URL_TEMPLATE": "a://b"} | path
    assert first["daemonEnv"] == {"ANYDEVICE_HOME": str(home.path)}
    home.extra = {"ANDROID_SERIAL": "second"}
    assert home.json("say", "x")["data"]["env"] == {"ANDROID_SERIAL": "second"} | path


def test_a_second_signal_ends_it_at_once(home: Home) -> None:
    source = (home.plugins / "fake_vendor" / "__init__.py").read_text()
    source += "\n    async def aclose(self):\n        import anyio\n        await anyio.sleep(60)\n"
    (home.plugins / "fake_vendor" / "__init__.py").write_text(source)
    pid = home.serve()
    home.json("appstate", "--device", "fake-1")
    os.kill(pid, signal.SIGTERM)
    eventually(lambda: (home.record or {}).get("state") == "stopping", "it is on its way out")
    before = time.monotonic()
    os.kill(pid, signal.SIGTERM)
    eventually(lambda: not home.running(), "it is gone")
    assert time.monotonic() - before < 8  # asked once, it gives a backend ten seconds


def test_a_daemon_in_the_foreground_logs_for_a_person_and_ends_with_ctrl_c(home: Home) -> None:
    process = home.spawn("serve", "--foreground")
    eventually(lambda: (home.record or {}).get("state") == "ready", "it is up")
    assert home.pid == process.pid
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert b"ready" in err


def test_stopping_twice_is_no_error(home: Home) -> None:
    home.serve()
    assert home.json("stop")["data"]["stopped"] is True
    assert home.json("stop")["data"] == {"stopped": False, "running": False}


def test_the_log_is_rotated_by_size(tmp_path: Path) -> None:
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom anydevice.host.logs import LogFile\n"
        "log = LogFile(Path(sys.argv[1]))\nlog.attach()\n"
        "for number in range(6):\n"
        "    os.write(1, b'%d' % number * 2000)\n    log.rotate(1000)\n"
        "os.write(2, b'end')\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "log")], check=True, timeout=30)
    assert (tmp_path / "log").read_text() == "end"
    assert [(tmp_path / f"log.{n}").read_text()[0] for n in (1, 2, 3)] == ["5", "4", "3"]
    assert not (tmp_path / "log.4").exists()


def test_a_socket_of_nobody_is_not_connected_to(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="ad-") as folder:
        path = f"{folder}/s"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            with pytest.raises(OSError):
                record.connect(path)


@pytest.mark.parametrize("damage", ["{", "", None])
def test_a_daemon_whose_record_is_damaged_is_found_again(home: Home, damage: str | None) -> None:
    pid = home.serve()
    path = home.path / "run" / "daemon.json"
    if damage is None:
        path.unlink()
    else:
        path.write_text(damage)
    home.json("devices")
    assert home.pid == pid
    assert home.json("stop")["data"]["pid"] == pid


def test_a_daemon_whose_socket_is_taken_away_listens_again(home: Home) -> None:
    pid = home.serve()
    (home.path / "run" / "daemon.sock").unlink()
    eventually((home.path / "run" / "daemon.sock").exists, "it listens again")
    home.json("devices")
    assert home.pid == pid


def test_a_daemon_whose_folder_is_replaced_makes_way_for_the_next(home: Home) -> None:
    first = home.serve()
    stamp = home.record
    assert stamp is not None
    (home.path / "run").rename(home.path / "gone")
    second = home.serve()
    assert second != first
    eventually(lambda: not record.lives(stamp), "the first one ends")
    home.json("devices")
    assert home.pid == second


def test_a_configuration_that_says_something_in_vain_is_told_by_the_log_and_by_doctor() -> None:
    with Home.made(ALONE + "[leases]\nttl = 30\n") as home:
        checks = home.json("doctor", code=1)["data"]["checks"]
        (told,) = [check for check in checks if check["name"].startswith("config.toml")]
        assert (told["ok"], told["fix"]) == (False, "Did you mean lease?")
        assert "configuration_passed_over" in home.log() and "Did you mean lease?" in home.log()
