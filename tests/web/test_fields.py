"""Filling fields: every kind, with the events a page expects, read back; secrets stay in the page."""

from __future__ import annotations

import pytest

from anydevice_schemas.errors import ElementDisabled, InvalidArgument

from .site import Site
from .web import Web, key_of, one

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]
LISTEN = "<script>tellAll(document, 'beforeinput', 'input', 'change')</script>"


@pytest.mark.parametrize("kind", ["text", "search", "email", "url", "tel", "password"])
@pytest.mark.parametrize("text", ["a@b.example", "", "שלום 😀 Ünïcödé"])
async def test_text_fields_take_text_as_input(web: Web, kind: str, text: str) -> None:
    if kind == "email" and text and "@" not in text:
        text = "x@y.example"
    tree = await web.write(f"<input id=t type={kind} value='before it'>")
    acted = await web.driver.elements.set_text(key_of(one(tree, id="t")), text)
    assert (acted.method, acted.verified) == ("insert-text", True)
    assert await web.evaluate("document.getElementById('t').value") == text


async def test_the_page_sees_trusted_input_events(web: Web, site: Site) -> None:
    tree = await web.show("<input id=t value=old>" + LISTEN)
    await web.driver.elements.set_text(key_of(one(tree, id="t")), "new")
    told = [(event["kind"], event["data"]["trusted"], event["data"]["inputType"]) for event in site.told]
    assert told == [("beforeinput", True, "insertText"), ("input", True, "insertText")]
    await web.driver.elements.set_text(key_of(one(tree, id="t")), "")
    assert site.told[-1]["data"]["inputType"].startswith("delete")
    assert await web.evaluate("t.value") == ""


async def test_textareas_keep_their_lines(web: Web) -> None:
    tree = await web.write("<textarea id=t>old\ntext</textarea>")
    acted = await web.driver.elements.set_text(key_of(one(tree, id="t")), "one\n\ntwo\r\nthree")
    assert acted.verified is True
    assert await web.evaluate("document.getElementById('t').value") == "one\n\ntwo\nthree"


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("number", "42", "42"),
        ("number", "-1.5", "-1.5"),
        ("date", "2026-05-01", "2026-05-01"),
        ("time", "07:30", "07:30"),
        ("month", "2026-05", "2026-05"),
        ("week", "2026-W05", "2026-W05"),
        ("datetime-local", "2026-05-01T07:30", "2026-05-01T07:30"),
        ("color", "#aabbcc", "#aabbcc"),
        ("color", "#ABC", "#aabbcc"),
        ("range", "40", "40"),
    ],
)
async def test_fields_with_a_syntax_of_their_own(web: Web, kind: str, text: str, value: str) -> None:
    tree = await web.write(f"<input id=t type={kind}>")
    acted = await web.driver.elements.set_text(key_of(one(tree, id="t")), text)
    assert acted.verified is True
    assert await web.evaluate("document.getElementById('t').value") == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [("date", "tomorrow"), ("color", "reddish"), ("range", "900"), ("number", "many"), ("time", "25:00")],
)
async def test_a_value_the_field_does_not_take_is_not_verified(web: Web, kind: str, text: str) -> None:
    tree = await web.write(f"<input id=t type={kind}>")
    acted = await web.driver.elements.set_text(key_of(one(tree, id="t")), text)
    assert acted.verified is False
    assert acted.data["actual"] == await web.evaluate("document.getElementById('t').value")


async def test_set_values_tell_the_page_once_each(web: Web, site: Site) -> None:
    tree = await web.show("<input id=t type=date>" + LISTEN)
    await web.driver.elements.set_text(key_of(one(tree, id="t")), "2026-05-01")
    assert site.kinds() == ["input", "change"]


async def test_what_a_page_cuts_or_changes_is_not_verified(web: Web) -> None:
    tree = await web.show(
        "<input id=t maxlength=3><input id=u><script>u.oninput = () => u.value = u.value.toUpperCase()</script>"
    )
    cut = await web.driver.elements.set_text(key_of(one(tree, id="t")), "abcdef")
    assert (cut.verified, cut.data["actual"]) == (False, "abc")
    changed = await web.driver.elements.set_text(key_of(one(tree, id="u")), "abc")
    assert (changed.verified, changed.data["actual"]) == (False, "ABC")


