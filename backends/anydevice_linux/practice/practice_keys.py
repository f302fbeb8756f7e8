# mypy: ignore-errors
"""Keys in the specification's words; the same for every toolkit."""

WORDS = {
    "Return": "enter", "KP_Enter": "enter", "ISO_Enter": "enter", "Tab": "tab", "ISO_Left_Tab": "tab",
    "Escape": "escape", "BackSpace": "backspace", "Delete": "delete", "KP_Delete": "delete", "space": "space",
    "Up": "up", "Down": "down", "Left": "left", "Right": "right", "Home": "home", "End": "end",
    "Page_Up": "pageup", "Page_Down": "pagedown", "Insert": "insert",
    **{f"F{number}": f"f{number}" for number in range(1, 25)},
}  # fmt: skip
"""X's names of keys, and ours."""


def chord(name, code, held, in_field):
    """The chord of a key; None for a modifier alone, and for what only puts a character into a field.

    Args:
        name: X's name of the key.
        code: Code point of the character it types; 0 for none.
        held: Modifiers that are held, of ctrl, alt, shift, meta, in this order.
        in_field: Whether the key goes to something that takes text.
    """
    word = WORDS.get(name)
    writes = False
    if word is None or word == "space":
        if code < 0x20:
            return None
        writes = True
        word = word or chr(code)
    if writes and in_field and not set(held) - {"shift"}:
        return None
    # Shift that only chooses the character is in the character already; of letters the case says nothing.
    if writes and word != "space" and word.lower() == word.upper():
        held = [modifier for modifier in held if modifier != "shift"]
    return "+".join([*held, word.lower()])
