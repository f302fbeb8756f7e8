"""The command line as a person or a script meets it: real processes, real daemons."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from anydevice.places import CALLER_PATH

from ..support.daemons import CLI, PATIENCE, Home, eventually

pytestmark = pytest.mark.daemon


# --- one object, one exit code ---


def test_json_prints_exactly_the_whole_answer(daemon: Home, tmp_path: Path) -> None:
    answer = daemon.json("appstate", "--device", "fake-1", "--include-cost", cwd=tmp_path)
    assert answer["ok"] is True
    assert answer["device"]["key"] == "fake:fake-1"
    assert answer["session"].startswith("auto-")
    assert answer["cost"]["roundTrips"] >= 1
    daemon.json("session", "end", answer["session"], cwd=tmp_path)


def test_json_before_the_command_is_as_good_as_after_it(daemon: Home) -> None:
    done = daemon.cli("--json", "say", "hi")
    assert json.loads(done.stdout)["data"]["said"] == "hi"


@pytest.mark.parametrize(
    ("argv", "code", "error"),
    [
        (["say", "x", "--times", "7"], 2, "invalid_argument"),
        (["say"], 2, "invalid_argument"),
        (["say", "x", "--nonsense"], 2, "invalid_argument"),
        (["say", "a", "b"], 2, "invalid_argument"),
        (["say", "x", "--text", "y"], 2, "invalid_argument"),
        (["say", "x", "--extra", "{"], 2, "invalid_argument"),
        (["say", "x", "--extra", "[]"], 2, "invalid_argument"),
        (["snapshot", "--response-level", "loud"], 2, "invalid_argument"),
        (["prss"], 2, "unknown_command"),
        (["--nonsense"], 2, "invalid_argument"),
        (["status", "--nonsense"], 2, "invalid_argument"),
        (["approve"], 2, "invalid_argument"),
        (["appstate", "--device", "nobody"], 3, "device_not_found"),
        (["appstate", "--session", "nobody"], 3, "session_not_found"),
        (["appstate"], 3, "ambiguous_device"),
        (["press", "Nothing here", "--timeout-ms", "0", "--device", "fake-1"], 4, "element_not_found"),
        (["vendor-wipe"], 5, "confirmation_required"),
        (["approve", "not-a-token"], 5, "confirmation_invalid"),
        (["vendor-crash"], 1, "internal"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_every_failure_has_its_exit_code_and_one_object(
    daemon: Home, tmp_path: Path, argv: list[str], code: int, error: str
) -> None:
    found = daemon.json(*argv, code=code, cwd=tmp_path)
    assert found["ok"] is False
    assert found["error"]["code"] == error
    assert {"message", "retryable", "hint", "details"} <= found["error"].keys()
    plain = daemon.cli(*argv, cwd=tmp_path)
    assert plain.returncode == code
    assert plain.stdout == ""
    assert plain.stderr.startswith(f"{error}: ")


def test_the_deadline_is_exit_code_124(daemon: Home, mark: Path) -> None:
    assert daemon.json("vendor-slow", str(mark), "--deadline", "0.3", code=124)["error"]["code"] == "timeout"


def test_ctrl_c_ends_the_call_in_the_daemon_and_is_exit_code_130(daemon: Home, mark: Path) -> None:
    process = daemon.spawn("vendor-slow", str(mark))
    eventually(mark.exists, "it runs")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err.strip()) == (130, b"", b"")
    eventually(lambda: mark.read_text().split() == ["started", "cancelled"], "it ends")


def test_a_reader_that_has_had_enough_is_no_traceback(daemon: Home) -> None:
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen([*CLI, "say", "x"], env=daemon.environ, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    _, err = process.communicate(timeout=PATIENCE)
    assert err == b""
    assert process.returncode == 1


# --- options and words ---


def test_options_come_from_the_schema_with_their_types(daemon: Home, tmp_path: Path) -> None:
    extra = tmp_path / "extra.json"
    extra.write_text('{"a": [1]}')
    argv = ["say", "hi", "--times", "2", "--words", "one", "--words", "two words", "--loud", "--extra", f"@{extra}"]
    data = daemon.json(*argv)["data"]
    assert (data["said"], data["words"], data["loud"], data["extra"]) == (
        "hihi",
        ["one", "two words"],
        True,
        {"a": [1]},
    )
    assert daemon.json("vendor-say", "--text=hi", "--no-loud", "--words", '["a", "b"]')["data"]["words"] == ["a", "b"]
    assert daemon.json("say", "--", "-5")["data"]["said"] == "-5"


def test_a_word_that_is_nearly_a_command_is_told_the_nearest(daemon: Home) -> None:
    done = daemon.cli("snapshto")
    assert "Did you mean snapshot?" in done.stderr
    assert "Did you mean --times?" in daemon.cli("say", "x", "--tims", "2").stderr.replace("'", "")


def test_working_directory_and_environment_travel(daemon: Home, tmp_path: Path) -> None:
    daemon.extra = {"ANDROID_SERIAL": "abc", "SECRET": "s"}
    try:
        data = daemon.json("say", "x", cwd=tmp_path)["data"]
    finally:
        daemon.extra = {}
    path = {CALLER_PATH: daemon.environ["PATH"]}
    assert (data["cwd"], data["env"]) == (str(tmp_path), {"ANDROID_SERIAL": "abc"} | path)
    assert data["scopes"] == ["read", "act", "admin"]


# --- sessions of the command line: user and working directory ---


def test_a_later_call_in_the_same_directory_meets_the_session(home: Home, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    opened = home.json("open", "https://example.org/", "--device", "fake-1", cwd=here)
    pressed = home.json("press", "Increment", cwd=here)
    assert pressed["session"] == opened["session"]
    assert pressed["device"]["id"] == "fake-1"
    # Another directory is another caller: it is not given the session, and the device is taken.
    elsewhere = home.json("press", "Increment", "--device", "fake-1", code=3, cwd=there)
    assert elsewhere["error"]["code"] == "lease_held"
    assert home.json("press", "Increment", cwd=there)["device"]["id"] == "fake-2"
    text = home.cli("press", "Increment", cwd=here).stdout
    assert text.startswith(f"press · on Fake phone 1 (fake:fake-1) · session {opened['session']} · ")


def test_a_batch_comes_from_a_file_or_standard_input(home: Home, tmp_path: Path) -> None:
    steps = [{"command": "press", "arguments": {"target": "Increment"}}, {"command": "snapshot"}]
    (tmp_path / "steps.json").write_text(json.dumps(steps))
    done = home.json("batch", "steps.json", "--device", "fake-1", cwd=tmp_path)
    assert done["data"]["executed"] == 2
    again = home.json("batch", "-", "--device", "fake-1", cwd=tmp_path, stdin=json.dumps(steps))
    assert again["data"]["executed"] == 2


def test_a_picture_is_copied_where_the_person_wants_it(home: Home, tmp_path: Path) -> None:
    done = home.json("screenshot", "--device", "fake-1", "--path", "shot.png", cwd=tmp_path)
    assert (tmp_path / "shot.png").read_bytes() == Path(done["artefacts"][0]["path"]).read_bytes()
    refused = home.json("screenshot", "--path", "no/such/shot.png", code=1, cwd=tmp_path)
    assert refused["error"]["code"] == "path_not_found"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["shot.png"]
    said = home.cli("screenshot", "again.png", cwd=tmp_path)
    assert said.returncode == 0 and said.stdout.endswith("copied to again.png\n")
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / "shot.png").read_bytes()
    other = home.cli("screenshot", "third.jpg", cwd=tmp_path)
    assert "the file is image/png, though its name says image/jpeg" in other.stdout
    twice = home.json("screenshot", "a.png", "--path", "b.png", code=2, cwd=tmp_path)
    assert "given twice" in twice["error"]["message"]


def test_a_video_is_copied_where_the_person_wants_it(home: Home, tmp_path: Path) -> None:
    early = home.json("record", "start", "demo.mp4", "--device", "fake-1", code=2, cwd=tmp_path)
    assert "comes with stop" in early["error"]["message"]
    home.json("record", "start", "--device", "fake-1", cwd=tmp_path)
    done = home.json("record", "stop", "demo.mp4", cwd=tmp_path)
    assert (tmp_path / "demo.mp4").read_bytes() == Path(done["artefacts"][0]["path"]).read_bytes()


def test_help_says_where_the_file_goes(daemon: Home) -> None:
    for name in ("screenshot", "record"):
        own = daemon.cli(name, "--help").stdout.partition("Which device:")[0]
        assert "PATH]" in own and "--path FILE" in own, name
    assert "--longest-ms" in daemon.cli("record", "--help").stdout.partition("Options:")[0]
    assert "erase [OPTIONS] DEVICE" in daemon.cli("erase", "--help").stdout


@pytest.mark.parametrize(
    ("argv", "param", "nearest"),
    [
        (["devices", "--state", "redy"], "--state", ["ready"]),
        (["devices", "--platfrom", "web"], "--platfrom", ["--platform"]),
        (["serve", "--foregrund"], "--foregrund", ["--foreground"]),
        (["session", "lst"], "action", ["list"]),
    ],
)
def test_a_wrong_word_is_told_with_the_nearest(daemon: Home, argv: list[str], param: str, nearest: list[str]) -> None:
    details = daemon.json(*argv, code=2)["error"]["details"]
    assert details["param"] == param
    assert nearest[0] in (details.get("nearest") or details["errors"][0]["nearest"])
    said = daemon.cli(*argv).stderr
    assert f"Did you mean {nearest[0]}?" in said or f"Did you mean '{nearest[0]}'?" in said


def test_refused_arguments_are_named_as_they_are_typed(daemon: Home) -> None:
    said = daemon.cli("wait", "foo", "--timeout-ms", "-5").stderr
    assert "timeoutMs" not in said and "command-search" not in said
    assert "wait: --timeout-ms:" in said and "param: --timeout-ms" in said
    assert "Hint: anydevice wait --help tells what it takes." in said


# --- confirmation ---


def test_yes_approves_as_the_person_at_the_terminal(daemon: Home) -> None:
    assert daemon.json("vendor-wipe", "--yes")["data"] == {"wiped": True}


def test_a_token_is_approved_apart_and_used_once(daemon: Home) -> None:
    token = daemon.json("vendor-wipe", code=5)["error"]["details"]["token"]
    assert daemon.json("vendor-wipe", "--confirm-token", token, code=5)["error"]["code"] == "confirmation_invalid"
    assert daemon.json("approve", token)["data"]["command"] == "vendor-wipe"
    assert daemon.json("vendor-wipe", "--confirm-token", token)["ok"]
    assert daemon.json("vendor-wipe", "--confirm-token", token, code=5)["error"]["code"] == "confirmation_invalid"


# --- what people see ---


def test_tables_for_people(home: Home, tmp_path: Path) -> None:
    devices = home.cli("devices", cwd=tmp_path).stdout.splitlines()
    assert devices[0].split() == ["ID", "NAME", "PLATFORM", "CLASS", "KIND", "STATE"]
    assert devices[1].split()[:1] == ["fake-1"]
    home.json("appstate", "--device", "fake-1", cwd=tmp_path)
    assert "fake:fake-1" in home.cli("session", cwd=tmp_path).stdout
    assert "yours" in home.cli("devices", cwd=tmp_path).stdout
    doctor = home.cli("doctor").stdout
    assert "CHECK" in doctor and "anydevice" in doctor
    assert "screen.tree" in home.cli("capabilities", "--device", "fake-1", cwd=tmp_path).stdout


def test_text_of_a_screen_cannot_steer_the_terminal(daemon: Home) -> None:
    text = daemon.cli("say", "\x1b[2J\x07evil\u202e").stdout
    assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
    assert "evil" in text


def test_colours_are_for_terminals_without_no_color(daemon: Home) -> None:
    assert "\x1b[" not in daemon.cli("say", "x").stdout
    assert "\x1b[" not in daemon.cli("nonsense").stderr
    assert b"\x1b[1m" in _on_a_terminal(daemon, "appstate", "--device", "fake-2")
    daemon.extra = {"NO_COLOR": "1"}
    try:
        assert b"\x1b[1m" not in _on_a_terminal(daemon, "appstate", "--device", "fake-2")
    finally:
        daemon.extra = {}


def _on_a_terminal(home: Home, *argv: str) -> bytes:
    """What a command line writes to a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(CLI[0], [*CLI, *argv], {**home.environ, "TERM": "xterm"})
    said = b""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        said += data
    os.close(terminal)
    os.waitpid(pid, 0)
    return said


