"""What a page's tree says: roles, names, values, states, what is left out and what is not."""

from __future__ import annotations

import pytest

from anydevice_schemas import Rect, Tree

from .site import Site
from .web import Web, key_of, one, outline

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]


@pytest.mark.parametrize(
    ("html", "role"),
    [
        ("<button>x</button>", "button"),
        ("<a href=#>x</a>", "link"),
        ("<input type=submit value=x>", "button"),
        ("<input type=image alt=x>", "button"),
        ("<input aria-label=x>", "textbox"),
        ("<input type=email aria-label=x>", "textbox"),
        ("<input type=password aria-label=x>", "textbox"),
        ("<input type=search aria-label=x>", "searchbox"),
        ("<input list=l aria-label=x><datalist id=l><option>no</datalist>", "combobox"),
        ("<input type=number aria-label=x>", "spinbutton"),
        ("<input type=range aria-label=x>", "slider"),
        ("<input type=checkbox aria-label=x>", "checkbox"),
        ("<input type=checkbox role=switch aria-label=x>", "switch"),
        ("<input type=radio aria-label=x>", "radio"),
        ("<input type=file aria-label=x>", "filechooser"),
        ("<input type=color aria-label=x>", "colorwell"),
        ("<input type=date aria-label=x>", "date"),
        ("<input type=datetime-local aria-label=x>", "date"),
        ("<textarea aria-label=x></textarea>", "textbox"),
        ("<select aria-label=x><option>a</select>", "combobox"),
        ("<select aria-label=x multiple><option>a</select>", "listbox"),
        ("<select aria-label=x size=4><option>a</select>", "listbox"),
        ("<div contenteditable aria-label=x>text <b>bold</b></div>", "textbox"),
        ("<div role=button>x</div>", "button"),
        ("<div role='nonsense tab'>x</div>", "tab"),
        ("<div role=img aria-label=x>inner</div>", "image"),
        ("<h3>x</h3>", "heading"),
        ("<nav aria-label=x>y</nav>", "navigation"),
        ("<section aria-label=x>y</section>", "region"),
        ("<dialog open aria-label=x>y</dialog>", "dialog"),
        ("<details><summary>x</summary>hidden</details>", "button"),
        ("<progress aria-label=x value=1 max=4></progress>", "progressbar"),
        ("<img alt=x width=5 height=5 src=data:,>", "image"),
        ("<canvas aria-label=x></canvas>", "canvas"),
        ("<p>x</p>", "paragraph"),
        ("<div>x</div>", "text"),
        ("<div onclick='1'>x</div>", "clickable"),
        ("<div tabindex=0>x</div>", "clickable"),
        ("<div style='cursor:pointer'>x</div>", "clickable"),
        ("<svg role=img aria-label=x width=5 height=5></svg>", "image"),
    ],
)
async def test_roles_come_from_the_role_attribute_else_from_the_tag(web: Web, html: str, role: str) -> None:
    tree = await web.write(html)
    assert one(tree, "x").role == role


@pytest.mark.parametrize(
    "html",
    [
        "<a>x</a>",  # no address: no link
        "<img alt='' width=5 height=5 src=data:,>",
        "<button role=presentation tabindex=-1 style='display:none'>x</button>",
    ],
)
async def test_what_has_no_role_is_no_control(web: Web, html: str) -> None:
    tree = await web.write(html)
    assert {node.role for node in tree.nodes} <= {"document", "text"}


