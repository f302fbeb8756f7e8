"""Keys: one element each, for its life, never given again; what is gone is refused with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice_schemas import Node, Tree
from anydevice_schemas.errors import StaleRef

from .site import Site
from .web import Web, key_of, one

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]


async def refused(web: Web, node: Node) -> StaleRef:
    with pytest.raises(StaleRef) as caught:
        await web.driver.elements.probe(key_of(node))
    assert caught.value.details["ref"] == node.key
    assert caught.value.details["nearest_matches"] == []
    return caught.value


async def test_a_key_survives_new_trees_and_inserted_siblings(web: Web) -> None:
    before = one(await web.show("<button>keep</button>"), "keep")
    await web.evaluate(
        "for (let i = 0; i < 200; i++) document.body.prepend(document.createElement('button')); document.body.offsetTop"
    )
    after = await web.tree()
    assert one(after, "keep").key == before.key
    assert len({node.key for node in after.nodes}) == len(after.nodes)


async def test_a_key_survives_a_move_within_the_page(web: Web) -> None:
    node = one(await web.show("<div id=a><button>moved</button></div><div id=b>b</div>"), "moved")
    await web.evaluate("b.append(a.firstChild)")
    assert one(await web.tree(), "moved").key == node.key


async def test_keys_survive_garbage_collection(web: Web) -> None:
    tree = await web.show("".join(f"<button>B{number}</button>" for number in range(300)))
    keys = [node.key for node in tree.nodes]
    page = await web.driver.instance.page()
    for _ in range(3):
        await page.session.call("HeapProfiler.collectGarbage")
        await web.evaluate("(() => { let all = []; for (let i = 0; i < 2e5; i++) all.push({i}); return all.length })()")
    assert [node.key for node in (await web.tree()).nodes] == keys


async def test_a_removed_element_is_stale_and_its_key_is_never_given_again(web: Web) -> None:
    tree = await web.show("<div id=list></div><script>list.innerHTML = '<button>old</button>'</script>")
    old = one(tree, "old")
    await web.evaluate("list.innerHTML = '<button>old</button>'")
    error = await refused(web, old)
    assert "removed" in error.details["reason"]
    page = await web.driver.instance.page()
    await page.session.call("HeapProfiler.collectGarbage")
    await refused(web, old)
    new = one(await web.tree(), "old")
    assert new.key != old.key
    await web.click(new)


async def test_rebuilding_a_list_a_hundred_times_never_repeats_a_key(web: Web) -> None:
    await web.show("<div id=list></div>")
    seen: set[str | None] = set()
    for turn in range(100):
        await web.evaluate(f"list.innerHTML = '<button>A{turn}</button><button>B{turn}</button>'")
        keys = {node.key for node in (await web.tree()).nodes if node.role == "button"}
        assert len(keys) == 2
        assert not keys & seen
        seen |= keys


@pytest.mark.parametrize("action", ["probe", "set_text", "focus", "reveal"])
async def test_a_stale_key_never_acts_on_something_else(web: Web, site: Site, action: str) -> None:
    tree = await web.show("<input id=a value=first><script>tellAll(document, 'input', 'focus')</script>")
    key = key_of(one(tree, id="a"))
    await web.evaluate("a.outerHTML = '<input id=a value=second>'")
    with pytest.raises(StaleRef):
        call: Any = getattr(web.driver.elements, action)
        await (call(key, "typed") if action == "set_text" else call(key))
    assert await web.evaluate("a.value") == "second"
    assert site.told == []


async def test_after_a_navigation_every_key_is_stale_without_asking_the_page(web: Web, site: Site) -> None:
    node = one(await web.show("<button>here</button>"), "here")
    await web.open(site.page("<button>here</button>"))
    page = await web.driver.instance.page()
    sent = page.browser.connection._number
    error = await refused(web, node)
    assert "page" in error.details["reason"]
    assert page.browser.connection._number == sent
    assert one(await web.tree(), "here").key != node.key


async def test_generations_change_with_the_document_and_only_with_it(web: Web, site: Site) -> None:
    first = await web.show("<button>x</button>")
    assert (await web.tree()).generation == first.generation
    await web.evaluate("history.pushState({}, '', '#there'); document.body.innerHTML = '<p>all new</p>'")
    assert (await web.tree()).generation == first.generation
    await web.open(site.page("<button>x</button>"))
    assert (await web.tree()).generation != first.generation


async def test_keys_of_another_tab_are_refused_and_good_again_when_it_is_selected(web: Web, site: Site) -> None:
    node = one(await web.show("<button>first tab</button>"), "first tab")
    await web.open(site.page("<button>second tab</button>"), new=True)
    error = await refused(web, node)
    assert error.details["reason"] == "it is in another tab"
    await web.driver.tabs.select(
        "t1" if (await web.driver.apps.list())[0].id == "t1" else (await web.driver.apps.list())[0].id
    )
    assert (await web.driver.elements.probe(key_of(node))).node.name == "first tab"


async def test_keys_of_a_removed_frame_are_stale(web: Web) -> None:
    tree = await web.show("<iframe id=f srcdoc='<button>framed</button>'></iframe><button>main</button>")
    framed, main = one(tree, "framed"), one(tree, "main")
    await web.evaluate("f.srcdoc = '<button>other</button>'; new Promise(r => f.onload = r)")
    await refused(web, framed)
    await web.evaluate("f.remove()")
    await refused(web, framed)
    assert (await web.driver.elements.probe(key_of(main))).node.name == "main"


async def test_keys_of_a_reloaded_frame_of_another_site_are_stale_at_once(web: Web, site: Site) -> None:
    inner = site.other(site.page("<button>far</button>"))
    tree = await web.show(f"<iframe id=f src='{inner}'></iframe>")
    far = one(tree, "far")
    await web.evaluate("f.src += '?again'; new Promise(r => f.onload = r)")
    await refused(web, far)
    assert one(await web.tree(), "far").key != far.key


@pytest.mark.parametrize("key", ["", "nonsense", "nonsense:1", "doc:x", "a:b:1"])
async def test_what_is_no_key_is_stale_too(web: Web, key: str) -> None:
    with pytest.raises(StaleRef):
        await web.driver.elements.probe(key)


async def test_a_number_nobody_gave_is_refused(web: Web) -> None:
    tree = await web.show("<button>x</button>")
    with pytest.raises(StaleRef):
        await web.driver.elements.probe(f"{tree.generation}:999999")


async def test_going_back_keeps_keys_of_one_document_apart_from_all_others(web: Web, site: Site) -> None:
    first: Tree = await web.show("<button>one</button>")
    await web.open(site.page("<button>two</button>"))
    second = await web.tree()
    await web.driver.navigation.back()
    again = await web.tree()
    assert one(again, "one")
    firsts, seconds, agains = ({node.key for node in tree.nodes} for tree in (first, second, again))
    assert not firsts & seconds
    assert not agains & seconds
    # Where the browser kept the document, the element is the same one and so is its key.
    assert (one(again, "one").key == one(first, "one").key) == (again.generation == first.generation)
