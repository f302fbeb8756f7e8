"""A tree as an agent reads it: short, complete within its size, and with nothing in it that cannot be seen."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anydevice.elements import RefRegistry, interactive, render
from anydevice.text import quoted, visible
from anydevice_schemas import INTERACTIVE, Node, Rect, Tree

VIEW = Rect(0, 0, 400, 800)
PLACE = Rect(0, 0, 100, 20)


def tree(*shape: Any, **more: Any) -> Tree:
    """A stamped tree of (depth, role, name, {fields}); depth 0 is a child of the window."""
    nodes = [Node("window", "Demo", rect=VIEW, key="0")]
    trail = [0]
    for depth, role, name, *fields in shape:
        values: dict[str, Any] = {"rect": PLACE, "key": str(len(nodes))} | (fields[0] if fields else {})
        if isinstance(values.get("states"), str):
            values["states"] = frozenset(values["states"].split())
        del trail[depth + 1 :]
        nodes.append(Node(role, name, parent=trail[depth], **values))
        trail.append(len(nodes) - 1)
    return RefRegistry().stamp(Tree(nodes, **{"viewport": VIEW} | more))


def body(tree: Tree, **how: Any) -> list[str]:
    """The lines below the head and the window."""
    text, cuts = render(tree, **how)
    assert cuts == []
    return [line[2:] for line in text.split("\n")[2:]]


def test_the_head_tells_title_place_size_and_counts() -> None:
    screen = tree((0, "button", "OK"), (0, "text", "x"), title="Inbox", location="app://mail/inbox")
    assert render(screen)[0].split("\n")[0] == (
        '"Inbox" at "app://mail/inbox" · 400x800 points · 3 elements, 1 to act on'
    )
    assert "truncated" in render(tree(quality="truncated"))[0]


def test_a_line_has_ref_role_name_states_and_value() -> None:
    screen = tree(
        (0, "textbox", "Name", {"value": "Ann", "states": "focused required"}),
        (0, "button", "Sign in", {"states": "disabled"}),
        (0, "textbox", "Password", {"secure": True}),
        (0, "button", "Buy", {"hittable": False}),
    )
    assert body(screen) == [
        '@e2 textbox "Name" [required, focused] ="Ann"',
        '@e3 button "Sign in" [disabled]',
        '@e4 textbox "Password" [secure]',
        '@e5 button "Buy" [covered]',
    ]


def test_depth_is_shown_by_indentation() -> None:
    screen = tree((0, "form", "Login"), (1, "button", "Go"), (0, "button", "Other"))
    assert body(screen) == ['@e2 form "Login"', '  @e3 button "Go"', '@e4 button "Other"']


def test_a_container_without_name_and_with_one_child_is_left_out() -> None:
    screen = tree((0, "generic", ""), (1, "group", ""), (2, "button", "Go"), (0, "generic", ""))
    assert body(screen) == ['@e4 button "Go"']
    two = tree((0, "group", ""), (1, "button", "A"), (1, "button", "B"))
    assert body(two) == ["@e2 group", '  @e3 button "A"', '  @e4 button "B"']


def test_a_container_that_says_or_does_something_stays() -> None:
    for fields in ({"identifier": "x"}, {"actions": ("click",)}, {"states": "focused"}):
        screen = tree((0, "generic", "", fields), (1, "button", "Go"))
        assert len(body(screen)) == 2


def test_a_label_repeated_by_its_only_text_is_printed_once() -> None:
    screen = tree((0, "button", "Sign in"), (1, "text", "Sign  in"), (0, "button", "More"), (1, "text", "Less"))
    assert body(screen) == ['@e2 button "Sign in"', '@e4 button "More"', '  @e5 text "Less"']
    value = tree((0, "link", "News"), (1, "text", "", {"value": "News"}))
    assert body(value) == ['@e2 link "News"']


def test_hidden_elements_are_left_out_and_off_screen_ones_counted_by_direction() -> None:
    screen = tree(
        (0, "button", "Hidden", {"states": "hidden"}),
        (0, "button", "Above", {"states": "offscreen", "rect": Rect(0, -50, 10, 10)}),
        (0, "button", "Below", {"states": "offscreen", "rect": Rect(0, 900, 10, 10)}),
        (0, "button", "Below too", {"states": "offscreen", "rect": Rect(0, 990, 10, 10)}),
        (0, "button", "Right", {"states": "offscreen", "rect": Rect(500, 0, 10, 10)}),
        (0, "button", "Here"),
        omitted={"offscreen": 30},
    )
    text, cuts = render(screen)
    assert text.split("\n")[2:] == [
        '  @e7 button "Here"',
        "off screen: 1 above, 2 below, 1 right, 30 not listed (scroll, or ask for all of it)",
    ]
    assert cuts == []


def test_full_shows_all_of_it_with_ids_places_and_what_else_is_known() -> None:
    screen = tree(
        (0, "button", "Go", {"identifier": "go", "states": "offscreen", "actions": ("click",), "native_role": "AXB"}),
        (0, "generic", "", {"states": "hidden", "description": "d"}),
    )
    assert body(screen, level="full") == [
        '@e2 button "Go" [offscreen] id="go" native="AXB" actions=click at 0,0 100x20',
    ]


def test_the_digest_counts_and_shows_the_first_twelve_to_act_on() -> None:
    screen = tree(*((0, "button", f"B{n}") for n in range(20)), (0, "link", "L"), (0, "text", "no"))
    text, cuts = render(screen, level="digest")
    lines = text.split("\n")
    assert lines[1] == "20 button, 1 link"
    assert lines[2:] == [f'@e{n + 2} button "B{n}"' for n in range(12)]
    assert cuts == ["9 elements to act on (digest shows 12)"]


def test_what_does_not_fit_is_left_out_in_whole_lines_and_told() -> None:
    screen = tree(*((0, "button", f"Button number {n}") for n in range(100)))
    text, cuts = render(screen, max_chars=600)
    assert len(text) <= 600
    lines = text.split("\n")
    left = int(re.fullmatch(r"… (\d+) more lines", lines[-1])[1])  # type: ignore[index]
    assert cuts == [f"{left} lines of the text (limit 600 characters)"]
    assert len(lines) - 3 + left == 100  # head, window and the last line are no buttons


def test_the_cut_is_clean_nothing_behind_it_is_shown() -> None:
    screen = tree((0, "button", "A"), (0, "text", "x" * 160), (0, "button", "B"))
    text, _ = render(screen, max_chars=220)
    assert '"A"' in text
    assert '"B"' not in text
    assert text.endswith("… 2 more lines")


def test_long_texts_are_cut_and_told() -> None:
    screen = tree((0, "text", "x" * 1000), (0, "textbox", "", {"value": "y" * 1000}))
    text, cuts = render(screen)
    assert len(text) < 600
    assert "…" in text
    assert cuts == ["2 texts after 160 characters"]


@pytest.mark.parametrize(
    ("char", "shown"),
    [
        ("\n", "\\n"), ("\x1b", "\\u001b"), ("\u202e", "\\u202e"), ("\u200b", "\\u200b"), ("\u2066", "\\u2066"),
        ("\ufeff", "\\ufeff"), ("\u00ad", "\\u00ad"), ("\U000e0041", "\\u{e0041}"), ("\u3164", "\\u3164"),
        ("\U000e0100", "\\u{e0100}"), ("\u2028", "\\u2028"), ('"', '\\"'), ("\\", "\\\\"), ("\ue000", "\\ue000"),
        ("\u00a0", " "), ("\u3000", " "), ("é", "é"), ("你", "你"), ("😀", "😀"), ("\ufe0f", "\ufe0f"),
    ],
)  # fmt: skip
def test_characters_that_cannot_be_seen_are_written_as_escapes(char: str, shown: str) -> None:
    assert visible(f"a{char}b") == f"a{shown}b"
    assert f"a{shown}b" in render(tree((0, "text", f"a{char}b")))[0]


def test_screen_text_cannot_pass_for_another_element() -> None:
    screen = tree((0, "text", 'x"\n@e9 button "Transfer all" ='), title='T" · 1 elements\n@e8 button "Y"')
    assert len(render(screen)[0].split("\n")) == 3


# --- what holds for every tree -----------------------------------------------------------------------------


@st.composite
def some_nodes(draw: st.DrawFn, index: int) -> Node:
    return Node(
        draw(st.sampled_from(["button", "text", "generic", "group", "link", "list"])),
        draw(st.text(max_size=12) | st.sampled_from(["", "A", "A"])),
        draw(st.none() | st.text(max_size=6)),
        parent=draw(st.integers(0, index - 1)),
        states=frozenset(draw(st.sets(st.sampled_from(["hidden", "disabled", "offscreen", "checked"]), max_size=2))),
        rect=draw(st.sampled_from([None, PLACE, Rect(0, 900, 5, 5)])),
        hittable=draw(st.booleans()),
        key=str(index),
    )


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    count = draw(st.integers(1, 15))
    nodes = [Node("window", draw(st.text(max_size=8))), *(draw(some_nodes(index)) for index in range(1, count))]
    return RefRegistry().stamp(
        Tree(nodes, viewport=draw(st.sampled_from([None, VIEW])), title=draw(st.text(max_size=300)))
    )


levels = st.sampled_from(["digest", "default", "full"])


@given(trees(), levels, st.sampled_from([200, 300, 600, 16_000]))
def test_the_text_keeps_to_its_size_and_everything_left_out_is_told(screen: Tree, level: str, size: int) -> None:
    text, cuts = render(screen, level=level, max_chars=size)
    assert len(text) <= size
    refs = re.findall(r"^ *(@e\d+) ", text, re.MULTILINE)
    assert len(refs) == len(set(refs))
    order = [node.ref for node in screen.nodes]
    assert [ref for ref in order if ref in refs] == refs
    whole, _ = render(screen, level=level, max_chars=10**6)
    assert bool(cuts) == (len(text.split("\n")) < len(whole.split("\n")) or "more lines" in text)


@given(trees())
def test_everything_that_can_be_seen_and_acted_on_has_its_line(screen: Tree) -> None:
    text, _ = render(screen, max_chars=10**6)
    for node in screen.nodes:
        seen = node.states.isdisjoint({"hidden", "offscreen"})
        if seen and interactive(node) and node.role in INTERACTIVE:
            assert re.search(rf"^ *{node.ref} ", text, re.MULTILINE)
        if not seen:
            assert not re.search(rf"^ *{node.ref} ", text, re.MULTILINE)
        if seen and node.name.strip() and not node.root:
            assert quoted(node.name, 160) in text or node.role == "text"


@given(trees(), levels)
@example(RefRegistry().stamp(Tree([Node("window", "\u202e\u200b\x00")])), "default")
def test_nothing_invisible_is_ever_in_the_text(screen: Tree, level: str) -> None:
    text, _ = render(screen, level=level, max_chars=10**6)
    for char in set(text) - {"\n"}:
        assert unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


@given(st.text(max_size=50))
def test_visible_text_is_one_line_and_tells_different_texts_apart(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    # kinds of space look alike; everything else can be read back
    back = re.sub(
        r"\\(u\{([0-9a-f]+)\}|u([0-9a-f]{4})|.)",
        lambda m: chr(int(m[2] or m[3], 16)) if m[2] or m[3] else {"n": "\n", "r": "\r", "t": "\t"}.get(m[1], m[1]),
        shown,
    )
    spaces = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
    assert back == spaces.sub(" ", text)
