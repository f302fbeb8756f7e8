"""Dialogs: an app's own windows that ask something. While one is open everything else is refused, and told of it.

Vega has no dialogs of the system with parts of known names: one is known by what it is. It is a window smaller than the
one below it, or an element that says that it is a dialog; it has a button or two and at most one field. More than that
is a screen like any other.
"""

from __future__ import annotations

import re
from typing import Final

from anydevice.driver import Dialog
from anydevice_schemas import Node, Tree

from .reading.page import Page
from .reading.roles import role_of

ROLES: Final = frozenset({"dialog", "alertdialog"})
MOST_BUTTONS: Final = 3
YES: Final = re.compile(r"ok|okay|yes|allow|accept|agree|continue|confirm|retry|button1|positive", re.I)
NO: Final = re.compile(r"cancel|no|deny|decline|don.?t allow|dismiss|close|not now|later|button2|negative", re.I)


def may_ask(page: Page) -> bool:
    """Whether there can be a dialog at all: a second window, or an element that says that it is one."""
    app = page.front()
    if app is None:
        return False
    return len(app.windows) > 1 or any(
        role_of(word, text=False, acts=False) in ROLES
        for window in app.windows
        for element in window.elements
        if (word := element.attributes.get("role", ""))
    )


def inside(tree: Tree) -> list[Node]:
    """The elements of the dialog in front; none where there is no dialog."""
    roots = [index for index, node in enumerate(tree.nodes) if node.role in ROLES]
    if not roots:
        return []
    root = roots[-1]
    while tree.nodes[root].parent >= 0 and tree.nodes[tree.nodes[root].parent].role in ROLES:
        root = tree.nodes[root].parent
    return [node for index, node in enumerate(tree.nodes) if root in tree.ancestors(index)]


def dialog_of(tree: Tree) -> Dialog | None:
    """The dialog of a screen; None where there is none, or where what lies over the app is more than a question."""
    found = inside(tree)
    acting = [node for node in found if node.actions or "editable" in node.states]
    buttons = [node for node in acting if node.role == "button"]
    fields = [node for node in acting if "editable" in node.states]
    if not 0 < len(buttons) <= MOST_BUTTONS or len(fields) > 1 or len(acting) > len(buttons) + len(fields):
        return None
    labels = {node.name for node in buttons}
    texts = [node.name for node in found if node.role in ("text", "heading") and node.name not in labels]
    kind = "prompt" if fields else "confirm" if len(buttons) > 1 else "alert"
    return Dialog(kind, "\n".join(text for text in texts if text), [node.name for node in buttons], bool(fields))


def field_of(tree: Tree) -> Node | None:
    """The field of the dialog in front."""
    return next((node for node in inside(tree) if "editable" in node.states), None)


def button_of(tree: Tree, means: re.Pattern[str]) -> Node | None:
    """The button of the dialog in front that means yes, or no: by what it says, else by the app's own name of it."""
    buttons = [node for node in inside(tree) if node.role == "button" and "disabled" not in node.states]
    if len(buttons) == 1:
        return buttons[0]  # what has one answer is answered by it
    for names in ([node.name.strip() for node in buttons], [node.identifier.rpartition(".")[2] for node in buttons]):
        found = [node for node, name in zip(buttons, names, strict=True) if means.fullmatch(name)]
        if len(found) == 1:
            return found[0]
    return None


def refuse(tree: Tree) -> None:
    """Refuses a screen whose dialog has to be answered.

    Raises:
        DialogOpen: It has one.
    """
    dialog = dialog_of(tree)
    if dialog is not None:
        raise dialog.refusal()
