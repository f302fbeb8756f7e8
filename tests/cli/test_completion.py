"""Completion, from the catalogue on disk alone."""

from __future__ import annotations

import subprocess
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
