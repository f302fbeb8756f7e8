"""Mouse and touch, as pages see them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from anydevice_schemas import Point
from anydevice_schemas.errors import InvalidArgument

from .site import Site
from .web import Web, one

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]
PAD = (
    "<style>body{{margin:0}}</style><div id=pad style='width:400px;height:400px;background:#eee'></div>"
    "<script>tellAll(pad, {kinds})</script>"
)


def pad(*kinds: str) -> str:
    return PAD.format(kinds=", ".join(repr(kind) for kind in kinds))


async def test_a_click_is_move_press_release_click_and_trusted(web: Web, site: Site) -> None:
    await web.show(pad("mousemove", "mousedown", "mouseup", "click"))
    acted = await web.driver.pointer.click(Point(33, 44))
    assert (acted.method, acted.verified, list(acted.happenings)) == ("mouse", None, [])
    assert site.kinds() == ["mousemove", "mousedown", "mouseup", "click"]
    assert all((data["trusted"], data["x"], data["y"]) == (True, 33, 44) for data in (e["data"] for e in site.told))


async def test_buttons_and_counts(web: Web, site: Site) -> None:
    await web.show(pad("contextmenu", "auxclick", "click", "dblclick"))
    await web.driver.pointer.click(Point(10, 10), button="secondary")
    await web.driver.pointer.click(Point(10, 10), button="middle")
    await web.driver.pointer.click(Point(200, 200), count=3)
    kinds = [(event["kind"], event["data"]["button"]) for event in site.told]
    assert ("contextmenu", 2) in kinds
    assert ("auxclick", 1) in kinds
    assert kinds.count(("click", 0)) == 3
    assert [data["detail"] for data in site.data("click")] == [1, 2, 3]
    assert len(site.data("dblclick")) == 1


async def test_holding_keeps_the_button_down(web: Web, site: Site) -> None:
    await web.show(
        "<div id=pad style='width:99px;height:99px'></div><script>let t; pad.onmousedown = () => t = performance.now();"
        "pad.onmouseup = () => tell('held', performance.now() - t)</script>"
    )
    await web.driver.pointer.click(Point(40, 40), hold=0.3)
    assert site.data("held")[0] >= 250


async def test_moving_leaves_the_pointer_there(web: Web) -> None:
    await web.show(
        "<style>body{margin:0} #m{display:none} #h:hover #m{display:block}</style>"
        "<div id=h>Menu<button id=m>Item</button></div>"
    )
    await web.driver.pointer.move(Point(10, 10))
    assert one(await web.tree(), "Item").role == "button"


async def test_dragging_moves_in_steps_with_the_button_down(web: Web, site: Site) -> None:
    await web.show(
        "<style>body{margin:0}</style><div id=pad style='width:600px;height:400px'></div><script>let path = [];"
        "pad.onmousemove = e => { if (e.buttons) path.push([e.clientX, e.clientY]) };"
        "pad.onmouseup = e => tell('path', path.concat([[e.clientX, e.clientY]]))</script>"
    )
    acted = await web.driver.pointer.drag(Point(10, 20), Point(310, 220), seconds=0.2)
    [path] = site.data("path")
    assert path[-1] == [310, 220]
    assert len(path) >= 7
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(path))
    assert acted.data["html_drag"] is False


async def test_a_slider_is_dragged(web: Web) -> None:
    tree = await web.show(
        "<style>body{margin:0}</style><input id=s type=range min=0 max=100 value=0 style='width:400px;margin:0'>"
    )
    rect = one(tree, id="s").rect
    assert rect is not None
    await web.driver.pointer.drag(Point(rect.x + 8, rect.center.y), Point(rect.x + 300, rect.center.y), seconds=0.1)
    assert int(await web.evaluate("s.value")) > 60


DND = (
    "<style>body{margin:0} div{position:absolute;width:100px;height:100px}</style>"
    "<div id=card draggable=true style='left:0;top:0'>card</div>"
    "<div id=zone style='left:300px;top:200px'>zone</div><script>"
    "card.ondragstart = e => { e.dataTransfer.setData('text/plain', 'payload'); tell('start') };"
    "zone.ondragenter = e => { e.preventDefault(); tell('enter') }; zone.ondragover = e => e.preventDefault();"
    "zone.ondrop = e => { e.preventDefault(); tell('drop', e.dataTransfer.getData('text/plain')) };"
    "card.ondragend = e => tell('end')</script>"
)


@pytest.mark.parametrize("seconds", [0.0, 0.3])
async def test_html_drag_and_drop_carries_its_data(web: Web, site: Site, seconds: float) -> None:
    await web.show(DND)
    acted = await web.driver.pointer.drag(Point(50, 50), Point(350, 250), seconds=seconds)
    assert acted.data["html_drag"] is True
    assert (await site.wait("drop")) == ["payload"]
    assert site.kinds()[0] == "start"
    # The mouse is an ordinary mouse again.
    await web.evaluate("document.body.innerHTML = '<button id=b onclick=\"tell(`pressed`)\">b</button>'")
    await web.driver.pointer.click(one(await web.tree(), "b").rect.center)  # type: ignore[union-attr]
    assert await site.wait("pressed") == [None]


async def test_the_wheel_scrolls_the_page_and_says_how_far(web: Web) -> None:
    await web.show("<div style='height:3000px'>tall</div>")
    acted = await web.driver.pointer.wheel(Point(100, 100), dy=500)
    assert (acted.verified, acted.data["moved"]) == (True, [0, 500])
    assert await web.evaluate("scrollY") == 500
    assert (await web.driver.pointer.wheel(Point(100, 100), dy=-200)).data["moved"] == [0, -200]


async def test_the_wheel_scrolls_what_lies_under_the_pointer(web: Web) -> None:
    await web.show(
        "<style>body{margin:0}</style><div id=box style='width:200px;height:200px;overflow:auto'>"
        "<div style='width:900px;height:900px'>big</div></div><div style='height:3000px'></div>"
    )
    assert (await web.driver.pointer.wheel(Point(50, 50), dx=120, dy=80)).data["moved"] == [120, 80]
    assert await web.evaluate("[box.scrollLeft, box.scrollTop, scrollY]") == [120, 80, 0]


async def test_a_wheel_that_moves_nothing_is_not_verified(web: Web) -> None:
    await web.show("<p>short</p>")
    assert (await web.driver.pointer.wheel(Point(100, 100), dy=500)).verified is False
    with pytest.raises(InvalidArgument):
        await web.driver.pointer.wheel(Point(100, 100))


async def test_a_page_that_scrolls_smoothly_is_waited_for(web: Web) -> None:
    await web.show("<style>html{scroll-behavior:smooth}</style><div style='height:3000px'>tall</div>")
    acted = await web.driver.pointer.wheel(Point(100, 100), dy=400)
    assert acted.data["moved"] == [0, 400]


async def test_a_tap_is_a_touch_and_a_click(web: Web, site: Site) -> None:
    await web.show(pad("touchstart", "touchend", "click", "dblclick"))
    await web.driver.touch.tap(Point(60, 70))
    await site.wait("click")
    assert site.kinds() == ["touchstart", "touchend", "click"]
    assert (site.data("click")[0]["x"], site.data("touchstart")[0]["touches"]) == (60, 1)
    await web.driver.touch.tap(Point(60, 70), count=2)
    await site.wait("touchend", 3)


async def test_a_held_touch_stays_down(web: Web, site: Site) -> None:
    await web.show(
        "<div id=pad style='width:99px;height:99px'></div><script>let t;"
        "const on = (kind, f) => pad.addEventListener(kind, f); on('touchstart', () => t = performance.now());"
        "on('touchend', () => tell('held', performance.now() - t))</script>"
    )
    await web.driver.touch.hold(Point(40, 40), seconds=0.4)
    assert 350 <= (await site.wait("held"))[0] < 2000


async def test_a_swipe_scrolls(web: Web) -> None:
    await web.show("<div style='height:5000px'>tall</div>")
    await web.driver.touch.swipe(Point(300, 600), Point(300, 200), seconds=0.2)
    assert await web.evaluate("new Promise(r => setTimeout(() => r(scrollY), 200))") > 300


async def test_a_touch_drag_rests_before_it_moves(web: Web, site: Site) -> None:
    await web.show(
        "<div id=pad style='width:500px;height:300px;touch-action:none'></div><script>let s = 0, n = 0, f = 0;"
        "const on = (kind, g) => pad.addEventListener(kind, g); on('touchstart', () => s = performance.now());"
        "on('touchmove', () => { n++; f ||= performance.now() });"
        "on('touchend', e => tell('path', {rest: f - s, moves: n, x: e.changedTouches[0].clientX}))</script>"
    )
    await web.driver.touch.drag(Point(20, 20), Point(320, 120), hold=0.3, seconds=0.2)
    [path] = await site.wait("path")
    assert path["rest"] >= 250
    assert path["moves"] >= 4
    assert abs(path["x"] - 320) <= 1


async def test_two_fingers_pinch(web: Web, site: Site) -> None:
    await web.show(
        "<div id=pad style='width:600px;height:400px;touch-action:none'></div><script>let most = 0, first, last;"
        "const gap = e => Math.hypot(e.touches[0].clientX - e.touches[1].clientX, e.touches[0].clientY -"
        " e.touches[1].clientY);"
        "const on = (kind, g) => pad.addEventListener(kind, g, {passive: false});"
        "on('touchmove', e => { e.preventDefault(); most = Math.max(most, e.touches.length); if (e.touches.length == 2)"
        " { first ??= gap(e); last = gap(e) } });"
        "on('touchend', e => { if (!e.touches.length) tell('pinch', {most, first, last}) })</script>"
    )
    fingers = [[Point(250, 200), Point(100, 200)], [Point(350, 200), Point(500, 200)]]
    await web.driver.touch.multi_touch(fingers, seconds=0.2)
    [pinch] = await site.wait("pinch")
    assert pinch["most"] == 2
    assert pinch["first"] < 150
    assert pinch["last"] > 350
    with pytest.raises(InvalidArgument):
        await web.driver.touch.multi_touch([], seconds=0.1)


async def test_a_file_dialog_is_told_and_never_waits_for_a_person(web: Web, site: Site) -> None:
    tree = await web.show(
        "<input id=f type=file multiple aria-label=Files><button onclick=\"tell('pressed')\">next</button>"
    )
    acted = await web.click(one(tree, "Files"))
    assert [(h.kind, h.data["multiple"], h.data["opened"]) for h in acted.happenings] == [("file_chooser", True, False)]
    await web.click(one(tree, "next"))
    assert site.kinds() == ["pressed"]
