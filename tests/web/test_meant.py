"""Input reaches the element it is meant for, or nothing: elements that move, change places, or are filled anew."""

from __future__ import annotations

import pytest

from anydevice.driver import Acted
from anydevice_schemas import Node, Point
from anydevice_schemas.errors import ActionUnverified, ElementCovered, FocusUnavailable, Refused, StaleRef

from .site import Site
from .web import Web, key_of, one

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]
BOTH = (
    "<style>body{margin:0}.b{position:absolute;top:0;width:80px;height:30px}</style>"
    "<button id=safe class=b style='left:0' onclick=\"tell('safe')\">Safe</button>"
    "<button id=danger class=b style='left:200px' onclick=\"tell('danger')\">Danger</button>"
    "<script>tellAll(document, 'pointerdown', 'mousedown', 'mouseup', 'focusin')</script>"
)
SWAP = "safe.style.left = '200px'; danger.style.left = '0'"


async def spot(web: Web, node: Node) -> Point:
    point = (await web.driver.elements.probe(key_of(node))).point
    assert point is not None
    return point


async def test_a_press_on_an_element_that_moved_away_reaches_nothing(web: Web, site: Site) -> None:
    tree = await web.show(BOTH)
    point = await spot(web, one(tree, "Safe"))
    await web.evaluate(SWAP)
    with pytest.raises(ElementCovered) as caught:
        await web.driver.pointer.click(point)
    assert (caught.value.details["kept"], caught.value.details["cover"]) == (True, 'button "Danger" #danger')
    assert site.kinds() == []
    assert one(await web.tree(), "Danger").states.isdisjoint({"focused"})


async def test_a_tap_on_an_element_that_moved_away_reaches_nothing(web: Web, site: Site) -> None:
    tree = await web.show(BOTH)
    point = await spot(web, one(tree, "Safe"))
    await web.evaluate(SWAP)
    with pytest.raises(ElementCovered):
        await web.driver.touch.tap(point)
    assert "danger" not in site.kinds()


async def test_a_frame_of_another_site_in_its_place_is_not_given_the_press(web: Web, site: Site) -> None:
    inner = site.other(
        site.page(
            "<body style='margin:0'><button style='width:80px;height:30px'>far</button>"
            "<script>tellAll(document, 'click')</script>"
        )
    )
    tree = await web.show(BOTH + f"<iframe id=f src='{inner}' class=b style='left:400px;border:0'></iframe>")
    assert one(tree, "far")
    point = await spot(web, one(tree, "Safe"))
    await web.evaluate("safe.style.left = '200px'; f.style.left = '0'; new Promise(r => setTimeout(r, 100))")
    with pytest.raises(ElementCovered):
        await web.driver.pointer.click(point)
    assert site.kinds() == []


async def test_a_press_at_bare_coordinates_means_whatever_is_there(web: Web, site: Site) -> None:
    tree = await web.show(BOTH)
    point = await spot(web, one(tree, "Safe"))
    await web.evaluate(SWAP)
    with pytest.raises(ElementCovered):
        await web.driver.pointer.click(point)
    await web.driver.pointer.click(Point(point.x, point.y))
    assert "danger" in site.kinds()


async def test_a_second_press_does_not_reach_what_the_first_put_there(web: Web, site: Site) -> None:
    tree = await web.show(BOTH + f'<script>safe.addEventListener("click", () => {{ {SWAP} }})</script>')
    with pytest.raises(ActionUnverified):
        await web.driver.pointer.click(await spot(web, one(tree, "Safe")), count=2)
    assert site.kinds().count("safe") == 1
    assert "danger" not in site.kinds()


async def test_an_element_that_stays_is_pressed_as_ever(web: Web, site: Site) -> None:
    tree = await web.show(BOTH)
    acted: Acted = await web.driver.pointer.click(await spot(web, one(tree, "Safe")), count=2)
    assert acted.method == "mouse"
    assert site.kinds().count("safe") == 2


# --- text -----------------------------------------------------------------------------------------


async def test_text_does_not_go_where_the_page_moves_the_focus(web: Web) -> None:
    tree = await web.show("<input id=a aria-label=A onfocus='b.focus()'><input id=b aria-label=B>")
    with pytest.raises(FocusUnavailable):
        await web.driver.elements.set_text(key_of(one(tree, "A")), "secret")
    assert await web.evaluate("[a.value, b.value]") == ["", ""]


@pytest.mark.parametrize(
    "when", ["i.value = 'old'", "requestAnimationFrame(() => i.value = 'old')", "setTimeout(() => i.value = 'old', 50)"]
)
async def test_a_field_that_takes_its_change_back_is_not_verified(web: Web, when: str) -> None:
    tree = await web.show(f'<input id=i aria-label=N oninput="{when}">')
    acted = await web.driver.elements.set_text(key_of(one(tree, "N")), "new")
    assert acted.verified is False


