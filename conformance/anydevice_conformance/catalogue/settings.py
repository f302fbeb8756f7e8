"""Settings and orientation: read back on the device, put back after a holder, refused before anything is sent."""

from __future__ import annotations

from typing import Any

from anydevice.driver import Setting
from anydevice.plans import declared
from anydevice_schemas import Device
from anydevice_schemas.errors import InvalidArgument

from ..case import Case, add, case
from ..hands import approved
from ..trial import CaseFailed, Trial

CHANGES: dict[str, tuple[str, tuple[str, str], dict[str, str]]] = {
    "appearance": ("appearance", ("light", "dark"), {}),
    "animations": ("animations", ("on", "off"), {}),
    "text-size": ("text_size", ("1", "1.25"), {}),
    "wifi": ("wifi", ("on", "off"), {}),
    "airplane": ("airplane", ("on", "off"), {}),
    "location": ("location", ("off", "60.170000,24.940000"), {}),
    "permission": ("permission", ("deny", "grant"), {"name": "camera"}),
    "status-bar": ("status_bar", ("live", "demo"), {}),
}
"""By area: its operation, two values to go between, and what the call says besides."""
PERMISSIONS = ("camera", "microphone")
"""Not every platform lets tools set each: iOS simulators know no camera."""


async def read(t: Trial, method: str, on: Device, **of: str) -> str | None:
    """A setting as the driver reads it from a device."""
    driver = await t.driver(on)
    setting: Setting = await driver.settings.read(method, **of)  # type: ignore[attr-defined]
    return setting.value


def _other(value: str | None, values: tuple[str, str]) -> str:
    return values[0] if value == values[1] else values[1]


async def _permission(t: Trial) -> dict[str, Any]:
    """A permission of the practice app that can be set on this device, the first of `PERMISSIONS`."""
    for name in PERMISSIONS:
        of = {"app": t.manifest.practice.app, "name": name}
        try:
            await read(t, "permission", t.device, **of)
        except InvalidArgument:
            continue
        return of
    raise CaseFailed(f"permissions can be set, and none of {', '.join(PERMISSIONS)} is known")


def _changes(area: str) -> Case:
    method, values, more = CHANGES[area]

    async def is_read_back(t: Trial) -> None:
        of: dict[str, Any] = await _permission(t) if area == "permission" else {**more}
        before, beside = await read(t, method, t.device, **of), await read(t, method, t.other, **of)
        wanted = _other(before, values)
        answer = await t.call("settings", area=area, value=wanted, **of)
        now = await read(t, method, t.device, **of)
        if now is None:
            t.require(answer.verified is False, "it cannot be read back, and the answer says it was")
            t.note("the device does not tell this setting")
        else:
            t.equal(now, wanted, "the setting as the device has it")
            t.equal((answer.verified, answer.data.get("value")), (True, wanted), "verified, value")
            t.equal((await t.call("settings", area=area, **of)).data.get("value"), wanted, "what reading it tells")
        t.equal(await read(t, method, t.other, **of), beside, "the setting of the other device")
        back = before if before in values else values[0]
        await t.call("settings", area=area, value=back, **of)

    return Case(
        id=f"settings.{area}-is-read-back",
        must=f"A change of {area} MUST be there when the device is asked, be said to be, and reach no other device.",
        run=is_read_back,
        command="settings",
        sample={"area": area, "value": values[1], **more, **({"app": "x"} if area == "permission" else {})},
        needs=("settings.read", f"settings.{method}"),
        bundle="settings",
        optional=True,
    )


for _area in CHANGES:
    add(_changes(_area))

APP_DATA: dict[str, Any] = {"area": "app-data", "value": "clear"}


