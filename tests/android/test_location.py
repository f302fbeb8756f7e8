"""Where an emulator believes to be: told over its console, believed only once Android tells it, refused elsewhere."""

from __future__ import annotations

import pytest

from anydevice_android.location import listened
from anydevice_lab.android import Lab

from .asking import given_back
from .rig import Rig

pytestmark = pytest.mark.anyio
HELSINKI = "60.170000,24.940000"


@pytest.fixture(scope="module")
async def one_emulator(lab: Lab) -> str:
    return (await lab.start("emulator"))[0]


@pytest.fixture
async def emulator(lab: Lab, one_emulator: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An emulator whose console's token is in the home folder, as it is for people."""
    monkeypatch.setenv("HOME", lab.home)
    await lab.set(one_emulator, listening=True)
    await lab.journal(one_emulator, clear=True)
    return one_emulator


async def test_a_place_is_told_and_read_back(lab: Lab, router: Rig, emulator: str) -> None:
    answer = await router.do("settings", device=emulator, area="location", value="60.17,24.94")
    assert (answer.verified, answer.data["value"]) == (True, HELSINKI)
    (line,) = [entry["line"] for entry in await lab.journal(emulator, "console")]
    assert line == "geo fix 24.940000 60.170000"
    assert (await router.do("settings", device=emulator, area="location")).data["value"] == HELSINKI
    assert (await router.do("settings", device=emulator)).data["settings"]["location"]["value"] == HELSINKI


async def test_south_and_west_are_negative(router: Rig, emulator: str) -> None:
    answer = await router.do("settings", device=emulator, area="location", value="-33.9,-70.5")
    assert (answer.verified, answer.data["value"]) == (True, "-33.900000,-70.500000")


async def test_it_is_switched_off_and_on_again_by_a_place(router: Rig, emulator: str) -> None:
    answer = await router.do("settings", device=emulator, area="location", value="off")
    assert (answer.verified, answer.data["value"]) == (True, "off")
    answer = await router.do("settings", device=emulator, area="location", value=HELSINKI)
    assert (answer.verified, answer.data["before"], answer.data["value"]) == (True, "off", HELSINKI)


async def test_the_place_before_is_put_back(router: Rig, emulator: str) -> None:
    await router.do("settings", device=emulator, area="location", value="1.5,2.5")
    await given_back(router, emulator)
    first = (await router.do("settings", device=emulator, area="location")).data["value"]
    await router.do("settings", device=emulator, area="location", value="3.5,4.5")
    await router.do("settings", device=emulator, area="location", value="off")
    await given_back(router, emulator)
    assert (await router.do("settings", device=emulator, area="location")).data["value"] == first


async def test_what_android_has_not_heard_yet_is_not_said_to_be_so(lab: Lab, router: Rig, emulator: str) -> None:
    await lab.set(emulator, listening=False)
    answer = await router.do("settings", device=emulator, area="location", value="10.5,20.5")
    assert (answer.verified, answer.data["value"], answer.data["asked"]) == (False, None, "10.500000,20.500000")
    await lab.set(emulator, listening=True)
    assert (await router.do("settings", device=emulator, area="location")).data["value"] == "10.500000,20.500000"


async def test_a_console_that_does_not_let_us_in_says_what_to_do(lab: Lab, router: Rig, emulator: str) -> None:
    (locked,) = await lab.start("locked-emulator")
    try:
        answer = await router.do(
            "settings", device=locked, area="location", value=HELSINKI, expect="upstream_unavailable"
        )
        assert answer.error is not None and ".emulator_console_auth_token" in answer.error.details["enable_hint"]
    finally:
        await lab.stop(locked)


async def test_a_phone_cannot_be_told_where_it_is(lab: Lab, router: Rig, phone: str) -> None:
    await router.do("settings", device=phone, area="location", value=HELSINKI, expect="unsupported")
    assert "location" not in (await router.do("settings", device=phone)).data["settings"]
    assert await lab.journal(phone, "shell") == [] or all(
        "geo" not in entry["line"] for entry in await lab.journal(phone, "shell")
    )


@pytest.mark.parametrize(
    ("asked", "heard"), [("ProviderRequest[OFF]", False), ("ProviderRequest[@+1s0ms HIGH_ACCURACY]", True), ("", False)]
)
def test_whether_anybody_listens_is_read_from_the_receivers_own_part(asked: str, heard: bool) -> None:
    text = (
        "Location Manager State:\n  fused provider:\n    service: ProviderRequest[@+1s0ms]\n"
        f"  gps provider [mock]:\n    service: {asked}\n    user 0:\n      enabled: true\n"
        "  network provider:\n    service: ProviderRequest[@+1s0ms]\n"
    )
    assert listened(text) is heard
