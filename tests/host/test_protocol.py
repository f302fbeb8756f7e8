"""Lines out of bytes, however they come."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anydevice.host.protocol import Lines, LineTooLong, Malformed, decode, encode, hello
from anydevice.places import CALLER_PATH

LIMIT = 20
texts = st.text(max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=10,
)


@given(st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=12), st.integers(1, 50))
def test_lines_are_the_same_however_the_bytes_are_cut(lines: list[bytes], size: int) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cutter = Lines(LIMIT)
    found = [line for start in range(0, len(stream), size) for line in cutter.feed(stream[start : start + size])]
    expected = [LineTooLong if len(line) > LIMIT else line.strip() for line in lines]
    expected = [line for line in expected if line != b""]
    assert [LineTooLong if isinstance(line, LineTooLong) else line for line in found] == expected


def test_no_more_than_the_limit_of_an_endless_line_is_kept() -> None:
    cutter = Lines(1000)
    found = [line for _ in range(10_000) for line in cutter.feed(b"x" * 100)]
    assert len(found) == 1 and isinstance(found[0], LineTooLong)
    assert len(cutter._buffer) <= 1100
    assert cutter.feed(b"\nnext\n") == [b"next"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | texts,
        lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
        max_leaves=10,
    )
)
def test_any_text_survives_a_line(value: object) -> None:
    line = encode({"value": value})
    assert line.endswith(b"\n") and line.count(b"\n") == 1 and line.isascii()
    assert decode(line) == {"value": value}


def test_lone_surrogates_survive_a_line() -> None:
    assert decode(encode({"text": "a\ud800b\u2028"})) == {"text": "a\ud800b\u2028"}


@pytest.mark.parametrize("line", [b"", b"{", b"1", b"[]", b"nul", b"\xff", b"[" * 100_000, b'{"a":1}x'])
def test_what_is_no_object_is_malformed(line: bytes) -> None:
    with pytest.raises(Malformed):
        decode(line)


def test_a_hello_carries_only_what_travels() -> None:
    travelling = {"ANDROID_SERIAL": "a", "ANYDEVICE_X": "b", "AGENT_DEVICE_Y": "c", CALLER_PATH: "/"}
    said = json.loads(
        hello(
            "call",
            "cli",
            environ={
                "ANDROID_SERIAL": "a",
                "ANYDEVICE_X": "b",
                "AGENT_DEVICE_Y": "c",
                "ANYDEVICE_HOME": "/h",
                "PATH": "/",
            },
            cwd="/work",
        )
    )
    assert said["env"] == travelling
    assert (said["cwd"], said["transport"], said["options"]) == ("/work", "cli", {})
