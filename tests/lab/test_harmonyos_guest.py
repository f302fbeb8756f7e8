"""Programs of a HarmonyOS lab device, held against captures: aa, bm, param, hidumper, hilog, films, files."""

from __future__ import annotations

import io
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from anydevice_lab.harmonyos import Lab, write_hap

from .adb import eventually
from .harmony import FIXTURES, PRACTICE, Device, sample

pytestmark = pytest.mark.anyio

SETTINGS = "com.huawei.hmos.settings"
RECORDER = "com.huawei.hmos.screenrecorder"
CAMERA = "ohos.permission.CAMERA"
HOSTILE = ["it's", "$HOME", "`id`", "a\tb", "👍 päivä", "*?[x]", "%s", "", "#x", 'say "hi"', "a;b", "a&b|c", "~"]


@pytest.fixture(scope="module")
async def harmony() -> AsyncIterator[Lab]:
    async with Lab() as running:
        yield running


@pytest.fixture(scope="module")
async def all_devices(harmony: Lab) -> dict[str, Device]:
    kinds = ("phone", "old-phone", "emulator", "board")
    return {kind: Device(harmony, key) for kind, key in zip(kinds, await harmony.start(*kinds), strict=True)}


@pytest.fixture
async def devices(all_devices: dict[str, Device]) -> AsyncIterator[dict[str, Device]]:
    """Devices without faults, awake; they are the same for all tests of a module."""
    yield all_devices
    for device in all_devices.values():
        await device.lab.clear(device.serial)
        await device.lab.set(device.serial, awake=True, locked=False)


@pytest.fixture
async def phone(devices: dict[str, Device]) -> Device:
    return devices["phone"]


def shape(text: str) -> str:
    """A text with its numbers and spaces made equal."""
    return re.sub(r"\s+", " ", re.sub(r"-?\d+", "N", text)).strip()


@pytest.mark.parametrize("text", HOSTILE)
async def test_quoted_text_arrives_byte_for_byte(phone: Device, text: str) -> None:
    quoted = text.replace("'", "'\\''")
    assert await phone.ask(f"shell printf %s '{quoted}'") == text


async def test_a_program_there_is_not_and_files_of_the_device(phone: Device) -> None:
    assert (await phone.run("nosuchprogram"))[0] == 127
    await phone.shell(
        "echo one > /data/local/tmp/f; mkdir -p /data/local/tmp/d; mv /data/local/tmp/f /data/local/tmp/d/g"
    )
    assert await phone.shell("cd /data/local/tmp/d && cat g && ls") == "one\ng\n"
    assert not Path("/data/local/tmp/d").exists(), "nothing of it lies on this host's own path"


# --- aa ---


async def test_starts_and_stops_are_answered_in_the_quoted_words_and_end_with_0(phone: Device) -> None:
    def said(title: str) -> str:
        return sample("aa_results.txt", title).replace("com.example.shop", PRACTICE).strip()

    async def run(line: str) -> str:
        status, text = await phone.run(line)
        assert status == 0, line
        return text.strip()

    assert await run(f"aa force-stop {PRACTICE}") == said("aa force-stop com.example.shop")
    waited = await run(f"aa start -W -a EntryAbility -b {PRACTICE}")
    assert shape(waited) == shape(said("aa start -W")) and "StartMode: Cold" in waited
    assert await run(f"aa start -a EntryAbility -b {PRACTICE}") == said("aa start -a EntryAbility")
    assert await run(f"aa start -a Nothing -b {PRACTICE}") == said("aa start, wrong ability")
    assert await run("aa start -U nosuch://x") == said("aa start -b com.example.shop (implicit)")
    assert await run("aa force-stop com.not.installed") == said("aa force-stop com.not.installed")
    await phone.lab.set(phone.serial, locked=True)
    assert "Error Code:10106102" in await run(f"aa start -a EntryAbility -b {PRACTICE}")


async def test_the_mission_in_front_is_told_beside_one_behind_whose_app_may_still_say_it_is(phone: Device) -> None:
    await phone.shell(f"aa start -a {SETTINGS}.MainAbility -b {SETTINGS}")
    await phone.open("home")
    told = await phone.shell("aa dump -l")
    captured = sample("aa_dump_l.txt")
    blocks = {name: block for block in told.split("Mission ID")[1:] for name in re.findall(r"#\[#([\w.]+):", block)}
    assert re.search(r"^ *state #FOREGROUND", blocks[PRACTICE], re.MULTILINE)
    assert re.search(r"^ *state #BACKGROUND", blocks[SETTINGS], re.MULTILINE)
    assert "app state #FOREGROUND" in blocks[SETTINGS], "as a real one does for a while"
    one, other = (text.split("Mission ID")[1] for text in (told, captured))
    words = [re.sub(r"[#\[].*", "", line).strip() for line in one.splitlines()]
    assert words == [re.sub(r"[#\[].*", "", line).strip() for line in other.splitlines()]