@case(
    "settings.app-data-go-with-a-persons-word-only",
    "Clearing what an app has stored MUST wait for a person's word, MUST end the app and leave it installed, and MUST "
    "refuse an app that is not there as app_not_found.",
    command="settings",
    sample={**APP_DATA, "app": "x"},
    needs=("settings.read", "settings.app_data", "apps.list"),
    bundle="settings",
    optional=True,
    mutates=True,
)
async def app_data(t: Trial) -> None:
    app = t.manifest.practice.app

    async def running() -> bool:
        rows = await (await t.driver()).apps.list()  # type: ignore[attr-defined]
        return any(row.running for row in rows if row.id == app)

    await t.call("settings", **APP_DATA, app=app, expect="confirmation_required")
    t.equal(await running(), True, "whether the app runs before anybody approved")
    answer = await approved(t, "settings", **APP_DATA, app=app)
    t.equal(answer.data.get("app"), app, "the app of the answer")
    t.equal(await running(), False, "whether the app runs afterwards")
    if answer.verified is False:
        t.note("the device does not tell what an app has stored")
    await approved(t, "settings", **APP_DATA, app="dev.anydevice.no-such-app", expect="app_not_found")
    await t.open("home")


APPEARANCE: dict[str, Any] = {
    "command": "settings",
    "sample": {"area": "appearance", "value": "dark"},
    "bundle": "settings",
    "optional": True,
}


@case(
    "settings.given-back-as-it-was",
    "What a holder changed MUST be as it was before once somebody else has the device.",
    **APPEARANCE,
)
async def given_back(t: Trial) -> None:
    before = await read(t, "appearance", t.device)
    await t.call("settings", area="appearance", value=_other(before, ("light", "dark")))
    for session in t.router.services.sessions.of_device(t.device.key):
        t.router.services.sessions.end(session, "the holder is done")
    second = t.new_caller("next-holder")
    answer = await t.call("settings", area="appearance", by=second)
    t.equal(answer.data.get("value"), before, "the setting the next holder finds")
    t.equal(await read(t, "appearance", t.device), before, "the setting as the device has it")


@case(
    "settings.a-value-that-is-none-is-refused",
    "A value that is none of the area MUST be refused as invalid_argument, with those there are, and change nothing.",
    **APPEARANCE,
)
async def no_value(t: Trial) -> None:
    before = await read(t, "appearance", t.device)
    for value in ("blue", "darkest", "on", "1"):
        answer = await t.call("settings", area="appearance", value=value, expect="invalid_argument")
        details = t.detail(answer, "param", "expected")
        t.require(details["param"] == "value" and "dark" in details["expected"], f"{value}: the refusal says {details}")
    t.equal(await read(t, "appearance", t.device), before, "the setting after the refusals")


@case(
    "settings.all-that-can-be-told-is-told",
    "Asked for no area, settings MUST tell each one the device has, as the device tells it, and none it has not.",
    command="settings",
    sample={},
    bundle="settings",
)
async def all_told(t: Trial) -> None:
    told = (await t.call("settings")).data.get("settings")
    t.require(isinstance(told, dict), "it tells no settings")
    assert isinstance(told, dict)
    methods = {area: method for area, (method, _, _) in CHANGES.items() if area != "permission"}
    methods["orientation"] = "orientation"
    for area, method in methods.items():
        there = declared(t.manifest, t.device, f"settings.{method}")
        t.equal(area in told, there, f"whether {area} is told")
        if there:
            t.equal(told[area].get("value"), await read(t, method, t.device), f"the value of {area}")


@case(
    "orientation.turning-shows",
    "Turning the screen MUST be read back, show in its size, and turn no other device.",
    command="orientation",
    sample={"value": "landscape-left"},
    needs=("screen.geometry",),
    bundle="orientation",
)
async def turning(t: Trial) -> None:
    async def lies(on: Device) -> bool:
        viewport = (await (await t.driver(on)).screen.geometry()).viewport  # type: ignore[attr-defined]
        return bool(viewport.width > viewport.height)

    first, beside = (await t.call("orientation")).data.get("value"), await lies(t.other)
    t.require(first, "it does not tell which way the screen is")
    for value in ("landscape-left", "portrait", "landscape-right"):
        answer = await t.call("orientation", value=value)
        t.equal((answer.verified, answer.data.get("value")), (True, value), "verified, value")
        t.equal(await lies(t.device), value.startswith("landscape"), f"whether the screen is wide after {value}")
    t.equal(await lies(t.other), beside, "whether the other device's screen is wide")
    await t.call("orientation", value=first)
    t.equal((await t.call("orientation")).data.get("value"), first, "the way back")
