"""One element of a tree and what is inside of it, as a tree of its own."""

from __future__ import annotations

from dataclasses import replace

from anydevice_schemas import Tree


def part(tree: Tree, index: int, *, max_nodes: int, max_depth: int) -> Tree:
    """The tree below an element, for devices that cannot start to read there. Every cut is counted in `omitted`.

    Args:
        tree: All of the screen, stamped.
        index: The element to start from.
        max_nodes: Nodes at most.
        max_depth: Levels at most, the element being the first.
    """
    places, depths = {index: 0}, {index: 1}
    nodes = [replace(tree.nodes[index], parent=-1)]
    omitted = {reason: count for reason, count in tree.omitted.items() if reason == "text"}
    for at in range(index + 1, len(tree.nodes)):
        node = tree.nodes[at]
        if node.parent not in depths:
            continue
        depths[at] = depths[node.parent] + 1
        reason = "depth" if depths[at] > max_depth else "nodes" if len(nodes) >= max_nodes else None
        if reason is not None or node.parent not in places:
            omitted[reason or "nodes"] = omitted.get(reason or "nodes", 0) + 1
            continue
        places[at] = len(nodes)
        nodes.append(replace(node, parent=places[node.parent]))
    quality = "truncated" if omitted and tree.quality == "complete" else tree.quality
    return replace(tree, nodes=nodes, omitted=omitted, quality=quality)
