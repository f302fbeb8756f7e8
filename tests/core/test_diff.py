"""What changed between two looks, by ref."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anydevice.elements import RefRegistry, TreeDiff, diff
from anydevice_schemas import Node, Rect, Tree

PLACE = Rect(0, 0, 100, 20)


def tree(registry: RefRegistry, **nodes: tuple[str, str, dict[str, Any]] | tuple[str, str]) -> Tree:
    """A stamped tree of a window and the given nodes by key."""
    out = [Node("window", "Demo", key="window", rect=PLACE)]
    for key, (role, name, *fields) in nodes.items():
        out.append(Node(role, name, key=key, **{"parent": 0, "rect": PLACE} | (fields[0] if fields else {})))
    return registry.stamp(Tree(out))


def shown(difference: TreeDiff) -> list[str]:
    lines, more = difference.lines(100)
    assert more == 0
    return lines


def test_equal_looks_have_no_difference() -> None:
    registry = RefRegistry()
    difference = diff(tree(registry, a=("button", "A")), tree(registry, a=("button", "A")))
    assert not difference.changed
    assert difference.summary() == []
    assert difference.lines(10) == ([], 0)


def test_what_came_and_what_went_is_told_with_refs() -> None:
    registry = RefRegistry()
    difference = diff(tree(registry, a=("button", "A")), tree(registry, b=("button", "B")))
    assert difference.changed
    assert shown(difference) == ['+ @e3 button "B"', '- @e2 button "A"']
    assert difference.summary() == ["1 added, 1 removed"]


def test_a_change_is_told_field_by_field_from_what_to_what() -> None:
    registry = RefRegistry()
    before = tree(registry, a=("textbox", "Name", {"value": "Ann", "states": frozenset({"focused"})}))
    after = tree(registry, a=("textbox", "Name", {"value": "Bob", "states": frozenset({"invalid"})}))
    difference = diff(before, after)
    (change,) = difference.altered
    assert change.fields == {"value": ("Ann", "Bob"), "states": (["focused"], ["invalid"])}
    assert shown(difference) == ['~ @e2 textbox "Name": value "Ann" -> "Bob", +invalid, -focused']


def test_the_name_the_role_and_the_parent_are_fields_too() -> None:
    registry = RefRegistry()
    before = tree(registry, g=("group", "G"), a=("button", "On", {"parent": 0}))
    after = tree(registry, g=("group", "G"), a=("switch", "Off", {"parent": 1}))
    (change,) = diff(before, after).altered
    assert change.fields == {"name": ("On", "Off"), "role": ("button", "switch"), "parent": ("@e1", "@e2")}


def test_a_value_that_comes_or_goes_differs_from_an_empty_one() -> None:
    registry = RefRegistry()
    difference = diff(tree(registry, a=("textbox", "N")), tree(registry, a=("textbox", "N", {"value": ""})))
    assert shown(difference) == ['~ @e2 textbox "N": value none -> ""']


def test_moving_is_counted_not_listed_and_half_a_point_is_no_move() -> None:
    registry = RefRegistry()
    before = tree(registry, a=("button", "A"), b=("button", "B"), c=("button", "C"))
    after = tree(
        registry,
        a=("button", "A", {"rect": Rect(0, 50, 100, 20)}),
        b=("button", "B", {"rect": Rect(0.3, 0, 100.4, 20)}),
        c=("button", "C", {"rect": None}),
    )
    difference = diff(before, after)
    assert difference.moved == 2
    assert shown(difference) == ["~ 2 moved"]
    assert not diff(after, after).changed


def test_a_new_screen_is_told() -> None:
    registry = RefRegistry()
    before, after = tree(registry, a=("button", "A")), tree(registry, a=("button", "A"))
    after.title, after.location = "Inbox", "https://example.org/"
    difference = diff(before, after)
    assert difference.changed
    assert difference.screen == {"title": ("", "Inbox"), "location": ("", "https://example.org/")}
    assert shown(difference) == ['~ title "" -> "Inbox"', '~ location "" -> "https://example.org/"']
    after.generation = "2"
    assert diff(before, after).summary() == ["new screen"]


def test_empty_containers_are_counted_and_get_no_line() -> None:
    registry = RefRegistry()
    difference = diff(tree(registry), tree(registry, a=("generic", ""), b=("group", "Named")))
    assert difference.counts["added"] == 2
    assert shown(difference) == ['+ @e3 group "Named"']


def test_lines_are_capped_and_the_rest_is_counted() -> None:
    registry = RefRegistry()
    before = tree(registry, **{f"x{n}": ("button", "X") for n in range(5)}, same=("textbox", "N", {"value": "1"}))
    after = tree(registry, **{f"y{n}": ("button", "Y") for n in range(5)}, same=("textbox", "N", {"value": "2"}))
    difference = diff(before, after)
    lines, more = difference.lines(4)
    assert lines[0].startswith("~")
    assert (len(lines), more) == (4, 7)
    assert difference.lines(0) == ([], 11)


def test_text_from_the_screen_is_made_visible_and_cut() -> None:
    registry = RefRegistry()
    difference = diff(tree(registry), tree(registry, a=("button", "a\u202eb\n- @e1 x" + "y" * 200)))
    (line,) = shown(difference)
    assert "\\u202e" in line
    assert "\n" not in line
    assert len(line) < 150


def test_trees_without_refs_are_a_mistake() -> None:
    registry = RefRegistry()
    good, bare = tree(registry, a=("button", "A")), Tree([Node("window")])
    for pair in ((good, bare), (bare, good)):
        with pytest.raises(ValueError, match="no refs"):
            diff(*pair)


# --- what holds for all pairs of looks -----------------------------------------------------------------


@st.composite
def looks(draw: st.DrawFn) -> tuple[Tree, Tree]:
    registry = RefRegistry()
    trees = []
    for _ in range(2):
        keys = draw(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8))
        trees.append(
            tree(
                registry,
                **{
                    key: (
                        draw(st.sampled_from(["button", "textbox", "generic"])),
                        draw(st.sampled_from(["", "A", "B"])),
                        {
                            "value": draw(st.sampled_from([None, "", "x"])),
                            "states": frozenset(draw(st.sets(st.sampled_from(["focused", "checked"])))),
                            "rect": draw(st.sampled_from([None, PLACE, Rect(0, 30, 100, 20)])),
                        },
                    )
                    for key in keys
                },
            )
        )
    return trees[0], trees[1]


@given(looks())
def test_every_element_is_added_removed_changed_moved_or_the_same(pair: tuple[Tree, Tree]) -> None:
    before, after = pair
    difference = diff(before, after)
    old, new = ({node.ref: node for node in tree.nodes} for tree in pair)
    assert [n.ref for n in difference.added] == [n.ref for n in after.nodes if n.ref not in old]
    assert [n.ref for n in difference.removed] == [n.ref for n in before.nodes if n.ref not in new]
    told = {change.after.ref: change for change in difference.altered}
    moved = 0
    for ref in old.keys() & new.keys():
        was, now = copy.copy(old[ref]), copy.copy(new[ref])
        if was == now:
            assert ref not in told
            continue
        was.rect = now.rect = None
        was.parent = now.parent = 0
        if was == now:
            moved += 1
            assert ref not in told
        else:
            assert all(a != b for a, b in told[ref].fields.values())
            assert told[ref].fields
    assert difference.moved == moved
    assert difference.changed == (before.nodes != after.nodes)


@given(looks(), st.integers(0, 12))
def test_what_is_listed_and_what_is_left_out_add_up(pair: tuple[Tree, Tree], most: int) -> None:
    difference = diff(*pair)
    everything, none_left = difference.lines(1000)
    assert none_left == 0
    lines, more = difference.lines(most)
    assert lines == everything[: len(lines)] or difference.moved
    assert len(lines) == min(most, len(everything))
    assert len(lines) + more == len(everything)


@given(looks())
def test_the_way_back_has_the_same_counts_turned_round(pair: tuple[Tree, Tree]) -> None:
    forth, back = diff(*pair), diff(*pair[::-1])
    assert len(forth.added) == len(back.removed)
    assert len(forth.removed) == len(back.added)
    assert len(forth.altered) == len(back.altered)
    assert forth.moved == back.moved
