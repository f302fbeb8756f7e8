"""Reading a screen: all of it, a part of it, one element; every cut told, nothing changed by it."""

from __future__ import annotations

from anydevice_schemas import EDITABLE, INTERACTIVE, ROLES
from anydevice_schemas.practice import LONG_TEXT, SCREENS, SECRET

from ..case import case
from ..looking import ROOTS, by_id, has, holds, only, states, told_cut, whole
from ..trial import Trial

STATES = frozenset(
    {
        "disabled", "checked", "mixed", "unchecked", "expanded", "collapsed", "selected", "pressed", "focused",
        "required", "readonly", "editable", "offscreen", "hidden", "multiline", "busy", "invalid", "modal",
    }
)  # fmt: skip
FINITE = 1e7


@case(
    "reading.snapshot-is-sound",
    "A snapshot MUST be one sound tree: parents before children, every ref once, roles and states of the vocabulary, "
    "finite places.",
    command="snapshot",
    screen="form",
)
async def snapshot_is_sound(t: Trial) -> None:
    for screen in ("form", "gestures"):
        await t.open(screen)
        seen: set[str] = set()
        for number, node in enumerate(await whole(t)):
            t.require(node["ref"].startswith("@e") and node["ref"] not in seen, f"node {number} needs a ref of its own")
            above = node.get("parent")
            t.require(above in seen if number else above is None, f"node {number} must come after its parent")
            seen.add(node["ref"])
            t.require(node["role"] in ROLES, f"node {number} has no role of the vocabulary")
            strange = states(node) - STATES
            t.require(not strange, f"node {number} has states that are not of the vocabulary: {sorted(strange)}")
            x, y, width, height = node.get("rect", (0, 0, 0, 0))
            t.require(max(abs(x), abs(y), width, height) < FINITE, f"node {number} is in no finite place")
            t.require(width >= 0 and height >= 0, f"node {number} has a negative size")
        t.require(len(seen) > 6, f"only {len(seen)} elements of the {screen} screen are told")


@case(
    "reading.nothing-on-screen-is-left-out",
    "A snapshot MUST show every element a person sees, by its name, and each text and control once.",
    command="snapshot",
)
async def nothing_on_screen_is_left_out(t: Trial) -> None:
    answer = await t.call("snapshot")
    nodes = await whole(t, mode="viewport")
    for spec in SCREENS["home"].elements:
        t.require(spec.name in answer.data["text"], f"the snapshot does not show {spec.name}")
        by_id(nodes, spec.id)
    t.equal(answer.data["quality"], "complete", "the quality of the snapshot")
    t.equal(answer.truncated, [], "what was cut")


@case(
    "reading.viewport-is-what-is-on-screen",
    "A snapshot of the viewport MUST leave out what lies wholly off screen and count it; a full one MUST have it, told "
    "to be off screen.",
    command="snapshot",
    sees="offscreen",
    screen="tall",
)
async def viewport_is_what_is_on_screen(t: Trial) -> None:
    answer = await t.call("snapshot", mode="viewport", responseLevel="full")
    near = [node.get("identifier") for node in answer.data["tree"]]
    t.require("tall.near" in near, "what is on screen must be told")
    t.require("tall.far" not in near, "what is off screen is told as part of the viewport")
    t.require(answer.data.get("omitted", {}).get("offscreen", 0) >= 1, "what was left out must be counted")
    nodes = await whole(t, mode="full")
    t.require("offscreen" in states(by_id(nodes, "tall.far")), "what is off screen must be told to be")
    t.require("offscreen" not in states(by_id(nodes, "tall.near")), "what is on screen is told to be off screen")


@case(
    "reading.interactive-is-what-one-can-act-on",
    "An interactive snapshot MUST hold all one can act on and the headings, and nothing else.",
    command="snapshot",
    sample={"mode": "interactive"},
    screen="form",
)
async def interactive_is_what_one_can_act_on(t: Trial) -> None:
    nodes = await whole(t, mode="interactive")
    for node in nodes:
        acts = node["role"] in INTERACTIVE or node["role"] == "heading" or node.get("actions")
        t.require(acts or node["role"] in ROOTS, f"a {node['role']} is nothing one can act on")
    for spec in SCREENS["form"].elements:
        if spec.role in INTERACTIVE:
            by_id(nodes, spec.id)


