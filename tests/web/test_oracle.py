"""Names and roles against an independent judge: the browser's own accessibility tree."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice_schemas import Tree

from .web import Web

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]

FORM = """<title>Checkout</title><h1>Checkout</h1><form aria-label="Order">
<p><label for=n>Full name</label> <input id=n required></p>
<p><label>E-mail <input type=email value="a@b.example"></label></p>
<p><label for=p>Password</label> <input id=p type=password></p>
<p><input type=search placeholder="Search products"></p>
<p><label for=q>Quantity</label> <input id=q type=number value=2></p>
<p><label for=v>Volume</label> <input id=v type=range value=30></p>
<p><label for=c>Country</label> <select id=c><option>France<option selected>Switzerland</select></p>
<p><label for=l>Extras</label> <select id=l multiple><option selected>Gift wrap<option>Card</select></p>
<p><label for=t>Notes</label> <textarea id=t>hello</textarea></p>
<p><label><input type=checkbox checked> I <b>agree</b> to the <a href="#terms">terms</a></label></p>
<fieldset><legend>Delivery</legend><label><input type=radio name=d checked> Standard</label>
<label><input type=radio name=d> Express <small>(1 day)</small></label></fieldset>
<button>Pay <span aria-hidden=true>now</span></button> <input type=submit value="Pay later"> <input type=reset>
<button aria-label="Close"><svg width=9 height=9></svg></button> <button aria-labelledby="h2 n2">x</button>
<a href="#help" title="Opens help">Help</a> <a href="#img"><img alt="Company logo" src="data:,"></a>
<button disabled>Disabled</button> <button aria-expanded=false>Menu</button>
<div role=button tabindex=0>Custom <i>button</i></div> <div role=switch aria-checked=true tabindex=0>Wi-Fi</div>
<div role=tablist><div role=tab aria-selected=true tabindex=0>One</div><div role=tab tabindex=-1>Two</div></div>
<div role=slider aria-label=Zoom aria-valuenow=5 tabindex=0 style='height:9px'></div>
<div role=menuitem tabindex=0>Item <span style="display:none">hidden</span></div>
<h2 id=h2>Section</h2> <h3>Sub <em>heading</em></h3><span id=n2>two</span>
<img alt="A picture" width=9 height=9 src="data:,"> <progress aria-label=Done value=3 max=4></progress>
<nav aria-label=Main><a href="#a">Home</a></nav><label for=x>Two</label><label for=x>labels</label><input id=x>
<details><summary>More</summary>text</details><input title="From title"><input aria-label="From aria" placeholder=no>
</form>"""
# The browser's words for roles, in ours.
SAME = {
    "image": "image", "img": "image", "textbox": "textbox", "searchbox": "searchbox", "DisclosureTriangle": "button",
    "ListBoxOption": "option", "MenuListOption": "option", "menuitem": "menuitem", "progressbar": "progressbar",
}  # fmt: skip
JUDGED = {
    "button", "link", "textbox", "searchbox", "spinbutton", "slider", "combobox", "listbox", "checkbox", "radio", "tab",
    "switch", "menuitem", "heading", "image", "progressbar", "navigation", "form",
}  # fmt: skip


async def browsers_own(web: Web) -> list[tuple[str, str]]:
    page = await web.driver.instance.page()
    await page.session.call("Accessibility.enable")
    try:
        nodes = (await page.session.call("Accessibility.getFullAXTree"))["nodes"]
    finally:
        await page.session.call("Accessibility.disable")
    found = []
    for node in nodes:
        role: Any = node.get("role", {}).get("value", "")
        role = SAME.get(role, role)
        if not node.get("ignored") and role in JUDGED:
            found.append((role, " ".join(str(node.get("name", {}).get("value", "")).split())))
    return found


def ours(tree: Tree) -> list[tuple[str, str]]:
    return [(node.role, node.name) for node in tree.nodes if node.role in JUDGED]


async def test_names_and_roles_agree_with_the_browsers_accessibility_tree(web: Web) -> None:
    tree = await web.show(FORM)
    theirs = await browsers_own(web)
    assert len(theirs) >= 40
    assert sorted(ours(tree)) == sorted(theirs)


async def test_the_judge_bites(web: Web) -> None:
    tree = await web.show(FORM)
    for node in tree.nodes:
        if node.native_role.startswith("input"):
            node.name = ""  # as if labels were ignored
    theirs = await browsers_own(web)
    wrong = sum(pair not in theirs for pair in ours(tree))
    assert wrong >= 8