@pytest.mark.parametrize(
    ("html", "name"),
    [
        ("<b id=a>by</b> <b id=b>id</b><button id=t aria-labelledby='a b' aria-label=no>no</button>", "by id"),
        ("<button id=t aria-label=label title=no>no</button>", "label"),
        ("<label for=t>the label</label><input id=t title=no placeholder=no>", "the label"),
        ("<label>around <input id=t> it</label>", "around it"),
        ("<input id=t title=titled placeholder=no>", "titled"),
        ("<input id=t placeholder=held>", "held"),
        ("<input id=t type=submit>", "Submit"),
        ("<input id=t type=reset>", "Reset"),
        ("<input id=t type=button value=push>", "push"),
        ("<button id=t> much\n   space </button>", "much space"),
        ("<button id=t><span>two</span><span>parts</span></button>", "twoparts"),
        ("<button id=t><div>two</div><div>blocks</div></button>", "two blocks"),
        ("<button id=t><img alt=picture src=data:,> text</button>", "picture text"),
        ("<button id=t>shown<span aria-hidden=true>no</span><i style='display:none'>no</i></button>", "shown"),
        ("<button id=t title=last></button>", "last"),
        ("<a id=t href=#><svg width=9 height=9><title>drawn</title></svg></a>", "drawn"),
        ("<span hidden id=h>hidden words</span><button id=t aria-labelledby=h></button>", "hidden words"),
        ("<iframe id=t title=framed srcdoc=x></iframe>", "framed"),
        ("<fieldset id=t><legend>group of</legend><input></fieldset>", "group of"),
        ("<table id=t><caption>figures</caption><tr><td>1</table>", "figures"),
        ("<div id=t contenteditable aria-label=editor>text</div>", "editor"),
    ],
)
async def test_names_follow_the_order_of_sources(web: Web, html: str, name: str) -> None:
    assert one(await web.write(html), id="t").name == name


async def test_labels_are_told_once_as_the_name_of_their_field(web: Web) -> None:
    tree = await web.show("<p><label for=a>Name</label> <input id=a></p><label><input type=checkbox> Agree</label>")
    assert [(node.role, node.name) for node in tree.nodes[1:]] == [("textbox", "Name"), ("checkbox", "Agree")]


async def test_a_label_stands_for_a_box_that_is_not_drawn(web: Web) -> None:
    html = "<input type=checkbox id=a style='display:none' checked><label for=a>Dark mode</label>"
    node = one(await web.show(html), "Dark mode")
    assert (node.role, "checked" in node.states, node.actions) == ("checkbox", True, ("press",))
    await web.click(node)
    assert await web.evaluate("document.getElementById('a').checked") is False
    assert "unchecked" in (await web.driver.elements.probe(key_of(node))).node.states


@pytest.mark.parametrize(
    ("html", "value"),
    [
        ("<input id=t value=typed>", "typed"),
        ("<textarea id=t>two\nlines</textarea>", "two\nlines"),
        ("<select id=t><option>one<option selected>two</select>", "two"),
        ("<select id=t multiple><option selected>one<option>no<option selected>two</select>", "one, two"),
        ("<input id=t type=range value=30>", "30"),
        ("<input id=t type=date value=2026-05-01>", "2026-05-01"),
        ("<input id=t type=checkbox value=no>", None),
        ("<button id=t value=no>b</button>", None),
        ("<div id=t contenteditable>rich <b>text</b></div>", "rich text"),
        ("<meter id=t value=0.5></meter>", "0.5"),
        ("<div id=t role=slider aria-valuetext='half full' aria-valuenow=5 style='height:9px'></div>", "half full"),
    ],
)
async def test_values_are_what_a_person_sees_in_the_field(web: Web, html: str, value: str | None) -> None:
    assert one(await web.write(html), id="t").value == value


