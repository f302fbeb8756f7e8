"""Elements: naming them, finding them, telling them apart, and seeing what changed. Pure; no platform.

parse("label=\"Sign in\" role=button")     a query, or a ref
one(tree, query), find(tree, query)        the element, or all of them
RefRegistry().stamp(tree)                  refs that keep naming the same element
diff(before, after), render(tree)          what changed, and what an agent reads
"""

from __future__ import annotations

from .describe import ambiguous, describe_node, nearest_names, not_found, on_screen
from .diff import Change, TreeDiff, diff
from .looks import Look, Looks
from .match import find, one
from .part import part
from .query import KEYS, Alternative, Query, RefQuery, Term, labelled, parse
from .refs import RefRegistry
from .render import render
from .search import Folded, has, interactive

__all__ = [
    "KEYS",
    "Alternative",
    "Change",
    "Folded",
    "Look",
    "Looks",
    "Query",
    "RefQuery",
    "RefRegistry",
    "Term",
    "TreeDiff",
    "ambiguous",
    "describe_node",
    "diff",
    "find",
    "has",
    "interactive",
    "labelled",
    "nearest_names",
    "not_found",
    "on_screen",
    "one",
    "parse",
    "part",
    "render",
]