# --- what it costs ---


def test_the_command_line_needs_neither_pydantic_nor_a_backend(daemon: Home) -> None:
    code = (
        "import sys\nfrom anydevice_cli.app import run\n"
        "code = run(['say', 'x', '--json'])\n"
        "heavy = {'pydantic', 'anyio', 'asyncio', 'structlog', 'pluggy', 'importlib.metadata', 'subprocess', 'mcp'}\n"
        "print(code, sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [CLI[0], "-c", code], env=daemon.environ, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.splitlines()[-1] == "0 []"


def test_mcp_is_dispatched_before_anything_is_imported(daemon: Home) -> None:
    code = (
        "import sys\nsys.argv = ['anydevice', 'mcp', 'word']\nfrom anydevice_cli.entry import main\n"
        "code = main()\nprint(code, 'click' in sys.modules)"
    )
    done = subprocess.run(
        [CLI[0], "-c", code], env=daemon.environ, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.split() == ["2", "False"]


def test_a_slow_call_tells_its_progress_on_a_terminal_only(daemon: Home, mark: Path, tmp_path: Path) -> None:
    assert daemon.cli("vendor-slow", str(mark), "--seconds", "0.3").stderr == ""
    shown = _on_a_terminal(daemon, "vendor-slow", str(tmp_path / "m2"), "--seconds", "1")
    assert b"step 1" in shown
