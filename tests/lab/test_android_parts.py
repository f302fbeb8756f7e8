"""Parts of a lab device that can be judged alone: packets, keys, paths, words of a line, intents, trees."""

from __future__ import annotations

import base64
import importlib.util
import math
import random
import shlex
import subprocess
from pathlib import Path

import pytest

from anydevice_lab.android import KINDS, wire
from anydevice_lab.android.adbkey import BITS, PublicKey, read_key
from anydevice_lab.android.apk import Manifest, read_apk, write_apk
from anydevice_lab.android.commands.activities import read_intent
from anydevice_lab.android.files import Files, Outward
from anydevice_lab.android.framework.dump import clean
from anydevice_lab.android.framework.intents import redacted, short, whole
from anydevice_lab.android.framework.keys import CODES, name_of
from anydevice_lab.android.shell import plain_words

from .test_android_wire import HOSTILE


def test_a_packet_is_read_as_it_was_written() -> None:
    packed = wire.Packet(wire.OPEN, 3, 4, b"shell:\0").pack()
    assert wire.header(packed[:24]) == (wire.OPEN, 3, 4, 7)
    assert packed[24:] == b"shell:\0"
    with pytest.raises(wire.BadPacket):
        wire.header(packed[:20] + b"\0\0\0\0")
    with pytest.raises(wire.BadPacket):
        wire.header(wire.HEADER.pack(wire.WRTE, 0, 0, wire.MAX_DATA + 1, 0, wire.WRTE ^ 0xFFFFFFFF))


def test_only_a_signature_of_the_key_itself_counts() -> None:
    # Two primes of 1024 bits, found by the same test here; small exponent as adb's keys have.
    rng = random.Random(4711)
    p, q = _prime(rng), _prime(rng)
    key = PublicKey(p * q, 65537)
    private = pow(65537, -1, (p - 1) * (q - 1))
    token = rng.randbytes(20)
    body = b"\x00\x01" + b"\xff" * (256 - 38) + b"\x00" + bytes.fromhex("3021300906052b0e03021a05000414") + token
    signature = pow(int.from_bytes(body, "big"), private, p * q).to_bytes(256, "big")
    assert key.signed(token, signature)
    assert not key.signed(rng.randbytes(20), signature)
    assert not key.signed(token, signature[:-1] + bytes([signature[-1] ^ 1]))
    assert not key.signed(token, b"")
    words = (64).to_bytes(4, "little") + bytes(4) + (p * q).to_bytes(BITS // 8, "little") + bytes(BITS // 8)
    line = base64.b64encode(words + (65537).to_bytes(4, "little")) + b" me@here\0"
    assert read_key(line) == key
    with pytest.raises(ValueError, match="adb public key"):
        read_key(b"AAAA me")


def _prime(rng: random.Random) -> int:
    small = math.prod(number for number in range(3, 2000, 2) if all(number % part for part in range(3, 45, 2)))
    while True:
        found = rng.getrandbits(1024) | (1 << 1023) | (1 << 1022) | 1
        if (
            math.gcd(found, small) == 1
            and all(pow(base, found - 1, found) == 1 for base in (2, 3, 5, 7))
            and (found - 1) % 65537
        ):
            return found


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path / "root", tmp_path / "bin")


def test_paths_of_the_device_lead_into_its_folder_and_nowhere_else(files: Files) -> None:
    assert files.host("/sdcard/a b") == files.root / "sdcard" / "a b"
    assert files.host("/storage/emulated/0/x") == files.root / "sdcard" / "x"
    assert files.host("/sdcard/../../../etc/passwd") == files.root / "etc" / "passwd"
    assert files.host("/system/bin/sh") == files.programs / "sh"


def test_paths_in_a_command_line_are_led_there_and_back(files: Files) -> None:
    line = "cat '/sdcard/a b' >/data/local/tmp/x; echo http://host/sdcard /proc/1 x=/sdcard"
    inside = files.inward(line.encode())
    assert f"'{files.root}/sdcard/a b'".encode() in inside
    assert f">{files.root}/data/local/tmp/x;".encode() in inside
    assert b"http://host/sdcard /proc/1" in inside
    assert files.outward(inside) == line.encode()


def test_a_path_that_comes_in_pieces_is_taken_out_all_the_same(files: Files) -> None:
    text = f"one {files.root}/sdcard/x {files.programs}/wm {str(files.root)[:5]} end {str(files.root)[:-1]}".encode()
    for cut in range(len(text) + 1):
        outward = Outward(files)
        said = outward.feed(text[:cut]) + outward.feed(text[cut:]) + outward.rest()
        assert said == files.outward(text), cut


