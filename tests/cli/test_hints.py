"""Hints at a shell: in the command line's own words, with command lines that work when they are pasted."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anydevice.commands import all_commands
from anydevice.schema import flat_schema
from anydevice_cli.hints import spoken, ways
from anydevice_cli.remote import Catalogue
from anydevice_schemas import DeviceSelector, Switches

from ..support.daemons import ALONE, CLI, PATIENCE, Home, eventually

CATALOGUE = Catalogue(
    {
        "digest": "x",
        "commands": [spec.command.model_dump(mode="json", by_alias=True) for spec in all_commands()],
        "selectors": flat_schema(DeviceSelector)["properties"],
        "switches": flat_schema(Switches)["properties"],
    }
)


# --- words ---


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("Wait in the queue: lease acquire with timeoutMs.", "Wait in the queue: lease acquire with --timeout-ms."),
        ("Go on there, or repeat with session=auto-1.", "Go on there, or repeat with --session auto-1."),
        ('Call boot with device="my tv", then wait.', "Call boot with --device 'my tv', then wait."),
        ("leaseId alone says whose it is.", "--lease-id alone says whose it is."),
        ("Repeat with one ref, or add index=N.", "Repeat with one ref, or add index=N."),
        ("Do what details.enable_hint says.", "Do what details.enable_hint says."),
        ("", ""),
    ],
)  # fmt: skip
def test_the_sentence_names_options_as_they_are_typed(hint: str, said: str) -> None:
    assert spoken(hint, CATALOGUE) == said


@pytest.mark.parametrize(
    ("code", "hint", "device", "asked", "lines"),
    [
        (
            "lease_held", "Wait until it expires, or choose another device from devices.", "web:a b",
            ("press", {"target": "x"}),
            ["devices", "lease acquire --device 'web:a b' --timeout-ms 60000"],
        ),
        (
            "lease_held", "Repeat the call in a moment.", "a:1",
            ("press", {"target": "it's", "count": 2, "device": "1"}),
            ["""press --target 'it'"'"'s' --count 2 --device 1""", "lease acquire --device 1 --timeout-ms 60000"],
        ),
        (
            "lease_held", "Wait in the queue: lease acquire with timeoutMs.", None,
            ("lease", {"action": "acquire", "platform": "web", "tenant": "a", "noRecord": True}),
            ["lease acquire --platform web --tenant a --no-record --timeout-ms 60000"],
        ),
        (
            "lease_lost", "The device is free again: look at it with snapshot before you go on.",
            "a:1", ("press", {"session": "s", "target": "x"}), ["snapshot --session s"],
        ),
        ("lease_stale", "Call open again; another grant replaced yours.", None, ("press", {}), ["open"]),
        ("lease_expired", "Call open again for a new lease.", None, ("press", {"leaseId": "ab"}), ["devices"]),
        (
            "lease_expired", "Call open again for a new lease.", "a:1", ("press", {"leaseId": "ab"}),
            ["open --device a:1"],
        ),
        (
            "device_not_ready", 'Call boot with device="tv 1", then repeat the call.', None, ("press", {}),
            ["boot --device 'tv 1'"],
        ),
        (
            "device_not_ready", "Call boot with device=t, then repeat the call.", None,
            ("open", {"url": "http://x/", "device": "t"}), ["open --url http://x/ --device t --boot"],
        ),
        ("device_not_ready", "Call boot with this device.", None, ("open", {}), []),
        (
            "dialog_open", "Call alert with action accept or dismiss.", "a:1", ("press", {"session": "s"}),
            ["alert accept --session s", "alert dismiss --session s"],
        ),
        ("quota_exceeded", "Release a device first: lease release.", None, ("press", {}), ["status"]),
        (
            "device_unhealthy", "Have a person look at it and run: anydevice mark a:x y good", "a:x y",
            ("press", {}), ["mark 'a:x y' good"],
        ),
        (
            "host_unreachable", "Run: anydevice stop ; then repeat the call, which starts another.", None,
            ("press", {}), ["stop"],
        ),
        (
            "unsupported", "Call capabilities for what this device can do.", "a:1", ("tabs", {}),
            ["capabilities --device a:1"],
        ),
        (
            "confirmation_required", "Have a person run: anydevice approve ab ; then repeat with confirmToken.",
            "a:1", ("trash", {"path": "x y"}), ["approve ab"],
        ),
        ("internal", "Report the incident id.", None, ("press", {}), []),
    ],
)  # fmt: skip
def test_command_lines_do_what_the_hint_says(
    code: str, hint: str, device: str | None, asked: tuple[str, dict[str, Any]], lines: list[str]
) -> None:
    wire = {"code": code, "hint": hint, "details": {}, "device": device}
    assert ways(wire, *asked) == [f"anydevice {line}" for line in lines]


def test_an_app_that_is_not_there_gets_a_line_with_the_nearest_one() -> None:
    wire = {"code": "app_not_found", "hint": "Call apps to see what is installed.", "device": "a:1"}
    wire |= {"details": {"nearest_matches": ["com.example.shop"]}}
    assert ways(wire, "open", {"app": "com.example.shap"}) == [
        "anydevice open --app com.example.shop",
        "anydevice apps --device a:1",
    ]


def test_each_of_several_elements_and_of_several_devices_that_are_down_gets_a_line() -> None:
    two = {"candidates": [{"ref": "@e5", "role": "button"}, {"ref": "@e6", "role": "button"}]}
    wire = {"code": "ambiguous_element", "hint": "Repeat with the ref of one candidate.", "details": two}
    assert ways(wire, "press", {"target": "Buy", "session": "s"}) == [
        "anydevice press --target @e5 --session s",
        "anydevice press --target @e6 --session s",
    ]
    named = {"candidates": [{"selectors": {"device": "tv"}}]}
    wire = {"code": "invalid_argument", "hint": "Fix the named argument.", "details": named}
    assert ways(wire, "boot", {"platform": "vega"}) == ["anydevice boot --platform vega --device tv"]
    rows = [{"state": "shutdown", "selectors": {"device": d}} for d in ("desk", "tv")] + [{"state": "offline"}]
    wire = {"code": "device_not_found", "hint": "Call boot with device=desk, then repeat the call."}
    wire |= {"details": {"unusable": rows}}
    assert ways(wire, "snapshot", {}) == ["anydevice boot --device desk", "anydevice boot --device tv"]
    assert ways(wire, "open", {"app": "x"})[1] == "anydevice open --app x --device tv --boot"


@pytest.mark.parametrize("asked", [("press", {"target": "x" * 400}), ("batch", {"steps": [{"command": "say"}]})])
def test_what_is_too_long_to_be_read_or_may_be_secret_is_not_repeated(asked: tuple[str, dict[str, Any]]) -> None:
    wire = {"code": "lease_held", "hint": "Repeat the call in a moment.", "details": {}}
    assert ways(wire, *asked) == []


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (("fill", {"target": "Nope", "text": "a secret"}), 'fill --target Nope --text "${TEXT:?as you gave it}"'),
        (("vendor-key", {"value": "a secret"}), 'vendor-key --value "${VALUE:?as you gave it}"'),
        (
            ("is", {"predicate": "text", "target": "a b", "value": "it"}),
            "is --predicate text --target 'a b' --value it",
        ),
        (("wait", {"text": "Saved"}), "wait --text Saved"),
    ],
)
def test_a_secret_is_left_to_the_shell_and_what_is_none_is_written_out(
    asked: tuple[str, dict[str, Any]], line: str
) -> None:
    wire = {"code": "lease_held", "hint": "Repeat the call in a moment.", "details": {}}
    assert ways(wire, *asked) == [f"anydevice {line}"]


# --- pasted into a shell, against a daemon ---

Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(home: Home, tmp_path: Path) -> Shell:
    """Runs a line in bash, where `anydevice` is the command line."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "anydevice"
    program.write_text(f'#!/bin/sh\nexec {" ".join(CLI)} "$@"\n')
    program.chmod(0o755)

    def run(line: str, where: str = "here", *, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        place = tmp_path / where
        place.mkdir(exist_ok=True)
        environ = home.environ
        environ["PATH"] = f"{programs}:{environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", line], env=environ, cwd=place, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert code is None or done.returncode == code, (line, done.returncode, done.stdout, done.stderr)
        return done

    return run


