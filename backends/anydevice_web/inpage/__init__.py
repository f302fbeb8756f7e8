"""The program that runs inside pages: read from package data and put together once.

The numbered files are parts of one function body; they share one scope and are joined in order.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

WORLD = "anydevice"
"""Name of the isolated world the program lives in; a page's own scripts cannot see into it."""

_OFFERED = (
    "walk", "probe", "at", "frameAt", "frameView", "reveal", "focus", "ready", "put", "choose", "rests", "focused",
    "markScroll", "drawn", "scrolled", "taken", "turn", "status", "element", "page", "guard",
    "guarded",
)  # fmt: skip
KEEPER = """
globalThis.__anydevice_kept = [];
for (const kind of ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu",
  "keydown", "beforeinput"]) {
  addEventListener(kind, (event) => globalThis.__anydevice_judge?.(event), { capture: true });
}
navigation.addEventListener("navigate", (event) => {
  const url = event.destination.url;
  if (!event.cancelable || /^(https?|about|blob|data|javascript|file|filesystem|chrome[a-z-]*):/i.test(url)) return;
  event.preventDefault();
  globalThis.__anydevice_kept.push(url.slice(0, 2000));
});
"""
"""Runs in every document of a browser of ours, before the page's own scripts: a link to another program (mailto:,
an app's own scheme) does not leave the page. The browser would ask with a dialog of its own, which no protocol
tells and which swallows all input to the page from then on. And whoever guards input (see `7_guard.js`) is asked before
the page's own scripts are."""
CALL = "function(method, options) { return this[method](options) }"
"""What is called on the installed object, with the name of a function and its options."""


@cache
def _body() -> str:
    folder = files(__package__)
    parts = sorted(part.name for part in folder.iterdir() if part.name.endswith(".js"))
    return "\n".join((folder / part).read_text(encoding="utf-8") for part in parts)


def program(document: str) -> str:
    """The expression that installs the program in a document's world and yields its face.

    A document that comes back from the browser's cache still holds the program, its elements' numbers with it;
    then that face is given, with the document's first id.

    Args:
        document: Id to give to a document seen for the first time.
    """
    return (
        f'(() => {{ "use strict"; const held = globalThis.__{WORLD}; if (held) return held;\n{_body()}\n'
        f"return globalThis.__{WORLD} = {{ documentId: {json.dumps(document)}, {', '.join(_OFFERED)} }}; }})()"
    )