@pytest.mark.parametrize("text", [*HOSTILE, "plain", "a=b", "x,y:z@+%", "a'b"])
def test_words_of_a_plain_line_are_those_a_shell_makes_of_it(text: str) -> None:
    line = f"log {shlex.quote(text)} end"
    words = plain_words(line)
    if words is not None:
        assert words == shlex.split(line)
    if text in HOSTILE and "'" not in text:
        assert words is not None


@pytest.mark.parametrize(
    "line",
    ["a; b", "a && b", "a $x", "a `b`", 'a "b"', "a > b", "a | b", "x=1 a", "a *", "a ~", "a\\ b", "a {b,c}", "(a)"],
)
def test_a_line_that_needs_a_shell_gets_one(line: str) -> None:
    assert plain_words(line) is None


def test_an_intent_is_read_from_its_words() -> None:
    words = [
        "-W",
        "-a",
        "act",
        "-n",
        "p/.C",
        "--es",
        "k",
        "v w",
        "--ei",
        "n",
        "3",
        "--ez",
        "t",
        "true",
        "--esa",
        "l",
        "a,b\\,c",
    ]
    intent = read_intent(words)
    assert (intent.action, intent.component) == ("act", "p/.C")
    assert intent.extras == {"k": "v w", "n": 3, "t": True, "l": ["a", "b,c"]}
    assert read_intent(["practice://x"]).action == "android.intent.action.VIEW"
    assert redacted("https://host/path?q=1") == "https://host/..."
    assert (whole("a.b", ".C"), short("a.b", "a.b.C"), short("a.b", "x.C")) == ("a.b.C", ".C", "x.C")


def test_keys_have_the_codes_of_android() -> None:
    known = {"HOME": 3, "BACK": 4, "0": 7, "9": 16, "DPAD_CENTER": 23, "A": 29, "Z": 54, "ENTER": 66, "DEL": 67,
             "F1": 131, "F12": 142, "APP_SWITCH": 187, "PASTE": 279}  # fmt: skip
    assert {name: CODES[name] for name in known} == known
    assert (name_of("66"), name_of("KEYCODE_ENTER"), name_of("enter"), name_of("nothing")) == ("ENTER",) * 3 + (None,)


def test_texts_in_a_dump_are_cleaned_as_the_dumper_does() -> None:
    assert clean("a\x01b👍c\u200d\n") == "a.b..c\u200d\n"


def test_a_package_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = write_apk(tmp_path / "a.apk", "com.example.ä", version=70_000, label="Grüße", permissions=["a.B", "c.D"])
    found = read_apk(path.read_bytes())
    assert found is not None
    assert found == Manifest("com.example.ä", 70_000, "Grüße", False, ["a.B", "c.D"], found.signer)
    other = read_apk(write_apk(tmp_path / "b.apk", "x.y", test_only=True, signer="other").read_bytes())
    assert other is not None and other.test_only and other.signer != found.signer


def test_a_package_made_by_androids_own_tools_is_read() -> None:
    spec = importlib.util.find_spec("uiautomator2")
    if spec is None or spec.origin is None:
        pytest.skip("uiautomator2, which brings one, is not installed")
    found = read_apk((Path(spec.origin).parent / "assets" / "app-uiautomator.apk").read_bytes())
    assert found is not None
    assert (found.package, found.version > 1) == ("com.github.uiautomator", True)
    assert "android.permission.INTERNET" in found.permissions


def test_what_is_no_package_has_no_manifest() -> None:
    assert read_apk(b"nothing") is None


def test_every_kind_says_what_it_is() -> None:
    assert {"phone", "tablet", "tv", "emulator", "foldable", "unauthorized", "offline"} <= KINDS.keys()
    assert all(kind.name == name and kind.width and kind.density for name, kind in KINDS.items())


def test_the_command_line_lists_kinds_and_refuses_others() -> None:
    from click.testing import CliRunner

    from anydevice_lab.cli import lab

    runner = CliRunner()
    assert "foldable" in runner.invoke(lab, ["android", "--list"]).output
    refused = runner.invoke(lab, ["android", "nosuch"])
    assert refused.exit_code == 2
    assert "there is no kind 'nosuch'" in refused.output


def test_the_command_line_keeps_devices_until_it_is_interrupted() -> None:
    import json
    import signal
    import sys

    code = "from anydevice_lab.cli import lab; lab()"
    argv = [sys.executable, "-c", code, "android", "phone:2", "tv", "--json"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as program:
        assert program.stdout is not None
        told = json.loads(program.stdout.readline())["data"]
        rows = subprocess.run(
            [told["adb"], "devices"],
            env=told["environment"],
            capture_output=True,
            timeout=30,
            check=True,
        ).stdout.decode()
        program.send_signal(signal.SIGINT)
        assert program.wait(timeout=30) == 0
    assert [row["kind"] for row in told["devices"]] == ["phone", "phone", "tv"]
    assert all(f"{row['serial']}\tdevice" in rows for row in told["devices"])