def lines_of(refused: subprocess.CompletedProcess[str], code: str) -> list[str]:
    """The command lines that a refusal printed."""
    assert f"{code}: " in refused.stderr, refused.stderr
    return [line[4:] for line in refused.stderr.splitlines() if line.startswith("    anydevice ")]


@pytest.mark.daemon
def test_who_meets_his_own_session_of_another_directory_goes_on_in_it(shell: Shell) -> None:
    shell("anydevice appstate --device fake-1")
    lines = lines_of(shell("anydevice press Increment --device fake-1", "there", code=3), "lease_held")
    assert "--session auto-" in lines[0] and len(lines) == 1
    assert shell(lines[0], "there").stdout.startswith("press · on Fake phone 1")


@pytest.mark.daemon
def test_who_meets_somebody_else_waits_or_chooses_another(home: Home, shell: Shell) -> None:
    shell("anydevice open --device fake-1 --tenant a --session nightly")
    lines = lines_of(shell("anydevice press Increment --device fake-1", "there", code=3), "lease_held")
    assert [line.split()[1] for line in lines] == ["devices", "lease"]
    assert "fake-2" in shell(lines[0], "there").stdout
    waiter = subprocess.Popen(
        ["bash", "-c", lines[1].replace("anydevice", " ".join(CLI))], env=home.environ, stdout=subprocess.PIPE
    )
    try:
        eventually(lambda: home.json("status")["data"]["queue"], "it waits")
        shell("anydevice lease release --tenant a --session nightly", "anywhere")
        assert b"fake:fake-1 is yours" in waiter.communicate(timeout=PATIENCE)[0]
    finally:
        waiter.kill()
        waiter.wait()


