"""Every command that looks, acts or waits, by every door, judged by what the page recorded."""

from __future__ import annotations

import pytest

from anydevice.kit.images import inspect

from .pages import Page
from .pictures import colours

pytestmark = [pytest.mark.daemon, pytest.mark.chromium]


# --- looking ---


def test_snapshot_shows_every_kind_of_field_and_no_secret(page: Page) -> None:
    page.do("fill", target="Password", text="open sesame")
    said = page.do("snapshot", mode="full")
    for line in (
        'textbox "Name"', 'textbox "Mail"', 'textbox "Password"', 'textbox "Notes"', 'textbox "Letter"',
        'combobox "Colour"', 'listbox "Toppings"', 'checkbox "Wi-Fi"', 'radio "Large"', 'switch "Flight mode"',
        'slider "Level"', 'button "Submit"', 'link "Second page"', 'group "Pad"',
    ):  # fmt: skip
        assert line in said.data["text"], line
    assert "open sesame" not in said.text
    assert page.state["fields"]["password"] == "open sesame"


def test_diff_tells_what_changed_since_the_snapshot(page: Page) -> None:
    first = page.do("snapshot").data["id"]
    page.do("press", target="Increment")
    said = page.do("diff")
    assert (said.data["changed"], said.data["baseline"]["id"]) == (True, first)
    assert any("Count" in line or '"1"' in line for line in said.data["changes"])
    assert page.do("diff").data["changed"] is False
    assert page.told("count") == [1]


def test_find_lists_both_twins_and_presses_neither(page: Page) -> None:
    said = page.do("find", query="label=Delete role=button")
    assert said.data["count"] == 2
    assert len({match["ref"] for match in said.data["matches"]}) == 2
    assert page.told("delete") == []


def test_get_reads_text_attributes_and_place(page: Page) -> None:
    assert page.do("get", target="Fixed", what="text").data["text"] == "as it is"
    attributes = page.do("get", target="Fixed", what="attrs").data["element"]
    assert (attributes["role"], attributes["identifier"]) == ("textbox", "fixed")
    assert "readonly" in attributes["states"]
    x, y = page.do("get", target="Increment", what="point").data["point"]
    assert page.do("get", what="point", x=x, y=y).data["element"]["name"] == "Increment"
    page.do("press", x=x, y=y)
    assert page.told("count") == [1]


def test_is_answers_every_predicate(page: Page) -> None:
    page.do("press", target="Wi-Fi")
    page.do("press", target="id=name")
    answers = {
        ("visible", "Increment"): True, ("hidden", "Increment"): False, ("visible", "Row 40"): False,
        ("exists", "Row 40"): True, ("absent", "Nowhere"): True, ("absent", "Increment"): False,
        ("editable", "Fixed"): False, ("editable", "Name"): True, ("focused", "Name"): True,
        ("focused", "Mail"): False, ("enabled", "Submit"): False, ("disabled", "Submit"): True,
        ("checked", "Wi-Fi"): True, ("checked", "Large"): False,
    }  # fmt: skip
    steps = [{"command": "is", "arguments": {"predicate": p, "target": t}} for p, t in answers]
    results = page.door.do("batch", steps=steps).data["results"]
    assert {key: row["data"]["result"] for key, row in zip(answers, results, strict=True)} == answers
    assert page.do("is", predicate="text", target="Fixed", value="as it is").data["result"] is True


def test_appstate_names_the_page_in_front(page: Page) -> None:
    data = page.do("appstate").data
    assert (data["title"], data["location"]) == ("Practice page", page.witness.url(page.tag))


def test_screenshots_show_the_viewport_the_whole_page_and_one_element(page: Page) -> None:
    said = page.do("screenshot")
    (picture,) = said.pictures
    assert (inspect(picture).width, inspect(picture).height) == (said.data["width"], said.data["height"]) == (1280, 720)
    whole = page.do("screenshot", area="full")
    assert inspect(whole.pictures[0]).height == whole.data["height"] == page.state["height"] > 720
    element = page.do("screenshot", area="element", target="Swatch")
    assert (element.data["width"], element.data["height"]) == (40, 24)
    assert colours(element.pictures[0]) == {(12, 200, 34)}


# --- acting ---