async def test_an_address_opens_its_app(phone: Device) -> None:
    await phone.shell("aa start -U practice://form?x=1")
    assert (await phone.lab.state(phone.serial))["front"].startswith(PRACTICE)
    await phone.shell("aa start -A ohos.want.action.viewData -e entity.system.browsable -U https://example.org/")
    assert (await phone.lab.state(phone.serial))["front"].startswith("com.huawei.hmos.browser")


# --- bm, atm ---


async def test_bundles_are_listed_and_described_as_captured(phone: Device) -> None:
    listed = (await phone.shell("bm dump -a")).splitlines()
    captured = sample("bm_dump_a.txt").splitlines()
    assert listed[0] == captured[0] and all(line.startswith("\t") for line in listed[1:])
    assert f"\t{PRACTICE}" in listed and "\tcom.huawei.hmos.calculator" in listed
    head, _, body = (await phone.shell(f"bm dump -n {PRACTICE}")).partition("\n")
    told, sampled = json.loads(body), json.loads(sample("bm_dump_n.txt").partition("\n")[2])
    assert head == f"{PRACTICE}:" and sampled.keys() <= told.keys()
    assert sampled["hapModuleInfos"][0].keys() <= told["hapModuleInfos"][0].keys()
    ability, other = (one["hapModuleInfos"][0]["abilityInfos"][0] for one in (told, sampled))
    assert ability.keys() == other.keys()
    said = await phone.shell("bm dump -n com.none")
    assert said == "error: failed to get information and the parameters may be wrong.\n"


async def test_main_abilities_are_spelled_in_all_the_captured_ways(phone: Device) -> None:
    for row in json.loads((FIXTURES / "main_ability_spellings.json").read_text()):
        module = json.loads((await phone.shell(f"bm dump -n {row['bundle']}")).partition("\n")[2])["hapModuleInfos"][0]
        assert module["mainAbility"] == row["mainAbility"]
        name = module["abilityInfos"][0]["name"]
        assert name == row["abilityInfos.name"]
        assert "successfully" in await phone.shell(f"aa start -a {name} -b {row['bundle']}")


async def test_clearing_data_ends_an_app_and_its_cache_does_not(phone: Device) -> None:
    await phone.open("form")
    assert "clean bundle cache files successfully" in await phone.shell(f"bm clean -n {PRACTICE} -c")
    assert await phone.shell(f"pidof {PRACTICE}")
    assert "clean bundle data files successfully" in await phone.shell(f"bm clean -n {PRACTICE} -d")
    assert (await phone.run(f"pidof {PRACTICE}"))[0] == 1
    assert await phone.run(f"bm clean -n {SETTINGS} -d") == (0, "error: failed to clean bundle data files.\n")


async def test_packages_that_are_older_broken_or_not_signed_are_refused(
    devices: dict[str, Device], tmp_path: Path
) -> None:
    phone = devices["phone"]
    new, old = (write_hap(tmp_path / f"{code}.hap", "com.example.v", code=code) for code in (2_000_000, 1_000_000))
    broken = tmp_path / "broken.hap"
    broken.write_bytes(b"PK nothing")
    bare = write_hap(tmp_path / "bare.hap", "com.example.bare", signed=False)
    assert "code:9568320" in await phone.ask(f"install {bare}")
    assert "successfully" in await devices["emulator"].ask(f"install {bare}"), "which takes what is not signed"
    for path, expected in ((new, "install bundle successfully"), (old, "code:9568263"), (broken, "parse failed")):
        assert expected in await phone.ask(f"install {path}")
    assert "uninstall system app" in await phone.ask(f"uninstall {SETTINGS}")


async def test_permissions_are_told_everywhere_and_given_on_builds_for_development_alone(
    devices: dict[str, Device],
) -> None:
    phone, board = devices["phone"], devices["board"]
    token = json.loads((await phone.shell(f"bm dump -n {PRACTICE}")).partition("\n")[2])["applicationInfo"]
    said = await phone.shell(f"atm perm -g -i {token['accessTokenId']} -p {CAMERA}")
    assert said == "atm: 'perm' is not a valid atm command. See 'atm help'.\n"
    told = await board.shell(f"atm dump -t -b {PRACTICE}")
    with pytest.raises(json.JSONDecodeError):
        json.loads(told)
    number = re.search(r'"tokenID": (\d+)', told)
    assert number is not None
    pattern = re.compile(rf'"{CAMERA}",\s+"grantStatus": (-?\d)')
    for word, expected in (("-g", "0"), ("-c", "-1")):
        assert await board.shell(f"atm perm {word} -i {number[1]} -p {CAMERA}") == "Success\n"
        assert pattern.findall(await board.shell(f"atm dump -t -b {PRACTICE}")) == [expected]
    assert await board.shell(f"atm perm -g -i {number[1]} -p ohos.permission.NOT_ASKED") == "Failure\n"