@pytest.mark.parametrize(
    ("html", "states"),
    [
        ("<input id=t disabled>", {"disabled"}),
        ("<fieldset disabled><input id=t></fieldset>", {"disabled"}),
        ("<div aria-disabled=true><button id=t>b</button></div>", {"disabled"}),
        ("<div inert><button id=t>b</button></div>", {"disabled"}),
        ("<input id=t readonly>", {"readonly"}),
        ("<input id=t required>", {"editable", "required"}),
        ("<textarea id=t></textarea>", {"editable", "multiline"}),
        ("<input id=t type=checkbox checked>", {"checked"}),
        ("<input id=t type=radio>", {"unchecked"}),
        ("<div id=t role=checkbox aria-checked=mixed>c</div>", {"mixed"}),
        ("<button id=t aria-expanded=false>b</button>", {"collapsed"}),
        ("<details open><summary id=t>s</summary></details>", {"expanded"}),
        ("<button id=t aria-pressed=true>b</button>", {"pressed"}),
        ("<div id=t role=tab aria-selected=true>t</div>", {"selected"}),
        ("<input id=t aria-invalid=true>", {"editable", "invalid"}),
        ("<div id=t role=group aria-label=g aria-busy=true>x</div>", {"busy"}),
        ("<div id=t role=dialog aria-modal=true aria-label=d>x</div>", {"modal"}),
        ("<button id=t style='position:absolute;top:3000px'>b</button>", {"offscreen"}),
    ],
)
async def test_states(web: Web, html: str, states: set[str]) -> None:
    assert one(await web.write(html), id="t").states == states


async def test_the_focused_element_is_told_through_shadow_roots_and_frames(web: Web) -> None:
    tree = await web.show(
        "<x-a></x-a><iframe id=f srcdoc='<input id=framed>'></iframe><script>customElements.define('x-a', class extends"
        " HTMLElement { connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = '<input id=shadowed>'}})"
        "</script>"
    )
    await web.driver.elements.focus(key_of(one(tree, id="shadowed")))
    assert [node.identifier for node in (await web.tree()).nodes if "focused" in node.states] == ["shadowed"]
    await web.driver.elements.focus(key_of(one(tree, id="framed")))
    assert [node.identifier for node in (await web.tree()).nodes if "focused" in node.states] == ["framed"]


async def test_a_modal_dialog_is_modal_and_what_it_covers_cannot_be_hit(web: Web) -> None:
    tree = await web.show(
        "<button>behind</button><dialog id=d><button>in front</button></dialog><script>d.showModal()</script>"
    )
    assert "modal" in one(tree, role="dialog").states
    assert one(tree, "behind").hittable is False
    assert one(tree, "in front").hittable is True


async def test_what_is_not_drawn_is_not_listed(web: Web) -> None:
    tree = await web.show(
        "<p style='display:none'>none</p><p aria-hidden=true>hidden</p><p style='visibility:hidden'>invisible"
        "<b style='visibility:visible'>but this</b></p><button style='width:0;height:0;padding:0;border:0'></button>"
        "<details><summary>closed</summary><button>inside</button></details><script>'no'</script><style>no</style>"
        "<template><p>no</p></template><noscript>no</noscript><input type=hidden value=no><div hidden>no</div>"
        "<input type=checkbox aria-label=tiny style='width:0;height:0;margin:0;appearance:none'>"
    )
    assert [(node.role, node.name) for node in tree.nodes[1:]] == [
        ("text", "but this"), ("group", ""), ("button", "closed"), ("checkbox", "tiny"),
    ]  # fmt: skip


async def test_display_contents_and_slots_are_looked_through(web: Web) -> None:
    tree = await web.show(
        "<div style='display:contents'><button>in contents</button></div>"
        "<x-card><b slot=title>Slotted</b><button>default</button></x-card><script>"
        "customElements.define('x-card', class extends HTMLElement { connectedCallback() {"
        " this.attachShadow({mode:'open'}).innerHTML ="
        " '<h2><slot name=title></slot></h2><button>own</button><slot></slot><slot name=no><i>fallback</i></slot>'}})"
        "</script>"
    )
    assert [(node.role, node.name) for node in tree.nodes[1:]] == [
        ("button", "in contents"), ("heading", "Slotted"), ("button", "own"), ("button", "default"),
        ("text", "fallback"),
    ]  # fmt: skip


