"""What the practice page brought to light: labelled texts, long values, and touch on one page after another."""

from __future__ import annotations

import anyio
import pytest

from anydevice.driver import OpenRequest
from anydevice_schemas import Point
from anydevice_schemas.errors import InvalidArgument

from .web import Web, key_of, one

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]


async def test_read_text_under_a_label_of_its_own_is_told_as_its_value(web: Web) -> None:
    tree = await web.show(
        "<output aria-label=Count>7</output><div role=status aria-label=State>all <b>well</b></div>"
        "<label for=o>Total</label><output id=o>12</output><output>plain</output><p aria-label=Note>words</p>"
    )
    told = {node.name: node.value for node in tree.nodes if node.role in ("status", "paragraph")}
    assert told == {"Count": "7", "State": "all well", "Total": "12", "plain": None, "Note": "words"}


async def test_a_look_at_one_element_tells_the_whole_of_what_it_holds(web: Web) -> None:
    tree = await web.show("<textarea aria-label=Notes></textarea>")
    key, text = key_of(one(tree, "Notes")), "words and more " * 400
    await web.driver.elements.set_text(key, text)
    assert (await web.driver.elements.probe(key)).node.value == text
    focused = await web.driver.keys.focused()
    assert focused is not None and focused.value == text
    assert len(one(await web.tree(), "Notes").value or "") == 512


async def test_a_page_opened_after_one_that_two_fingers_moved_on_answers_touch_at_once(web: Web) -> None:
    html = (
        "<div id=pad style='width:600px;height:400px;touch-action:none'></div><script>"
        "for (const kind of ['touchstart', 'touchmove'])"
        " pad.addEventListener(kind, e => e.preventDefault(), {passive: false})</script>"
    )
    fingers = [[Point(250, 200), Point(150, 200)], [Point(350, 200), Point(450, 200)]]
    took = []
    for _ in range(4):
        await web.show(html)
        before = anyio.current_time()
        await web.driver.touch.multi_touch(fingers, seconds=0.1)
        took.append(anyio.current_time() - before)
    # It took five seconds, every time but the first, and seems to depend on nothing else.
    assert min(took[1:]) < 4.0, took


async def test_a_page_takes_no_launch_arguments(web: Web) -> None:
    with pytest.raises(InvalidArgument):
        await web.driver.apps.open(OpenRequest(url=web.site.page("x"), arguments=("--screen", "form")))
