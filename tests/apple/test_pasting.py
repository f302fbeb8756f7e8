"""fill by the clipboard: a finger rests on the field, and the menu's item is found by the word of its language."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from anydevice_apple.reading.words import PASTE, pastes
from anydevice_lab.apple import Lab

from .rig import Rig

pytestmark = pytest.mark.anyio
TEXT = "päste 漢字 🙂"


@pytest.fixture
async def form(lab: Lab, router: Rig, phone: str) -> AsyncIterator[str]:
    """The phone with the Form screen, and something of its user on the clipboard."""
    await lab.set(phone, clipboard="of the user")
    await router.open(phone, "form")
    await lab.journal(phone, clear=True)
    yield phone
    await lab.set(phone, language="en", clipboard="")


async def filled(router: Rig, **given: Any) -> tuple[str | None, list[dict[str, Any]]]:
    answer = await router.do("fill", target="Name", text=TEXT, method="paste", **given)
    assert answer.verified is True and answer.data["element"]["value"] == TEXT
    return answer.method, answer.notices


@pytest.mark.parametrize("language", ["en", "de", "fr", "ja"])
async def test_the_item_is_found_in_the_language_of_the_device_and_the_clipboard_is_as_before(
    lab: Lab, router: Rig, form: str, language: str
) -> None:
    await lab.set(form, language=language)
    assert await filled(router) == ("paste", [])
    (chosen,) = await lab.journal(form, "menu")
    assert chosen["item"] == PASTE[language]
    assert (await lab.state(form))["clipboard"] == "of the user"


async def test_what_the_field_held_is_replaced(lab: Lab, router: Rig, form: str) -> None:
    await router.do("fill", target="Name", text="what was there")
    assert await filled(router) == ("paste", [])


@pytest.mark.parametrize(
    ("language", "fault", "reason"),
    [("zz", "", "no_paste_item"), ("en", "menu_without_paste", "no_paste_item"), ("en", "no_menu", "no_menu")],
)
async def test_where_nothing_is_known_to_paste_the_text_is_typed_and_that_is_told(
    router: Rig, form: str, language: str, fault: str, reason: str
) -> None:
    lab = router.lab
    await router.do("fill", target="Name", text="what was there")
    await lab.set(form, language=language)
    if fault:
        await lab.fault(form, fault)
    method, notices = await filled(router)
    (told,) = notices
    assert (method, told["kind"], told["reason"]) == ("keys", "not_pasted", reason)
    assert ("Gluu" in told["menu"]) is (language == "zz")
    assert (await lab.state(form))["clipboard"] == "of the user"


async def test_a_secure_field_takes_it_and_tells_nothing(lab: Lab, router: Rig, form: str) -> None:
    answer = await router.do("fill", target="Password", text="hunter2", method="paste")
    assert answer.method == "paste" and "hunter2" not in str(answer.model_dump())
    assert [entry["item"] for entry in await lab.journal(form, "menu")] == ["Paste"]


async def test_a_long_text_is_there_at_once(lab: Lab, router: Rig, form: str) -> None:
    text = "long " * 4000
    answer = await router.do("fill", target="Notes", text=text, method="paste")
    assert answer.verified is True and answer.data["element"]["value"].startswith("long long")


async def test_a_tv_has_no_menu_to_paste_with(lab: Lab, router: Rig) -> None:
    (tv,) = await lab.start("appletv")
    await router.open(tv, "form")
    told = await router.refused("unsupported", "fill", target="Name", text="x", method="paste")
    assert told["operation"]
    await lab.stop(tv)


def test_the_words_of_other_items_are_none() -> None:
    assert pastes(" PASTE ") and not any(pastes(word) for word in ("", "Copy", "Paste and Go", "Kopieren", "選択"))