# --- what it tells of itself ---


async def test_parameters_are_the_quoted_ones_and_most_cannot_be_set(devices: dict[str, Device]) -> None:
    quoted = json.loads((FIXTURES / "param_get.json").read_text())
    old = devices["old-phone"]
    for name in ("const.product.devicetype", "const.build.characteristics", "const.product.brand"):
        assert (await old.shell(f"param get {name}")).strip() == quoted[name]
    assert (await old.shell("param get const.ohos.apiversion")).strip() == quoted["const.ohos.apiversion"]
    assert (await devices["emulator"].shell("param get const.product.name")).strip() == "emulator"
    assert await devices["phone"].shell("param get const.product.model") == "ALN-AL00 \n", "with a space at its end"
    assert "fail! errNum is:106!" in await old.shell("param get no.such")
    assert "fail! errNum is:115!" in await old.shell("param set const.product.name X")
    assert "success" in await old.shell("param set persist.ace.testmode.enabled 1")


async def test_the_screen_is_told_in_the_spellings_of_old_and_new(devices: dict[str, Device]) -> None:
    told = await devices["emulator"].shell("hidumper -s RenderService -a screen")
    captured = sample("hidumper_screen_6.1.1_emulator.txt")
    assert [line for line in told.splitlines() if line] == [line for line in captured.splitlines() if line]
    old = await devices["old-phone"].shell("hidumper -s RenderService -a screen")
    assert "powerstatus=POWER_STATUS_ON" in old and "render size: 1344x2772" in old and "refreshrate=60" in old
    await devices["old-phone"].lab.set(devices["old-phone"].serial, awake=False)
    assert "powerstatus=POWER_STATUS_OFF" in await devices["old-phone"].shell("hidumper -s RenderService -a screen")


async def test_power_and_windows_are_told_as_captured(phone: Device) -> None:
    told, captured = await phone.shell("hidumper -s 3301 -a -a"), sample("hidumper_power_3301.txt")
    assert shape(told.replace("-", "")) == shape(captured.replace("-", ""))
    await phone.shell("power-shell suspend")
    assert re.search(r"Current State: (INACTIVE|SLEEP)", await phone.shell("hidumper -s 3301 -a -a"))
    assert "isScreenlocked \t\t\t\ttrue" in await phone.shell("hidumper -s ScreenlockService -a -all")
    await phone.shell("power-shell wakeup")
    assert "Current State: AWAKE" in await phone.shell("hidumper -s 3301 -a -a")
    await phone.lab.set(phone.serial, locked=False)
    await phone.open("home")
    told, captured = await phone.shell("hidumper -s WindowManagerService -a '-a'"), sample("hidumper_wms_a.txt")
    heads = [next(line for line in text.splitlines() if line.startswith("WindowName")) for text in (told, captured)]
    assert heads[0].split() == heads[1].split()
    row = re.compile(r"^\S+ +0 +\d+ +\d+ +\d+ +\d+ +\d+ +-?\d+ +\d+ +\[ \d+ +\d+ +\d+ +\d+ +\]$", re.MULTILINE)
    assert len(row.findall(told)) >= 4 and row.findall(captured)
    focus = re.search(r"Focus window: (\d+)", told)
    assert focus is not None and f" {focus[1]} " in told


async def test_processes_and_memory(phone: Device) -> None:
    await phone.open("home")
    pid = (await phone.shell(f"pidof {PRACTICE}")).strip()
    assert re.search(r"VmRSS:\s+\d+ kB", await phone.shell(f"cat /proc/{pid}/status"))
    assert PRACTICE in await phone.shell("ps -ef")
    assert "Total" in await phone.shell(f"hidumper --mem {pid}")
    assert PRACTICE in await phone.shell(f"hidumper --cpuusage {pid}")
    await phone.shell(f"kill -9 {pid}")
    assert (await phone.run(f"pidof {PRACTICE}"))[0] == 1


