"""The bundles on a device, as its bundle manager knows them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from anydevice_schemas.practice import APP_ID

from ...handset import apps

SCENEBOARD = "com.ohos.sceneboard"
SETTINGS = "com.huawei.hmos.settings"
CALCULATOR = "com.huawei.hmos.calculator"
NOTEPAD = "com.huawei.hmos.notepad"
BROWSER = "com.huawei.hmos.browser"
INPUT_METHOD = "com.huawei.hmos.inputmethod"
RECORDER = "com.huawei.hmos.screenrecorder"
RECORDER_ABILITY = f"{RECORDER}.ServiceExtAbility"
CHOOSER = "com.ohos.amsdialog"
ENTRY = "EntryAbility"


ASKED = ("ohos.permission.CAMERA", "ohos.permission.MICROPHONE", "ohos.permission.APPROXIMATELY_LOCATION")
"""What the practice app asks a person for."""


@dataclass
class Permission:
    """One that an app has asked for: whether it has it, and who said so (0 nobody, 2 a person, 4 the system)."""

    granted: bool = False
    flag: int = 0


def _asked() -> dict[str, Permission]:
    return {"ohos.permission.INTERNET": Permission(True, 4)}


@dataclass(eq=False)
class App(apps.App):
    """A bundle that is installed.

    Attributes:
        ability: Name of its ability, as `aa start -a` wants it; empty = it has none to show.
        main: How the bundle manager spells its main ability; empty = no entry of the launcher.
        module: Name of its module.
        schemes: Schemes of addresses it opens.
        code, version: Version code and name.
        debug: Whether it may be debugged.
        permissions: What it has asked for.
        ended: When its processes died unasked, latest first: file name and text of what is kept of that.
    """

    ability: str = ENTRY
    main: str = ENTRY
    module: str = "entry"
    schemes: tuple[str, ...] = ()
    code: int = 1_000_000
    version: str = "1.0.0"
    debug: bool = False
    page: str = "pages/Index"
    permissions: dict[str, Permission] = field(default_factory=_asked)
    ended: list[tuple[str, str]] = field(default_factory=list)

    @property
    def uid(self) -> int:
        """User id of its processes."""
        return 20_020_000 + sum(map(ord, self.id)) % 900

    @property
    def token(self) -> int:
        """Number of its access token."""
        return 537_600_000 + self.uid % 100_000

    def described(self) -> str:
        """What `bm dump -n` tells of it: its id in a line, then JSON."""
        return f"{self.id}:\n{json.dumps(self._facts(), indent=4)}\n"

    def _facts(self) -> dict[str, Any]:
        uris = [{"host": "", "scheme": scheme} for scheme in self.schemes]
        home: dict[str, Any] = {"actions": ["action.system.home"], "entities": ["entity.system.home"], "uris": []}
        view: dict[str, Any] = {
            "actions": ["ohos.want.action.viewData"],
            "entities": ["entity.system.browsable"],
            "uris": uris,
        }
        skills = [*([home] if self.main else []), *([view] if uris else [])]
        ability = {
            "bundleName": self.id,
            "label": f"$string:{self.ability}_label",
            "moduleName": self.module,
            "name": self.ability,
            "skills": skills,
            "type": 1,
            "visible": True,
        }
        source = f"/data/app/el1/bundle/public/{self.id}"
        return {
            "appId": f"{self.id}_BExample=",
            "appIdentifier": str(5_765_880_000_000_000_000 + self.uid),
            "appIndex": 0,
            "applicationInfo": {
                "accessTokenId": self.token,
                "appPrivilegeLevel": "system_basic" if self.system else "normal",
                "bundleName": self.id,
                "bundleType": 0,
                "codePath": source,
                "compileSdkType": "HarmonyOS",
                "cpuAbi": "arm64-v8a",
                "dataBaseDir": f"/data/app/el2/database/{self.id}",
                "debug": self.debug,
                "enabled": True,
                "isSystemApp": self.system,
                "label": self.label,
                "moduleInfos": [{"moduleName": self.module, "moduleSourceDir": "", "preloads": []}],
                "uid": self.uid,
                "userDataClearable": not self.system,
                "vendor": "example",
                "versionCode": self.code,
                "versionName": self.version,
            },
            "compatibleVersion": 40_100_011,
            "cpuAbi": "",
            "defPermissions": [],
            "description": "",
            "entryInstallationFree": False,
            "entryModuleName": self.module,
            "gid": self.uid,
            "hapModuleInfos": [
                {
                    "abilityInfos": [ability] if self.ability else [],
                    "mainAbility": self.main,
                    "mainElementName": self.main,
                    "moduleName": self.module,
                    "name": self.module,
                }
            ],
            "mainEntry": self.module,
            "name": self.id,
            "reqPermissions": list(self.permissions),
            "uid": self.uid,
            "vendor": "example",
            "versionCode": self.code,
            "versionName": self.version,
        }


def is_practice(app: App) -> bool:
    """Whether it is the practice app."""
    return app.id == APP_ID
