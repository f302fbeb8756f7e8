"""The small parts by themselves: cutting, marking, fencing, plain text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anydevice_mcp.bounds import shrink, size
from anydevice_mcp.frames import Malformed, decode, read_message
from anydevice_mcp.plain import block, dense, row
from anydevice_mcp.untrusted import Fence, marked, scrubbed, scrubber

JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**9), 10**9),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
    ),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=60,
)


@given(JSON, st.integers(20, 2_000))
def test_what_fits_is_whole_and_what_does_not_is_cut_and_told(value: Any, limit: int) -> None:
    cut, told = shrink(value, limit)
    if size(value) <= limit:
        assert cut == value and not told
    elif isinstance(value, dict | list | str):
        assert told
        assert size(cut) <= max(limit, 2)
        assert type(cut) is type(value)


def test_small_fields_survive_beside_a_large_one() -> None:
    data = {"a": 1, "text": "x" * 100_000, "b": {"c": [1, 2, 3]}, "rows": [{"n": n} for n in range(10_000)]}
    cut, told = shrink(data, 2_000)
    assert cut["a"] == 1 and cut["b"] == {"c": [1, 2, 3]} and list(cut) == list(data)
    assert len(cut["text"]) > 500 and cut["rows"][0] == {"n": 0} and len(cut["rows"]) > 50
    assert len(told) == 2 and all(note.startswith("data.") for note in told)


def test_text_is_cut_at_the_end_of_a_line() -> None:
    cut, _ = shrink("".join(f"line {n}\n" for n in range(1_000)), 500)
    assert cut.splitlines()[-1].startswith("line ") and f"{cut}\n" in "".join(f"line {n}\n" for n in range(1_000))


@given(st.text())
def test_marked_text_hides_nothing_and_marking_twice_changes_nothing(text: str) -> None:
    shown = marked(text)
    assert all(char.isprintable() or char in "\n\t" for char in shown)
    assert marked(shown) == shown
    if text.isascii() and text.isprintable():
        assert shown == text


@pytest.mark.parametrize(
    "char", ["\u200b", "\u200d", "\u202e", "\u2066", "\ufeff", "\x1b", "\x00", "\u2028", "\U000e0041"]
)
def test_what_cannot_be_seen_is_written_as_an_escape(char: str) -> None:
    shown = marked({f"k{char}": [f"a{char}b"]})
    assert char not in json.dumps(shown, ensure_ascii=False) and "\\u" in shown[next(iter(shown))][0]


def test_other_scripts_quotes_and_backslashes_are_left_alone() -> None:
    text = 'Größe "日本語" العربية C:\\x 😀'
    assert marked(text) == text


@given(st.text())
@settings(max_examples=50)
def test_a_fence_is_closed_by_nothing_inside_it(text: str) -> None:
    fence = Fence("screen of x")
    fenced = fence.around(text)
    assert fenced.count(f"</untrusted-{fence.number}>") == 1 and fenced.endswith(f"</untrusted-{fence.number}>")


def test_known_folders_become_words_and_look_alikes_stay() -> None:
    scrub = scrubber([("/home/ann/.anydevice", "<anydevice>"), ("/home/ann", "~"), ("/", "root"), ("", "none")])
    assert (
        scrub("at /home/ann/.anydevice/run/x, /home/ann/y and /home/anna/z")
        == "at <anydevice>/run/x, ~/y and /home/anna/z"
    )
    assert scrub("/home/ann: no") == "~: no" and scrub("a/b /etc") == "a/b /etc"
    assert scrubbed({"a": ["/home/ann/q", 3]}, scrub) == {"a": ["~/q", 3]}


def test_plain_text_keeps_one_field_a_line() -> None:
    text = block(
        {"n": 1, "ok": None, "s": "two words", "t": "a\nb: c", "l": ["x y", "z"], "e": [], "text": "tail\nend"}
    )
    assert text.splitlines() == [
        "n: 1", "s: two words", 't: "a\\nb: c"', "l (2):", "- x y", "- z", "e: []", "tail", "end",
    ]  # fmt: skip
    assert row({"id": "a-1", "name": "My phone", "on": True, "gone": None, "word": "true"}) == (
        'id=a-1 name="My phone" on=true word="true"'
    )
    assert block({}) == "" and block({"text": ""}) == '""' and dense({"a": "ä"}) == '{"a":"ä"}'


@given(JSON)
def test_any_json_value_is_a_message_or_malformed(value: Any) -> None:
    parsed = decode(json.dumps(value).encode("utf-8", "surrogatepass")) if _encodable(value) else value
    try:
        message = read_message(parsed)
    except Malformed as fault:
        reply = fault.reply()
        assert reply["error"]["code"] in (-32600, -32602) and reply["jsonrpc"] == "2.0"
    else:
        assert parsed["jsonrpc"] == "2.0" and message.jsonrpc == "2.0"


def _encodable(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