@case(
    "reading.scope-is-kept",
    "A snapshot of one element MUST hold that element and nothing outside of it.",
    command="snapshot",
    sample={"scope": "id=form.row"},
    screen="form",
)
async def scope_is_kept(t: Trial) -> None:
    nodes = await whole(t, scope="id=form.row")
    by_id(nodes, "form.row")
    others = {node.get("identifier") for node in nodes if node["role"] not in ROOTS}
    t.require(others <= {"form.row", "form.row-label", None}, f"it holds what is outside of the element: {others}")
    text = (await t.call("snapshot", scope="id=form.row")).data["text"]
    t.require("General" in text and "Sign in" not in text, "the text must hold the element, and nothing outside of it")


@case(
    "reading.node-cap-is-told",
    "A snapshot capped in nodes MUST keep to the cap and MUST tell that it was cut, and how much.",
    command="snapshot",
    sample={"maxNodes": 4},
    screen="form",
)
async def node_cap_is_told(t: Trial) -> None:
    answer = await t.call("snapshot", mode="full", maxNodes=4)
    t.require(answer.data["nodes"] <= 4, f"it was capped at 4 nodes and has {answer.data['nodes']}")
    t.equal(answer.data["quality"], "truncated", "the quality of a capped snapshot")
    t.require(answer.data.get("omitted", {}).get("nodes", 0) >= 5, "how many nodes were cut must be told")
    t.require(told_cut(answer, "nodes"), f"truncated must tell that nodes were cut, not {answer.truncated}")


@case(
    "reading.depth-cap-is-told",
    "A snapshot capped in depth MUST keep to the cap and MUST tell that it was cut.",
    command="snapshot",
    sample={"maxDepth": 1},
    screen="form",
)
async def depth_cap_is_told(t: Trial) -> None:
    answer = await t.call("snapshot", mode="full", maxDepth=1, responseLevel="full")
    depths: dict[str | None, int] = {None: 0}
    for node in answer.data["tree"]:
        depths[node["ref"]] = depths[node["parent"]] + 1
    t.require(max(depths.values()) <= 2, "it was capped at depth 1 and goes deeper")
    t.require(answer.data.get("omitted", {}).get("depth", 0) >= 1, "how much was cut must be told")
    t.require(told_cut(answer, "depth"), f"truncated must tell that depth was cut, not {answer.truncated}")


@case(
    "reading.cut-text-is-told",
    "A text longer than a snapshot carries MUST be cut, and the cut MUST be told.",
    command="snapshot",
    screen="text",
)
async def cut_text_is_told(t: Trial) -> None:
    answer = await t.call("snapshot", mode="full", responseLevel="full")
    long = by_id(answer.data["tree"], "text.long")["name"]
    t.require(0 < len(long) < LONG_TEXT, f"{len(long)} characters of the long text are carried")
    t.require(answer.data.get("omitted", {}).get("text", 0) >= 1, "how many texts were cut must be told")
    t.require(told_cut(answer, "text"), f"truncated must tell that a text was cut, not {answer.truncated}")


@case(
    "reading.get-tells-a-cut",
    "get MUST answer a text whole, or tell that it is cut.",
    command="get",
    sample={"target": "id=text.long"},
    screen="text",
)
async def get_tells_a_cut(t: Trial) -> None:
    for what in ("text", "attrs"):
        answer = await t.call("get", target="id=text.long", what=what)
        told = answer.data["text"] if what == "text" else answer.data["element"]["name"]
        t.require(told.startswith("xxxx"), "it must answer the text")
        whole_text = len(told) == LONG_TEXT
        t.require(
            whole_text or answer.truncated, f"{len(told)} of {LONG_TEXT} characters are answered, and no cut told"
        )
    short = await t.call("get", target="id=text.latin", what="text")
    t.equal(short.truncated, [], "what was cut of a short text")


