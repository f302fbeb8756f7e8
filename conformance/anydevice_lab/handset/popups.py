"""Small screens of the system: dialogs, lists that drop down, the keyboard, the bars. Sizes are points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import Rect

KEYS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm.")
Ids = Mapping[str, str]
"""What a platform calls the parts `message`, `edit`, `button1`, `button2` and `option`; one that is missing has its own
name."""


@dataclass(eq=False)
class Popup:
    """A dialog or list over an app.

    Attributes:
        owner: What of the app it belongs to; when that changes the popup goes.
        title: Of its window.
        app: Id of the app it belongs to.
        width, height: In points.
        part: Which part of the app it belongs to, as the platform names it.
        cancels: Called when it is left by Back or by a tap outside; None = neither does anything.
    """

    owner: object
    title: str
    app: str
    screen: FakeScreen
    width: float
    height: float
    part: str = ""
    cancels: Callable[[], None] | None = None


def dialog(
    kind: str, text: str, buttons: tuple[str, ...], width: float, answer: Callable[[str, str], None], *, ids: Ids
) -> Popup:
    """An alert of an app: a message, a field where it asks for a text, and its buttons.

    Args:
        answer: Called with `accept` or `dismiss`, and the text of the field.
    """
    wide = min(width - 32, 320.0)
    tall = 180.0 if kind == "prompt" else 132.0
    screen = FakeScreen(width=wide, height=tall)
    screen.title = ""
    message = FakeElement("text", text, Rect(16, 16, wide - 32, 44), identifier=ids.get("message", "message"))
    screen.add(message)
    entry = None
    if kind == "prompt":
        name = ids.get("edit", "edit")
        entry = FakeElement("textbox", "", Rect(16, 64, wide - 32, 48), value="", identifier=name)
        screen.add(entry)
        screen.focus = entry

    def press(how: str) -> Callable[[], None]:
        return lambda: answer(how, (entry.value or "") if entry is not None else "")

    for number, (name, part) in enumerate(zip(buttons, ("button1", "button2"), strict=False)):
        place = Rect(wide - 104 * (number + 1), tall - 56, 96, 48)
        how = "accept" if number == 0 else "dismiss"
        screen.add(FakeElement("button", name, place, identifier=ids.get(part, part), on_press=press(how)))
    return Popup(None, "", "", screen, wide, tall, cancels=press("dismiss"))


def choice(options: tuple[str, ...], chosen: str, width: float, answer: Callable[[str], None], *, ids: Ids) -> Popup:
    """The list a select drops down."""
    wide, tall = min(width - 16, 240.0), 48.0 * len(options)
    screen = FakeScreen(width=wide, height=tall)

    def press(option: str) -> Callable[[], None]:
        return lambda: answer(option)

    for number, option in enumerate(options):
        place = Rect(0, 48.0 * number, wide, 48)
        name = ids.get("option", "option")
        element = FakeElement("option", option, place, identifier=name, on_press=press(option))
        element.states = {"checked"} if option == chosen else set()
        screen.add(element)
    return Popup(None, "PopupWindow", "", screen, wide, tall)


def keyboard(width: float, height: float, press: Callable[[str], None]) -> FakeScreen:
    """The keyboard on the screen; `press` is given a letter, or `backspace` or `enter`."""
    screen = FakeScreen(width=width, height=height)
    tall = height / (len(KEYS) + 1)

    def key(name: str, place: Rect, what: str) -> None:
        screen.add(FakeElement("button", name, place, identifier=f"key_{name.lower()}", on_press=lambda: press(what)))

    for number, row in enumerate(KEYS):
        wide = width / len(row)
        for place, letter in enumerate(row):
            key(letter, Rect(place * wide, number * tall, wide, tall), letter)
    for place, (name, what) in enumerate((("Delete", "backspace"), ("Space", " "), ("Done", "enter"))):
        key(name, Rect(place * width / 3, len(KEYS) * tall, width / 3, tall), what)
    return screen
