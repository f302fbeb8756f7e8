"""`anydevice mcp`: bytes between stdio and the daemon, and what a host sees when there is no daemon to be had."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from anydevice.host.pump import read_options

from ..support.daemons import PATIENCE, Home, eventually

pytestmark = pytest.mark.daemon


def pump(home: Home, *argv: str, facade: str = "echo") -> subprocess.Popen[bytes]:
    """The pump, for a facade of the tests' own."""
    code = f"import sys; from anydevice.host.pump import main; sys.exit(main({facade!r}, sys.argv[1:]))"
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", code, *argv], env=home.environ, **pipes)
    home.started.append(process)
    return process


def say(process: subprocess.Popen[bytes], text: bytes) -> bytes:
    """Writes, and reads one line."""
    assert process.stdin is not None and process.stdout is not None

    def write() -> None:
        assert process.stdin is not None
        process.stdin.write(text)
        process.stdin.flush()

    writer = threading.Thread(target=write)  # what comes back at once must not hold up what is still to go
    writer.start()
    line = process.stdout.readline()
    writer.join(PATIENCE)
    return line


def end(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Ends its input and waits for it."""
    return process.communicate(timeout=PATIENCE)


def test_bytes_go_through_unchanged_both_ways(daemon: Home) -> None:
    process = pump(daemon)
    assert say(process, b'{"a": "\xff\x00"}\n') == b'{"a": "\xff\x00"}\n'
    block = os.urandom(3_000_000).replace(b"\n", b"") + b"\n"
    assert say(process, block) == block
    end(process)
    assert process.returncode == 0


def test_the_end_of_input_leaves_time_for_the_last_answers(daemon: Home) -> None:
    process = pump(daemon)
    say(process, b"hello\n")
    out, err = end(process)
    assert (process.returncode, out, err) == (0, b"last words\n", b"")


def test_the_facade_learns_who_calls_and_with_which_options(daemon: Home) -> None:
    process = pump(daemon, "--level", "3", "--loud")
    told = say(process, b"who\n").decode()
    assert told == f"uid:{os.getuid()} stdio ['read', 'act'] {{'level': '3', 'loud': True}}\n"
    end(process)


def test_a_pump_that_is_killed_ends_what_its_facade_does(daemon: Home, mark: Path) -> None:
    process = pump(daemon)
    assert process.stdin is not None
    process.stdin.write(f"slow {mark}\n".encode())
    process.stdin.flush()
    eventually(mark.exists, "it works")
    process.kill()
    process.wait()
    # The facade does not read meanwhile and cannot notice by itself.
    eventually(lambda: mark.read_text().split() == ["started", "cancelled"], "it ends")


def test_an_option_the_facade_does_not_have_is_refused_with_the_nearest(daemon: Home) -> None:
    process = pump(daemon, "--leval", "3")
    _, err = end(process)
    assert process.returncode == 1
    assert err.startswith(b"anydevice echo: invalid_argument: echo has no option --leval.")
    assert err.count(b"\n") == 1


@pytest.mark.parametrize("argv", [["word"], ["-x"], ["--"], ["--a", "1", "--a", "2"]])
def test_words_that_are_no_options_are_a_usage_error(argv: list[str], daemon: Home) -> None:
    process = pump(daemon, *argv)
    _, err = end(process)
    assert process.returncode == 2
    assert err.count(b"\n") == 1


def test_options_are_read_in_every_usual_form() -> None:
    assert read_options(["--a", "1", "--b=2=3", "--c", "--d-e", "x y", "--f="]) == {
        "a": "1", "b": "2=3", "c": True, "d-e": "x y", "f": "",
    }  # fmt: skip


def test_a_refusal_is_one_line_on_stderr_and_the_answer_to_the_first_request(daemon: Home) -> None:
    process = pump(daemon, facade="nothing")
    request = {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": {}}
    line = say(process, b'noise\n{"jsonrpc":"2.0","method":"a/notification"}\n' + json.dumps(request).encode() + b"\n")
    answer = json.loads(line)
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", "first")
    assert answer["error"]["data"]["code"] == "unsupported"
    assert "no facade 'nothing'" in answer["error"]["message"]
    _, err = end(process)
    assert process.returncode == 1
    assert err.count(b"\n") == 1 and b"unsupported" in err


def test_another_version_is_told_to_the_host_with_the_remedy(home: Home) -> None:
    home.serve()
    code = (
        "import sys, anydevice; anydevice.__version__ = '99.0'\n"
        "from anydevice.host.pump import main; sys.exit(main('echo', []))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=home.environ, capture_output=True, timeout=PATIENCE, check=False,
        input=b'{"jsonrpc":"2.0","id":1,"method":"initialize"}\n',
    )  # fmt: skip
    assert done.returncode == 1
    assert "anydevice stop" in json.loads(done.stdout)["error"]["message"]
    assert home.running()


def test_a_configuration_nobody_can_start_with_is_told_to_the_host(home: Home) -> None:
    (home.path / "config.toml").write_text("[policy]\nprofile = 'everything'\n")
    done = subprocess.run(
        [sys.executable, "-m", "anydevice_cli.entry", "mcp"], env=home.environ, capture_output=True,
        timeout=PATIENCE, check=False, input=b'{"jsonrpc":"2.0","id":1,"method":"initialize"}\n',
    )  # fmt: skip
    assert done.returncode == 1
    assert "policy.profile must be one of" in json.loads(done.stdout)["error"]["message"]


def test_a_cold_start_loses_no_byte(home: Home) -> None:
    process = pump(home)
    assert say(process, b"early\n") == b"early\n"
    end(process)
    assert process.returncode == 0


def test_a_line_the_daemon_died_in_the_middle_of_never_comes_out(home: Home, mark: Path) -> None:
    process = pump(home)
    assert process.stdin is not None
    assert say(process, b"hello\n") == b"hello\n"
    process.stdin.write(f"half {mark}\n".encode())
    process.stdin.flush()
    eventually(mark.exists, "half a line is said")
    os.kill(home.pid, signal.SIGKILL)
    eventually(lambda: not home.running(), "the daemon is gone")
    time.sleep(0.2)  # every thread of it
    assert say(process, b"again\n") == b"again\n"
    out, _ = end(process)
    assert out == b"last words\n"
    assert process.returncode == 0


def test_a_facade_that_fails_ends_its_own_connection_only(daemon: Home) -> None:
    process = pump(daemon, facade="broken")
    _, err = end(process)
    assert process.returncode in (0, 1) and err.count(b"\n") <= 1
    eventually(lambda: "cannot serve" in daemon.log() and "cannot prepare" in daemon.log(), "the log tells")
    other = pump(daemon)
    assert say(other, b"fine\n") == b"fine\n"
    end(other)


def test_the_pump_imports_nothing_but_the_standard_library(daemon: Home) -> None:
    code = (
        "import sys\nbefore = set(sys.modules)\n"
        "sys.argv = ['anydevice', 'mcp']\nfrom anydevice_cli import entry\n"
        "import anydevice.host.pump as pump\npump.start.greet(pump.protocol.hello('echo', 'stdio'))\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=daemon.environ, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.strip() == "['anydevice', 'anydevice_cli']"


def test_without_the_library_of_the_facade_one_is_told_what_to_install() -> None:
    code = (
        "import sys\nsys.modules['mcp'] = None\nsys.argv = ['anydevice', 'mcp']\n"
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'mcp' else find(name, package)\n"
        "from anydevice_cli import entry\nsys.exit(entry.main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and done.stdout == ""
    assert "pip install 'anydevice[mcp]' && anydevice stop" in done.stderr and done.stderr.count("\n") == 1
