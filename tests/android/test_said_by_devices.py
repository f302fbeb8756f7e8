"""What devices say in place of what they were asked for: captured and quoted outputs, each answered as it is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from anydevice_lab.android import Lab

from .rig import Rig

pytestmark = pytest.mark.anyio
FIXTURES = Path(__file__).parent.parent / "fixtures" / "android"


def said(name: str) -> str:
    return (FIXTURES / name).read_text("utf-8")


@pytest.mark.parametrize(
    "words", [{"text": True, "code": 0}, {"stderr": True, "code": 0}, {"stderr": True, "code": 255}]
)
async def test_a_shell_without_a_clipboard_is_told_by_its_words_on_either_output(
    lab: Lab, router: Rig, phone: str, words: dict[str, object]
) -> None:
    output = {key: said("clipboard_no_shell_impl.txt") for key, value in words.items() if value is True}
    await lab.fault(phone, "answer", match="cmd clipboard", code=words["code"], **output)
    await router.do("clipboard", device=phone, action="read", expect="unsupported")
    await router.do("clipboard", device=phone, action="write", text="x", expect="unsupported")


async def test_an_input_program_that_broke_has_typed_nothing(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await lab.fault(phone, "answer", match="input text", stderr=said("input_text_unicode_npe.txt"), code=255)
    answer = await router.do("fill", device=phone, target="Name", text="Ada", expect="upstream_unavailable")
    assert answer.error is not None and "NullPointerException" in answer.error.details["said"]
    assert "Null" not in answer.error.message


async def test_a_broadcast_that_android_denies_is_no_airplane_mode(lab: Lab, router: Rig, phone: str) -> None:
    await lab.fault(phone, "answer", match="airplane-mode", stderr=said("broadcast_airplane_denied.txt"), code=0)
    answer = await router.answer("settings", device=phone, area="airplane", value="on")
    assert not answer.ok and answer.error is not None and answer.error.code != "action_unverified"


@pytest.mark.parametrize("part", range(3))
async def test_an_encoder_that_refuses_every_size_is_said_and_leaves_no_recording(
    lab: Lab, router: Rig, phone: str, part: int
) -> None:
    await router.open(phone)
    words = said("screenrecord_errors.txt").split("---\n")[part]
    await lab.fault(phone, "answer", match="screenrecord", stderr=words, code=1)
    await lab.journal(phone, clear=True)
    answer = await router.do("record", device=phone, action="start", expect="unsupported")
    assert answer.error is not None and words[:30] not in answer.error.message
    lines = [entry["line"] for entry in await lab.journal(phone, "shell") if "screenrecord --" in entry["line"]]
    assert ["--size" in line for line in lines] == [False, True]  # as it is, then with even sides
    assert (await router.do("record", device=phone, action="status")).data["recording"] is False
