"""A part of a tree is a sound tree of its own, and tells what it left out."""

from __future__ import annotations

from anydevice.elements import part
from anydevice_schemas import Node, Tree, tree_faults


def nested() -> Tree:
    nodes = [
        Node("window", "Practice", ref="@e1"),
        Node("button", "Before", parent=0, ref="@e2"),
        Node("group", "Form", parent=0, ref="@e3"),
        Node("row", "One", parent=2, ref="@e4"),
        Node("text", "Name", parent=3, ref="@e5"),
        Node("row", "Two", parent=2, ref="@e6"),
        Node("button", "After", parent=0, ref="@e7"),
    ]
    return Tree(nodes, "g", omitted={"offscreen": 3})


def refs(tree: Tree) -> list[str]:
    return [node.ref for node in tree.nodes]


def test_a_part_holds_the_element_and_what_is_inside_of_it() -> None:
    whole = nested()
    found = part(whole, 2, max_nodes=100, max_depth=64)
    assert refs(found) == ["@e3", "@e4", "@e5", "@e6"]
    assert [node.parent for node in found.nodes] == [-1, 0, 1, 0]
    assert tree_faults(found.nodes) == []
    assert (found.omitted, found.quality, found.generation) == ({}, "complete", "g")
    assert [node.parent for node in whole.nodes] == [-1, 0, 0, 2, 3, 2, 0]


def test_a_part_counts_what_it_cuts_by_number_and_by_depth() -> None:
    few = part(nested(), 2, max_nodes=2, max_depth=64)
    assert (refs(few), few.omitted, few.quality) == (["@e3", "@e4"], {"nodes": 2}, "truncated")
    flat = part(nested(), 2, max_nodes=100, max_depth=2)
    assert (refs(flat), flat.omitted, flat.quality) == (["@e3", "@e4", "@e6"], {"depth": 1}, "truncated")
    top = part(nested(), 2, max_nodes=100, max_depth=1)
    assert (refs(top), top.omitted) == (["@e3"], {"depth": 3})


def test_what_is_inside_of_something_cut_is_cut_too() -> None:
    found = part(nested(), 0, max_nodes=3, max_depth=64)
    assert refs(found) == ["@e1", "@e2", "@e3"]
    assert found.omitted == {"nodes": 4}
    assert tree_faults(found.nodes) == []
