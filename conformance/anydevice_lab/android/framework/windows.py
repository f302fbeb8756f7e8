"""Windows: what lies on the display, the topmost first, and the small screens of the system in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import Rect

from .geometry import Box
from .nodes import UiNode, tree_of

APPLICATION, SYSTEM, INPUT_METHOD = "TYPE_APPLICATION", "TYPE_SYSTEM", "TYPE_INPUT_METHOD"
KEYS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm.")


@dataclass(eq=False)
class Window:
    """One window.

    Attributes:
        id, layer: As accessibility numbers them; a higher layer lies above.
        component: `package/class` where it belongs to an activity.
        screen: What it shows, in points from its top left corner.
        scale: Pixels of a point.
        frame: The whole window, where `box` is only what its content has of it.
        cancels: Called when it is left by Back or by a tap outside; None = neither does anything.
        modal: Whether it takes taps outside of it too.
    """

    title: str
    package: str
    type: str
    box: Box
    screen: FakeScreen
    scale: float
    id: int = 0
    layer: int = 0
    active: bool = False
    focused: bool = False
    component: str = ""
    frame: Box | None = None
    cancels: Callable[[], None] | None = None
    modal: bool = False

    @cached_property
    def root(self) -> UiNode:
        """Its nodes, as they are now."""
        return tree_of(self.screen, self.package, self.box, self.scale, self.frame)


def status_bar(width: float, height: float) -> FakeScreen:
    """The system's bar at the top."""
    screen = FakeScreen(width=width, height=height)
    screen.add(FakeElement("text", "12:00", Rect(8, 2, 60, height - 4), identifier="clock"))
    screen.add(FakeElement("image", "Battery 100 percent.", Rect(width - 40, 2, 32, height - 4), identifier="battery"))
    return screen


def navigation_bar(width: float, height: float, press: dict[str, Callable[[], None]]) -> FakeScreen:
    """The system's bar at the bottom, with three buttons."""
    screen = FakeScreen(width=width, height=height)
    for number, (name, action) in enumerate(press.items()):
        place = Rect(width * (number + 0.5) / 4, 0, width / 4, height)
        ids = {"Back": "back", "Home": "home_button", "Overview": "recent_apps"}
        screen.add(FakeElement("button", name, place, identifier=ids.get(name, ""), on_press=action))
    return screen


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


@dataclass(eq=False)
class Popup:
    """A dialog or list over an app.

    Attributes:
        owner: What of the app it belongs to; when that changes the popup goes.
        width, height: In points.
        answer: Called with the word of what was chosen.
    """

    owner: object
    title: str
    package: str
    screen: FakeScreen
    width: float
    height: float
    component: str = ""
    cancels: Callable[[], None] | None = None


def dialog(kind: str, text: str, buttons: tuple[str, ...], width: float, answer: Callable[[str, str], None]) -> Popup:
    """An alert of an app: a message, a field where it asks for a text, and its buttons.

    Args:
        answer: Called with `accept` or `dismiss`, and the text of the field.
    """
    wide = min(width - 32, 320.0)
    tall = 180.0 if kind == "prompt" else 132.0
    screen = FakeScreen(width=wide, height=tall)
    screen.title = ""
    screen.add(FakeElement("text", text, Rect(16, 16, wide - 32, 44), identifier="android:id/message"))
    entry = None
    if kind == "prompt":
        entry = FakeElement("textbox", "", Rect(16, 64, wide - 32, 48), value="", identifier="android:id/edit")
        screen.add(entry)
        screen.focus = entry

    def press(how: str) -> Callable[[], None]:
        return lambda: answer(how, (entry.value or "") if entry is not None else "")

    ids = ("android:id/button1", "android:id/button2")
    for number, (name, rid) in enumerate(zip(buttons, ids, strict=False)):
        place = Rect(wide - 104 * (number + 1), tall - 56, 96, 48)
        how = "accept" if number == 0 else "dismiss"
        screen.add(FakeElement("button", name, place, identifier=rid, on_press=press(how)))
    return Popup(None, "", "", screen, wide, tall, cancels=press("dismiss"))


def choice(options: tuple[str, ...], chosen: str, width: float, answer: Callable[[str], None]) -> Popup:
    """The list a select drops down."""
    wide, tall = min(width - 16, 240.0), 48.0 * len(options)
    screen = FakeScreen(width=wide, height=tall)

    def press(option: str) -> Callable[[], None]:
        return lambda: answer(option)

    for number, option in enumerate(options):
        place = Rect(0, 48.0 * number, wide, 48)
        states = {"checked"} if option == chosen else set()
        element = FakeElement("option", option, place, identifier="android:id/text1", on_press=press(option))
        element.states = states
        screen.add(element)
    return Popup(None, "PopupWindow", "", screen, wide, tall)
