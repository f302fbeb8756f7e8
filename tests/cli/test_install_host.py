"""`anydevice install-host`: what it writes into the files of programs, what it leaves alone, and how it is undone."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from anydevice_mcp.hosts import PROGRAMS, install_host

FOREIGN_JSON = '{\n    "theme": "dark",\n    "%s": {\n        "other": {"command": "x"}\n    },\n    "é": [1, 2]\n}\n'
FOREIGN_TOML = '# mine\nmodel = "m"\n\n[mcp_servers.other]\ncommand = "x" # keep\n\n[[a.b]]\nc = 1\n'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "ANYDEVICE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(install_host, list(words))


def foreign(name: str) -> str:
    return FOREIGN_TOML if PROGRAMS[name].toml else FOREIGN_JSON % PROGRAMS[name].key


def read(name: str, text: str) -> dict[str, Any]:
    return tomllib.loads(text) if PROGRAMS[name].toml else json.loads(text)


def put(name: str, text: str) -> Path:
    place = PROGRAMS[name].user()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, "utf-8")
    return place


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_only_our_entry_is_added_and_taken_out_again(name: str) -> None:
    place = put(name, foreign(name))
    before = read(name, place.read_text("utf-8"))
    done = run(name, "--yes")
    assert done.exit_code == 0, done.output
    table = read(name, place.read_text("utf-8"))
    entry = table[PROGRAMS[name].key].pop("anydevice")
    assert table == before
    words = [*entry["command"], *entry.get("args", [])] if isinstance(entry["command"], list) else None
    words = words or [entry["command"], *entry["args"]]
    assert os.access(words[0], os.X_OK) and os.path.isabs(words[0]) and words[1:] == ["mcp"]
    assert run(name, "--yes").output.startswith("nothing to do")
    assert run(name, "--remove", "--yes").exit_code == 0
    assert read(name, place.read_text("utf-8")) == before
    assert run(name, "--remove", "--yes").output.startswith("nothing to do")


def test_what_is_toml_keeps_its_comments_and_its_order() -> None:
    place = put("codex", FOREIGN_TOML)
    run("codex", "--yes")
    run("codex", "--remove", "--yes")
    assert place.read_text("utf-8").strip() == FOREIGN_TOML.strip()


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_file_that_is_not_there_is_made_for_its_owner_only(name: str) -> None:
    assert run(name, "--yes").exit_code == 0
    place = PROGRAMS[name].user()
    assert "anydevice" in read(name, place.read_text("utf-8"))[PROGRAMS[name].key]
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", sorted(PROGRAMS))
@pytest.mark.parametrize("text", ["{ // mine\n}", '{"mcpServers": [], "servers": [], "mcp": 1', "[1", "a = ", "\x00"])
def test_what_cannot_be_read_is_left_alone_and_the_lines_to_add_are_told(name: str, text: str) -> None:
    place = put(name, text)
    done = run(name, "--yes")
    assert done.exit_code == 1 and place.read_text("utf-8") == text
    assert "by hand" in done.output and "mcp" in done.output


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { anydevice = { command = "old" }, other = { command = "x" } }\n',
        'mcp_servers.anydevice.command = "old"\n',
        '[mcp_servers]\nanydevice = { command = "old" }\n',
        'a = """\n[mcp_servers.anydevice]\n"""\n',
    ],
)
def test_toml_that_is_written_another_way_is_never_spoilt(text: str) -> None:
    place = put("codex", text)
    done = run("codex", "--yes")
    after = tomllib.loads(place.read_text("utf-8"))
    before = tomllib.loads(text)
    if done.exit_code:
        assert place.read_text("utf-8") == text and "by hand" in done.output
    else:
        after["mcp_servers"].pop("anydevice")
        assert after in (before, before | {"mcp_servers": {}})


def test_an_older_entry_of_ours_is_replaced_and_what_a_person_added_to_it_stays() -> None:
    place = put(
        "codex",
        '[mcp_servers.anydevice]\ncommand = "/old/anydevice"\nargs = ["mcp"]\nstartup_timeout_sec = 20\n'
        '[mcp_servers.anydevice.env]\nA = "1"\nANYDEVICE_HOME = "/old"\n\n# of z\n[z]\nb = 1\n',
    )
    assert run("codex", "--yes").exit_code == 0
    table = tomllib.loads(place.read_text("utf-8"))
    entry = table["mcp_servers"]["anydevice"]
    assert entry["env"] == {"A": "1"} and entry["startup_timeout_sec"] == 20 and entry["command"] != "/old/anydevice"
    assert place.read_text("utf-8").endswith("# of z\n[z]\nb = 1\n")
    assert run("codex", "--yes").output.startswith("nothing to do")


@pytest.mark.parametrize("name", sorted(PROGRAMS))
@pytest.mark.parametrize("how", [(), ("--remove",)])
def test_a_server_of_our_name_that_is_another_program_is_not_touched_unasked(name: str, how: tuple[str, ...]) -> None:
    entry = {"command": "/usr/bin/other", "args": ["mcp"]}
    text = '[mcp_servers.anydevice]\ncommand = "/usr/bin/other"\n'
    place = put(name, text if PROGRAMS[name].toml else json.dumps({PROGRAMS[name].key: {"anydevice": entry}}))
    before = place.read_text("utf-8")
    done = run(name, "--yes", *how)
    assert done.exit_code == 1 and "does not start this program" in done.output and place.read_text("utf-8") == before


@pytest.mark.parametrize(
    "text",
    [
        '{\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "x": {"command": "y"}\r\n  }\r\n}\r\n',
        '{"a":1,"a":2,"mcpServers":{}}',
        '{"n":12345678901234567890123.5,"m":1.10,"mcpServers":{"x":{}, "y":{}}}',
        '\ufeff{"mcpServers": { "x" : {} } , "e":"\\u00e9\\/\\ud800"}\n',
        '{\n\t"mcpServers": {\n\t\t"}": {"a": "]"}\n\t},\n\t"z": NaN\n}',
    ],
)
def test_json_comes_back_to_the_letter(text: str) -> None:
    place = put("cursor", "")
    place.write_bytes(text.encode("utf-8"))
    assert run("cursor", "--yes").exit_code == 0
    between = place.read_bytes().decode("utf-8")
    assert "anydevice" in json.loads(between.removeprefix("\ufeff"))["mcpServers"]
    assert ("\r\n" in text) == ("\r\n" in between) and between.count("\n") - between.count("\r\n") in (
        0, between.count("\n"),
    )  # fmt: skip
    assert run("cursor", "--remove", "--yes").exit_code == 0
    assert place.read_bytes().decode("utf-8") == text


@pytest.mark.parametrize("text", ["a = 1\r\n[b]\r\nc = 2\r\n", "# only this\n", '[mcp_servers.other]\ncommand = "x"\n'])
def test_toml_comes_back_to_the_letter(text: str) -> None:
    place = put("codex", "")
    place.write_bytes(text.encode())
    assert run("codex", "--yes").exit_code == 0
    assert "anydevice" in tomllib.loads(place.read_bytes().decode())["mcp_servers"]
    assert run("codex", "--remove", "--yes").exit_code == 0
    assert place.read_bytes().decode() == text


def test_an_entry_that_is_there_twice_is_left_to_a_person() -> None:
    text = '{"mcpServers": {"anydevice": {"command": "anydevice"}, "anydevice": {"command": "anydevice"}}}'
    place = put("cursor", text)
    done = run("cursor", "--yes")
    assert done.exit_code == 1 and "twice" in done.output and place.read_text("utf-8") == text


@pytest.mark.parametrize("text", ["[" * 5000 + "]" * 5000, '{"a":' + "[" * 5000 + "]" * 5000 + "}"])
def test_a_file_nested_beyond_reason_is_left_alone(text: str) -> None:
    place = put("cursor", text)
    done = run("cursor", "--yes")
    assert done.exit_code == 1 and "by hand" in done.output and place.read_text("utf-8") == text


def test_what_somebody_wrote_while_a_person_thought_is_not_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    place = put("cursor", "{}")

    def agreed(*_: Any, **__: Any) -> bool:
        place.write_text('{"new": 1}')
        return True

    monkeypatch.setattr("anydevice_mcp.hosts._agreed", agreed)
    done = run("cursor")
    assert done.exit_code == 1 and "meanwhile" in done.output and place.read_text() == '{"new": 1}'


def test_nothing_is_changed_where_nobody_can_be_asked_and_nobody_said_yes() -> None:
    place = put("cursor", FOREIGN_JSON % "mcpServers")
    done = run("cursor")
    assert done.exit_code == 1 and "--yes" in done.output
    shown = run("cursor", "--show")
    assert "+" in shown.output and "anydevice" in shown.output
    told = json.loads(run("cursor", "--show", "--json").output)["data"]
    assert told["wouldChange"] and not told["changed"]
    assert place.read_text("utf-8") == FOREIGN_JSON % "mcpServers"


def test_a_link_stays_a_link_and_the_mode_stays(home: Path) -> None:
    real = home / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    place = PROGRAMS["cursor"].user()
    place.parent.mkdir()
    place.symlink_to(real)
    assert run("cursor", "--yes").exit_code == 0
    assert place.is_symlink() and "anydevice" in real.read_text() and stat.S_IMODE(real.stat().st_mode) == 0o640


def test_the_projects_file_is_written_where_asked(home: Path) -> None:
    assert run("vscode", "--project", "--yes").exit_code == 0
    entry = json.loads((home / ".vscode" / "mcp.json").read_text())["servers"]["anydevice"]
    assert entry["type"] == "stdio"
    assert not PROGRAMS["vscode"].user().exists()
    assert run("windsurf", "--project", "--yes").exit_code == 2


def test_toolsets_and_the_home_folder_go_with_it(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("ANYDEVICE_HOME", "elsewhere")
    assert run("claude", "--tools", "tv,files", "--yes").exit_code == 0
    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["anydevice"]
    assert entry["args"] == ["mcp", "--tools", "tv,files"]
    assert entry["env"] == {"ANYDEVICE_HOME": str(home / "elsewhere")}
    assert run("claude", "--tools", "nothing", "--yes").exit_code == 2
