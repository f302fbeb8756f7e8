"""Answers as text: what a person reads at a terminal."""

from __future__ import annotations

from typing import Any

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
