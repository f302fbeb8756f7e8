"""Where input lands: the visible part, what covers it, and what is at a point."""

from __future__ import annotations

import pytest

from anydevice_schemas import Point

from .site import Site
from .web import Web, key_of, one

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]
BODY = "<style>body{margin:0}button,div,input{box-sizing:border-box}</style>"


async def test_the_point_is_the_middle_of_the_visible_part(web: Web) -> None:
    tree = await web.show(
        BODY + "<button style='position:absolute;left:1180px;top:100px;width:300px;height:40px'>b</button>"
    )
    assert (await web.driver.elements.probe(key_of(one(tree, "b")))).point == Point(1230, 120)


async def test_an_overlay_is_named_by_role_name_and_key(web: Web) -> None:
    tree = await web.show(
        BODY
        + "<button>under</button><div id=veil role=dialog aria-label='Cookie consent' style='position:fixed;inset:0'>"
        "<button>Accept</button></div>"
    )
    probe = await web.driver.elements.probe(key_of(one(tree, "under")))
    assert probe.cover in {'dialog "Cookie consent" #veil', 'button "Accept"'}
    assert probe.cover_key in {node.key for node in tree.nodes}
    assert probe.point is not None
    assert one(tree, "under").hittable is False
    assert (await web.driver.elements.probe(key_of(one(tree, "Accept")))).cover is None


async def test_where_the_middle_is_covered_a_free_part_is_as_good(web: Web, site: Site) -> None:
    tree = await web.show(
        BODY + "<button style='width:400px;height:40px'>wide</button>"
        "<div id=bar style='position:fixed;left:150px;top:0;width:100px;height:100px'></div>"
        "<script>tellAll(document, 'click')</script>"
    )
    probe = await web.driver.elements.probe(key_of(one(tree, "wide")))
    assert (probe.point, probe.cover) == (Point(100, 20), None)
    assert (await web.driver.elements.probe(key_of(one(tree, "wide")), at=Point(200, 20))).cover is not None
    await web.click(one(tree, "wide"))
    assert site.data("click")[0]["target"] == "button"


async def test_what_lets_the_pointer_through_does_not_cover(web: Web) -> None:
    tree = await web.show(BODY + "<button>b</button><div style='position:fixed;inset:0;pointer-events:none'></div>")
    assert (await web.driver.elements.probe(key_of(one(tree, "b")))).cover is None


async def test_an_element_that_lets_the_pointer_through_is_covered_by_what_is_behind(web: Web) -> None:
    tree = await web.show(BODY + "<div id=back><button style='pointer-events:none'>b</button></div>")
    probe = await web.driver.elements.probe(key_of(one(tree, "b")))
    assert probe.cover is not None
    assert "back" in probe.cover


async def test_the_label_of_a_field_counts_as_the_field(web: Web) -> None:
    tree = await web.show(
        BODY + "<label style='position:relative;display:block;width:200px;height:40px'>Agree<input type=checkbox "
        "style='position:absolute;left:0;top:0;width:40px;height:40px;margin:0'>"
        "<span style='position:absolute;inset:0;background:white'></span></label>"
    )
    node = one(tree, "Agree")
    assert node.hittable is True
    await web.click(node)
    assert "checked" in (await web.driver.elements.probe(key_of(node))).node.states


async def test_a_box_without_size_is_clicked_on_its_label(web: Web) -> None:
    tree = await web.show(
        BODY + "<input id=c type=checkbox style='appearance:none;width:0;height:0;margin:0'>"
        "<label for=c style='position:absolute;left:50px;top:50px;width:100px;height:20px'>Agree</label>"
    )
    probe = await web.driver.elements.probe(key_of(one(tree, "Agree", role="checkbox")))
    assert (probe.point, probe.cover) == (Point(100, 60), None)


async def test_a_hidden_element_has_no_point_and_says_hidden(web: Web) -> None:
    tree = await web.show("<button id=b>b</button>")
    await web.evaluate("b.style.display = 'none'")
    probe = await web.driver.elements.probe(key_of(one(tree, "b")))
    assert (probe.point, probe.node.rect, probe.node.states) == (None, None, {"hidden"})


async def test_through_shadow_roots(web: Web, site: Site) -> None:
    tree = await web.show(
        "<x-a></x-a><script>customElements.define('x-a', class extends HTMLElement { connectedCallback() {"
        "const r = this.attachShadow({mode:'open'}); r.innerHTML = '<p>t</p><button id=deep>deep</button>';"
        "r.getElementById('deep').onclick = () => tell('pressed')}})</script>"
    )
    node = one(tree, "deep")
    probe = await web.driver.elements.probe(key_of(node))
    assert probe.cover is None
    assert probe.point is not None
    at = await web.driver.elements.at(probe.point)
    assert at is not None
    assert at.key == node.key
    await web.click(node)
    assert site.kinds() == ["pressed"]


async def test_a_link_broken_over_lines_is_hit_where_it_is_drawn(web: Web, site: Site) -> None:
    tree = await web.show(
        BODY + "<div style='width:120px;font:16px monospace'>aaaaaaa <a href='#hit'>bb cccccccccc</a> ddd</div>"
    )
    probe = await web.driver.elements.probe(key_of(one(tree, role="link")))
    assert probe.cover is None
    await web.click(one(tree, role="link"))
    assert await web.evaluate("location.hash") == "#hit"


async def test_the_element_at_a_point_is_the_one_a_person_would_name(web: Web) -> None:
    tree = await web.show(
        BODY + "<button style='position:absolute;left:0;top:0;width:100px;height:50px'><b>Bo</b>ld</button>"
        "<p style='position:absolute;left:0;top:100px;width:200px'>text <i>here</i></p>"
    )
    at = web.driver.elements.at
    found = [await at(Point(50, 25)), await at(Point(5, 125)), await at(Point(2000, 2000))]
    assert [node and (node.role, node.name) for node in found] == [("button", "Bold"), ("paragraph", "text here"), None]
    assert found[0] is not None
    assert found[0].key == one(tree, "Bold").key


async def test_sticky_headers_do_not_hide_what_is_revealed(web: Web) -> None:
    rows = "".join(f"<p><button>R{number}</button></p>" for number in range(100))
    tree = await web.show(BODY + f"<div style='position:sticky;top:0;height:200px;background:white'>top</div>{rows}")
    node = one(tree, "R60")
    acted = await web.driver.elements.reveal(key_of(node))
    assert (acted.verified, acted.data["scrolled"]) == (True, True)
    assert (await web.driver.elements.probe(key_of(node))).cover is None
    assert (await web.driver.elements.reveal(key_of(node))).data["scrolled"] is False


async def test_an_element_that_cannot_be_revealed_says_so(web: Web) -> None:
    tree = await web.show("<button style='position:fixed;left:-500px;top:0'>out</button>")
    assert (await web.driver.elements.reveal(key_of(one(tree, "out")))).verified is False


async def test_a_disabled_element_says_so_when_probed(web: Web) -> None:
    tree = await web.show("<fieldset id=f><button>b</button></fieldset>")
    assert "disabled" not in one(tree, "b").states
    await web.evaluate("f.disabled = true")
    assert "disabled" in (await web.driver.elements.probe(key_of(one(tree, "b")))).node.states
