"""settings and orientation: every change is read back, what is none is refused, and what was changed is put back."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice.commands import settings as rooms
from anydevice.driver import Acted, Setting
from anydevice.testing import FakeBackend, call, caller, fake_router
from anydevice.testing.upkeep import FakeSettings, Upkeep
from anydevice_schemas import Answer

pytestmark = pytest.mark.anyio


class Phone:
    """A router with one phone, and short calls on it."""

    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend

    @property
    def upkeep(self) -> Upkeep:
        return self.backend.screen("fake-1").upkeep

    async def __call__(self, command: str, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call(command, device="fake-1", **arguments))
        return answer

    async def refused(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = await self(command, **arguments)
        assert answer.error is not None, answer.data
        return {"code": answer.error.code, "hint": answer.error.hint, **answer.error.details}


@pytest.fixture
async def phone(anyio_backend: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(rooms, "SETTLE", 0.3)
    async with fake_router(FakeBackend(["fake-1", "other"], cleans=True)) as (router, backend):
        yield Phone(router, backend)
        assert backend.screen("other").upkeep.values == {}, "the other device was touched"


CHANGES = {
    "appearance": ("dark", "DARK"), "animations": ("off", "off"), "text-size": ("1.3", "1.300"), "wifi": ("off", "Off"),
    "airplane": ("on", "on"), "location": ("60.170000,24.940000", "60.17, 24.94"), "status-bar": ("demo", "demo"),
}  # fmt: skip


@pytest.mark.parametrize("area", CHANGES)
async def test_every_area_is_changed_read_back_and_read(phone: Phone, area: str) -> None:
    value, given = CHANGES[area]
    answer = await phone("settings", area=area, value=given)
    assert (answer.ok, answer.verified, answer.data["value"]) == (True, True, value), answer.error
    assert phone.upkeep.values == {rooms.AREAS[area]: value}
    read = await phone("settings", area=area)
    assert (read.data["value"], read.verified) == (value, None)
    again = await phone("settings", area=area, value=given)
    assert again.data["already"] is True and again.verified is True


async def test_before_is_told(phone: Phone) -> None:
    answer = await phone("settings", area="appearance", value="dark")
    assert answer.data["before"] == "light"
    assert answer.data["choices"] == ["light", "dark"]


async def test_a_permission_is_of_an_app_and_has_a_name(phone: Phone) -> None:
    for arguments in ({}, {"app": "practice"}, {"name": "camera"}):
        refused = await phone.refused("settings", area="permission", value="grant", **arguments)
        assert refused["code"] == "invalid_argument" and refused["param"] in ("app", "name")
    answer = await phone("settings", area="permission", value="grant", app="practice", name="camera")
    assert answer.verified is True
    assert phone.upkeep.values == {"permission practice camera": "grant"}
    other = await phone("settings", area="permission", app="practice", name="microphone")
    assert other.data["value"] == "ask"
    refused = await phone.refused("settings", area="appearance", value="dark", app="practice")
    assert refused["param"] == "app"
    unknown = await phone.refused("settings", area="permission", value="deny", app="nobody", name="camera")
    assert unknown["code"] == "app_not_found"


@pytest.mark.parametrize(
    ("area", "value"),
    [
        ("appearance", "blue"), ("wifi", "dark"), ("text-size", "large"), ("text-size", "9"), ("text-size", "0.1"),
        ("text-size", "nan"), ("text-size", "1e0"), ("location", "here"), ("location", "91,0"), ("location", "1,181"),
        ("location", "1,2,3"), ("location", "nan,0"), ("location", "inf,0"), ("location", "1,"), ("status-bar", "on"),
    ],
)  # fmt: skip
async def test_values_that_are_none_are_refused_before_anything_is_sent(phone: Phone, area: str, value: str) -> None:
    refused = await phone.refused("settings", area=area, value=value)
    assert (refused["code"], refused["param"]) == ("invalid_argument", "value")
    assert phone.upkeep.values == {}


async def test_what_needs_an_area_is_refused_without_one(phone: Phone) -> None:
    for arguments in ({"value": "dark"}, {"app": "practice"}, {"name": "camera"}):
        refused = await phone.refused("settings", **arguments)
        assert (refused["code"], refused["param"]) == ("invalid_argument", next(iter(arguments)))


async def test_without_an_area_everything_is_told_and_nothing_else(phone: Phone) -> None:
    told = (await phone("settings")).data["settings"]
    assert set(told) == {*CHANGES, "orientation"}
    assert told["appearance"] == {"value": "light", "choices": ["light", "dark"]}
    assert phone.upkeep.values == {}


async def test_data_of_an_app_are_cleared_once_a_person_said_so_and_nothing_is_said_to_be_verified(
    phone: Phone,
) -> None:
    given = {"area": "app-data", "value": "clear", "app": "practice"}
    asked = await phone.refused("settings", **given)
    assert asked["code"] == "confirmation_required" and phone.upkeep.cleared == []
    phone.router.services.policy.approve(asked["token"])
    answer = await phone("settings", **given, confirmToken=asked["token"])
    assert (answer.verified, answer.data["app"], answer.data["asked"]) == (False, "practice", "clear")
    assert phone.upkeep.cleared == ["practice"]


async def test_clearing_needs_an_app_and_no_more_and_reading_it_needs_nobodys_word(phone: Phone) -> None:
    refused = await phone.refused("settings", area="app-data", app="practice", name="camera")
    assert (refused["code"], refused["param"]) == ("invalid_argument", "name")
    refused = await phone.refused("settings", area="app-data")
    assert (refused["code"], refused["param"]) == ("invalid_argument", "app")
    told = await phone("settings", area="app-data", app="practice")
    assert told.data["value"] is None and told.data["choices"] == ["clear"]
    assert (await phone.refused("settings", area="app-data", app="nobody"))["code"] == "app_not_found"


async def test_what_did_not_take_is_no_success(phone: Phone) -> None:
    phone.backend.fault.swallow.add("settings.appearance")
    refused = await phone.refused("settings", area="appearance", value="dark")
    assert (refused["code"], refused["expected"], refused["actual"]) == ("action_unverified", "dark", "light")


async def test_what_takes_a_while_is_waited_for(phone: Phone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "SETTLE", 20.0)
    reads = iter(["light", "light", "light", "dark"])
    sound = FakeSettings.read

    async def late(self: FakeSettings, area: str, **of: Any) -> Setting:
        told = await sound(self, area, **of)
        return Setting(next(reads, told.value), told.choices)

    monkeypatch.setattr(FakeSettings, "read", late)
    assert (await phone("settings", area="appearance", value="dark")).verified is True


async def test_what_cannot_be_read_back_is_not_said_to_be_verified(
    phone: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def mute(self: FakeSettings, area: str, **of: Any) -> Setting:
        return Setting(None)

    monkeypatch.setattr(FakeSettings, "read", mute)
    answer = await phone("settings", area="location", value="1,2")
    assert (answer.ok, answer.verified, answer.data["value"]) == (True, False, None)
    assert answer.data["asked"] == "1.000000,2.000000"
    assert phone.upkeep.values == {"location": "1.000000,2.000000"}


async def test_a_value_the_device_does_not_offer_is_refused_with_those_it_does(phone: Phone) -> None:
    refused = await phone.refused("orientation", value="auto")
    assert refused["code"] == "invalid_argument" and "portrait-upside-down" in refused["expected"]
    assert phone.upkeep.values == {}


async def test_turning_swaps_the_sides_of_the_screen_and_is_put_back(phone: Phone) -> None:
    screen = phone.backend.screen("fake-1")
    assert (await phone("orientation")).data == {
        "area": "orientation", "value": "portrait",
        "choices": ["portrait", "landscape-left", "landscape-right", "portrait-upside-down"],
    }  # fmt: skip
    assert (await phone("orientation", value="landscape-left")).verified is True
    assert (screen.width, screen.height) == (844, 390)
    await phone("settings", area="appearance", value="dark")
    assert (await phone("close")).ok
    answer = await phone("settings", area="appearance")
    assert answer.data["value"] == "light"
    assert (screen.width, screen.height, phone.upkeep.values) == (390, 844, {})


async def test_an_area_the_device_has_not_is_refused_with_those_it_has(phone: Phone) -> None:
    phone.backend.down = {f"settings.{name}": "out of order" for name in rooms.AREAS.values() if name != "appearance"}
    for value in ({}, {"value": "off"}):
        refused = await phone.refused("settings", area="wifi", **value)
        assert refused["code"] == "unsupported" and refused["missing"] == {"settings.wifi": "out of order"}
        assert "area=appearance" in refused["alternatives"] and "area=wifi" not in refused["alternatives"]
    told = (await phone("settings")).data["settings"]
    assert set(told) == {"appearance", "orientation"}


async def test_reading_needs_no_right_to_act(phone: Phone) -> None:
    by = caller("reader", scopes=["read"])
    assert (await phone("settings", by=by)).ok
    assert (await phone("settings", by=by, area="appearance")).ok
    assert (await phone.refused("settings", by=by, area="appearance", value="dark"))["code"] == "refused"
    assert phone.upkeep.values == {}


async def test_a_driver_that_fails_half_way_is_told_as_it_is(phone: Phone, monkeypatch: pytest.MonkeyPatch) -> None:
    async def breaks(self: FakeSettings, value: str) -> Acted:
        raise RuntimeError("half way")

    monkeypatch.setattr(FakeSettings, "appearance", breaks)
    refused = await phone.refused("settings", area="appearance", value="dark")
    assert (refused["code"], refused["sent"]) == ("backend_broken", True)
