"""The keyboard: keys, chords, text of any script, and what has the focus."""

from __future__ import annotations

import sys

import pytest

from anydevice_schemas.errors import InvalidArgument
from anydevice_web.keymap import parse_chord

from .site import Site
from .web import Web, key_of, one

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]
FIELD = (
    "<textarea id=t autofocus></textarea><script>tellAll(document, 'keydown', 'keyup', 'keypress', 'input')</script>"
)


async def show_field(web: Web) -> None:
    tree = await web.show(FIELD)
    await web.driver.elements.focus(key_of(one(tree, id="t")))
    web.site.told.clear()


@pytest.mark.parametrize(
    ("chord", "key", "code", "number", "mods"),
    [
        ("enter", "Enter", "Enter", 13, ""),
        ("Escape", "Escape", "Escape", 27, ""),
        ("f5", "F5", "F5", 116, ""),
        ("down", "ArrowDown", "ArrowDown", 40, ""),
        ("ArrowLeft", "ArrowLeft", "ArrowLeft", 37, ""),
        ("a", "a", "KeyA", 65, ""),
        ("A", "A", "KeyA", 65, "shift"),
        ("?", "?", "Slash", 191, "shift"),
        ("+", "+", "Equal", 187, "shift"),
        ("space", " ", "Space", 32, ""),
        ("ctrl+a", "a", "KeyA", 65, "ctrl"),
        ("Ctrl+Shift+P", "P", "KeyP", 80, "ctrl shift"),
        ("alt+1", "1", "Digit1", 49, "alt"),
        ("shift+tab", "Tab", "Tab", 9, "shift"),
        ("ctrl++", "+", "Equal", 187, "ctrl shift"),
        ("pageup", "PageUp", "PageUp", 33, ""),
        ("shift", "Shift", "ShiftLeft", 16, "shift"),
    ],
)
async def test_a_chord_reaches_the_page_with_its_key_code_and_modifiers(
    web: Web, site: Site, *, chord: str, key: str, code: str, number: int, mods: str
) -> None:
    await web.write("<textarea id=t></textarea>")
    await web.evaluate(
        "tellAll(document, 'keydown', 'keyup'); document.addEventListener('keydown', e => e.preventDefault())"
    )
    site.told.clear()
    await web.driver.keys.press(chord)
    down = [data for data in site.data("keydown") if data["code"] == code]
    assert len(down) == 1
    assert (down[0]["key"], down[0]["keyCode"], down[0]["trusted"]) == (key, number, True)
    assert {name for name in ("ctrl", "shift", "alt", "meta") if down[0][name]} == set(mods.split())
    assert len(site.data("keyup")) == len(site.data("keydown"))


async def test_primary_is_the_hosts_modifier_for_shortcuts() -> None:
    assert parse_chord("primary+a")[0] == ["meta" if sys.platform == "darwin" else "ctrl"]
    assert parse_chord("cmd+option+k")[0] == ["meta", "alt"]


@pytest.mark.parametrize("chord", ["", "hyper+a", "ctrl+", "nokey", "a+b", "ctrl+enter+a", "ß"])
async def test_what_is_no_chord_is_refused(chord: str) -> None:
    with pytest.raises(InvalidArgument):
        parse_chord(chord)


async def test_select_all_and_delete_edit_the_field(web: Web) -> None:
    await show_field(web)
    await web.driver.keys.type_text("some text")
    await web.driver.keys.press("primary+a")
    await web.driver.keys.press("delete")
    assert await web.evaluate("t.value") == ""


async def test_enter_sends_a_form_and_the_answer_tells_where_it_led(web: Web, site: Site) -> None:
    target = site.page("<h1>sent</h1>", path="/sent")
    tree = await web.show("<form action=/sent><input id=q name=q></form>")
    await web.driver.elements.set_text(key_of(one(tree, id="q")), "words")
    acted = await web.driver.keys.press("enter")
    [navigated] = acted.happenings
    assert (navigated.kind, navigated.data["url"], navigated.data["status"]) == ("navigated", f"{target}?q=words", 200)
    assert one(await web.tree(), "sent")


@pytest.mark.parametrize(
    "text",
    ["plain words, 123!", "MiXeD CaSe", "tab\there", "two\nlines", "naïve café", "日本語テキスト", "שלום", "مرحبا",
     "👩‍👩‍👧‍👦 and 🇨🇭", "e\u0301 combining", "~`!@#$%^&*()_+-={}[]|\\:;\"'<>?,./"],
)  # fmt: skip
async def test_any_text_is_typed(web: Web, text: str) -> None:
    await show_field(web)
    if "\t" in text:
        await web.evaluate("t.onkeydown = e => { if (e.key == 'Tab') { e.preventDefault(); t.value += '\\t' } }")
    await web.driver.keys.type_text(text)
    assert await web.evaluate("t.value") == text
    focused = await web.driver.keys.focused()
    assert focused is not None
    assert (focused.identifier, focused.value, focused.states) == ("t", text, {"editable", "multiline", "focused"})


async def test_characters_with_a_key_come_as_keys_the_others_as_input(web: Web, site: Site) -> None:
    await show_field(web)
    await web.driver.keys.type_text("aé")
    assert [data["key"] for data in site.data("keydown")] == ["a"]
    assert [data["data"] for data in site.data("input")] == ["a", "é"]


async def test_typing_goes_on_after_what_is_there(web: Web) -> None:
    await show_field(web)
    await web.driver.keys.type_text("one")
    await web.driver.keys.type_text(" two", delay=0.005)
    assert await web.evaluate("t.value") == "one two"


async def test_long_text_arrives_whole(web: Web) -> None:
    await web.write("<textarea id=t></textarea>")
    await web.evaluate("document.getElementById('t').focus()")
    text = "lorem ipsum " * 40
    await web.driver.keys.type_text(text)
    assert await web.evaluate("document.getElementById('t').value") == text


@pytest.mark.parametrize("text", ["bell\a", "nul\0", "half\ud83d"])
async def test_text_that_cannot_be_typed_whole_is_refused_before_anything_is_typed(web: Web, text: str) -> None:
    await show_field(web)
    with pytest.raises(InvalidArgument) as caught:
        await web.driver.keys.type_text(text)
    assert caught.value.details["characters"]
    assert await web.evaluate("t.value") == ""


async def test_nothing_has_the_focus_at_first(web: Web) -> None:
    await web.show("<input>")
    assert await web.driver.keys.focused() is None


async def test_focus_is_read_back(web: Web) -> None:
    tree = await web.show("<input id=a><input id=b disabled><p id=c>text</p>")
    assert (await web.driver.elements.focus(key_of(one(tree, id="a")))).verified is True
    assert (await web.driver.elements.focus(key_of(one(tree, id="b")))).verified is False
    assert (await web.driver.elements.focus(key_of(one(tree, id="c")))).verified is False
