"""Long texts: typed in pieces, each with its deadline; how far it came is told."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anydevice.driver import Keys
from anydevice_apple.writing import PIECE, pieces
from anydevice_lab.apple import Lab

from .rig import Rig, eventually

pytestmark = pytest.mark.anyio
WORDS = "word " * 240
"""1,200 characters: six pieces."""
JOINED = ["👩\u200d👩\u200d👧", "🇫🇮", "👍🏽", "e\u0301", "❤\ufe0f", "🏴\U000e0067\U000e0062\U000e007f"]


async def typed(lab: Lab, phone: str) -> list[str]:
    """The requests by which text was sent."""
    return [entry["line"] for entry in await lab.journal(phone, "wda_request") if entry["line"].endswith("/wda/keys")]


async def held(router: Rig, phone: str) -> str:
    """What the field that has the focus holds, whole."""
    field = await (await router.driver(phone)).capability(Keys).focused()
    assert field is not None
    return field.value or ""


async def test_a_long_text_goes_in_pieces_and_arrives_whole(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await router.do("press", target="Notes")
    await lab.journal(phone, clear=True)
    answer = await router.do("type", text=WORDS)
    assert answer.data["typed"] == len(WORDS) and answer.verified is True
    assert len(await typed(lab, phone)) == 6


async def test_where_the_time_is_up_it_is_told_how_much_was_typed(
    lab: Lab, router: Rig, phone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice_apple.writing.AFTER", 30.0)  # of the 36 that a call of this text has
    await router.open(phone, "form")
    await router.do("press", target="Notes")
    await lab.fault(phone, "text_slow", seconds=2.0)
    told = await router.refused("action_unverified", "type", text=WORDS)
    assert told["length"] == 1200 and 0 < told["typed"] < 1200 and told["typed"] % PIECE == 0
    await lab.clear(phone)
    assert len(await held(router, phone)) == told["typed"]
    await router.do("type", text=WORDS[told["typed"] :])
    assert await held(router, phone) == WORDS


async def test_a_field_that_loses_the_focus_under_way_has_a_part_of_the_text(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await router.do("press", target="Notes")
    none = '{"value": {"error": "invalid element state", "message": "no focus", "traceback": ""}, "sessionId": null}'
    await lab.fault(phone, "text_slow", seconds=0.5)
    await lab.journal(phone, clear=True)

    async def goes() -> None:
        await eventually(lambda: typed(lab, phone))
        await lab.fault(phone, "wda_answer", match="/wda/keys", text=none, code=400)

    async with anyio.create_task_group() as group:
        group.start_soon(goes)
        told = await router.refused("focus_unavailable", "type", text=WORDS)
    assert told["typed"] in range(PIECE, len(WORDS), PIECE) and "part" in told["message"]
    assert len(await held(router, phone)) == told["typed"]


async def test_a_field_that_is_filled_with_more_than_there_is_time_to_type_is_pasted_into(
    lab: Lab, router: Rig, phone: str
) -> None:
    text = "long " * 1000
    await router.open(phone, "form")
    answer = await router.do("fill", target="Notes", text=text)
    assert (answer.method, answer.verified) == ("paste", True)
    await lab.fault(phone, "no_menu")
    answer = await router.do("fill", target="Notes", text=text.upper())
    assert (answer.method, answer.verified) == ("keys", True)


@pytest.mark.parametrize("cluster", JOINED)
@pytest.mark.parametrize("before", range(PIECE - 6, PIECE + 1))
def test_no_visible_character_is_cut(cluster: str, before: int) -> None:
    text = "x" * before + cluster * 3 + "y" * PIECE
    cut = [len("".join(list(pieces(text))[: n + 1])) for n in range(len(list(pieces(text))) - 1)]
    whole = {before + len(cluster) * n for n in range(4)}
    inside = set(range(before, before + 3 * len(cluster))) - whole
    assert "".join(pieces(text)) == text and not inside & set(cut)


@given(st.text(max_size=1500))
def test_the_pieces_are_the_text(text: str) -> None:
    found = list(pieces(text))
    assert "".join(found) == text and all(0 < len(piece) <= PIECE for piece in found)