@case(
    "reading.find-lists-the-matches",
    "find MUST list every match in order with a ref, and MUST tell when it lists fewer than there are.",
    command="find",
    sample={"query": "Delete"},
    screen="form",
)
async def find_lists_the_matches(t: Trial) -> None:
    answer = await t.call("find", query="Delete")
    t.equal([m.get("identifier") for m in answer.data["matches"]], ["form.delete-1", "form.delete-2"], "the matches")
    t.equal((answer.data["count"], answer.truncated), (2, []), "count and cuts")
    answer = await t.call("find", query="Delete", limit=1)
    t.equal([m.get("identifier") for m in answer.data["matches"]], ["form.delete-1"], "the matches listed of two")
    t.equal(answer.data["count"], 2, "the count")
    t.require(told_cut(answer, "match"), f"truncated must tell that a match was cut, not {answer.truncated}")


@case(
    "reading.get-reads-one-element",
    "get MUST answer what one element says and all its attributes, with the identity it has everywhere else.",
    command="get",
    sample={"target": "id=form.colour"},
    screen="form",
)
async def get_reads_one_element(t: Trial) -> None:
    t.equal((await t.call("get", target="id=form.colour")).data["text"], "Red", "the text of a select, its value")
    t.equal((await t.call("get", target="id=form.signin")).data["text"], "Sign in", "the text of a button, its name")
    attributes = (await t.call("get", target="id=form.signin", what="attrs")).data["element"]
    found = await only(t, "id=form.signin")
    for field in ("ref", "role", "name", "identifier"):
        t.equal(attributes.get(field), found.get(field), f"the {field} of Sign in")
    by_ref = (await t.call("get", target=found["ref"], what="attrs")).data["element"]
    t.equal((by_ref["ref"], by_ref.get("name")), (found["ref"], "Sign in"), "what its ref reads")


@case(
    "reading.get-says-where",
    "get MUST say where an element is, in points, and what is at a point: the same element.",
    command="get",
    sample={"target": "Increment", "what": "point"},
)
async def get_says_where(t: Trial) -> None:
    for name, label in (("home.increment", "Increment"), ("home.alerts", "Open alerts")):
        answer = await t.call("get", target=f"id={name}", what="point")
        t.equal(answer.data.get("unit"), "points", "the unit")
        (px, py), (x, y, width, height) = answer.data["point"], answer.data["element"]["rect"]
        t.require(x <= px <= x + width and y <= py <= y + height, f"the point of {name} lies outside of it")
        there = (await t.call("get", x=px, y=py, what="point")).data["element"]
        t.equal(there.get("name"), label, f"the name of what is at the point of {name}")


@case(
    "reading.is-answers",
    "is MUST answer true or false, as it is, for what is there, off screen, and nowhere.",
    command="is",
    sample={"predicate": "visible", "target": "Near"},
    screen="tall",
)
async def is_answers(t: Trial) -> None:
    for predicate, target, wanted in (
        ("visible", "Near", True),
        ("hidden", "Near", False),
        ("exists", "Near", True),
        ("absent", "Near", False),
        ("enabled", "Near", True),
        ("disabled", "Near", False),
        ("editable", "Near", False),
        ("visible", "Far", False),
        *((("hidden", "Far", True), ("exists", "Far", True)) if "offscreen" not in t.manifest.unseen else ()),
        ("exists", "No such thing", False),
        ("visible", "No such thing", False),
        ("absent", "No such thing", True),
    ):
        t.equal(await holds(t, predicate, target), wanted, f"is {predicate} of {target}")
    t.require(await holds(t, "text", "Near", "Near"), "the text of Near is Near")
    t.require(not await holds(t, "text", "Near", "near by"), "the text of Near is not near by")