@pytest.mark.daemon
@pytest.mark.parametrize(
    "words",
    [
        "press Increment", "screenshot --target Increment o.png", "is visible Increment", "get text Increment",
        "wait text Increment", "wait 5", "find Increment", "longpress Increment --yes --deadline 20",
        "batch steps.json", "batch --steps @steps.json",
    ],
)  # fmt: skip
def test_a_line_for_one_of_several_devices_does_what_the_refused_one_asked_for(
    shell: Shell, tmp_path: Path, words: str
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "steps.json").write_text('[{"command": "press", "arguments": {"target": "Increment"}}]')
    lines = lines_of(shell(f"anydevice {words}", code=3), "ambiguous_device")
    assert len(lines) == 2
    for option in ("--yes", "--deadline 20", "o.png", "steps.json"):
        assert (option in words) == (option in lines[0]), lines
    said = shell(lines[0]).stdout
    assert ("executed: 1" if words.startswith("batch") else "on Fake phone 1") in said
    assert (tmp_path / "here" / "o.png").exists() == ("o.png" in words)


@pytest.mark.daemon
def test_a_line_with_something_secret_does_nothing_until_it_is_given(shell: Shell) -> None:
    refused = shell("anydevice fill Name 'a secret'", code=3)
    line = lines_of(refused, "ambiguous_device")[0]
    assert "a secret" not in refused.stderr
    assert "TEXT: as you gave it" in shell(line, code=127).stderr
    assert shell(f"TEXT='a secret'; {line}").stdout.startswith("fill · on Fake phone 1")


