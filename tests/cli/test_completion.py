"""Completion, from the catalogue on disk alone."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from ..support.daemons import CLI, PATIENCE, Home

pytestmark = pytest.mark.daemon


def complete(home: Home, shell: str, words: str, number: int) -> list[str]:
    """What a shell is offered."""
    environ = home.environ | {
        "_ANYDEVICE_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(number),
    }
    done = subprocess.run(CLI, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_completion_knows_commands_options_and_values_without_a_daemon(home: Home) -> None:
    home.serve()
    home.json("stop")
    assert complete(home, "bash", "anydevice sna", 1) == ["snapshot"]
    assert set(complete(home, "bash", "anydevice s", 1)) >= {
        "scroll",
        "snapshot",
        "screenshot",
        "serve",
        "status",
        "stop",
    }
    assert complete(home, "bash", "anydevice press --timeout", 2) == ["--timeout-ms"]
    assert complete(home, "bash", "anydevice press --button ", 3) == ["primary", "secondary", "middle"]
    assert "checked" in complete(home, "bash", "anydevice is ", 2)
    assert complete(home, "bash", "anydevice is checked ", 3) == []
    assert not home.running()


def test_completion_before_the_first_start_is_quick_and_quiet(home: Home) -> None:
    assert "status" in complete(home, "bash", "anydevice ", 1)
    assert not home.running()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_for_their_shell(daemon: Home, shell: str) -> None:
    script = daemon.cli("completion", shell).stdout
    assert f"{shell}_complete" in script and "_ANYDEVICE_COMPLETE" in script
    assert daemon.cli("completion", "tcsh").returncode == 2


def test_the_bash_script_works_in_bash(home: Home, tmp_path: Path) -> None:
    home.serve()
    script = tmp_path / "anydevice"
    script.write_text(f'#!/bin/sh\nexec {" ".join(CLI)} "$@"\n')
    script.chmod(0o755)
    completer = tmp_path / "completion.bash"
    completer.write_text(home.cli("completion", "bash").stdout)
    commands = (
        f"source {completer}\nCOMP_WORDS=(anydevice scre)\nCOMP_CWORD=1\n_anydevice_completion anydevice\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    environ = home.environ
    environ["PATH"] = f"{tmp_path}:{environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", commands], env=environ, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.split() == ["screenshot"]


def test_devices_are_those_of_the_daemon_that_runs_and_none_is_started(home: Home) -> None:
    asked = ("press --device ", "shutdown ", "boot ", "takeover ", "mark ")
    home.serve()
    for words in asked:
        line = f"anydevice {words}"
        assert complete(home, "bash", line, len(line.split())) == ["fake-1", "fake-2"], words
    assert complete(home, "bash", "anydevice press --device fake-2", 3) == ["fake-2"]
    assert complete(home, "bash", "anydevice press --device fake:fake-2", 3) == ["fake:fake-2"]
    assert complete(home, "bash", "anydevice shutdown fake-1 ", 3) == []
    home.json("stop")
    assert [complete(home, "bash", f"anydevice {words}", len(words.split()) + 1) for words in asked] == [[]] * 5
    assert not home.running()


def test_a_daemon_that_does_not_answer_holds_no_line_up(home: Home) -> None:
    home.serve()
    began = time.monotonic()
    complete(home, "bash", "anydevice press --device ", 3)
    quick = time.monotonic() - began
    os.kill(home.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert complete(home, "bash", "anydevice press --device ", 3) == []
        assert time.monotonic() - began < quick + 3.0
    finally:
        os.kill(home.pid, signal.SIGCONT)


def test_conformance_is_offered_the_backends_that_are_installed(home: Home) -> None:
    offered = complete(home, "bash", "anydevice conformance ", 2)
    assert {"android", "fake", "web"} <= set(offered)
    assert complete(home, "bash", "anydevice conformance we", 2) == ["web"]
    assert not home.running()
