"""Opening, closing, installing and links: told as done where it was seen, and with the device's reason where not."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from anydevice_harmonyos.apps import _parameters
from anydevice_harmonyos.reading.bundles import cleaned
from anydevice_lab.harmonyos import Lab
from anydevice_schemas.errors import InvalidArgument

from .rig import PRACTICE, Rig, lines

pytestmark = pytest.mark.anyio
SETTINGS = "com.huawei.hmos.settings"


def hap(path: Path, bundle: str = "com.example.fresh") -> str:
    """A package that says what it holds."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("module.json", json.dumps({"app": {"bundleName": bundle}, "module": {"name": "entry"}}))
    return str(path)


# --- opening ---


async def test_an_app_is_started_by_the_ability_its_package_names_and_seen_in_front(
    lab: Lab, router: Rig, phone: str
) -> None:
    answer = await router.do("open", device=phone, app=SETTINGS)
    assert answer.verified and answer.data["location"] == f"{SETTINGS}/{SETTINGS}.MainAbility"
    started = [line for line in await lines(lab, phone) if "aa start" in line]
    assert all(f"-a {SETTINGS}.MainAbility -b {SETTINGS}" in line for line in started)
    assert not (await lab.state(phone))["chooser"]


async def test_a_link_nothing_opens_leaves_no_question_on_the_screen(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await router.do("open", device=phone, url="nosuch://x", expect="app_not_found")
    assert not (await lab.state(phone))["chooser"]
    assert (await lab.state(phone))["practice"]


async def test_an_app_or_ability_that_is_not_there_is_told_with_the_nearest(lab: Lab, router: Rig, phone: str) -> None:
    answer = await router.do("open", device=phone, app="com.huawei.hmos.setings", expect="app_not_found")
    assert answer.error is not None and SETTINGS in answer.error.details["nearest_matches"]
    await router.do("open", device=phone, app=f"{SETTINGS}/NoSuchAbility", expect="app_not_found")
    for odd in ("; reboot", "com.a b", "$(id)", "-x"):
        await router.do("open", device=phone, app=odd, expect="app_not_found")
    assert not (await lab.state(phone))["chooser"]


async def test_a_start_that_says_it_succeeded_and_did_not_is_told(lab: Lab, router: Rig, phone: str) -> None:
    await lab.fault(phone, "open_crashes", times=1)
    await router.do("open", device=phone, app=PRACTICE, new=True, expect="app_crashed")
    await lab.set(phone, locked=True)
    await router.do("open", device=phone, app=PRACTICE, new=True, expect="device_not_ready")
    await lab.set(phone, locked=False, awake=False)
    await router.do("open", device=phone, app=PRACTICE, new=True, expect="device_not_ready")


async def test_a_background_mission_whose_process_is_in_front_is_not_taken_for_it(
    lab: Lab, router: Rig, phone: str
) -> None:
    await router.open(phone)
    await router.do("open", device=phone, app=SETTINGS)
    assert (await router.do("appstate", device=phone)).data["app"] == SETTINGS


def test_launch_arguments_are_parameters_by_name() -> None:
    assert _parameters(["--screen", "form", "--fresh", "--token=a b"]) == [
        "--ps", "screen", "form", "--pb", "fresh", "true", "--ps", "token", "a b",
    ]  # fmt: skip
    for wrong in (["form"], ["-s", "form"], ["--"]):
        with pytest.raises(InvalidArgument):
            _parameters(wrong)


# --- closing ---


async def test_a_stop_that_says_it_succeeded_and_did_not_is_told(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await lab.fault(phone, "close_ignored")
    await router.do("close", device=phone, app=PRACTICE, expect="action_unverified")
    await lab.clear(phone)
    assert (await router.do("close", device=phone, app=PRACTICE)).verified
    await router.do("close", device=phone, app="com.not.there", expect="app_not_found")


# --- packages ---


async def test_a_package_is_installed_listed_and_removed(lab: Lab, router: Rig, phone: str, tmp_path: Path) -> None:
    package = hap(tmp_path / "fresh one.hap")
    answer = await router.do("install", device=phone, path=package)
    assert answer.verified and answer.data["app"] == "com.example.fresh"
    assert "com.example.fresh" in (await lab.state(phone))["packages"]
    asked = await router.do("uninstall", device=phone, app="com.example.fresh", expect="confirmation_required")
    assert asked.error is not None
    token = asked.error.details["token"]
    assert (await router.do("uninstall", device=phone, app="com.example.fresh", confirmToken=token)).verified
    assert "com.example.fresh" not in (await lab.state(phone))["packages"]


async def test_a_refused_install_is_told_though_hdc_ends_it_as_a_good_one(
    lab: Lab, router: Rig, phone: str, tmp_path: Path
) -> None:
    package = hap(tmp_path / "a.hap", "com.example.other")
    said = "error: failed to install bundle. code:9568320 error: no signature file."
    await lab.fault(phone, "install", text=said, times=1)
    answer = await router.do("install", device=phone, path=package, expect="refused")
    assert answer.error is not None
    assert answer.error.details["code"] == "9568320" and "sign" in answer.error.hint.casefold()
    assert "no signature file" in answer.error.details["said"]
    await lab.fault(phone, "install", text="install bundle successfully.", times=1)
    await router.do("install", device=phone, path=package, expect="action_unverified")


async def test_what_is_no_package_is_refused_before_anything_is_sent(
    lab: Lab, router: Rig, phone: str, tmp_path: Path
) -> None:
    (tmp_path / "no.hap").write_bytes(b"no zip")
    await lab.heard(clear=True)
    await router.do("install", device=phone, path=str(tmp_path / "no.hap"), expect="invalid_argument")
    await router.do("install", device=phone, path=str(tmp_path / "gone.hap"), expect="path_not_found")
    assert not [line for line in await lines(lab, phone) if line.startswith("install")]


# --- what there is not ---


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("clipboard", {"action": "read"}),
        ("clipboard", {"action": "write", "text": "x"}),
        ("push", {"app": PRACTICE, "payload": {}}),
        ("network", {}),
        ("audio", {"action": "start"}),
        ("tv-remote", {"button": "up"}),
        ("settings", {"area": "appearance", "value": "dark"}),
        ("settings", {"area": "permission", "value": "grant", "app": PRACTICE, "name": "camera"}),
        ("boot", {}),
        ("shutdown", {}),
    ],
)
async def test_what_a_phone_does_not_let_tools_do_is_unsupported_and_never_a_hollow_success(
    router: Rig, phone: str, command: str, arguments: dict[str, object]
) -> None:
    await router.do(command, device=phone, **arguments, expect="unsupported")


