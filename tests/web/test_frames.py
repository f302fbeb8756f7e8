"""Frames: of the same origin, of other origins and sites, sandboxed, nested, padded, scaled, scrolled."""

from __future__ import annotations

import pytest

from anydevice_schemas import Point, Rect, Tree

from .site import Site
from .web import Web, key_of, one

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]

BUTTON = (
    "<style>body{margin:0}</style><button style='position:absolute;left:30px;top:20px;width:80px;height:40px'>inside"
    "</button><script>(self.tellAll || parent.tellAll)(document, 'click')</script>"
)
FRAMED = (
    "<style>body{{margin:0}}</style><iframe id=f style='position:absolute;left:100px;top:50px;width:300px;height:200px;"
    "{style}' {how}></iframe>"
)


def sources(site: Site, html: str) -> dict[str, str]:
    url = site.page(html)
    quoted = html.replace("&", "&amp;").replace('"', "&quot;")
    return {
        "same origin": f"src='{url}'",
        "srcdoc": f'srcdoc="{quoted}"',
        "other site": f"src='{site.other(url)}'",
        "sandboxed": f"src='{url}' sandbox='allow-scripts'",
    }


KINDS = ["same origin", "srcdoc", "other site", "sandboxed"]
STYLES = {
    "plain": ("border:0", (130.0, 70.0, 80.0, 40.0)),
    "border and padding": ("border:3px solid;padding:7px 11px", (144.0, 80.0, 80.0, 40.0)),
    "scaled": ("border:0;transform:scale(0.5);transform-origin:0 0", (115.0, 60.0, 40.0, 20.0)),
    "scaled with border": ("border:4px solid;transform:scale(2);transform-origin:0 0", (168.0, 98.0, 160.0, 80.0)),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_button_in_a_frame_is_where_it_is_drawn_and_takes_the_click(
    web: Web, site: Site, kind: str, style: str
) -> None:
    css, place = STYLES[style]
    tree = await web.show(FRAMED.format(style=css, how=sources(site, BUTTON)[kind]))
    node = one(tree, "inside")
    assert node.rect == Rect(*place)
    assert tree.nodes[node.parent].role == "frame"
    probe = await web.driver.elements.probe(key_of(node))
    assert probe.node.rect == Rect(*place)
    assert (probe.point, probe.cover) == (Rect(*place).center, None)
    assert probe.point is not None
    at = await web.driver.elements.at(probe.point)
    assert at is not None
    assert (at.name, at.rect, at.key) == ("inside", Rect(*place), node.key)
    await web.driver.pointer.click(probe.point)
    if kind == "sandboxed":  # its own script may not report; the focus is the witness
        focused = await web.driver.keys.focused()
        assert focused is not None
        assert focused.key == node.key
    else:
        [click] = await site.wait("click")
        assert (click["trusted"], abs(click["x"] - 70) <= 1, abs(click["y"] - 40) <= 1) == (True, True, True)


@pytest.mark.parametrize("outer", ["same origin", "other site"])
@pytest.mark.parametrize("inner", ["same origin", "other site"])
async def test_nested_frames_add_up(web: Web, site: Site, outer: str, inner: str) -> None:
    deep = site.page(BUTTON)
    if (outer == "other site") != (inner == "other site"):
        deep = site.other(deep)
    middle = site.page(FRAMED.format(style="border:2px solid;padding:5px", how=f"src='{deep}'"))
    if outer == "other site":
        middle = site.other(middle)
    html = (
        "<style>body{margin:0}</style><div style='height:40px'></div>"
        f"<iframe style='margin:10px;border:1px solid;width:700px;height:500px' src='{middle}'></iframe>"
    )
    tree = await web.show(html)
    node = one(tree, "inside")
    assert node.rect == Rect(10 + 1 + 100 + 7 + 30, 40 + 10 + 1 + 50 + 7 + 20, 80, 40)
    assert [tree.nodes[index].role for index in tree.ancestors(tree.nodes.index(node))] == [
        "frame",
        "frame",
        "document",
    ]
    await web.click(node)
    assert len(await site.wait("click")) == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_what_the_page_around_a_frame_hides_of_it_is_off_screen_and_is_revealed(
    web: Web, site: Site, kind: str
) -> None:
    inner = "<style>body{margin:0}</style><div style='height:900px'>tall</div><button>low</button>"
    how = sources(site, inner)[kind]
    html = f"<div style='height:2000px'>far</div><iframe style='width:300px;height:150px' {how}></iframe>"
    tree = await web.show(html)
    node = one(tree, "low")
    assert "offscreen" in node.states
    assert (await web.driver.elements.probe(key_of(node))).point is None
    assert [n.name for n in (await web.tree("viewport")).nodes if n.role == "button"] == []
    acted = await web.driver.elements.reveal(key_of(node))
    assert acted.verified is True
    probe = await web.driver.elements.probe(key_of(node))
    assert probe.cover is None
    assert "offscreen" not in probe.node.states
    tree = await web.tree("viewport")
    assert one(tree, "low").rect == probe.node.rect


@pytest.mark.parametrize("kind", KINDS)
async def test_a_frame_inside_a_clipped_box_shows_only_what_the_box_shows(web: Web, site: Site, kind: str) -> None:
    inner = (
        "<style>body{margin:0}</style><button style='width:200px;height:100px'>half</button><br><button>gone</button>"
    )
    html = (
        "<style>body{margin:0}</style><div style='width:100px;height:60px;overflow:hidden'>"
        f"<iframe style='border:0;width:300px;height:300px' {sources(site, inner)[kind]}></iframe></div>"
    )
    tree = await web.show(html)
    assert "offscreen" in one(tree, "gone").states
    probe = await web.driver.elements.probe(key_of(one(tree, "half")))
    assert probe.point == Point(50, 30)
    assert (await web.driver.elements.probe(key_of(one(tree, "gone")))).point is None


@pytest.mark.parametrize("kind", KINDS)
async def test_a_veil_in_the_page_over_a_frame_covers_what_is_inside(web: Web, site: Site, kind: str) -> None:
    veil = "<div id=veil style='position:fixed;inset:0;background:#0008'>wait</div>"
    tree = await web.show(FRAMED.format(style="", how=sources(site, BUTTON)[kind]) + veil)
    probe = await web.driver.elements.probe(key_of(one(tree, "inside")))
    assert probe.point is not None
    assert probe.cover is not None
    assert "veil" in probe.cover
    assert probe.cover_key == one(tree, "wait").key
    assert (await web.driver.elements.probe(key_of(one(tree, "inside")), at=probe.point)).cover == probe.cover
    await web.evaluate("veil.remove()")
    assert (await web.driver.elements.probe(key_of(one(tree, "inside")))).cover is None


async def test_a_veil_in_the_middle_document_covers_too(web: Web, site: Site) -> None:
    deep = site.page(BUTTON)
    middle = site.other(
        site.page(
            FRAMED.format(style="", how=f"src='{deep}'") + "<div id=between style='position:fixed;inset:0'>b</div>"
        )
    )
    tree = await web.show(f"<iframe style='width:700px;height:500px' src='{middle}'></iframe>")
    probe = await web.driver.elements.probe(key_of(one(tree, "inside")))
    assert probe.cover is not None
    assert "between" in probe.cover


@pytest.mark.parametrize("kind", ["same origin", "other site"])
async def test_text_goes_into_the_framed_field(web: Web, site: Site, kind: str) -> None:
    field = "<input id=t><script>t.oninput = () => tell('input', t.value)</script>"
    tree = await web.show(FRAMED.format(style="", how=sources(site, field)[kind]))
    acted = await web.driver.elements.set_text(key_of(one(tree, id="t")), "über 😀")
    assert acted.verified is True
    assert (await site.wait("input"))[-1] == "über 😀"
    focused = await web.driver.keys.focused()
    assert focused is not None
    assert (focused.identifier, focused.value) == ("t", "über 😀")
    await web.driver.keys.type_text("!")
    assert (await site.wait("input", 2))[-1] == "über 😀!"


async def test_a_frame_that_moves_to_another_site_is_read_there(web: Web, site: Site) -> None:
    near, far = site.page("<button>near</button>"), site.other(site.page("<button>far</button>"))
    await web.show(f"<iframe id=f src='{near}'></iframe>")
    for url, name in ((far, "far"), (near, "near"), (far, "far")):
        await web.evaluate(f"f.src = '{url}'; new Promise(r => f.onload = r)")
        assert one(await web.tree(), role="button").name == name


async def test_the_wheel_turns_in_a_frame_of_another_site(web: Web, site: Site) -> None:
    inner = "<style>body{margin:0}</style><div style='height:3000px'>tall</div><button>end</button>"
    await web.show(FRAMED.format(style="border:0", how=sources(site, inner)["other site"]))
    acted = await web.driver.pointer.wheel(Point(200, 100), dy=300)
    assert acted.verified is True
    assert acted.data["moved"] == [0, 300]


async def test_a_frozen_frame_is_left_out_and_told(web: Web, site: Site) -> None:
    frozen = site.other(
        site.page("<button>frozen</button><script>onmessage = () => {"
                  "tell('freezes'); const end = Date.now() + 6000; while (Date.now() < end);}</script>")
    )  # fmt: skip
    await web.show(f"<button>alive</button><iframe src='{frozen}'></iframe>")
    await web.evaluate("frames[0].postMessage('freeze', '*')")
    await site.wait("freezes")
    tree: Tree = await web.tree()
    assert (tree.quality, tree.omitted) == ("degraded", {"frames": 1})
    assert one(tree, "alive")
    assert not any(node.name == "frozen" for node in tree.nodes)


async def test_many_frames_of_other_sites_are_all_read(web: Web, site: Site) -> None:
    urls = [site.other(site.page(f"<button>F{number}</button>")) for number in range(6)]
    await web.show("".join(f"<iframe src='{url}' width=150 height=60></iframe>" for url in urls))
    await web.evaluate("new Promise(r => document.readyState === 'complete' ? r() : addEventListener('load', r))")
    tree = await web.tree()
    assert [node.name for node in tree.nodes if node.role == "button"] == [f"F{number}" for number in range(6)]