def test_press_presses_once(page: Page) -> None:
    said = page.do("press", target="Increment")
    assert said.data["changed"] is True
    assert page.told("count") == [1]


def test_press_with_a_count_and_a_button(page: Page) -> None:
    page.do("press", target="Double click me", count=2)
    assert page.told("double") == [None]
    said = page.do("press", target="Right click me", button="secondary")
    assert page.told("menu") == [None]
    assert any("Rename" in line for line in said.data["changes"])


def test_press_refuses_twins_covered_and_disabled_buttons(page: Page) -> None:
    candidates = page.refused("ambiguous_element", "press", target="Delete").details["candidates"]
    assert [candidate["index"] for candidate in candidates] == [0, 1]
    assert "Veil" in page.refused("element_covered", "press", target="Covered").details["cover"]
    page.refused("element_disabled", "press", target="Submit")
    assert page.told("delete") == page.told("covered") == page.told("submitted") == []
    page.do("press", target=candidates[1]["ref"])
    assert page.told("delete") == [1]


def test_longpress_holds_as_long_as_it_was_told(page: Page) -> None:
    page.do("longpress", target="Hold me", durationMs=400)
    (held,) = page.told("hold")
    assert held["ms"] >= 390
    assert held["from"] == held["to"]


def test_fill_replaces_the_content_of_every_kind_of_field(page: Page) -> None:
    values = {
        "Name": "Ada Lovelace ✓ 👩‍💻", "Mail": "ada@example.org", "Amount": "12.5", "Level": "70",
        "Day": "2026-05-01", "Hour": "07:30", "Paint": "#aabbcc", "Notes": "two\nlines", "Colour": "Blue",
        "Toppings": "Olives\nBasil", "Letter": "a new letter", "Password": "open sesame",
    }  # fmt: skip
    steps = [{"command": "fill", "arguments": {"target": f"label={k!r}", "text": v}} for k, v in values.items()]
    results = page.door.do("batch", steps=steps).data["results"]
    assert [row["verified"] for row in results] == [True] * len(values)
    state = page.state
    fields, expected = state["fields"], {name.lower(): value for name, value in values.items()}
    expected |= {"colour": "b", "toppings": ["Olives", "Basil"]}
    assert state["letter"] == expected.pop("letter")
    assert {name: fields[name] for name in expected} == expected
    page.refused("element_disabled", "fill", target="Fixed", text="no")
    assert page.state["fields"]["fixed"] == "as it is"


def test_pressing_toggles_is_verified_by_their_state(page: Page) -> None:
    assert page.do("press", target="Wi-Fi").verified is True
    assert page.do("press", target="Large").verified is True
    assert page.do("press", target="Flight mode").verified is True
    assert page.told("change") == [["wifi", True], ["size", "large"]]
    assert page.told("flight") == [True]


def test_type_adds_to_what_is_there_and_key_presses_chords(page: Page) -> None:
    page.do("fill", target="Name", text="Ada")
    said = page.do("type", target="Name", text=" B. ёλ")
    assert (said.verified, said.data["typed"]) == (True, 6)
    assert page.state["fields"]["name"] == "Ada B. ёλ"
    page.do("key", chord="enter")
    assert page.told("submitted") == ["Ada B. ёλ"]
    page.do("press", target="Echo")
    for chord in ("escape", "ctrl+shift+p", "alt+down", "F5"):
        page.do("key", chord=chord)
    page.do("type", text="x")
    pressed = [chord for chord in page.told("key") if chord.rpartition("+")[2] not in ("Control", "Shift", "Alt")]
    assert pressed == ["Escape", "ctrl+shift+P", "alt+ArrowDown", "F5", "x"]


def test_hover_shows_the_tip_and_presses_nothing(page: Page) -> None:
    said = page.do("hover", target="Hover me")
    assert page.told("hover") == [None]
    assert any("A tip" in line for line in said.data["changes"])
    assert "pointerdown" not in page.state["touched"]


