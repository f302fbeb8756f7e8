"""Other ways to a screen: axe and idb where no agent is on a simulator, and the agents of devices at a cable."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from anydevice_lab.apple import Lab

from .rig import PRACTICE, Rig, programs, rig

pytestmark = pytest.mark.anyio


@pytest.fixture
def on_path(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lab's programs are found like any others."""
    monkeypatch.setenv("PATH", lab.environment["PATH"])


@pytest.fixture
async def bare(lab: Lab) -> AsyncIterator[str]:
    """A simulator without an agent."""
    (phone,) = await lab.start("iphone")
    await lab.set(phone, runner=False)
    yield phone
    await lab.stop(phone)


@pytest.mark.parametrize("engine", ["axe", "idb"])
async def test_a_program_drives_a_simulator_that_has_no_agent_and_says_so(
    lab: Lab, on_path: None, bare: str, tmp_path: Path, engine: str
) -> None:
    async with rig(lab, tmp_path / "home", engine=engine) as router:
        opened = await router.do("open", device=bare, app=PRACTICE, arguments=["--screen", "home"])
        assert opened.data["engine"] == engine and opened.verified is False  # it cannot tell what is in front
        pressed = await router.do("press", target="Increment")
        assert pressed.data["engine"] == engine
        assert await router.text("Count") == "1"
        told = await router.refused("unsupported", "gesture", kind="pinch", x=200, y=300, scale=2)
        assert told["engine"] == engine
        await router.open(bare, "form")
        await router.do("press", target="Name")
        told = await router.refused("invalid_argument", "type", text="漢字")
        assert "U+6F22" in told["characters"]


async def test_without_an_agent_and_any_other_program_it_is_said_what_to_install(
    lab: Lab, bare: str, tmp_path: Path
) -> None:
    async with rig(lab, tmp_path / "home") as router:
        told = await router.refused("tool_missing", "open", device=bare, app=PRACTICE)
        assert told["tools"] == ["WebDriverAgent"] and "[apple] wda" in told["install"]


async def test_an_agent_is_installed_where_its_app_is_named(lab: Lab, bare: str, tmp_path: Path) -> None:
    async with rig(lab, tmp_path / "home", wda=str(Path(lab.home, "WebDriverAgentRunner-Runner.app"))) as router:
        assert (await router.do("open", device=bare, app=PRACTICE)).data["engine"] == "wda"
        assert await programs(lab, "install", bare)


@pytest.mark.parametrize("tunnel", ["ios", "iproxy", "pymobiledevice3"])
async def test_a_device_at_a_cable_is_driven_through_the_program_that_is_named(
    lab: Lab, on_path: None, tmp_path: Path, tunnel: str
) -> None:
    (phone,) = await lab.start("iphone-device")
    try:
        async with rig(lab, tmp_path / "home", tunnel=tunnel) as router:
            row = await router.device(phone)
            assert (row["kind"], row["state"]) == ("device", "ready")
            await router.do("open", device=phone, app=PRACTICE, arguments=["--screen", "home"])
            await router.do("press", target="Increment")
            assert await router.text("Count") == "1"
            await router.refused("unsupported", "erase", device=phone)
    finally:
        await lab.stop(phone)


@pytest.mark.parametrize("tunnel", ["ios", "iproxy"])
async def test_from_ios_27_on_the_agent_of_a_device_is_started_in_a_test_session(
    lab: Lab, on_path: None, tmp_path: Path, tunnel: str
) -> None:
    """Launched as an app it never listens (appium#22636)."""
    (phone,) = await lab.start("iphone-device-27")
    try:
        async with rig(lab, tmp_path / "home", tunnel=tunnel) as router:
            if tunnel != "ios":
                told = await router.refused("upstream_unavailable", "open", device=phone, app=PRACTICE)
                assert told["reason"] == "needs_test_session" and "tunnel" in told["enable_hint"]
                return
            await router.do("open", device=phone, app=PRACTICE, arguments=["--screen", "home"])
            await router.do("press", target="Increment")
            assert await router.text("Count") == "1"
        assert "com.facebook.WebDriverAgentRunner.xctrunner" not in (await lab.state(phone))["running"]
    finally:
        await lab.stop(phone)


async def test_a_device_without_such_a_program_says_what_to_name(lab: Lab, tmp_path: Path) -> None:
    (phone,) = await lab.start("iphone-device")
    try:
        async with rig(lab, tmp_path / "home") as router:
            told = await router.refused("tool_missing", "open", device=phone, app=PRACTICE)
            assert "tunnel" in told["install"]
    finally:
        await lab.stop(phone)


async def test_devices_that_cannot_be_driven_are_listed_with_the_reason(lab: Lab, router: Rig) -> None:
    away, unpaired = await lab.start("iphone-device-away", "iphone-device-unpaired")
    rows = {row["id"]: row for row in await router.devices()}
    assert rows[away]["state"] == "offline" and rows[away]["fix"]
    assert [row["state"] for id, row in rows.items() if id != away and row["kind"] == "device"] == ["unauthorized"]
    assert unpaired
