"""The parts of the adb transport that need no server: rows, words, frames."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anydevice_adb import AdbDevice, AdbServer, line, parse_rows, quote
from anydevice_adb.wire import Failure
from anydevice_schemas.errors import InvalidArgument

FIXTURES = Path(__file__).parent.parent / "fixtures" / "android"


def test_rows_are_read_whatever_their_state_and_the_order_of_their_facts() -> None:
    rows = parse_rows((FIXTURES / "devices_l_varieties.txt").read_text())
    assert [(row.serial, row.state) for row in rows] == [
        ("emulator-5554", "device"), ("????????????", "no permissions"), ("0A0000000000EX", "unauthorized"),
        ("192.168.1.20:5555", "offline"),
    ]  # fmt: skip
    assert rows[0].facts["model"] == "sdk_gphone64_x86_64" and rows[0].facts["transport_id"] == "1"
    assert rows[1].ghost and rows[1].facts["usb"] == "1-4" and "plugdev" in rows[1].why
    assert not rows[2].ghost


def test_rows_of_the_real_server_are_read() -> None:
    text = (FIXTURES / "devices_l_adb_29_0_6.txt").read_text()
    rows = parse_rows(text)
    assert {row.state for row in rows} >= {"device", "unauthorized", "offline"}
    assert all(row.serial in text for row in rows)


def test_what_is_wrong_with_a_device_is_told_by_its_reason_and_not_by_what_stands_before_it() -> None:
    said = (FIXTURES / "adb_cli_errors_29_and_36.txt").read_text().split("---\n")
    device = AdbDevice(AdbServer("127.0.0.1", 1), "0A0")
    told = [device.typed(Failure(reason), "shell") for reason in said]
    assert [error.code for error in told] == [
        "device_unauthorized", "device_offline", "device_offline", "refused", "device_unauthorized", "device_offline",
    ]  # fmt: skip
    assert all(reason[:40] not in error.message for reason, error in zip(said, told, strict=True))


def test_a_device_found_by_mdns_says_which_one_it_is() -> None:
    (row,) = parse_rows(
        "adb-939AX05XBZ-vWgJpq (2)._adb-tls-connect._tcp device product:p model:M device:d transport_id:7"
    )
    assert (row.state, row.hardware_serial) == ("device", "939AX05XBZ")


@pytest.mark.parametrize(
    "text", ["", "\n\n", "List of devices attached", "* daemon not running; starting now at tcp:5037"]
)
def test_what_is_no_row_is_none(text: str) -> None:
    assert parse_rows(text) == []


NASTY = [
    "it's", "$HOME", "`id`", "$(id)", "a\nb", "a\tb", "👩‍👩‍👧", "*?[x]", "-n", "%s", "", "#x", "!x", "a\\", '"',
    "; rm -rf /sdcard", "&& reboot", "~", "a  b", "\x7f", "=x", "ü\u200b",
]  # fmt: skip


@pytest.mark.parametrize("shell", ["sh", "mksh"])
@pytest.mark.parametrize("word", NASTY)
def test_a_quoted_word_reaches_a_program_as_it_is(shell: str, word: str) -> None:
    import shutil

    if shutil.which(shell) is None:
        pytest.skip(f"not installed: {shell}")
    done = subprocess.run([shell, "-c", f"printf %s {quote(word)}"], capture_output=True, check=True, timeout=20)
    assert done.stdout == word.encode()


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1, max_size=4))
def test_a_line_of_words_is_those_words(words: list[str]) -> None:
    import shlex

    assert shlex.split(line(*words)) == words


@pytest.mark.parametrize("word", ["a\0b", "\ud83d"])
def test_what_no_command_line_can_carry_is_refused(word: str) -> None:
    with pytest.raises(InvalidArgument):
        quote(word)