def test_scroll_by_a_distance_to_an_edge_and_until_an_element(page: Page) -> None:
    said = page.do("scroll", direction="down", pixels=300)
    assert (said.verified, said.data["by"], page.state["scroll"]) == (True, [0, 300], [0, 300])
    page.do("scroll", edge="top")
    assert page.state["scroll"] == [0, 0]
    assert page.refused("action_unverified", "scroll", direction="up")
    page.do("scroll", direction="down", target="Box", pixels=120)
    assert (page.state["box"], page.state["scroll"]) == (120, [0, 0])
    said = page.do("scroll", until="Row 120")
    assert said.data["element"]["name"] == "Row 120"
    assert page.do("is", predicate="visible", target="Row 120").data["result"] is True
    assert 120 <= page.state["rows"] < 500
    page.do("scroll", edge="bottom")
    state = page.state
    assert state["rows"] == 500
    assert state["scroll"][1] == state["height"] - 720


def test_gestures_arrive_with_their_path_and_time(page: Page) -> None:
    page.do("scroll", until="Pad")
    x, y = page.do("get", target="Pad", what="point").data["point"]
    swipe = {"kind": "swipe", "x": x - 100, "y": y, "direction": "right", "distance": 150, "durationMs": 200}
    page.do("gesture", **swipe)
    page.do("gesture", kind="drag", x=x - 200, y=y - 20, toX=x + 60, toY=y + 30, durationMs=300)
    swiped, dragged = page.told("gesture")
    assert (swiped["type"], dragged["type"]) == ("touch", "mouse")
    assert swiped["from"] == pytest.approx([x - 100, y], abs=1)
    assert swiped["to"] == pytest.approx([x + 50, y], abs=1)
    assert dragged["from"] == pytest.approx([x - 200, y - 20], abs=1)
    assert dragged["to"] == pytest.approx([x + 60, y + 30], abs=1)
    assert swiped["ms"] >= 150 and dragged["ms"] >= 250
    assert swiped["moves"] >= 5 and dragged["moves"] >= 5
    page.do("gesture", kind="drag", target="Card", to="label=Done role=group")
    assert page.told("drop") == ["the card"]


def test_texts_of_all_scripts_are_found_as_they_are_shown(page: Page) -> None:
    page.do("press", target="مرحبا بالعالم")
    page.do("press", target="Party 🎉 👨‍👩‍👧")
    near = page.refused("element_not_found", "press", target="Zerowidth", timeoutMs=0).details["nearest_matches"]
    page.do("press", target=near[0]["query"])
    assert page.told("text") == [0, 1, 2]


# --- waiting ---


def test_wait_for_a_text_for_a_spinner_to_go_and_for_rest(page: Page) -> None:
    assert page.do("wait", durationMs=120).data["waitedMs"] >= 120
    assert page.refused("timeout", "wait", text="Here at last", timeoutMs=100).error["retryable"] is True
    page.do("press", target="Start")
    page.do("wait", target="label=Loading role=progressbar")
    page.do("wait", text="Here at last")
    assert page.told("late")[0] >= 2000
    assert page.told("spun") == []
    assert page.do("wait", absent="role=progressbar").data["absent"] is True
    assert page.told("spun")[0] >= 6000
    page.do("press", target="Fidget")
    page.do("wait", stable=True, quietMs=300)
    assert page.told("rest") == [None]


# --- dialogs ---


def test_alert_reads_accepts_dismisses_and_types(page: Page) -> None:
    said = page.do("press", target="Alert me")
    assert [h["kind"] for h in said.data["happened"]] == ["dialog"]
    page.refused("dialog_open", "snapshot")
    assert page.do("alert").data["dialog"]["text"] == "Mind the gap"
    assert page.do("alert", action="accept").verified is True
    page.do("press", target="Confirm me")
    page.do("alert", action="dismiss")
    page.do("press", target="Confirm me")
    page.do("alert", action="accept")
    page.do("press", target="Prompt me")
    page.do("alert", action="accept", text="Ada")
    assert page.do("alert").data["open"] is False
    assert (page.told("alert"), page.told("confirm"), page.told("prompt")) == (["closed"], [False, True], ["Ada"])


def test_a_popup_is_told_and_not_followed(page: Page) -> None:
    said = page.do("press", target="Open popup")
    (opened,) = [h for h in said.data["happened"] if h["kind"] == "tab_opened"]
    assert page.do("appstate").data["title"] == "Practice page"
    page.do("tabs", action="select", tab=opened["tab"])
    page.do("press", target="Only here")
    page.witness.wait(page.tag, "only")
    page.do("close", app=opened["tab"])