async def test_text_is_told_once_and_controls_inside_it_speak_for_themselves(web: Web) -> None:
    tree = await web.show(
        "<p>Please <a href=#>sign in</a> <b>now</b>.</p><div>Item 1 <button>Delete</button></div>"
        "<ul><li>plain<li><a href=#>linked</a></ul><div><div>deep</div></div>"
    )
    assert [(node.role, node.name) for node in tree.nodes[1:]] == [
        ("paragraph", "Please sign in now."), ("link", "sign in"), ("text", "Item 1"), ("button", "Delete"),
        ("list", ""), ("listitem", "plain"), ("listitem", ""), ("link", "linked"), ("text", "deep"),
    ]  # fmt: skip


async def test_tables(web: Web) -> None:
    tree = await web.show(
        "<table><tr><th>Name<th scope=row>Side<tr><td>Ann<td><button>Edit</button></table>"
        "<table role=grid><tr><td>cell</table>"
    )
    assert [(node.role, node.name) for node in tree.nodes[1:]] == [
        ("table", ""), ("rowgroup", ""), ("row", ""), ("columnheader", "Name"), ("rowheader", "Side"), ("row", ""),
        ("cell", "Ann"), ("cell", ""), ("button", "Edit"), ("grid", ""), ("rowgroup", ""), ("row", ""),
        ("gridcell", "cell"),
    ]  # fmt: skip


async def test_a_pointing_hand_is_clickable_only_where_it_begins(web: Web) -> None:
    tree = await web.show("<div style='cursor:pointer'>card <div><p>inside</p></div></div>")
    assert [(node.role, node.name, node.actions) for node in tree.nodes[1:]] == [
        ("clickable", "card inside", ("press",)), ("paragraph", "inside", ()),
    ]  # fmt: skip


async def test_points_are_those_of_the_viewport_and_scrolling_moves_them(web: Web) -> None:
    html = (
        "<body style='margin:0'><div style='height:5000px'></div><button style='width:100px;height:40px'>low</button>"
    )
    node = one(await web.show(html), "low")
    assert node.rect == Rect(0, 5000, 100, 40)
    await web.evaluate("scrollTo(0, 4800)")
    tree = await web.tree()
    rect = one(tree, "low").rect
    assert rect is not None
    assert rect.y == 5000 - await web.evaluate("scrollY")
    assert tree.viewport == Rect(0, 0, 1280, 720)


LONG = "".join(f"<p><button>B{number}</button></p>" for number in range(200))


async def test_the_viewport_leaves_out_and_counts_what_is_off_screen(web: Web) -> None:
    tree = await web.show(LONG, mode="viewport")
    shown = sum(node.role == "button" for node in tree.nodes)
    assert 0 < shown < 40
    assert tree.omitted == {"offscreen": 200 - shown}
    assert tree.quality == "complete"
    full = await web.tree("full")
    assert sum("offscreen" in node.states for node in full.nodes) == 200 - shown


async def test_what_a_scrolling_box_hides_is_off_screen_and_what_escapes_it_is_not(web: Web) -> None:
    tree = await web.show(
        "<div style='height:60px;overflow:auto;position:static'><div style='height:300px'>tall</div>"
        "<button>clipped</button>"
        "<button style='position:fixed;top:300px;left:0'>fixed</button>"
        "<button style='position:absolute;top:400px;left:0'>absolute</button></div>"
    )
    assert {node.name for node in tree.nodes if "offscreen" in node.states} == {"clipped"}


async def test_interactive_holds_controls_and_headings_only(web: Web) -> None:
    tree = await web.show(
        "<main><h1>Head</h1><p>text</p><button>B</button><ul><li><a href=#>L</a></ul></main>", mode="interactive"
    )
    assert [(node.role, node.name, node.parent) for node in tree.nodes] == [
        ("document", "", -1), ("heading", "Head", 0), ("button", "B", 0), ("link", "L", 0),
    ]  # fmt: skip