SELECT = (
    "<select id=t{more}><option value=1>One<option value=2>Two<option value=3 disabled>Three"
    "<option value=4>One more</select>"
)


@pytest.mark.parametrize(("text", "value"), [("Two", "2"), ("two", "2"), ("4", "4"), ("One more", "4")])
async def test_selects_choose_by_label_else_by_value(web: Web, site: Site, text: str, value: str) -> None:
    tree = await web.show(SELECT.format(more="") + LISTEN)
    acted = await web.driver.elements.set_text(key_of(one(tree, id="t")), text)
    assert (acted.method, acted.verified) == ("select-option", True)
    assert await web.evaluate("t.value") == value
    assert site.kinds() == ["input", "change"]


async def test_a_select_that_already_shows_it_tells_the_page_nothing(web: Web, site: Site) -> None:
    tree = await web.show(SELECT.format(more="") + LISTEN)
    assert (await web.driver.elements.set_text(key_of(one(tree, id="t")), "One")).verified is True
    assert site.told == []


async def test_several_options_are_chosen_by_lines(web: Web) -> None:
    tree = await web.write(SELECT.format(more=" multiple"))
    await web.driver.elements.set_text(key_of(one(tree, id="t")), "One\nTwo")
    assert one(await web.tree(), id="t").value == "One, Two"
    await web.driver.elements.set_text(key_of(one(tree, id="t")), "")
    assert one(await web.tree(), id="t").value == ""


async def test_an_option_that_is_not_there_is_refused_with_those_that_are(web: Web) -> None:
    tree = await web.write(SELECT.format(more=""))
    with pytest.raises(InvalidArgument) as caught:
        await web.driver.elements.set_text(key_of(one(tree, id="t")), "Five")
    assert caught.value.details["options"] == ["One", "Two", "Three", "One more"]
    assert "Five" not in caught.value.message
    with pytest.raises(ElementDisabled):
        await web.driver.elements.set_text(key_of(one(tree, id="t")), "Three")
    assert await web.evaluate("document.getElementById('t').value") == "1"


async def test_a_textbox_that_looks_like_a_combobox_is_filled_as_text(web: Web) -> None:
    tree = await web.write("<input id=t role=combobox aria-expanded=false>")
    assert (await web.driver.elements.set_text(key_of(one(tree, id="t")), "Berlin")).verified is True


@pytest.mark.parametrize("before", ["", "old <b>rich</b> text", "<p>one</p><p>two</p>"])
@pytest.mark.parametrize("text", ["new words", "one\ntwo\nthree", "", "emoji 👩‍👩‍👧 ok"])
async def test_editable_regions_are_replaced_whole(web: Web, before: str, text: str) -> None:
    tree = await web.write(f"<div id=t contenteditable>{before}</div>")
    acted = await web.driver.elements.set_text(key_of(one(tree, id="t")), text)
    assert acted.verified is True, acted.data
    lines = [
        line for line in (await web.evaluate("document.getElementById('t').innerText")).split("\n") if line.strip()
    ]
    assert lines == [line for line in text.split("\n") if line]


async def test_editable_regions_fire_what_editors_build_on(web: Web, site: Site) -> None:
    tree = await web.show("<div id=t contenteditable>old</div>" + LISTEN)
    await web.driver.elements.set_text(key_of(one(tree, id="t")), "one\ntwo")
    kinds = [(event["kind"], event["data"]["inputType"]) for event in site.told]
    assert ("beforeinput", "insertText") in kinds
    assert ("beforeinput", "insertParagraph") in kinds
    assert await web.evaluate("t.innerText") == "one\ntwo"


async def test_a_page_in_design_mode_is_one_editable_region(web: Web) -> None:
    await web.show("<body>text</body><script>document.designMode = 'on'</script>")
    node = one(await web.tree(), role="textbox")
    assert (await web.driver.elements.set_text(key_of(node), "replaced")).verified is True
    assert await web.evaluate("document.body.innerText.trim()") == "replaced"


