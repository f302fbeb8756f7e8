"""`axe` and `idb` of the Apple lab: trees in the shape of captures, errors, a touch layer with a size of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .apple import PRACTICE, Mac, fixture

pytestmark = pytest.mark.anyio
TEXTS = {"AXLabel", "AXValue", "AXUniqueId", "subrole"}
"""Keys that have a text or nothing, whatever the screen of the capture had."""


async def _open(mac: Mac, udid: str, screen: str) -> None:
    await mac.done("launch", "--terminate-running-process", udid, PRACTICE, "--screen", screen)


async def _axe(mac: Mac, *words: str, stdin: bytes = b"") -> str:
    result = await mac.run("axe", *words, stdin=stdin)
    assert result.code == 0, (words, result.complaint)
    return result.text


async def _rows(mac: Mac, udid: str) -> list[dict[str, Any]]:
    return _flat(json.loads(await _axe(mac, "describe-ui", "--udid", udid)))


def _flat(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for row in rows for one in (row, *_flat(row.get("children", [])))]


def _middle(row: dict[str, Any]) -> tuple[float, float]:
    frame = row["frame"]
    return frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2


async def _count(mac: Mac, udid: str) -> str:
    row = next(row for row in await _rows(mac, udid) if row["AXUniqueId"] == "home.count")
    return str(row["AXValue"])


async def test_the_tree_has_the_keys_and_kinds_of_a_capture(mac: Mac, udid: str) -> None:
    kinds: dict[str, set[str]] = {}
    for entry in fixture("axe_describe_ui_schema_xcode-26.5-17F42.json"):
        name = entry["path"].rpartition(".")[2]
        kinds.setdefault(name, set()).update(entry["type"].split("|"))
    await _open(mac, udid, "form")
    rows = await _rows(mac, udid)
    words = {"str": "string", "NoneType": "null", "bool": "boolean", "int": "number", "float": "number",
             "list": "array", "dict": "object"}  # fmt: skip
    for row in rows:
        for key, value in row.items():
            kind = words[type(value).__name__]
            assert kind in kinds[key] | {"null"} | ({"string"} if key in TEXTS else set()), (key, value, kinds[key])
    assert rows[0].keys() == _flat(fixture("ax_describe_all_nested_settings_ja.json"))[0].keys()
    by_id = {row["AXUniqueId"]: row for row in rows}
    assert (by_id["form.wifi"]["role"], by_id["form.wifi"]["AXValue"]) == ("AXCheckBox", "0")
    assert by_id["form.password"]["subrole"] == "AXSecureTextField"
    assert by_id["form.submit"]["enabled"] is False
    # The status bar belongs to another process.
    assert len({row["pid"] for row in rows}) == 2


async def test_a_row_of_a_list_is_one_thing_and_what_is_out_of_sight_is_not_told(mac: Mac, udid: str) -> None:
    await _open(mac, udid, "list")
    rows = [row for row in await _rows(mac, udid) if str(row["AXUniqueId"]).startswith("row.")]
    assert all(row["children"] == [] and row["AXLabel"] for row in rows) and len(rows) < 40


async def test_the_keyboard_lies_beside_the_app_with_suggestions_above_its_keys(mac: Mac, udid: str) -> None:
    await _open(mac, udid, "form")
    await _axe(mac, "tap", "--id", "form.name", "--udid", udid)
    top = json.loads(await _axe(mac, "describe-ui", "--udid", udid))[0]
    real = fixture("ax_keyboard_qwerty.json")["data"]["raw"]
    places = []
    for rows in (top["children"], (json.loads(real) if isinstance(real, str) else real)[0]["children"]):
        wide = [
            row
            for row in rows
            if row["type"] == "GenericElement" and not row["AXLabel"] and row["frame"]["width"] == 402
        ]
        board = max(wide, key=lambda row: row["frame"]["y"])
        suggested = [row for row in rows if row["type"] == "GenericElement" and row["AXLabel"] in ("I", "The")]
        key = next(row for row in rows if str(row["AXLabel"]).lower() == "q")
        edge = board["frame"]["y"]
        assert all(row["frame"]["y"] + row["frame"]["height"] == pytest.approx(edge) for row in suggested) and suggested
        assert key["frame"]["y"] >= edge and key["type"] == "Button" and key["role"] == "AXButton"
        assert board["frame"]["y"] + board["frame"]["height"] == pytest.approx(874)
        places.append(edge)
    assert places[0] == pytest.approx(places[1], abs=5)
    # A tap on what the keyboard covers is a key's.
    below = next(row for row in _flat([top]) if row["AXUniqueId"] == "form.delete-2")
    x, y = _middle(below)
    assert y > places[0]
    await _axe(mac, "tap", "-x", str(x), "-y", str(y), "--udid", udid)
    assert [row["AXValue"] for row in await _rows(mac, udid) if row["AXUniqueId"] == "form.name"] != ["Name"]


async def test_wrong_words_are_told_as_the_real_program_tells_them(mac: Mac, udid: str) -> None:
    for entry in fixture("axe_cli_errors.json"):
        words = entry["argv"][0].split()[1:]
        stdin = "\U0001f4a5".encode() if "--stdin" in words else b""
        result = await mac.run("axe", *words, stdin=stdin)
        assert (result.code, result.text, result.complaint) == (entry["exit"], entry["stdout"], entry["stderr"]), words
    nobody = await mac.run("axe", "describe-ui", "--udid", "nobody")
    assert nobody.code == 1 and nobody.complaint.startswith("Error: No simulator with UDID nobody was found.")
    nothing = await mac.run("axe", "tap", "--label", "Nothing", "--udid", udid)
    assert nothing.code == 1 and "No accessibility element matched --label 'Nothing'" in nothing.complaint
    await _open(mac, udid, "form")
    twice = await mac.run("axe", "tap", "--label", "Delete", "--udid", udid)
    assert twice.code == 1 and "Multiple (2)" in twice.complaint


async def test_hands_of_axe_press_type_and_drag(mac: Mac, udid: str) -> None:
    await _open(mac, udid, "home")
    await _axe(mac, "tap", "--id", "home.increment", "--udid", udid)
    assert await _count(mac, udid) == "1"
    await _open(mac, udid, "form")
    await _axe(mac, "tap", "--label", "Name", "--element-type", "TextField", "--wait-timeout", "2", "--udid", udid)
    await _axe(mac, "type", "--stdin", "--udid", udid, stdin=b"Ada L.")
    await _axe(mac, "key", "42", "--udid", udid)
    value = [row["AXValue"] for row in await _rows(mac, udid) if row["AXUniqueId"] == "form.name"]
    assert value == ["Ada L"]
    await _open(mac, udid, "list")
    await _axe(mac, "swipe", "--start-x", "200", "--start-y", "700", "--end-x", "200", "--end-y", "200", "--udid", udid)
    assert "row.0" not in [row["AXUniqueId"] for row in await _rows(mac, udid)]
    await _axe(mac, "button", "home", "--udid", udid)
    assert (await mac.lab.state(udid))["front"] == "com.apple.springboard"
    await _axe(mac, "button", "lock", "--udid", udid)
    assert (await mac.lab.state(udid))["locked"] is True
    await _axe(mac, "button", "lock", "--udid", udid)


async def test_a_finger_stays_down_between_two_calls_and_buttons_have_names(mac: Mac, udid: str) -> None:
    await _open(mac, udid, "home")
    row = next(row for row in await _rows(mac, udid) if row["AXUniqueId"] == "home.increment")
    place = [word for name, at in zip(("-x", "-y"), _middle(row), strict=True) for word in (name, str(at))]
    await _axe(mac, "touch", *place, "--down", "--udid", udid)
    assert await _count(mac, udid) == "0"
    await _axe(mac, "touch", *place, "--up", "--udid", udid)
    assert await _count(mac, udid) == "1"
    assert (await mac.run("axe", "touch", *place, "--down", "--delay", "1", "--udid", udid)).code == 64
    for words in (("axe", "button", "side-button"), ("idb", "ui", "button", "SIDE_BUTTON")):
        assert (await mac.run(*words, "--udid", udid)).code == 0
    state = await mac.lab.state(udid)
    assert (state["locked"], state["awake"]) == (False, True)
    assert (await mac.run("idb", "ui", "button", "VOLUME", "--udid", udid)).code == 2
    pressed = [entry["name"] for entry in await mac.lab.journal(udid, "button")]
    assert pressed[-2:] == ["side-button", "side-button"]


async def test_what_is_below_a_point_and_a_picture(mac: Mac, udid: str, tmp_path: Path) -> None:
    await _open(mac, udid, "home")
    row = next(row for row in await _rows(mac, udid) if row["AXUniqueId"] == "home.form")
    x, y = _middle(row)
    found = json.loads(await _axe(mac, "describe-ui", "--udid", udid, "--point", f"{x:g},{y:g}"))
    assert [one["AXUniqueId"] for one in found] == ["home.form"]
    await _axe(mac, "screenshot", "--output", str(tmp_path / "a.png"), "--udid", udid)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert udid in await _axe(mac, "list-simulators")
    assert (await mac.run("axe", "--version")).text == "1.8.0\n"


async def test_a_model_that_is_scaled_down_takes_touches_in_another_size(mac: Mac) -> None:
    mini = (await mac.lab.start("iphone-mini"))[0]
    await _open(mac, mini, "home")
    row = next(row for row in await _rows(mac, mini) if row["AXUniqueId"] == "home.form")
    x, y = _middle(row)
    await _axe(mac, "tap", "-x", str(x), "-y", str(y + 15), "--udid", mini)
    tapped = (await mac.lab.journal(mini, "tap"))[-1]
    assert (tapped["x"], tapped["y"]) != pytest.approx((x * 3, (y + 15) * 3), abs=3)
    hid = (x * 360 / 375, y * 780 / 812)
    await _open(mac, mini, "home")
    await _axe(mac, "tap", "-x", str(hid[0]), "-y", str(hid[1]), "--udid", mini)
    assert "form.name" in [row["AXUniqueId"] for row in await _rows(mac, mini)]
    await mac.lab.stop(mini)


async def test_touches_can_be_taken_upright_on_a_device_that_lies_on_its_side(mac: Mac, udid: str) -> None:
    await _open(mac, udid, "home")
    await mac.lab.set(udid, rotation=1)
    row = next(row for row in await _rows(mac, udid) if row["AXUniqueId"] == "home.increment")
    x, y = _middle(row)
    await mac.lab.fault(udid, "hid_unturned", times=1)
    await _axe(mac, "tap", "-x", str(x), "-y", str(y), "--udid", udid)
    assert await _count(mac, udid) == "0"
    await _axe(mac, "tap", "-x", str(x), "-y", str(y), "--udid", udid)
    assert await _count(mac, udid) == "1"


@pytest.mark.parametrize("rotation", [1, 3])
async def test_the_keyboard_can_be_told_where_the_upright_display_has_it(mac: Mac, udid: str, rotation: int) -> None:
    await _open(mac, udid, "form")
    await mac.lab.set(udid, rotation=rotation)
    await _axe(mac, "tap", "--id", "form.name", "--udid", udid)
    boards = []
    for fault in (False, True):
        if fault:
            await mac.lab.fault(udid, "bars_upright", times=1)
        rows = await _rows(mac, udid)
        boards.append(next(row["frame"] for row in rows if row["type"] == "GenericElement" and not row["AXLabel"]))
        assert rows[0]["frame"]["width"] == 874  # the app is told as it is turned
    turned, upright = boards
    assert turned["width"] == 874 and turned["y"] + turned["height"] == pytest.approx(402)
    assert (upright["width"], upright["height"]) == (turned["height"], 874)
    assert upright["x"] == pytest.approx(0 if rotation == 1 else turned["y"])


async def test_input_can_be_accepted_without_effect_and_the_tree_be_one_node(mac: Mac, udid: str) -> None:
    await _open(mac, udid, "home")
    await mac.lab.fault(udid, "hid_ignored")
    said = await _axe(mac, "tap", "--id", "home.increment", "--udid", udid)
    assert "completed successfully" in said and await _count(mac, udid) == "0"
    await mac.lab.fault(udid, "tree_one_node", times=2)
    assert len(await _rows(mac, udid)) == 1
    assert len(json.loads((await mac.run("idb", "ui", "describe-all", "--json", "--udid", udid)).text)) == 1


async def test_idb_tells_the_same_tree_flat(mac: Mac, udid: str) -> None:
    await _open(mac, udid, "home")
    flat = json.loads((await mac.run("idb", "ui", "describe-all", "--json", "--udid", udid)).text)
    real = {key for row in fixture("idb_describe_all_flat.derived.json") for key in row}
    assert flat[0].keys() == real - {"synthesized"} and not any("children" in row for row in flat)
    assert [row["AXLabel"] for row in flat] == [row["AXLabel"] for row in await _rows(mac, udid)]
    nested = json.loads(
        (await mac.run("idb", "ui", "describe-all", "--json", "--format", "nested", "--udid", udid)).text
    )
    assert nested[0]["children"]
    targets = [json.loads(line) for line in (await mac.run("idb", "list-targets", "--json")).text.splitlines()]
    assert udid in [row["udid"] for row in targets]


async def test_hands_of_idb(mac: Mac, udid: str) -> None:
    await _open(mac, udid, "home")
    row = next(row for row in await _rows(mac, udid) if row["AXUniqueId"] == "home.increment")
    x, y = _middle(row)
    assert (await mac.run("idb", "ui", "tap", str(x), str(y), "--udid", udid)).code == 0
    assert (await mac.run("idb", "ui", "tap", "home.increment", "--match-key", "AXUniqueId", "--udid", udid)).code == 0
    assert await _count(mac, udid) == "2"
    await _open(mac, udid, "form")
    await mac.run("idb", "ui", "tap", "form.name", "--match-key", "AXUniqueId", "--udid", udid)
    assert (await mac.run("idb", "ui", "text", "Ada", "--udid", udid)).code == 0
    assert (await mac.run("idb", "ui", "text", "Grüße", "--udid", udid)).code == 1  # ASCII alone
    value = [row["AXValue"] for row in await _rows(mac, udid) if row["AXUniqueId"] == "form.name"]
    assert value == ["Ada"]
    assert (await mac.run("idb", "ui", "frobnicate", "--udid", udid)).code == 2


async def test_the_remote_of_a_television_by_idb(mac: Mac) -> None:
    tv = (await mac.lab.start("appletv"))[0]
    await _open(mac, tv, "home")
    for word in ("down", "select"):
        assert (await mac.run("idb", "ui", "remote", word, "--udid", tv)).code == 0
    assert await _count(mac, tv) == "1"
    assert (await mac.run("idb", "ui", "remote", "sideways", "--udid", tv)).code == 1
    await mac.lab.stop(tv)
