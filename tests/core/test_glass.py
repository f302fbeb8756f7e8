"""Where a finger scrolls a screen of which no container was named, and refs over looks at parts of a screen."""

from __future__ import annotations

import pytest

from anydevice.commands._moving import glass, swipe_of
from anydevice.elements import RefRegistry
from anydevice_schemas import Node, Rect, Tree

SCREEN = Rect(0, 0, 400, 800)
LIST = Rect(0, 100, 400, 620)


def tree(*nodes: Node) -> Tree:
    return Tree([Node("application", rect=SCREEN), *nodes], viewport=SCREEN)


def scrolls(rect: Rect) -> Node:
    return Node("list", parent=0, rect=rect, actions=("scroll",))


@pytest.mark.parametrize(
    ("nodes", "area"),
    [
        ((), SCREEN),
        ((scrolls(SCREEN),), SCREEN),
        ((scrolls(LIST),), LIST),
        ((scrolls(Rect(0, 300, 400, 60)),), SCREEN),
        ((scrolls(LIST), Node("keyboard", parent=0, rect=Rect(0, 500, 400, 300))), Rect(0, 100, 400, 400)),
    ],
    ids=["nothing scrolls", "all of it", "between two bars", "a strip of it", "above a keyboard"],
)
def test_a_swipe_begins_and_ends_inside_what_scrolls(nodes: tuple[Node, ...], area: Rect) -> None:
    assert glass(tree(*nodes), SCREEN, 0, -1) == area


def test_a_swipe_goes_the_other_way_through_the_middle() -> None:
    start, end = swipe_of(LIST, 0, -1, 200)
    assert (start.x, start.y, end.x, end.y) == (200, 310, 200, 510)


def row(name: str, y: float) -> Node:
    return Node("button", name, parent=1, identifier=name, rect=Rect(0, y, 400, 40))


def look(*rows: Node, omitted: int = 0) -> Tree:
    found = tree(Node("group", parent=0, rect=SCREEN), *rows)
    found.omitted = {"offscreen": omitted} if omitted else {}
    return found


def test_a_ref_lasts_through_looks_at_parts_of_the_screen_and_back() -> None:
    refs = RefRegistry()
    first = refs.stamp(look(row("Near", 100), row("Gap", 200), row("Far", 2000))).nodes[2].ref
    assert refs.stamp(look(row("Near", 100), row("Gap", 200), omitted=1)).nodes[2].ref == first
    refs.stamp(look(row("Gap", -1700), row("Far", 300), omitted=1))
    whole = refs.stamp(look(row("Near", -1800), row("Gap", -1700), row("Far", 300)))
    assert whole.nodes[2].ref == first and len({node.ref for node in whole.nodes}) == len(whole.nodes)


def test_a_ref_of_what_is_missing_from_a_whole_look_is_never_given_again() -> None:
    refs = RefRegistry()
    first = refs.stamp(look(row("Near", 100), row("Gap", 200))).nodes[2].ref
    refs.stamp(look(row("Gap", 200)))
    again = refs.stamp(look(row("Near", 100), row("Gap", 200))).nodes[2].ref
    assert again != first