async def test_a_framework_that_watches_its_own_setter_still_hears_of_it(web: Web, site: Site) -> None:
    # React replaces the value property on the element to ignore changes it made itself.
    tree = await web.show(
        "<input id=t type=date><script>const d = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');"
        "let known = t.value; Object.defineProperty(t, 'value', {get() { return d.get.call(this) },"
        "set(v) { known = v; d.set.call(this, v) }});"
        "t.addEventListener('input', () => { if (t.value !== known) tell('heard', t.value) })</script>"
    )
    await web.driver.elements.set_text(key_of(one(tree, id="t")), "2026-05-01")
    assert site.data("heard") == ["2026-05-01"]


@pytest.mark.parametrize(
    "html",
    ["<button id=t>b</button>", "<input id=t type=checkbox>", "<input id=t type=file>", "<p id=t>text</p>",
     "<input id=t type=submit>"],
)  # fmt: skip
async def test_what_takes_no_text_is_refused(web: Web, html: str) -> None:
    tree = await web.write(html)
    with pytest.raises(InvalidArgument) as caught:
        await web.driver.elements.set_text(key_of(one(tree, id="t")), "text")
    assert caught.value.details["param"] == "target"


@pytest.mark.parametrize("html", ["<input id=t disabled value=v>", "<input id=t readonly value=v>",
                                  "<div aria-disabled=true><input id=t value=v></div>"])  # fmt: skip
async def test_what_is_disabled_or_read_only_is_refused(web: Web, html: str) -> None:
    tree = await web.write(html)
    with pytest.raises(ElementDisabled):
        await web.driver.elements.set_text(key_of(one(tree, id="t")), "text")
    assert await web.evaluate("document.getElementById('t').value") == "v"


SECRET = "hunter2-correct-horse"


@pytest.mark.parametrize(
    "html",
    [
        f"<input id=t type=password value={SECRET}>",
        f"<input id=t autocomplete=current-password value={SECRET}>",
        f"<input id=t style='-webkit-text-security:disc' value={SECRET}>",
    ],
)
async def test_a_secret_never_leaves_the_page(web: Web, html: str) -> None:
    await web.write("<p>nothing</p>")
    page = await web.driver.instance.page()
    received: list[bytes] = []
    transport = page.browser.connection._transport
    original = transport.receive

    async def overhear() -> bytes:
        message = await original()
        received.append(message)
        return message

    transport.receive = overhear  # type: ignore[method-assign]
    try:
        await web.evaluate("0")  # from the next message on it is overheard
        # Built in the page, so that the secret does not cross on its way in either.
        made = html.replace(SECRET, "SECRET")
        await web.evaluate(
            f"void (document.body.innerHTML = {made!r}.replace('SECRET', ['hunter2', 'correct', 'horse'].join('-')))"
        )
        tree = await web.tree()
        node = one(tree, id="t")
        assert (node.secure, node.value) == (True, None)
        probe = await web.driver.elements.probe(key_of(node))
        assert (probe.node.secure, probe.node.value) == (True, None)
        await web.driver.elements.focus(key_of(node))
        focused = await web.driver.keys.focused()
        assert focused is not None
        assert (focused.secure, focused.value) == (True, None)
        acted = await web.driver.elements.set_text(key_of(node), "another-secret")
        assert acted.verified is True
        assert "actual" not in acted.data
        wrong = await web.driver.elements.set_text(key_of(node), "line\nbreak")
        assert wrong.verified is False
        assert "actual" not in wrong.data
    finally:
        del transport.receive  # type: ignore[attr-defined]
    everything = b"".join(received)
    assert len(received) > 5
    for secret in (SECRET, "another-secret", "linebreak"):
        assert secret.encode() not in everything


async def test_a_password_that_is_shown_stays_a_secret(web: Web) -> None:
    tree = await web.write(f"<input id=t type=password value={SECRET}>")
    assert one(tree, id="t").secure
    await web.evaluate("document.getElementById('t').type = 'text'")
    node = one(await web.tree(), id="t")
    assert (node.secure, node.value) == (True, None)
