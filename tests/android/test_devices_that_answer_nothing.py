"""A device whose programs print nothing, or nothing that is theirs: what is not known is never said, nor put back."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice_lab.android import Lab

from .asking import given_back, setting
from .rig import PRACTICE, Rig

pytestmark = pytest.mark.anyio
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("snapshot", {}), ("screenshot", {}), ("apps", {}), ("appstate", {}), ("keyboard", {}), ("alert", {}),
    ("settings", {"area": "animations"}), ("settings", {"area": "text-size"}),
    ("perf", {"kind": "memory", "app": PRACTICE}),
    ("press", {"target": "Increment"}), ("keyboard", {"action": "dismiss"}), ("scroll", {"direction": "down"}),
    ("gesture", {"kind": "swipe", "direction": "up"}), ("open", {"app": PRACTICE}), ("type", {"text": "x"}),
    ("settings", {"area": "animations", "value": "off"}),
]  # fmt: skip
SAID = {
    "nothing": {"text": ""},
    "something else": {"text": "garbage <hierarchy <node Error 17 ???\n"},
    "a crash": {"text": "", "stderr": "Exception occurred while executing\n", "code": 1},
}
TYPED = {"upstream_unavailable", "app_not_found", "app_not_running", "action_unverified", "device_not_ready"}


@pytest.mark.parametrize("said", SAID)
async def test_nothing_is_called_done_or_known(lab: Lab, router: Rig, phone: str, said: str) -> None:
    await router.open(phone)
    await lab.fault(phone, "answer", match="^(?!getprop)", **SAID[said])
    for command, arguments in ASKED:
        error = (await router.answer(command, device=phone, **arguments)).error
        assert error is not None and error.code in TYPED, (command, arguments, error)


async def test_a_setting_that_cannot_be_read_is_neither_changed_nor_forgotten(
    lab: Lab, router: Rig, phone: str
) -> None:
    await router.do("shell", device=phone, commandLine="settings put global window_animation_scale 0.5")
    await lab.fault(phone, "answer", match="settings get", text="", times=1)
    await router.do("settings", device=phone, area="animations", value="off", expect="upstream_unavailable")
    await lab.clear(phone)
    await given_back(router, phone)
    assert await setting(lab, router, phone, "global", "window_animation_scale") == "0.5"


async def test_an_element_that_is_not_there_is_said_though_the_keyboard_cannot_be_asked_for(
    lab: Lab, router: Rig, phone: str
) -> None:
    await router.open(phone)
    await lab.fault(phone, "answer", match="dumpsys input_method", text="")
    await router.do("press", device=phone, target="Nothing of the kind", timeoutMs=0, expect="element_not_found")
    await router.do("keyboard", device=phone, expect="upstream_unavailable")