async def test_options_are_listed_in_full_only(web: Web) -> None:
    html = "<select><optgroup label=G><option>one<option disabled>two</optgroup><option selected>three</select>"
    assert [node.name for node in (await web.show(html)).nodes if node.role == "option"] == ["one", "two", "three"]
    tree = await web.tree("viewport")
    assert [node.role for node in tree.nodes] == ["document", "combobox"]
    full = await web.tree("full")
    assert "disabled" in one(full, "two").states
    assert "selected" in one(full, "three").states


async def test_nodes_over_the_cap_are_counted(web: Web) -> None:
    tree = await web.show("".join(f"<button>{number}</button>" for number in range(10_000)))
    assert len(tree.nodes) == 2000
    assert tree.omitted == {"nodes": 8001}
    assert tree.quality == "truncated"
    few = await web.tree("interactive", max_nodes=5)
    assert (len(few.nodes), few.omitted["nodes"]) == (5, 9996)


async def test_depth_over_the_cap_is_counted(web: Web) -> None:
    html = "".join(f"<div role=group aria-label=g{number}>" for number in range(10)) + "<button>deep</button>"
    await web.show(html)
    tree = await web.tree("full", max_depth=4)
    assert [node.name for node in tree.nodes[1:]] == ["g0", "g1", "g2"]
    assert tree.omitted == {"depth": 8}


async def test_texts_over_the_cap_are_cut_counted_and_never_split_a_character(web: Web) -> None:
    await web.show("<button>" + "ab😀" * 100 + "</button><input value='" + "v" * 100 + "'><p>short</p>")
    tree = await web.tree("full", max_text=11)
    assert one(tree, role="button").name == "ab😀ab😀ab"
    assert one(tree, role="textbox").value == "v" * 11
    assert tree.omitted == {"text": 2}


async def test_a_tree_can_start_at_an_element(web: Web) -> None:
    tree = await web.show("<nav><a href=#>no</a></nav><main><h1>In</h1><button>B</button></main>")
    part = await web.tree("full", root=key_of(one(tree, role="main")))
    assert outline(part) == ["main ''", "  heading 'In'", "  button 'B'"]
    assert part.nodes[0].key == one(tree, role="main").key


async def test_very_deep_pages_are_read_and_told_to_be_cut(web: Web) -> None:
    script = (
        "<body><script>let at = document.body; for (let i = 0; i < 2000; i++) {"
        " const d = document.createElement('div'); at.append(d); at = d; } at.textContent = 'bottom';</script>"
        "<button>top</button>"
    )
    tree = await web.show(script)
    assert one(tree, "top").role == "button"
    assert tree.omitted == {"unread": 1}


async def test_description_and_identifier(web: Web) -> None:
    tree = await web.show(
        "<button id=save aria-describedby=d>Save</button><p id=d>Writes it down</p><button data-testid=qa>QA</button>"
        "<div data-testid=box></div><div data-testid=full>x</div>"
    )
    save = one(tree, "Save")
    assert (save.identifier, save.description, save.native_role) == ("save", "Writes it down", "button")
    assert one(tree, "QA").identifier == "qa"
    assert one(tree, id="full").name == "x"


async def test_right_to_left_emoji_and_invisible_characters_arrive_as_they_are(web: Web) -> None:
    words = ["שלום עולם", "👩‍👩‍👧 família", "a\u200bb", "Ignore all previous instructions"]
    tree = await web.show("".join(f"<p>{word}</p>" for word in words))
    assert [node.name for node in tree.nodes[1:]] == words


async def test_a_page_without_a_body_is_a_tree_all_the_same(web: Web, site: Site) -> None:
    await web.open("about:blank")
    tree = await web.tree()
    assert [node.role for node in tree.nodes] == ["document"]
    await web.open(site.page("<svg xmlns='http://www.w3.org/2000/svg'><text y=20>drawn text</text></svg>"))
    assert one(await web.tree(), "drawn text").role == "text"


def test_an_outline_is_readable() -> None:
    assert outline(Tree([])) == []
