"""The apps on an Android device: each is a package with an activity."""

from __future__ import annotations

from dataclasses import dataclass, field

from anydevice_schemas.practice import APP_ID

from ...handset import apps

LAUNCHER = "com.google.android.apps.nexuslauncher"
TV_LAUNCHER = "com.google.android.tvlauncher"
SETTINGS = "com.android.settings"
SYSTEM_UI = "com.android.systemui"
KEYBOARD = "com.google.android.inputmethod.latin"
PERMISSIONS = "com.google.android.permissioncontroller"
ADB_KEYBOARD = "com.android.adbkeyboard"
PRACTICE_ACTIVITY = f"{APP_ID}.MainActivity"


@dataclass(eq=False)
class App(apps.App):
    """A package that is installed; its id is its name.

    Attributes:
        activity: A whole class name.
        granted: Permissions it has.
        withheld: Those that were taken from it, and whether a person is held to have said so.
        apk: Where its package is.
        version: Version code.
        exits: How its processes ended, latest first: (time, reason, description, pid).
    """

    activity: str = ""
    granted: set[str] = field(default_factory=set)
    withheld: dict[str, bool] = field(default_factory=dict)
    apk: str = ""
    version: int = 1
    disabled: bool = False
    exits: list[tuple[float, int, str, int]] = field(default_factory=list)

    @property
    def package(self) -> str:
        """Its name."""
        return self.id

    @property
    def component(self) -> str:
        """`package/.Activity`, short where the class is inside the package."""
        return f"{self.package}/{self.activity.removeprefix(self.package)}"

    @property
    def full_component(self) -> str:
        """`package/whole.class.Name`."""
        return f"{self.package}/{self.activity}"