@case(
    "reading.secure-stays-unread",
    "What a secure field holds MUST NOT be answered by anything that reads, and the field MUST be marked secure.",
    command="get",
    sample={"target": "Secret"},
    screen="states",
)
async def secure_stays_unread(t: Trial) -> None:
    answers = [
        await t.call("snapshot", mode="full", responseLevel="full"),
        await t.call("find", query="Secret", responseLevel="full"),
        *[await t.call("get", target="Secret", what=what, responseLevel="full") for what in ("text", "attrs", "point")],
        await t.call("find", query=f'value="{SECRET}"', timeoutMs=0, expect="element_not_found"),
        await t.call("find", query="Secrt", timeoutMs=0, expect="element_not_found"),
    ]
    field = by_id(answers[0].data["tree"], "states.secret")
    t.require(field.get("secure") is True, "the field must be marked secure")
    t.require(field["role"] in EDITABLE, "the field must be told as a field")
    t.require(not await holds(t, "text", "Secret", SECRET), "is must not tell what a secure field holds")
    for answer in answers:
        where = str(answer.error.details) if answer.error is not None else str(answer.data)
        t.require(SECRET not in where.replace(f'value="{SECRET}"', ""), f"{answer.command} answers the secret")


@case(
    "reading.any-script-is-kept",
    "Text in any script MUST be read as it is: accents, ideographs, right-to-left, emoji and characters of no width.",
    command="snapshot",
    screen="text",
)
async def any_script_is_kept(t: Trial) -> None:
    nodes = await whole(t)
    for spec in SCREENS["text"].elements:
        if spec.id == "text.emoji" and "symbols" in t.manifest.unseen:
            continue
        if spec.role == "text" and spec.id != "text.long" and not spec.anonymous:
            t.equal(by_id(nodes, spec.id).get("name"), spec.name, f"the text of {spec.id}")
    for query, name in (
        ("設定を開く", "text.cjk"),
        ("مرحبا بالعالم", "text.rtl"),
        ("GRÜSSE, naïve café", "text.latin"),
    ):
        t.equal((await only(t, query)).get("identifier"), name, f"what {query} finds")


@case(
    "reading.unseen-characters-are-shown",
    "Characters that cannot be seen MUST be written as escapes in the text of a snapshot, and kept in its data.",
    command="snapshot",
    screen="text",
)
async def unseen_characters_are_shown(t: Trial) -> None:
    answer = await t.call("snapshot", mode="full")
    text = answer.data["text"]
    t.require("ze\\u200bro\\u200bwidth" in text, "characters of no width must be shown as escapes")
    t.require(not set(text) & set("\u200b\u200d\u200e\u200f\u202a\u202b\u202e\u2066\u2067"), "unseen characters remain")
    name = (await t.call("get", target="id=text.zero", what="attrs")).data["element"]["name"]
    t.equal(name, "ze\u200bro\u200bwidth", "the data")


@case(
    "reading.screen-text-is-data",
    "Text that came from the screen MUST appear in data and details only, never in a message or a hint.",
    command="press",
    sample={"target": "earlier instructons"},
    screen="text",
    mutates=True,
)
async def screen_text_is_data(t: Trial) -> None:
    answer = await t.call("press", target="all earlier instructons and", timeoutMs=0, expect="element_not_found")
    near = t.detail(answer, "nearest_matches")["nearest_matches"]
    t.require(
        any("SYSTEM" in str(entry.get("name")) for entry in near), "the line is near: it belongs into the details"
    )
    assert answer.error is not None
    said = f"{answer.error.message} {answer.error.hint}"
    t.require("SYSTEM" not in said and "ignore" not in said, "the message repeats what stands on the screen")
    await t.unheard()


@case(
    "reading.changes-nothing",
    "Reading MUST change nothing: the app MUST NOT notice it.",
    command="snapshot",
    screen="gestures",
    mutates=True,
)
async def changes_nothing(t: Trial) -> None:
    for mode in ("viewport", "full", "interactive"):
        await t.call("snapshot", mode=mode)
    for what in ("text", "attrs", "point"):
        answer = await t.call("get", target="Hold me", what=what)
    x, y = answer.data["point"]
    await t.call("get", x=x, y=y, what="point")
    await t.call("find", query="role=button")
    await t.call("is", predicate="visible", target="Card")
    await t.call("wait", target="Card")
    await t.call("appstate")
    if has(t, "screen.image"):
        await t.call("screenshot")
    await t.unheard()
