"""What the default tool list leaves out of a command's inputs, and says in fewer words.

A tool list is sent with every request a host makes, so it has a budget: every input costs its tokens each time.
What is left out here is accepted all the same, named in the server's instructions (`timeoutMs`), and told in full
by `command-search`; a connection with `schemas=full` gets everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TUNING: dict[str, frozenset[str]] = {
    "command-search": frozenset({"limit"}),
    "fill": frozenset({"timeoutMs", "method"}),
    "find": frozenset({"timeoutMs", "via"}),
    "gesture": frozenset({"timeoutMs", "holdMs", "scale", "degrees"}),
    "get": frozenset({"timeoutMs"}),
    "hover": frozenset({"timeoutMs"}),
    "longpress": frozenset({"timeoutMs"}),
    "open": frozenset({"eventUrlTemplate"}),
    "press": frozenset({"timeoutMs"}),
    "screenshot": frozenset({"timeoutMs", "window", "x", "y", "width", "height", "maxDimension", "unit"}),
    "snapshot": frozenset({"maxDepth", "maxNodes", "surface", "window"}),
    "type": frozenset({"timeoutMs", "delayMs"}),
    "is": frozenset({"app", "window"}),
    "wait": frozenset({"quietMs", "app", "appGone", "window", "windowGone", "title"}),
}
"""Inputs left out: finer tuning, and what such a call would be refused with."""

_ANY = "*"
WORDS: dict[tuple[str, str], tuple[str, str]] = {
    (_ANY, "target"): ("Element: ref (@e12)", "Ref (@e12), label, or query: role=button label=OK"),
    (_ANY, "x"): ("Instead of target: x in points", "Instead of target, in points."),
    (_ANY, "y"): ("Instead of target: y in points", "Instead of target, in points."),
    (_ANY, "toX"): ("Instead of to: x in points", "Instead of to, in points."),
    (_ANY, "toY"): ("Instead of to: y in points", "Instead of to, in points."),
    ("get", "what"): ("text: its value or name", "point: where it is, or what is at x, y"),
    ("key", "chord"): ("Key or chord: enter", "enter, tab, escape, f5, ctrl+a; primary+s: ctrl, or cmd on Apple"),
    ("snapshot", "mode"): ("viewport: what is on screen", "full: off-screen too; interactive: what one can act on"),
    ("screenshot", "area"): ("viewport: what is on screen", "full: the whole content; element: target"),
    ("press", "settle"): ("Wait until the screen is at rest", "Wait for rest (10 s at most) before telling changes"),
    ("press", "button"): ("Mouse button", "Others than primary need a pointer"),
    ("scroll", "direction"): ("Which way to go", "down shows what is further down"),
    ("scroll", "amount"): ("How far, in screens", "Screens, without pixels"),
    ("wait", "target"): ("Until an element matches", "Until this element is there"),
    ("wait", "absent"): ("Until nothing matches", "Until this element is gone"),
    ("open", "url"): ("Address to open", "http, https or an app's own"),
    ("open", "timeoutMs"): ("When to give up", "When to give up"),
    ("alert", "text"): ("What to enter", "For a prompt: what to enter"),
    ("command-search", "words"): ("What you want to do", "What you want to do, or a name"),
    ("type", "target"): ("Element to focus first", "Focus this first"),
    ("close", "keepSession"): ("Close the app but keep", "Close the app only"),
    ("close", "force"): ("Discard unsaved work", "Discard unsaved work"),
    ("boot", "headless"): ("Without a window", "Without a window"),
    ("open", "boot"): ("Start the named device first", "Boot the named device first"),
    ("scroll", "target"): ("Scroll this container", "Container; else the screen"),
    ("batch", "onError"): ("What to do when a step fails", "When a step fails"),
    ("is", "predicate"): ("What to ask", "text compares its text with value"),
    ("snapshot", "scope"): ("Only this element", "Only inside this element"),
    ("find", "query"): ("Label, or query", "Label, or query: role=button label=OK"),
    ("press", "count"): ("Presses in a row", "2 is a double press"),
    ("scroll", "until"): ("Until this element", "Until this element shows"),
    ("gesture", "direction"): ("Instead of an end", "Instead of an end"),
    ("gesture", "distance"): ("With direction", "With direction, in points"),
    ("gesture", "durationMs"): ("How long the move takes", "Of the move, in ms"),
    ("gesture", "kind"): ("swipe: a quick move", "drag: press, move, let go"),
}
"""How the description of an input starts, and what is said instead; by command, or for any."""

_WIDE = 100
"""A bound from here on guards us, not the caller."""


def shortened(command: str, inputs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A command's own inputs as the default list has them."""
    left_out = TUNING.get(command, frozenset())
    return {name: _short(command, name, prop) for name, prop in inputs.items() if name not in left_out}


def _short(command: str, name: str, prop: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in prop.items():
        if not _granted(key, value):
            out[key] = _short(command, "", value) if key == "items" else value
    start, instead = WORDS.get((command, name)) or WORDS.get((_ANY, name)) or ("", "")
    if start and str(prop.get("description", "")).startswith(start):
        out["description"] = instead
    return out


def _granted(key: str, value: Any) -> bool:
    """Whether any reader takes it for granted: length limits, far bounds, empty defaults."""
    if key in ("minLength", "maxLength", "minItems", "maxItems"):
        return True
    if key in ("minimum", "exclusiveMinimum"):
        return bool(value in (0, 1))
    if key == "maximum":
        return bool(value >= _WIDE)
    if key == "default":
        return value in (False, "", [], {})
    return key == "additionalProperties" and value is True
