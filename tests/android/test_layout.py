"""The quick reading of dumps: it says exactly what an XML parser says, or leaves the document to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anydevice_android.reading import layout
from anydevice_android.reading.dump import Dump, NoDump, Windows, parse_dump, parsed
from anydevice_lab.android import Lab

from .asking import driver_of
from .rig import Rig

FIXTURES = Path(__file__).parent.parent / "fixtures" / "android"
DUMPS = sorted(path.name for path in FIXTURES.glob("dump_*") if "_err_" not in path.name)
FLAT = '<hierarchy rotation="1">{}</hierarchy>'
NODE = '<node index="0" text="{}" bounds="[0,0][9,9]"'
SURE = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff")


def quickly(document: str) -> Dump | None:
    """By the pattern alone; None where it is left to the parser."""
    windows = Windows()
    return windows.dump() if layout.read(document, windows) else None


def same(document: str) -> bool:
    """Whether the pattern reads it; it then has to say what the parser says."""
    quick = quickly(document)
    if quick is None:
        return False
    assert quick == parsed(document)
    return True


def document(name: str) -> str:
    text = (FIXTURES / name).read_text("utf-8", "replace")
    start = min(at for at in (text.find("<hierarchy"), text.find("<displays")) if at >= 0)
    return text[start : text.rindex(">") + 1]


@pytest.mark.parametrize("name", DUMPS)
def test_captured_dumps_are_read_as_the_parser_reads_them(name: str) -> None:
    same(document(name))
    same("".join(line.strip() + " " for line in document(name).splitlines()).replace("> <", "><").strip())


def escaped(text: str, numbered: bool) -> str:
    if numbered:
        return "".join(f"&#{ord(ch)};" for ch in text)
    for word, code in (("&", "&amp;"), ("<", "&lt;"), ('"', "&quot;"), (">", "&gt;")):
        text = text.replace(word, code)
    return text


@given(st.lists(st.tuples(st.text(SURE, max_size=12), st.booleans(), st.integers(0, 2), st.booleans()), max_size=12))
def test_any_texts_and_any_nesting_are_read_alike(rows: list[tuple[str, bool, int, bool]]) -> None:
    parts, opened = [], 0
    for text, numbered, shape, naf in rows:
        tag = NODE.format(escaped(text, numbered)).replace("<node ", '<node NAF="true" ' if naf else "<node ")
        parts.append(tag + (" />" if shape == 0 else ">"))
        opened += shape > 0
        if shape == 2:
            parts.append("</node>")
            opened -= 1
    parts += ["</node>"] * opened
    assert same(FLAT.format("".join(parts))) or not rows


WHOLE = (
    '<displays><display id="0"><window index="0" id="7" title="{}" bounds="[0,0][9,9]" active="true" focused="true" '
    'layer="2" type="TYPE_APPLICATION"><hierarchy rotation="0">'
    + NODE.format("a")
    + "/></hierarchy></window></display>"
    "</displays>"
)


def test_windows_and_displays_are_read_alike() -> None:
    assert same(WHOLE.format("Main &amp; &quot;more&quot; &#x1F389;"))


@pytest.mark.parametrize(
    "odd",
    [
        FLAT.format(NODE.format("a") + ' hint="x"/>' + NODE.format("b") + "/>"),  # not all have the same
        FLAT.format(NODE.format("a\nb") + "/>"),  # an XML parser makes it a space
        FLAT.format("<!-- " + NODE.format("gone") + "/> -->" + NODE.format("a") + "/>"),
        FLAT.format("<![CDATA[" + NODE.format("gone") + "/>]]>" + NODE.format("a") + "/>"),
        FLAT.format(NODE.format("a") + "/>").replace('"', "'"),
        WHOLE.format("a > b"),
        WHOLE.format("a").replace("</window>", "</window>" + NODE.format("stray") + "/>"),
    ],
)
def test_what_does_not_fit_is_left_to_the_parser(odd: str) -> None:
    assert quickly(odd) is None
    assert parse_dump(odd) == parsed(odd)


@pytest.mark.parametrize(
    "broken",
    [
        FLAT.format(NODE.format("a") + "></node></node>"),
        FLAT.format(NODE.format("a") + ">"),
        FLAT.format(NODE.format("a<b") + "/>"),
        FLAT.format(NODE.format("a") + "/></window>"),
        FLAT.format(NODE.format("a &nbsp; b") + "/>"),
        FLAT.format('<node text="a" text="b"/>'),
    ],
)
def test_what_is_no_document_is_not_read_by_either(broken: str) -> None:
    assert quickly(broken) is None
    with pytest.raises(NoDump):
        parse_dump(broken)


@pytest.mark.parametrize("bad", ["\x01", "&#1;", "&#xFFFF;", "&#xD800;"])
def test_characters_that_xml_does_not_know_are_replaced(bad: str) -> None:
    dump = parse_dump(FLAT.format(NODE.format(f"a{bad}b") + "/>"))
    assert dump.windows[0].elements[0].text == "a\ufffdb"


@pytest.mark.anyio
async def test_the_dumps_of_a_device_take_the_quick_way(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    driver = await driver_of(router, phone)
    text = (await driver.shell.run("uiautomator dump --windows /dev/tty")).stdout  # type: ignore[attr-defined]
    assert same(text[text.index("<displays") : text.rindex(">") + 1])
