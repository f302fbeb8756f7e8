"""Dialogs: told at once, nothing hangs behind one, answered and read back."""

from __future__ import annotations

import time
from typing import Any

import anyio
import pytest

from anydevice.driver import AppEvent, OpenRequest, TreeScope
from anydevice_schemas import Point
from anydevice_schemas.errors import DialogOpen, ElementNotFound

from .site import Site
from .web import Web, key_of, one

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]


async def open_dialog(web: Web, script: str) -> dict[str, Any]:
    tree = await web.show(f"<button onclick=\"tell('got', {script})\">ask</button><input id=t>")
    acted = await web.click(one(tree, "ask"))
    [happening] = acted.happenings
    assert happening.kind == "dialog"
    return dict(happening.data)


@pytest.mark.parametrize(
    ("script", "kind", "buttons", "takes_text"),
    [
        ("alert('Hello')", "alert", ["OK"], False),
        ("confirm('Hello')", "confirm", ["OK", "Cancel"], False),
        ("prompt('Hello', 'x')", "prompt", ["OK", "Cancel"], True),
    ],
)
async def test_the_click_that_opens_a_dialog_tells_it(
    web: Web, script: str, kind: str, buttons: list[str], takes_text: bool
) -> None:
    told = await open_dialog(web, script)
    assert (told["dialog"], told["text"], told["buttons"]) == (kind, "Hello", buttons)
    dialog = await web.driver.alerts.get()
    assert dialog is not None
    assert (dialog.kind, dialog.text, list(dialog.buttons), dialog.takes_text) == (kind, "Hello", buttons, takes_text)


@pytest.mark.parametrize(
    ("script", "accept", "text", "answer"),
    [
        ("alert('x') === undefined", True, None, True),
        ("confirm('x')", True, None, True),
        ("confirm('x')", False, None, False),
        ("prompt('x', 'preset')", True, "typed 😀", "typed 😀"),
        ("prompt('x', 'preset')", False, None, None),
    ],
)
async def test_the_page_gets_the_answer(
    web: Web, site: Site, *, script: str, accept: bool, text: str | None, answer: Any
) -> None:
    await open_dialog(web, script)
    acted = await (web.driver.alerts.accept(text) if accept else web.driver.alerts.dismiss())
    assert (acted.method, acted.verified) == ("dialog", True)
    assert await site.wait("got") == [answer]
    assert await web.driver.alerts.get() is None
    assert one(await web.tree(), "ask")


async def test_everything_on_the_page_is_refused_at_once_while_a_dialog_is_open(web: Web) -> None:
    tree = await web.show("<button onclick=\"confirm('Sure?')\">ask</button><input id=t>")
    await web.click(one(tree, "ask"))
    driver, key = web.driver, key_of(one(tree, id="t"))
    calls = [
        driver.screen.tree(TreeScope()), driver.screen.image(), driver.screen.geometry(), driver.elements.probe(key),
        driver.elements.at(Point(5, 5)), driver.elements.set_text(key, "x"), driver.elements.focus(key),
        driver.elements.reveal(key), driver.pointer.click(Point(5, 5)), driver.pointer.move(Point(5, 5)),
        driver.pointer.drag(Point(5, 5), Point(9, 9), seconds=0), driver.pointer.wheel(Point(5, 5), dy=9),
        driver.touch.tap(Point(5, 5)), driver.touch.swipe(Point(5, 5), Point(5, 9), seconds=0),
        driver.keys.press("enter"), driver.keys.type_text("x"), driver.keys.focused(), driver.navigation.back(),
        driver.apps.open(OpenRequest(url="about:blank")), driver.links.open_url("about:blank"),
        driver.links.deliver_event(AppEvent("e", None, "app://e")),
    ]  # fmt: skip
    started = time.monotonic()
    for call in calls:
        with pytest.raises(DialogOpen) as caught:
            await call
        details = caught.value.details
        assert (details["kind"], details["text"], details["buttons"]) == ("confirm", "Sure?", ["OK", "Cancel"])
        assert "Sure?" not in caught.value.message + caught.value.hint
    assert time.monotonic() - started < 20, "refusals do not wait for anything"
    state = await driver.apps.state()
    assert state["dialog"]["text"] == "Sure?"
    assert (await driver.tabs.list())[0]["dialog"] == "confirm"