# --- what an app has stored ---


async def test_what_an_app_has_stored_is_cleared_of_that_app_on_that_device_only(
    lab: Lab, router: Rig, phone: str
) -> None:
    (tv,) = await lab.start("tv")
    for device in (phone, tv):
        await router.open(device)
    given = {"area": "app-data", "value": "clear", "app": PRACTICE}
    asked = await router.do("settings", device=phone, **given, expect="confirmation_required")
    assert asked.error is not None
    assert [e for e in await lab.journal(phone) if e["kind"] == "clean"] == []
    answer = await router.do("settings", device=phone, **given, confirmToken=asked.error.details["token"])
    assert (answer.verified, answer.method) == (False, "bundle-manager")
    (cleaned,) = [e for e in await lab.journal(phone) if e["kind"] == "clean"]
    assert (cleaned["bundle"], cleaned["what"]) == (PRACTICE, "data")
    assert [e for e in await lab.journal(tv) if e["kind"] == "clean"] == []
    running = {row["id"]: row["running"] for row in (await router.do("apps", device=phone)).data["apps"]}
    assert running[PRACTICE] is False, "it is installed still, and ended"
    assert (await router.do("settings", device=tv)).data["settings"] == {}
    asked = await router.do("settings", device=tv, **given, expect="confirmation_required")
    assert asked.error is not None
    await router.do("settings", device=tv, **given, confirmToken=asked.error.details["token"])
    assert [e["bundle"] for e in await lab.journal(tv) if e["kind"] == "clean"] == [PRACTICE]
    await lab.stop(tv)


async def test_data_that_the_device_keeps_are_not_said_to_be_cleared(lab: Lab, router: Rig, phone: str) -> None:
    given = {"area": "app-data", "value": "clear"}
    for app, code in ((SETTINGS, "refused"), ("com.example.nobody", "app_not_found")):
        asked = await router.do("settings", device=phone, **given, app=app, expect="confirmation_required")
        assert asked.error is not None
        token = asked.error.details["token"]
        await router.do("settings", device=phone, **given, app=app, confirmToken=token, expect=code)
    assert [e for e in await lab.journal(phone) if e["kind"] == "clean"] == []


def test_what_the_bundle_manager_says_of_clearing_is_read_as_a_line_of_its_own() -> None:
    assert cleaned("clean bundle data files successfully.\r\n")
    for text in ("", "error: failed to clean bundle data files.\n", "clean bundle cache files successfully.\n"):
        assert not cleaned(text)
    assert not cleaned("error: x clean bundle data files successfully.")
