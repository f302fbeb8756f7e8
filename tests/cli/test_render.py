"""Answers as text: what a person reads at a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice_cli.render import render


def shown(command: str, data: dict[str, Any]) -> list[str]:
    return render({"command": command, "data": data, "artefacts": []}, colour=False).splitlines()


def test_each_of_several_objects_has_a_line() -> None:
    areas = {"appearance": {"value": "dark", "choices": ["light", "dark"]}, "wifi": {"value": "on"}}
    assert shown("settings", {"settings": areas}) == [
        "settings:",
        '  appearance: value=dark  choices=["light", "dark"]',
        "  wifi: value=on",
    ]
    assert shown("alert", {"dialog": {"kind": "alert", "text": "sure?"}}) == ["dialog: kind=alert  text=sure?"]


def test_an_empty_list_of_devices_says_where_to_ask() -> None:
    assert shown("devices", {"devices": []}) == ["no devices; anydevice doctor tells what may be missing"]
    gone = {"backend": "x", "reason": "no answer", "fix": "Call doctor."}
    assert shown("devices", {"devices": [], "missing": [gone]}) == [
        "no devices",
        "missing: x: no answer — Call doctor.",
    ]


TV = {"id": "emulator-5554", "name": "ADT-3", "platform": "fake", "class": "tv", "kind": "device", "state": "ready"}
PHONE = TV | {"id": "emulator-5556", "name": "Pixel 8", "class": "phone"}
ASKS = PHONE | {
    "state": "unauthorized",
    "reason": "The device has not allowed this host to drive it.",
    "fix": "Unlock the device and accept the question it shows, then call devices again.",
}


@pytest.fixture(params=[None, 40, 60, 80, 100, 400])
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int | None:
    if request.param is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(request.param))
    return request.param  # type: ignore[no-any-return]


def test_a_tv_and_a_phone_are_told_apart(columns: int | None) -> None:
    head, tv, phone = shown("devices", {"devices": [TV, PHONE]})
    assert head.split()[3:5] == ["CLASS", "KIND"] and len(head.split()) == 6
    at = head.index("CLASS")
    assert (tv[at:].split()[0], phone[at:].split()[0]) == ("tv", "phone")
    assert columns is None or columns < 60 or max(map(len, (head, tv, phone))) <= columns


def test_why_a_device_is_not_ready_is_never_cut_and_has_a_heading_where_it_has_a_column(columns: int | None) -> None:
    lease = {"until": "2026-01-02T03:04:05Z", "yours": False}
    lines = shown("devices", {"devices": [TV | {"lease": lease}, ASKS]})
    note = f"{ASKS['reason']} — {ASKS['fix']}"
    if columns is None or columns == 400:
        assert lines[0].endswith("WHY, AND WHAT TO DO")
        assert lines[2][lines[0].index("WHY, ") :] == note and len(lines) == 3
    else:
        assert lines[0].split()[-1] == "HELD" and lines[3] == f"  {note}" and len(lines) == 4
        assert columns < 80 or max(map(len, lines[:3])) <= columns


@pytest.mark.parametrize("command", ["devices", "doctor", "capabilities"])
def test_no_column_is_without_a_heading(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    data = {
        "devices": {"devices": [TV, ASKS]},
        "doctor": {"checks": [{"name": "adb", "ok": False, "detail": "none", "fix": "install it"}]},
        "capabilities": {"operations": {"touch.tap": {"available": False, "reason": "no touch screen"}}},
    }[command]
    head, row = shown(command, data)[-3::2] if command == "devices" else shown(command, data)[-2:]
    starts = [at for at in range(len(row)) if row[at] != " " and (at == 0 or row[at - 2 : at] == "  ")]
    assert all(head[at : at + 1].strip() for at in starts)