async def test_what_is_under_way_when_a_dialog_opens_is_refused(web: Web) -> None:
    await web.show("<script>setTimeout(() => alert('late'), 300)</script>")
    page = await web.driver.instance.page()
    with pytest.raises(DialogOpen), anyio.fail_after(20):
        await page.main.ask("scrolled", {"patience": 60_000, "quiet": 100_000})


async def test_a_dialog_during_load_is_told_by_the_open(web: Web, site: Site) -> None:
    with anyio.fail_after(20):
        acted = await web.open(site.page("<h1>page</h1><script>alert('loading')</script><p>after</p>"))
    assert "dialog" in [happening.kind for happening in acted.happenings]
    await web.driver.alerts.accept()
    assert one(await web.tree(), "after")


async def test_one_dialog_after_another(web: Web, site: Site) -> None:
    await open_dialog(web, "[confirm('one'), confirm('two')]")
    acted = await web.driver.alerts.accept()
    assert acted.verified is True
    assert [(h.kind, h.data["text"]) for h in acted.happenings] == [("dialog", "two")]
    await web.driver.alerts.dismiss()
    assert await site.wait("got") == [[True, False]]


async def test_a_dialog_opened_by_a_key_or_by_typing_is_told(web: Web) -> None:
    tree = await web.show("<input id=t onkeydown=\"if (event.key == 'c') alert('no c')\">")
    await web.driver.elements.focus(key_of(one(tree, id="t")))
    acted = await web.driver.keys.type_text("abcdef")
    assert [h.kind for h in acted.happenings] == ["dialog"]
    await web.driver.alerts.accept()
    assert [h.kind for h in (await web.driver.keys.press("c")).happenings] == ["dialog"]
    await web.driver.alerts.accept()


LEAVE = "<input id=t><script>onbeforeunload = e => { e.preventDefault(); return 'x' }</script>"


async def touched(web: Web) -> None:
    tree = await web.show(LEAVE)
    await web.click(one(tree, id="t"))  # browsers ask only on pages a person has touched


async def test_leaving_a_page_that_asks_is_refused_until_it_is_answered(web: Web, site: Site) -> None:
    await touched(web)
    url = site.page("<h1>next</h1>")
    with pytest.raises(DialogOpen) as caught:
        await web.open(url)
    assert (caught.value.details["kind"], caught.value.details["buttons"]) == ("beforeunload", ["Leave", "Stay"])
    await web.driver.alerts.dismiss()
    assert one(await web.tree(), id="t")
    with pytest.raises(DialogOpen):
        await web.open(url)
    acted = await web.driver.alerts.accept()
    assert [(h.kind, h.data["url"]) for h in acted.happenings] == [("navigated", url)]
    assert one(await web.tree(), "next")


async def test_closing_a_tab_that_asks_is_refused_unless_forced(web: Web) -> None:
    await touched(web)
    with pytest.raises(DialogOpen):
        await web.driver.apps.close(None)
    await web.driver.alerts.dismiss()
    assert one(await web.tree(), id="t")
    assert (await web.driver.apps.close(None, force=True)).verified is True


async def test_a_dialog_of_a_frame_of_another_site_is_one_of_the_page(web: Web, site: Site) -> None:
    inner = site.other(site.page("<button onclick=\"tell('got', confirm('from the frame'))\">ask</button>"))
    tree = await web.show(f"<iframe src='{inner}'></iframe><button>main</button>")
    acted = await web.click(one(tree, "ask"))
    assert [h.data["text"] for h in acted.happenings] == ["from the frame"]
    with pytest.raises(DialogOpen):
        await web.tree()
    await web.driver.alerts.accept()
    assert await site.wait("got") == [True]
    assert one(await web.tree(), "main")


async def test_there_is_nothing_to_answer_without_a_dialog(web: Web) -> None:
    assert await web.driver.alerts.get() is None
    for call in (web.driver.alerts.accept, web.driver.alerts.dismiss):
        with pytest.raises(ElementNotFound):
            await call()  # type: ignore[operator]
