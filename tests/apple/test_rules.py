"""Which simulator a call means, in which state it has to be, and what is looked at before anything is run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from anydevice.kit.movies import inspect
from anydevice_lab.apple import Lab

from .rig import PRACTICE, Rig, programs, rig

pytestmark = pytest.mark.anyio


@pytest.fixture
async def mac(tmp_path: Path) -> AsyncIterator[tuple[Lab, Rig, str]]:
    """A Mac of its own with one iPhone, for tests that change which devices there are, or in which state."""
    async with Lab() as lab, rig(lab, tmp_path / "home") as router:
        (phone,) = await lab.start("iphone")
        yield lab, router, phone


# --- which one ---


async def test_the_only_booted_simulator_is_meant_when_none_is_named(mac: tuple[Lab, Rig, str]) -> None:
    lab, router, phone = mac
    (off,) = await lab.start("iphone-off")
    answer = await router.do("open", app=PRACTICE)
    assert answer.device is not None and answer.device.id == phone
    assert answer.device.name == "iPhone 17"
    assert (await router.device(off))["state"] == "shutdown"


async def test_none_booted_and_several_booted_say_how_to_choose(mac: tuple[Lab, Rig, str]) -> None:
    lab, router, phone = mac
    (other,) = await lab.start("ipad")
    told = await router.refused("ambiguous_device", "open", app=PRACTICE)
    assert {row["id"] for row in told["candidates"]} == {phone, other} and told["hint"]
    await router.do("shutdown", device=phone)
    await router.do("shutdown", device=other)
    router.router.services.backends.forget("apple")
    told = await router.refused("device_not_found", "open", app=PRACTICE)
    assert "boot" in told["hint"] and {row["id"] for row in told["unusable"]} == {phone, other}


async def test_a_name_means_the_booted_one_of_those_that_share_it(mac: tuple[Lab, Rig, str]) -> None:
    lab, router, phone = mac
    twin, gone = await lab.start("iphone-ios18", "iphone-lost-runtime")  # all are called iPhone 17
    answer = await router.do("open", app=PRACTICE, device="IPHONE 17")
    assert answer.device is not None and answer.device.id == phone
    assert gone in [row["id"] for row in await router.devices()]  # it is shown, and never chosen
    await router.do("shutdown", device=phone)
    told = await router.refused("ambiguous_device", "boot", device="iPhone 17")
    assert {row["id"] for row in told["candidates"]} >= {phone, twin}
    assert gone not in {row["id"] for row in told["candidates"]}


async def test_an_unavailable_one_is_shown_with_what_to_do_and_never_driven(mac: tuple[Lab, Rig, str]) -> None:
    lab, router, _ = mac
    (away,) = await lab.start("iphone-unavailable")
    row = await router.device(away)
    assert row["state"] == "unavailable" and "Components" in row["fix"] and row["reason"]
    told = await router.refused("device_not_found", "open", app=PRACTICE, device=away)
    assert told["unusable"][0]["state"] == "unavailable"
    assert not await programs(lab, away)


async def test_every_program_is_told_the_udid_and_never_booted(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await router.do("press", target="Increment")
    await router.do("screenshot")
    ran = [words for words in await programs(lab, "simctl") if words[2] not in ("list", "help")]
    assert ran and all(phone in words and "booted" not in words for words in ran)


async def test_watches_are_not_listed(mac: tuple[Lab, Rig, str]) -> None:
    lab, router, _ = mac
    (watch, other) = await lab.start("watch", "watch-device")
    assert not {watch, other} & {row["id"] for row in await router.devices()}


@pytest.mark.parametrize("command", ["boot", "shutdown", "erase"])
async def test_what_would_be_dangerous_to_guess_needs_a_device(router: Rig, phone: str, command: str) -> None:
    told = await router.refused("invalid_argument", command)
    assert "device" in str(told)


# --- in which state ---


async def test_erase_is_for_what_is_shut_down_and_a_word_is_asked_for(mac: tuple[Lab, Rig, str]) -> None:
    lab, router, phone = mac
    (off,) = await lab.start("iphone-off")
    token = (await router.refused("confirmation_required", "erase", device=phone))["token"]
    told = await router.refused("device_not_ready", "erase", device=phone, confirmToken=token)
    assert told["state"] == "ready" and "shutdown" in told["hint"]
    assert not await programs(lab, "erase")
    token = (await router.refused("confirmation_required", "erase", device=off))["token"]
    answer = await router.do("erase", device=off, confirmToken=token)
    assert answer.verified is False or answer.data["state"] == "shutdown"
    assert await lab.journal(off, "erase") and (await router.device(off))["state"] == "shutdown"


async def test_everything_else_is_for_what_is_booted(mac: tuple[Lab, Rig, str]) -> None:
    lab, router, _ = mac
    (off,) = await lab.start("iphone-off")
    for command, more in {
        "open": {"app": PRACTICE}, "apps": {}, "snapshot": {}, "screenshot": {}, "clipboard": {"action": "read"},
        "logs": {}, "settings": {"area": "appearance"}, "push": {"app": PRACTICE, "payload": {}},
    }.items():  # fmt: skip
        told = await router.refused("device_not_ready", command, device=off, **more)
        assert told["state"] == "shutdown" and "boot" in told["hint"]
    assert not await programs(lab, off)


async def test_a_boot_waits_until_the_system_is_up_and_knows_one_that_is(mac: tuple[Lab, Rig, str]) -> None:
    lab, router, _ = mac
    (off,) = await lab.start("iphone-off")
    await lab.fault(off, "boot_slow", seconds=0.5)
    assert (await router.do("boot", device=off)).data["state"] == "ready"
    (words,) = await programs(lab, "bootstatus")
    assert words[-1] == "-b"  # without it one that was never booted is waited for without end
    assert (await router.do("boot", device=off)).data["alreadyRunning"] is True


async def test_one_that_is_shutting_down_is_waited_for_and_booted(mac: tuple[Lab, Rig, str]) -> None:
    lab, router, _ = mac
    (other,) = await lab.start("iphone")
    await lab.fault(other, "shutdown_slow", seconds=1.0)
    driver = await router.driver(other)
    again = await router.driver(other)
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: driver.power.shutdown(deadline=20.0))  # type: ignore[attr-defined]
        with anyio.fail_after(10):
            while (await lab.state(other))["state"] != "Shutting Down":
                await anyio.sleep(0.02)
        await again.power.boot(headless=None, deadline=30.0)  # type: ignore[attr-defined]
        group.cancel_scope.cancel()
    assert (await lab.state(other))["state"] == "Booted"


# --- looked at before ---


async def test_what_is_no_file_is_said_before_anything_is_run(
    lab: Lab, router: Rig, phone: str, tmp_path: Path
) -> None:
    await router.do("open", device=phone)
    await lab.journal("mac", clear=True)
    for command in ("install", "add-media"):
        await router.refused("path_not_found", command, device=phone, path="nothing.app", cwd=tmp_path)
    assert not await programs(lab, "install") and not await programs(lab, "addmedia")


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("no scheme", "invalid_argument"), ("www.example.org", "invalid_argument"),
        ("javascript:alert(1)", "refused"), ("file:///etc/passwd", "refused"),
    ],
)  # fmt: skip
async def test_what_is_no_address_with_a_scheme_is_refused(
    lab: Lab, router: Rig, phone: str, url: str, code: str
) -> None:
    await router.refused(code, "open", device=phone, url=url)
    assert not await programs(lab, "openurl")


async def test_an_app_that_is_not_installed_is_not_uninstalled(lab: Lab, router: Rig, phone: str) -> None:
    token = (await router.refused("confirmation_required", "uninstall", device=phone, app="com.example.none"))["token"]
    told = await router.refused("app_not_found", "uninstall", device=phone, app="com.example.none", confirmToken=token)
    assert "nearest_matches" in told
    assert not await programs(lab, "uninstall")  # which would say that it worked


async def test_an_app_that_is_not_there_is_told_from_one_that_does_not_start(lab: Lab, router: Rig, phone: str) -> None:
    await router.refused("app_not_found", "open", device=phone, app="com.example.none")
    told = await router.refused("app_not_found", "open", device=phone, app="dev.anydevice.practise")
    assert PRACTICE in told["nearest_matches"]
    await router.open(phone)
    await lab.fault(phone, "launch_denied")
    await router.refused("permission_missing", "open", device=phone, app=PRACTICE)


async def test_text_that_cannot_be_typed_is_refused_whole(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await router.do("press", target="Name")
    told = await router.refused("invalid_argument", "type", text="good\x07bad")
    assert told["param"] == "text"
    assert await router.text("Name") == ""


# --- points, labels, recordings ---


async def test_pictures_are_in_points_and_in_pixels_when_they_are_asked_for(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    shot = await router.do("screenshot")
    assert (shot.data["width"], shot.data["height"], shot.data["unit"]) == (402, 874, "points")
    whole = await router.do("screenshot", unit="pixels")
    assert (whole.data["width"], whole.data["height"], whole.data["scale"]) == (1206, 2622, 3)
    assert "divide by 3" in whole.data["unit"]


async def test_a_place_in_pixels_is_refused(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    told = await router.refused("invalid_argument", "press", x=600, y=1300)
    assert "points" in told["message"]
    assert not await lab.journal(phone, "tap")


async def test_candidates_are_numbered_and_an_index_chooses(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    told = await router.refused("ambiguous_element", "press", target="Delete")
    assert len(told["candidates"]) == 2
    await router.do("press", target="label=Delete index=1")
    told = await router.refused("element_not_found", "press", target="Nothing of the kind", timeoutMs=0)
    assert told["on_screen"]
    await router.do("press", target="sign in")  # and not "Sign in with Apple"


async def test_recordings_are_one_a_device_and_whole_when_the_router_ends(lab: Lab, phone: str, tmp_path: Path) -> None:
    async with rig(lab, tmp_path / "home") as first:
        await first.open(phone)
        await first.do("record", action="start")
        told = await first.refused("refused", "record", action="start")
        assert told["reason"] == "one recording a device"
    began, ended = await lab.journal(phone, "recording")
    assert (began["running"], ended["running"]) == (True, False)
    (film,) = (film for film in (tmp_path / "home").rglob("*") if film.suffix in (".mp4", ".mov"))
    assert inspect(film).frames  # without its index, or with 0 bytes, it is no film
    async with rig(lab, tmp_path / "home2") as second:
        await second.open(phone)
        await second.do("record", action="start")
        await second.do("press", target="Increment")
        done = await second.do("record", action="stop")
        assert done.data["engine"] == "simctl" or done.method == "simctl"
        await second.refused("action_unverified", "record", action="stop")


async def test_answers_name_their_engine(lab: Lab, router: Rig, phone: str) -> None:
    assert (await router.do("open", device=phone, app=PRACTICE)).data["engine"] == "wda"
    assert (await router.do("press", target="Increment")).data["engine"] == "wda"
    assert (await router.do("home")).data["engine"] == "wda"