@pytest.mark.daemon
def test_who_acquires_what_is_held_waits_and_keeps_his_place(shell: Shell) -> None:
    shell("anydevice lease acquire --device fake-1")
    asked = "anydevice lease acquire --device fake-1 --platform fake"
    wait, other = lines_of(shell(asked, "there", code=3), "lease_held")
    assert wait == "anydevice lease acquire --platform fake --device fake-1 --timeout-ms 60000"
    shell(other, "there")
    (again,) = lines_of(shell(f"{asked} --timeout-ms 100", "there", code=3), "lease_held")
    assert lines_of(shell(again, "there", code=3), "lease_held") == [again]
    shell("anydevice lease release")
    assert "fake:fake-1 is yours" in shell(wait, "there").stdout


@pytest.mark.daemon
def test_what_a_person_has_to_approve_is_two_lines_to_paste(shell: Shell) -> None:
    approve, again = lines_of(shell("anydevice vendor-wipe", code=5), "confirmation_required")
    shell(approve)
    assert "wiped: true" in shell(again).stdout


@pytest.mark.daemon
def test_who_was_taken_over_or_has_no_lease_finds_out_how_things_are(shell: Shell) -> None:
    shell("anydevice press Increment --device fake-1")
    shell("anydevice takeover fake-1 --reason demo", "there")
    shell("anydevice press Increment", code=3)
    for line in lines_of(shell("anydevice press Increment --device fake-1", code=3), "lease_held"):
        if "acquire" not in line:
            shell(line)
    shell("anydevice give-back fake-1", "there")
    refused = [
        lines_of(shell("anydevice give-back fake-1", "there", code=3), "lease_expired"),
        lines_of(shell("anydevice lease release", "nowhere", code=3), "lease_expired"),
        lines_of(shell(f"anydevice press Increment --lease-id {'ab' * 16}", "nowhere", code=3), "lease_stale"),
    ]
    assert [len(lines) for lines in refused] == [1, 1, 2]
    for lines in refused:
        for line in lines:
            shell(line, "nowhere")


@pytest.mark.daemon
def test_who_has_several_leases_or_says_too_much_is_shown_each_way(shell: Shell) -> None:
    shell("anydevice lease acquire --device fake-1")
    made = shell("anydevice lease acquire --device fake-2 --json").stdout
    lease_id = made.partition('"leaseId": "')[2][:32]
    too_much = shell(f"anydevice press Increment --lease-id {lease_id} --session other", "there", code=3)
    (line,) = lines_of(too_much, "selector_conflict")
    assert shell(line, "there").stdout.startswith("press · on Fake phone 2")
    lines = lines_of(shell("anydevice lease release", code=3), "selector_conflict")
    assert len(lines) == 2
    for line in lines:
        shell(line)
    assert shell("anydevice lease status").stdout == "no leases\n"


@pytest.mark.daemon
def test_a_device_out_of_the_pool_is_put_back_by_the_line_of_the_refusal(shell: Shell) -> None:
    shell("anydevice mark fake-1 suspect --reason 'it flickers'")
    (line,) = lines_of(shell("anydevice press Increment --device fake-1", code=3), "device_unhealthy")
    shell(line)
    shell("anydevice press Increment --device fake-1")


@pytest.mark.daemon
def test_a_lease_that_ran_out_is_followed_by_a_new_one(shell: Shell) -> None:
    made = shell("anydevice lease acquire --device fake-1 --ttl-ms 5000 --json").stdout
    lease_id = made.partition('"leaseId": "')[2][:32]
    asked = f"anydevice press Increment --lease-id {lease_id}"
    time.sleep(6.0)
    (line,) = lines_of(shell(asked, "there", code=3), "lease_expired")
    assert line == "anydevice open --device fake:fake-1"
    shell(line, "there")


@pytest.mark.daemon
def test_a_quota_that_is_used_up_points_to_who_holds_what(home: Home, shell: Shell) -> None:
    (home.path / "config.toml").write_text(ALONE + "[lease]\nheld = 1\n")
    shell("anydevice lease acquire --device fake-1")
    (line,) = lines_of(shell("anydevice lease acquire --device fake-2", "there", code=3), "quota_exceeded")
    assert "fake:fake-1" in shell(line, "there").stdout
