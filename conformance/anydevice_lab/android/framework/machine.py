"""One device: its state, and the windows that lie on its display."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import EDITABLE

from . import windows
from .apps import KEYBOARD, PERMISSIONS, SYSTEM_UI, AndroidPractice
from .geometry import Box
from .tasks import Tasks
from .windows import APPLICATION, INPUT_METHOD, SYSTEM, Popup, Window


class Machine(Tasks):
    """What a device is and shows."""

    def opener(self, package: str) -> Callable[[], None]:
        """What starts an app from the launcher."""

        def start() -> None:
            from .intents import launch

            launch(self, package)

        return start

    def windows(self) -> list[Window]:
        """What lies on the display now, the topmost first."""
        self.settle()
        geometry, scale = self.geometry, self.geometry.scale
        found: list[Window] = []
        for box, make in ((geometry.navigation_bar, self._navigation), (geometry.status_bar, windows.status_bar)):
            if box is not None:
                bar = make(box.width / scale, box.height / scale)
                found.append(Window("", SYSTEM_UI, SYSTEM, box, bar, scale))
        if self.keyboard_shown:
            box = geometry.keyboard
            keys = windows.keyboard(box.width / scale, box.height / scale, self._key_on_screen)
            found.append(Window("InputMethod", KEYBOARD, INPUT_METHOD, box, keys, scale))
        front = self.front
        over = self._popup_window()
        if over is not None:
            found.append(over)
        content = geometry.content(keyboard=self.keyboard_shown)
        main = Window(front.label, front.package, APPLICATION, content, front.screen, scale)
        main.component, main.frame = front.full_component, geometry.whole
        found.append(main)
        focus = over if over is not None else main
        focus.active = focus.focused = True
        for number, window in enumerate(found):
            window.layer = len(found) - 1 - number
            # A window keeps its number for as long as it is there, and no other has it.
            which = window.box.top if window.type == SYSTEM else window is over
            known = f"{window.package}/{window.component}/{window.type}/{which}"
            window.id = 10 + zlib.crc32(known.encode()) % 100_000
        return found

    def _navigation(self, width: float, height: float) -> FakeScreen:
        from .keys import press_key

        buttons = {"Back": lambda: press_key(self, "BACK"), "Home": self.home, "Overview": self.recents}
        return windows.navigation_bar(width, height, buttons)

    def _key_on_screen(self, what: str) -> None:
        from .keys import type_text

        if what in ("backspace", "enter"):
            self.target_screen.key(what)
        else:
            type_text(self, what)

    @property
    def target_screen(self) -> FakeScreen:
        """The screen that gets keys: the dialog in front, else the app."""
        popup = self.current_popup()
        return popup.screen if popup is not None else self.front.screen

    def current_popup(self) -> Popup | None:
        """The dialog in front: the app's own, or one of the system; None if there is none."""
        asked = self.front.screen.dialog
        if self.popup is not None and self.popup.owner is not None and self.popup.owner is not asked:
            self.popup = None  # it was answered by other means
        if self.popup is None and asked is not None:
            kind, text, buttons = asked
            self.popup = windows.dialog(kind, text, buttons, self.room[0], self._answer)
            self.popup.owner, self.popup.title = asked, self.front.label
            self.popup.package, self.popup.component = self.front.package, self.front.full_component
            if kind == "prompt":
                self.keyboard_shown = True
        return self.popup

    def _answer(self, how: str, text: str) -> None:
        kind = self.front.screen.dialog[0] if self.front.screen.dialog is not None else ""
        self.popup = None
        self.keyboard_shown = False
        self.front.screen.answer(how, text if kind == "prompt" else None)

    def _popup_window(self) -> Window | None:
        popup = self.current_popup()
        if popup is None:
            return None
        geometry, scale = self.geometry, self.geometry.scale
        room = geometry.content(keyboard=self.keyboard_shown)
        wide, tall = round(popup.width * scale), min(round(popup.height * scale), room.height)
        left, top = room.left + (room.width - wide) // 2, room.top + (room.height - tall) // 2
        box = Box(left, top, left + wide, top + tall)
        window = Window(popup.title, popup.package, APPLICATION, box, popup.screen, scale)
        window.component, window.cancels, window.modal = popup.component, popup.cancels, True
        return window

    def choose(self, element: FakeElement) -> None:
        """A select of the app drops its list down."""
        options = self.practice.options_of(element)

        def answer(option: str) -> None:
            self.popup = None
            if option != element.value:
                element.write(option)

        self.popup = windows.choice(options, element.value or "", self.room[0], answer)
        self.popup.package = self.front.package
        self.popup.cancels = lambda: setattr(self, "popup", None)

    def ask_permission(self, package: str, permission: str) -> None:
        """The system asks whether an app may do something."""

        def answer(how: str, _text: str) -> None:
            self.popup = None
            if how == "accept":
                self.apps[package].granted.add(permission)
            self.device.journal.add("permission", package=package, permission=permission, answer=how)

        what = permission.rpartition(".")[2].replace("_", " ").lower()
        text = f"Allow {self.apps[package].label} to use {what}?"
        self.popup = windows.dialog("confirm", text, ("While using the app", "Don’t allow"), self.room[0], answer)
        ids = {
            "android:id/message": f"{PERMISSIONS}:id/permission_message",
            "android:id/button1": f"{PERMISSIONS}:id/permission_allow_foreground_only_button",
            "android:id/button2": f"{PERMISSIONS}:id/permission_deny_button",
        }
        for element in self.popup.screen.elements:
            element.identifier = ids.get(element.identifier, element.identifier)
        self.popup.package = PERMISSIONS
        self.popup.component = f"{PERMISSIONS}/com.android.permissioncontroller.permission.ui.GrantPermissionsActivity"

    def seen(self) -> list[Window]:
        """What is shown now, kept: later changes do not change it."""
        found = self.windows()
        for window in found:
            _ = window.root
        return found

    @property
    def focused_field(self) -> FakeElement | None:
        """The field that gets text."""
        focus = self.target_screen.focus
        return focus if focus is not None and focus.role in EDITABLE else None

    @property
    def animated(self) -> bool:
        """Whether what is in front never comes to rest."""
        screen = self.front.screen
        return isinstance(screen, AndroidPractice) and screen.animated

    def state(self) -> dict[str, Any]:
        """What the lab tells of it."""
        return {
            "front": self.front.full_component,
            "tasks": list(self.tasks),
            "keyboard": self.keyboard_shown,
            "rotation": self.geometry.rotation,
            "size": list(self.geometry.size),
            "awake": self.awake,
            "dialog": self.popup is not None,
            "clipboard": self.clipboard,
            "packages": sorted(self.apps),
        }