async def test_log_lines_have_the_documented_shape(phone: Device) -> None:
    await phone.lab.ask("log", serial=phone.serial, text="page shown", tag="com.example.shop/testTag", pid=2571)
    plain, _, epoch = sample("hilog_lines.txt").splitlines()
    line = (await phone.shell("hilog -x -P 2571")).strip()
    assert re.sub(r"\d", "9", line) == re.sub(r"\d", "9", plain)
    line = (await phone.shell("hilog -x -v epoch -P 2571")).strip()
    assert re.sub(r"\d", "9", line) == re.sub(r"\d", "9", epoch)
    await phone.shell("hilog -r")
    assert await phone.shell("hilog -x -P 2571") == ""


async def test_a_crash_is_kept_as_a_file_and_told(phone: Device) -> None:
    await phone.open("busy")
    await phone.tap("busy.crash")

    async def kept() -> str:
        return await phone.shell("ls /data/log/faultlog/faultlogger")

    name = (await eventually(kept)).split()[0]
    assert name.startswith(f"jscrash-{PRACTICE}-")
    assert f"Module name:{PRACTICE}" in await phone.shell("hidumper -e")


# --- pictures and films ---


async def test_pictures_come_in_the_format_of_their_name(devices: dict[str, Device]) -> None:
    from PIL import Image

    phone = devices["phone"]
    await phone.open("home")
    files = (await phone.lab.devices())[0]["root"]
    for kind, path in (("jpeg", "/data/local/tmp/a.jpeg"), ("png", "/data/local/tmp/a.png")):
        assert "success: snapshot display 0" in await phone.shell(f"snapshot_display -f {path} -t {kind}")
        with Image.open(io.BytesIO(Path(files + path).read_bytes())) as picture:
            assert (picture.format, picture.size) == (kind.upper(), (1260, 2720))
    old = devices["old-phone"]
    for device, words, status, said in (
        (phone, "-f /data/local/tmp/a.jpg -t png", 255, "invalid, suffix must be .png\n"),
        (phone, "-f /data/local/tmp/a.png", 255, "invalid, suffix must be .jpeg\n"),
        (phone, "-f /data/log/a.jpeg", 255, "must dump at dir: /data/local/tmp\n"),
        (phone, "-i 7", 255, "error: displayId 7 invalid!\n"),
        (old, "-f /data/local/tmp/a.png", 0, "invalid, suffix must be .jpeg\n"),
        (old, "-f /data/local/tmp/a.png -t png", 0, "usage: snapshot_display"),
    ):
        code, text = await device.run(f"snapshot_display {words}")
        assert code == status and said in text, (words, code, text)
    told = await old.shell("snapshot_display -f /data/local/tmp/a.jpeg -w 672 -h 1386")
    assert told.startswith("process: display 0: width 1344, height 2772\n")
    assert told.endswith("write to /data/local/tmp/a.jpeg as jpeg, width 672, height 1386\n")
    await phone.lab.fault(phone.serial, "screen_empty", times=1)
    await phone.shell("snapshot_display -f /data/local/tmp/e.jpeg")
    assert await phone.shell("wc -c < /data/local/tmp/e.jpeg") == "0\n"


async def test_the_recorder_is_switched_on_and_off_by_the_same_call(devices: dict[str, Device]) -> None:
    phone = devices["phone"]
    toggle = f"aa start -b {RECORDER} -a {RECORDER}.ServiceExtAbility --ps CustomizedFileName film.mp4"
    assert await phone.shell("mediatool query film.mp4 -u") == "find 0 result\n"
    assert "The displayName format is not correct!" in await phone.shell("mediatool query film")
    await phone.shell(toggle)
    assert (await phone.lab.state(phone.serial))["recording"] == "film.mp4"
    await phone.open("form")
    await phone.shell(toggle)
    assert not (await phone.lab.state(phone.serial))["recording"]

    async def known() -> list[str]:
        return re.findall(r'"(file://.*)"', await phone.shell("mediatool query film.mp4 -u"))

    [uri] = await eventually(known)
    found = await phone.shell("mediatool query film.mp4")
    path = found.splitlines()[2]
    assert found.startswith("find 1 result:\npath\n") and (await phone.run(f"cat {path}"))[0] == 1
    sizes: list[str] = []

    async def stable() -> bool:
        said = await phone.shell(f"mediatool recv '{uri}' /data/local/tmp")
        assert said == "Table Name: Photos\n/data/local/tmp/film.mp4\n"
        sizes.append(await phone.shell("wc -c < /data/local/tmp/film.mp4"))
        return len(await phone.journal("film")) == 1

    await eventually(stable)
    assert int(sizes[-1]) > 1000
    assert "success" in await phone.shell(f"mediatool delete '{uri}'")
    assert await phone.shell("mediatool query film.mp4 -u") == "find 0 result\n"
    said = await devices["emulator"].shell(toggle)
    assert "10104002" in said, "an emulator has no recorder"
