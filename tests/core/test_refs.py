"""Refs: what keeps its ref, what loses it, and that a ref never means another element."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anydevice.elements import Query, RefRegistry, find, parse
from anydevice_schemas import Node, Rect, Tree
from anydevice_schemas.errors import InvalidArgument, StaleRef

from ..support.sizes import size


def screen(*nodes: Node, **more: Any) -> Tree:
    """A window with some nodes in it."""
    for node in nodes:
        node.parent = max(node.parent, 0)
    return Tree([Node("window", "Demo", key="w"), *nodes], **more)


def button(name: str, key: str | None = None, **more: Any) -> Node:
    return Node("button", name, key=key, rect=more.pop("rect", Rect(0, 0, 80, 40)), **more)


def reason(registry: RefRegistry, ref: str, tree: Tree, **more: Any) -> str:
    with pytest.raises(StaleRef) as caught:
        registry.resolve(ref, tree, **more)
    assert caught.value.details["ref"] == "@" + ref.lstrip("@")
    assert caught.value.details["family"] == "element_not_found"
    return str(caught.value.details["reason"])


# --- where the driver has keys ---------------------------------------------------------------------------


def test_a_key_keeps_its_ref_for_its_life_whatever_else_changes() -> None:
    registry = RefRegistry()
    first = registry.stamp(screen(button("Save", "a"), button("Cancel", "b")))
    again = registry.stamp(
        screen(button("New", "c"), button("Saved", "a", rect=Rect(300, 9, 9, 9)), button("Cancel", "b"))
    )
    assert again.nodes[2].ref == first.nodes[1].ref
    assert again.nodes[3].ref == first.nodes[2].ref
    assert registry.resolve(first.nodes[1].ref, again) == 2


def test_a_ref_is_never_given_twice() -> None:
    registry = RefRegistry()
    seen: set[str] = set()
    for n in range(20):
        tree = registry.stamp(screen(button("Go", f"k{n}"), button("No", None), generation=str(n // 3)))
        new = {node.ref for node in tree.nodes[1:2]}
        assert seen.isdisjoint(new)
        seen |= new


def test_refs_are_numbered_from_1_and_written_with_or_without_the_sign() -> None:
    registry = RefRegistry()
    tree = registry.stamp(screen(button("Save", "a")))
    assert [node.ref for node in tree.nodes] == ["@e1", "@e2"]
    assert registry.resolve("@e2", tree) == registry.resolve("e2", tree) == 1
    with pytest.raises(InvalidArgument):
        registry.resolve("Save", tree)


def test_a_tree_that_was_not_stamped_is_stamped_before_a_ref_is_looked_up() -> None:
    registry = RefRegistry()
    ref = registry.stamp(screen(button("Save", "a"))).nodes[1].ref
    assert registry.resolve(ref, screen(button("Other", "b"), button("Save", "a"))) == 2


def test_a_stale_ref_never_acts_on_what_stands_in_its_place() -> None:
    registry = RefRegistry()
    ref = registry.stamp(screen(button("Save", "a"))).nodes[1].ref
    assert reason(registry, ref, registry.stamp(screen(button("Save", "z")))) == "gone"


def test_what_looks_like_the_lost_element_is_offered_with_its_ref_and_a_query_that_means_it() -> None:
    registry = RefRegistry()
    ref = registry.stamp(screen(button("Save", "a"), Node("text", "x", key="t"))).nodes[1].ref
    now = registry.stamp(screen(Node("heading", "Save", key="h"), button("Save", "b"), button("Open", "c")))
    with pytest.raises(StaleRef) as caught:
        registry.resolve(ref, now)
    near = caught.value.details["nearest_matches"]
    assert near[0]["ref"] == now.nodes[2].ref
    for entry in near:
        query = parse(entry["query"])
        assert isinstance(query, Query)
        assert [now.nodes[i].ref for i in find(now, query)] == [entry["ref"]]
    assert "Save" not in caught.value.message + caught.value.hint


def test_an_earlier_screen_makes_its_refs_stale_even_if_keys_come_back() -> None:
    registry = RefRegistry()
    ref = registry.stamp(screen(button("Save", "a"), generation="one")).nodes[1].ref
    now = registry.stamp(screen(button("Save", "a"), generation="two"))
    assert now.nodes[1].ref != ref
    assert reason(registry, ref, now) == "from an earlier screen"
    assert registry.key_of(ref) is None
    assert registry.key_of(now.nodes[1].ref) == "a"


def test_keys_are_scoped_by_device() -> None:
    registry = RefRegistry()
    one = registry.stamp(screen(button("Save", "a")), device="d:1")
    two = registry.stamp(screen(button("Save", "a")), device="d:2")
    assert one.nodes[1].ref != two.nodes[1].ref
    assert reason(registry, one.nodes[1].ref, two, device="d:2") == "issued for another device"


def test_a_ref_that_was_never_issued_says_so() -> None:
    registry = RefRegistry()
    tree = registry.stamp(screen(button("Save", "a")))
    assert reason(registry, "@e77", tree) == "never issued in this session"
    assert reason(registry, "@e0", tree) == "never issued in this session"
    with pytest.raises(StaleRef):
        registry.key_of("@e77")


def test_memory_is_bounded_and_a_forgotten_ref_says_so() -> None:
    registry = RefRegistry(most=50)
    first = registry.stamp(screen(button("Save", "kept"), button("Old", "old")))
    kept, old = first.nodes[1].ref, first.nodes[2].ref
    for n in range(200):
        tree = registry.stamp(screen(button("Save", "kept"), button("Go", f"k{n}"), button("Un", None)))
        assert len(registry._entries) <= 50
        assert sum(map(len, registry._keys.values())) <= 50
        assert all(len(marks) <= 50 for marks in registry._marks.values())
    assert registry.resolve(kept, tree) == 1
    assert "forgotten" in reason(registry, old, tree)


def test_a_tree_larger_than_the_memory_keeps_all_its_refs() -> None:
    registry = RefRegistry(most=10)
    tree = registry.stamp(screen(*(button("x", f"k{n}") for n in range(40))))
    again = registry.stamp(screen(*(button("x", f"k{n}") for n in range(40))))
    assert [n.ref for n in tree.nodes] == [n.ref for n in again.nodes]


def test_many_screens_leave_nothing_behind() -> None:
    registry = RefRegistry(most=100)
    for n in range(300):
        registry.stamp(screen(button("Save", "a"), button("b", "b"), generation=str(n)))
    assert len(registry._entries) <= 100
    assert len(registry._keys) <= 60


def test_refs_of_keys_can_be_asked_for_and_given_ahead_of_a_tree() -> None:
    registry = RefRegistry()
    tree = registry.stamp(screen(button("Save", "a")))
    assert registry.ref_of("a") == registry.ref_for("a") == tree.nodes[1].ref
    assert registry.ref_of("new") is None
    ahead = registry.ref_for("new")
    assert registry.stamp(screen(button("New", "new"))).nodes[1].ref == ahead
    assert RefRegistry().ref_for("first of all") == "@e1"


# --- where it has none -----------------------------------------------------------------------------------------


def rows(*names: str, top: float = 0, role: str = "listitem", around: str = "list") -> Tree:
    """A list of rows, each with a text and a Delete button, none of them with a key."""
    nodes = [Node("window", "Demo", rect=Rect(0, 0, 400, 800)), Node(around, "", parent=0, rect=Rect(0, 0, 400, 800))]
    for n, name in enumerate(names):
        row, y = len(nodes), top + 60 * n
        nodes.append(Node(role, "", parent=1, rect=Rect(0, y, 400, 60)))
        nodes.append(Node("text", name, parent=row, rect=Rect(0, y, 200, 60)))
        nodes.append(Node("button", "Delete", parent=row, rect=Rect(300, y, 80, 60)))
    return Tree(nodes)


def deletes(tree: Tree) -> dict[str, str]:
    """Ref of the Delete button by the name in its row."""
    return {tree.nodes[i - 1].name: node.ref for i, node in enumerate(tree.nodes) if node.role == "button"}


def test_an_unchanged_screen_keeps_every_ref() -> None:
    registry = RefRegistry()
    first = registry.stamp(rows("Bob", "Ann", "Cid"))
    again = registry.stamp(rows("Bob", "Ann", "Cid"))
    assert [n.ref for n in first.nodes] == [n.ref for n in again.nodes]


@pytest.mark.parametrize("around", ["list", "generic"])
def test_a_button_is_told_by_what_its_row_says_not_by_its_place(around: str) -> None:
    registry = RefRegistry()
    before = deletes(registry.stamp(rows("Bob", "Ann", "Cid", around=around)))
    now = registry.stamp(rows("Ann", "Cid", "Dan", around=around))
    after = deletes(now)
    assert after["Ann"] == before["Ann"]
    assert after["Cid"] == before["Cid"]
    assert after["Dan"] not in before.values()
    assert reason(registry, before["Bob"], now) == "can no longer be told from what looks the same"


def test_the_only_row_that_moves_up_into_the_place_of_another_is_not_taken_for_it() -> None:
    registry = RefRegistry()
    bob = deletes(registry.stamp(rows("Bob")))["Bob"]
    now = registry.stamp(rows("Ann"))
    assert reason(registry, bob, now) == "can no longer be told from what looks the same"


def test_twins_keep_their_refs_only_while_none_of_them_comes_goes_or_moves() -> None:
    registry = RefRegistry()
    first = registry.stamp(rows("Bob", "Bob"))
    assert [n.ref for n in registry.stamp(rows("Bob", "Bob")).nodes] == [n.ref for n in first.nodes]
    button = first.nodes[4].ref
    moved = registry.stamp(rows("Bob", "Bob", top=-60))
    assert reason(registry, button, moved) == "can no longer be told from what looks the same"
    button = moved.nodes[4].ref
    assert "told" in reason(registry, button, registry.stamp(rows("Bob")))


def test_a_label_that_changes_in_its_place_costs_its_neighbours_nothing() -> None:
    def counter(n: int) -> Tree:
        return screen(
            Node("text", f"Count: {n}", identifier="count", rect=Rect(0, 0, 100 + n % 2, 20)),
            Node("button", "Increment", rect=Rect(0, 40, 100, 40)),
            Node("textbox", "", "abc"[:n], rect=Rect(0, 80, 100, 40)),
            Node("textbox", "", "", rect=Rect(0, 120, 100, 40)),
        )

    registry = RefRegistry()
    first = registry.stamp(counter(1))
    again = registry.stamp(counter(2))
    assert [n.ref for n in first.nodes[1:]] == [n.ref for n in again.nodes[1:]]


def test_twins_in_one_surrounding_lose_their_refs_when_one_of_them_goes() -> None:
    def form(*tops: int) -> Tree:
        return screen(Node("text", "Names"), *(Node("textbox", "", rect=Rect(0, top, 100, 40)) for top in tops))

    registry = RefRegistry()
    first = registry.stamp(form(0, 50))
    assert [n.ref for n in registry.stamp(form(0, 50)).nodes] == [n.ref for n in first.nodes]
    now = registry.stamp(form(0))
    for ref in (first.nodes[2].ref, first.nodes[3].ref):
        assert reason(registry, ref, now) == "can no longer be told from what looks the same"


def test_twins_of_one_row_are_not_those_of_the_row_that_takes_its_place() -> None:
    def row(name: str) -> Tree:
        nodes = [Node("window"), Node("list", parent=0), Node("listitem", parent=1), Node("text", name, parent=2)]
        nodes += [Node("button", "Star", parent=2, rect=Rect(50 * n, 0, 40, 40)) for n in range(2)]
        return Tree(nodes)

    registry = RefRegistry()
    first = registry.stamp(row("Bob"))
    now = registry.stamp(row("Ann"))
    assert "told" in reason(registry, first.nodes[4].ref, now)


def test_the_title_of_the_window_is_no_part_of_what_an_element_is() -> None:
    registry = RefRegistry()
    first = registry.stamp(Tree([Node("window", "Mail (1)"), Node("button", "Send", parent=0, rect=Rect(0, 0, 9, 9))]))
    again = registry.stamp(Tree([Node("window", "Mail (2)"), Node("button", "Send", parent=0, rect=Rect(0, 0, 9, 9))]))
    assert first.nodes[1].ref == again.nodes[1].ref


def test_what_was_missing_from_a_whole_tree_is_another_element_when_it_comes_back() -> None:
    registry = RefRegistry()
    bob = deletes(registry.stamp(rows("Bob", "Ann")))["Bob"]
    registry.stamp(rows("Ann"))
    assert deletes(registry.stamp(rows("Bob", "Ann")))["Bob"] != bob


def test_what_was_only_left_out_of_a_tree_may_come_back() -> None:
    registry = RefRegistry()
    before = deletes(registry.stamp(rows("Bob", "Ann")))
    part = rows("Ann", top=60)
    part.omitted = {"offscreen": 3}
    registry.stamp(part)
    assert deletes(registry.stamp(rows("Bob", "Ann"))) == before


def test_a_key_anywhere_above_tells_apart_what_is_below() -> None:
    def cards(*keys: str) -> Tree:
        nodes = [Node("window", "Demo", key="w")]
        for n, key in enumerate(keys):
            nodes.append(Node("group", "", parent=0, key=key))
            nodes.append(Node("button", "Like", parent=len(nodes) - 1, rect=Rect(0, 60 * n, 50, 50)))
        return Tree(nodes)

    registry = RefRegistry()
    first = registry.stamp(cards("a", "b"))
    now = registry.stamp(cards("b"))
    assert now.nodes[2].ref != first.nodes[2].ref


# --- what holds for every history ---------------------------------------------------------------------------------


PEOPLE = [f"Person {n}" for n in range(8)]


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[list[int], int, float, bool]]:
    """Looks at a list whose rows come, go, move and scroll: which people, how many of them are seen, from where."""
    looks = []
    people = draw(st.lists(st.integers(0, 7), unique=True, max_size=5))
    for _ in range(draw(st.integers(2, 6))):
        change = draw(st.sampled_from(["none", "delete", "insert", "shuffle", "scroll"]))
        if change == "delete" and people:
            people = [p for p in people if p != draw(st.sampled_from(people))]
        elif change == "insert":
            people = list(dict.fromkeys([*people[:1], draw(st.integers(0, 7)), *people[1:]]))
        elif change == "shuffle":
            people = list(draw(st.permutations(people)))
        first = draw(st.integers(0, max(0, len(people) - 1)))
        seen = draw(st.integers(1, 5))
        looks.append((people[first : first + seen], draw(st.sampled_from([0.0, 0.0, 10.0, 60.0])), draw(st.booleans())))
    return [(list(p), n, top, cut) for n, (p, top, cut) in enumerate(looks)]


def look(people: Iterable[int], top: float, keyed: bool, cut: bool, role: str = "listitem") -> Tree:
    """One look; `description`, which refs do not read, says who each element really is."""
    tree = rows(*(PEOPLE[p] for p in people), top=top, role=role)
    who = [f"{p}/{part}" for p in people for part in ("row", "text", "delete")]
    for node, truth in zip(tree.nodes, ["window", "list", *who], strict=True):
        node.description = truth
        node.key = truth if keyed else None
    tree.omitted = {"offscreen": 1} if cut else {}
    return tree


@settings(max_examples=size("examples of a property that is cheap and of many parts"))
@given(histories(), st.booleans(), st.sampled_from(["listitem", "generic", "group"]))
def test_a_ref_means_the_element_it_was_given_to_or_nothing(
    history: list[tuple[list[int], int, float, bool]], keyed: bool, role: str
) -> None:
    registry = RefRegistry()
    truth: dict[str, str] = {}
    for people, _, top, cut in history:
        tree = registry.stamp(look(people, top, keyed, cut, role))
        assert len({node.ref for node in tree.nodes}) == len(tree.nodes)
        for node in tree.nodes:
            assert truth.setdefault(node.ref, node.description) == node.description
        for ref, who in truth.items():
            try:
                index = registry.resolve(ref, tree)
            except StaleRef as error:
                assert error.details["reason"] in ("gone", "can no longer be told from what looks the same")
                assert not keyed or all(node.description != who for node in tree.nodes)
            else:
                assert tree.nodes[index].description == who


@given(histories())
def test_with_keys_every_element_keeps_one_ref_for_ever(history: list[tuple[list[int], int, float, bool]]) -> None:
    registry = RefRegistry()
    refs: dict[str, str] = {}
    for people, _, top, cut in history:
        for node in registry.stamp(look(people, top, True, cut)).nodes:
            assert refs.setdefault(node.description, node.ref) == node.ref
    assert len(set(refs.values())) == len(refs)


@given(histories())
def test_what_does_not_change_between_two_looks_keeps_its_ref(
    history: list[tuple[list[int], int, float, bool]],
) -> None:
    registry = RefRegistry()
    for people, _, top, _ in history:
        first = registry.stamp(look(people, top, False, False))
        again = registry.stamp(look(people, top, False, False))
        assert [n.ref for n in first.nodes] == [n.ref for n in again.nodes]
