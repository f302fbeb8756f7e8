"""Which device an agent's answers are of, where several share one loopback and the ports on it."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from anydevice.driver import Environment, HostServices
from anydevice_apple.backend import AppleBackend
from anydevice_lab.apple import Lab

from .rig import PRACTICE, Rig, programs, rig

pytestmark = pytest.mark.anyio
HOME = "com.apple.springboard"
RETRY = (True, "upstream_unavailable")
RUNNER = "com.facebook.WebDriverAgentRunner.xctrunner"


def a_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
        return found


@pytest.fixture
async def taken(lab: Lab, tmp_path: Path) -> AsyncIterator[tuple[Rig, str, str]]:
    """A phone whose agent ended, and another one whose agent has its port now."""
    port = a_port()
    async with rig(lab, tmp_path / "home", ports=[port, port + 20]) as router:
        phone, other = await lab.start("iphone", "iphone")
        await router.open(phone)
        await anyio.run_process([lab.xcrun, "simctl", "terminate", phone, RUNNER])
        assert await lab.agent(other, port) == port
        await anyio.run_process([lab.xcrun, "simctl", "launch", other, PRACTICE, "--screen", "form"])
        yield router, phone, other
    for one in (phone, other):
        await lab.stop(one)


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("snapshot", {}), ("press", {"target": "Increment"}), ("press", {"x": 201, "y": 222}), ("home", {}),
        ("screenshot", {}), ("orientation", {"value": "landscape-left"}), ("appstate", {}),
    ],
)  # fmt: skip
async def test_an_agent_of_another_simulator_that_took_the_port_is_never_taken_for_ours(
    taken: tuple[Rig, str, str], command: str, given: dict[str, object]
) -> None:
    """Simulators share the loopback of their Mac: what answers at a port need not be what answered there before."""
    router, phone, other = taken
    lab = router.lab
    answer = await router.do(command, expect=None, **given)
    assert answer.ok or (answer.error is not None and answer.error.retryable)
    assert "Sign in" not in str(answer.data)
    acted = {"tap", "session", "orientation", "home", "button"}
    assert not [entry for entry in await lab.journal(other) if entry["kind"] in acted]
    state = await lab.state(other)
    assert (state["front"], state["turned"]) == (PRACTICE, "PORTRAIT")
    await router.open(phone)
    await router.do("press", target="Increment")
    assert await lab.journal(phone, "tap") and not await lab.journal(other, "tap")


async def end_runner(lab: Lab, phone: str) -> None:
    await anyio.run_process([lab.xcrun, "simctl", "terminate", phone, RUNNER])


async def test_an_agent_that_is_started_anew_leaves_the_app_that_is_driven_in_front(
    lab: Lab, router: Rig, phone: str
) -> None:
    """The runner comes up in front of everything else."""
    await router.open(phone)
    await end_runner(lab, phone)
    await router.do("press", target="Increment", expect=None)
    await router.do("press", target="Increment")
    assert (await lab.state(phone))["front"] == PRACTICE and await router.text("Count") in ("1", "2")
    await end_runner(lab, phone)
    assert (await router.do("open", app=PRACTICE)).data["app"] == PRACTICE


async def test_it_brings_back_neither_what_was_left_for_the_home_screen_nor_what_ended(
    lab: Lab, router: Rig, phone: str
) -> None:
    await router.open(phone)
    await router.do("home")
    await end_runner(lab, phone)
    await router.do("appstate", expect=None)
    assert (await router.do("appstate")).data["app"] == HOME
    await router.open(phone)
    await end_runner(lab, phone)
    await anyio.run_process([lab.xcrun, "simctl", "terminate", phone, PRACTICE])
    await router.do("appstate", expect=None)
    assert PRACTICE not in (await lab.state(phone))["running"]


@pytest.mark.parametrize("taken_over", [False, True])
async def test_an_agent_that_was_handed_over_goes_on_unless_another_device_has_its_port(
    lab: Lab, phone: str, tmp_path: Path, taken_over: bool
) -> None:
    port = a_port()
    settings = {"xcrun": lab.xcrun, "ports": [port, port + 20], "devices": False}
    first, second = (AppleBackend(HostServices(str(tmp_path), str(tmp_path), settings)) for _ in range(2))
    env = Environment(variables={})
    (other,) = await lab.start("ipad")
    try:
        (row,) = [device for device in await first.devices(env) if device.id == phone]
        await (await first.connect(row, env)).screen.geometry()  # type: ignore[attr-defined]
        await second.take_up(json.loads(json.dumps(await first.hand_over())))
        if taken_over:
            await end_runner(lab, phone)
            await lab.agent(other, port)
        await lab.journal("mac", clear=True)
        shown = await (await second.connect(row, env)).screen.geometry()  # type: ignore[attr-defined]
        assert shown.viewport.width == 402
        assert len(await programs(lab, "launch", phone)) == taken_over
    finally:
        await second.aclose()
        await first.aclose()
        await lab.stop(other)


@pytest.mark.parametrize("path", ["GET /source", "/elements"])
async def test_an_answer_that_was_only_read_and_lost_is_no_unknown_outcome(
    lab: Lab, router: Rig, phone: str, path: str
) -> None:
    """Nothing can have happened, so nobody has to find out what did."""
    await router.open(phone, "form")
    await lab.fault(phone, "wda_cut", match=path)
    answer = await router.do("press", target="Sign in", expect=None)
    assert answer.ok or (answer.error is not None and answer.error.code == "upstream_unavailable")
    assert answer.ok is bool(await lab.journal(phone, "tap"))
    answer = await router.do("snapshot", expect=None)
    assert answer.ok or (answer.error is not None and (answer.error.retryable, answer.error.code) == RETRY)


# --- a screen that lies on its side, seen by a program that does not turn its pictures ---


@pytest.fixture
async def turned(
    lab: Lab, router: Rig, phone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Rig]:
    """A router that drives by axe what another one has turned."""
    monkeypatch.setenv("PATH", lab.environment["PATH"])
    async with rig(lab, tmp_path / "axe", engine="axe") as by_axe:
        await router.open(phone, "form")
        await router.do("orientation", value="landscape-left")
        await by_axe.do("open", device=phone, app=PRACTICE, expect=None)
        yield by_axe
        await router.do("orientation", value="portrait")


async def test_a_picture_that_is_not_turned_is_no_picture_in_points(turned: Rig, phone: str) -> None:
    """Places in it were given as points of the screen (AXe#5, sim-use#34)."""
    told = await turned.refused("unsupported", "screenshot", device=phone)
    assert "turned" in told["message"]


@pytest.mark.parametrize("fault", [None, "bars_upright"])
async def test_on_its_side_what_the_keyboard_hides_is_not_pressed_through_it(
    lab: Lab, turned: Rig, phone: str, fault: str | None
) -> None:
    """The keyboard may be told where an upright screen has it (sim-use#38)."""
    if fault is not None:
        await lab.fault(phone, fault)
    await turned.do("press", device=phone, target="Name", expect=None)
    await lab.journal(phone, clear=True)
    told = await turned.refused("element_covered", "press", device=phone, target="General", timeoutMs=0)
    assert told["cover"].startswith("keyboard")
    assert not [entry for entry in await lab.journal(phone, "key")]


# --- refusals that say less, or something else, than what happened ---


async def test_a_launch_without_a_process_handle_is_judged_by_what_is_in_front(
    lab: Lab, router: Rig, phone: str
) -> None:
    """NSPOSIX 3: the app may be running all the same."""
    await router.open(phone)
    await lab.fault(phone, "launch_no_handle", times=1)
    answer = await router.do("open", device=phone, app=PRACTICE, new=True)
    assert answer.verified and answer.data["app"] == PRACTICE and answer.data["pid"]


@pytest.mark.parametrize(("fault", "code"), [("locked", "device_not_ready"), ("lost", "device_offline")])
async def test_why_a_device_refused_is_told_from_the_deepest_error(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, code: str
) -> None:
    monkeypatch.setenv("PATH", lab.environment["PATH"])
    (device,) = await lab.start("iphone-device")
    try:
        async with rig(lab, tmp_path / "home", tunnel="ios") as router:
            await router.open(device)
            await lab.fault(device, fault)
            await router.refused(code, "open", device=device, app=PRACTICE, new=True)
            await lab.clear(device)
            await router.open(device)
    finally:
        await lab.stop(device)
