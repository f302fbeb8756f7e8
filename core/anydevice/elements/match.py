"""From a query to the elements it means, or to the one element, or to an error that says what to do."""

from __future__ import annotations

from anydevice_schemas import Tree

from .describe import ambiguous, not_found
from .query import Query
from .search import find


def one(tree: Tree, query: Query) -> int:
    """Index of the one element a query means.

    Raises:
        AmbiguousElement: Several are left; numbered candidates with refs are in details.
        ElementNotFound: None is; what is near and what is on screen are in details.
    """
    found = find(tree, query)
    if len(found) == 1:
        return found[0]
    raise ambiguous(tree, query, found) if found else not_found(tree, query)


__all__ = ["find", "one"]
