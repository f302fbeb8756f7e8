"""One device: its state, and the windows that lie on its display."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

from anydevice.testing.screen import FakeScreen

from ...handset import popups
from . import windows
from .apps import KEYBOARD, PERMISSIONS, SYSTEM_UI
from .tasks import Tasks
from .windows import INPUT_METHOD, SYSTEM, Window

ALLOW = ("While using the app", "Don’t allow")


class Machine(Tasks):
    """What a device is and shows."""

    def opener(self, app: str) -> Callable[[], None]:
        """What starts an app from the launcher."""

        def start() -> None:
            from .intents import launch

            launch(self, app)

        return start

    def windows(self) -> list[Window]:
        """What lies on the display now, the topmost first."""
        self.settle()
        geometry, scale = self.geometry, self.geometry.scale
        found: list[Window] = []
        for box, make in ((geometry.navigation_bar, self._navigation), (geometry.status_bar, windows.status_bar)):
            if box is not None:
                bar = make(box.width / scale, box.height / scale)
                found.append(Window("", SYSTEM_UI, box, bar, scale, bar=True, type=SYSTEM))
        if self.keyboard_shown:
            box = geometry.keyboard
            keys = popups.keyboard(box.width / scale, box.height / scale, self._key_on_screen)
            found.append(Window("InputMethod", KEYBOARD, box, keys, scale, keyboard=True, type=INPUT_METHOD))
        front = self.front
        over = self._popup_window()
        if over is not None:
            found.append(over)
        content = geometry.content(keyboard=self.keyboard_shown)
        main = Window(front.label, front.package, content, front.screen, scale)
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
        from ...handset.keys import type_text

        if what in ("backspace", "enter"):
            self.target_screen.key(what)
        else:
            type_text(self, what)

    @property
    def part_in_front(self) -> str:
        """The activity in front."""
        return self.front.full_component

    def _popup_window(self) -> Window | None:
        popup = self.current_popup()
        if popup is None:
            return None
        window = Window(popup.title, popup.app, self.popup_box(popup), popup.screen, self.geometry.scale)
        window.component, window.cancels, window.modal = popup.part, popup.cancels, True
        return window

    def ask_permission(self, package: str, permission: str) -> None:
        """The system asks whether an app may do something."""

        def answer(how: str, _text: str) -> None:
            self.popup = None
            if how == "accept":
                self.apps[package].granted.add(permission)
            self.device.journal.add("permission", package=package, permission=permission, answer=how)

        what = permission.rpartition(".")[2].replace("_", " ").lower()
        text = f"Allow {self.apps[package].label} to use {what}?"
        self.popup = popups.dialog("confirm", text, ALLOW, self.room[0], answer, ids=self.ids)
        ids = {
            "android:id/message": f"{PERMISSIONS}:id/permission_message",
            "android:id/button1": f"{PERMISSIONS}:id/permission_allow_foreground_only_button",
            "android:id/button2": f"{PERMISSIONS}:id/permission_deny_button",
        }
        for element in self.popup.screen.elements:
            element.identifier = ids.get(element.identifier, element.identifier)
        self.popup.app = PERMISSIONS
        self.popup.part = f"{PERMISSIONS}/com.android.permissioncontroller.permission.ui.GrantPermissionsActivity"

    def seen(self) -> list[Window]:
        """What is shown now, kept: later changes do not change it."""
        found = self.windows()
        for window in found:
            _ = window.root
        return found

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