async def test_a_select_that_takes_its_change_back_is_not_verified(web: Web) -> None:
    tree = await web.show(
        "<select aria-label=S onchange=\"setTimeout(() => this.value = 'a', 30)\"><option>a<option>b</select>"
    )
    assert (await web.driver.elements.set_text(key_of(one(tree, "S")), "b")).verified is False


async def test_a_field_that_goes_away_with_its_text_was_given_it(web: Web, site: Site) -> None:
    tree = await web.show("<input id=i aria-label=N oninput=\"tell('got', i.value); i.remove()\">")
    acted = await web.driver.elements.set_text(key_of(one(tree, "N")), "x")
    assert (acted.verified, acted.data["gone"], site.kinds()) == (None, True, ["got"])
    next_page = site.page("next")
    tree = await web.show(f"<input aria-label=N oninput=\"location = '{next_page}'\">")
    acted = await web.driver.elements.set_text(key_of(one(tree, "N")), "x")
    assert acted.verified is not True
    assert [happening.kind for happening in acted.happenings] == ["navigated"]


# --- elements filled with something else --------------------------------------------------------------

ROWS = (
    "<div id=list>"
    + "".join(f"<div class=row><span>{name}</span> <button>Delete</button></div>" for name in "ABC")
    + "</div>"
)


@pytest.mark.parametrize(
    ("page", "change"),
    [
        (ROWS, "document.querySelector('.row span').textContent = 'Z'"),
        ("<ul><li><a href='#1'>Alice</a> <button>Delete</button></li></ul>", "document.links[0].textContent = 'Bob'"),
        ("<table><tr><td>Alice<td><button>Delete</button></table>", "document.querySelector('td').textContent = 'Bob'"),
        ("<ul><li><button>Delete</button></li></ul>", "document.querySelector('button').textContent = 'Delete all'"),
        (
            "<dialog open><h2>Delete Alice?</h2><button>Delete</button></dialog>",
            "document.querySelector('h2').textContent = 'Delete Bob?'",
        ),
        (
            "<ul><li data-index=4>Message <button>Delete</button></li></ul>",
            "document.querySelector('li').dataset.index = 5",
        ),
    ],
)
async def test_an_element_whose_row_shows_something_else_is_another_one(web: Web, page: str, change: str) -> None:
    tree = await web.show(page)
    button = next(node for node in tree.nodes if node.role == "button")
    point = await spot(web, button)
    await web.evaluate(change)
    with pytest.raises(StaleRef):
        await web.driver.pointer.click(point)
    with pytest.raises(StaleRef):
        await web.driver.elements.probe(key_of(button))
    again = next(node for node in (await web.tree()).nodes if node.role == "button")
    assert again.key != button.key
    await web.driver.elements.probe(key_of(again))
    await web.evaluate("document.body.append('more')")
    with pytest.raises(StaleRef):
        await web.driver.elements.probe(key_of(button))


@pytest.mark.parametrize(
    ("page", "change"),
    [
        ("<button>Play</button>", "document.querySelector('button').textContent = 'Pause'"),
        (
            "<ul><li>Alice <button>Follow</button></li></ul>",
            "document.querySelector('button').textContent = 'Following'",
        ),
        ("<ul><li>Alice <b>3</b> <button>+</button></li></ul>", "document.querySelector('b').textContent = '4'"),
        (ROWS, "list.prepend(list.lastChild)"),
        (ROWS, "list.lastChild.remove()"),
        ("<p id=s>idle</p><button>Run</button>", "s.textContent = 'running'"),
        (
            "<ul><li><textarea>x</textarea><button>Save</button></li></ul>",
            "document.querySelector('textarea').textContent = 'y'",
        ),
    ],
)
async def test_an_element_that_is_about_the_same_keeps_its_key(web: Web, page: str, change: str) -> None:
    tree = await web.show(page)
    button = next(node for node in tree.nodes if node.role == "button")
    await web.evaluate(change)
    await web.driver.elements.probe(key_of(button))
    assert key_of(button) in {node.key for node in (await web.tree()).nodes}


# --- addresses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "chrome://settings",
        "CHROME://quit",
        "chrome:crash",
        "edge://settings",
        "about:about",
        "view-source:view-source:chrome://version",
        "devtools://devtools/x",
    ],
)
async def test_the_browsers_own_pages_are_refused(web: Web, url: str) -> None:
    with pytest.raises(Refused):
        await web.open(url)
