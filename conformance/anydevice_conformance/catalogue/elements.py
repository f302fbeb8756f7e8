"""Which element is meant, and what is told of it: the same on every platform."""

from __future__ import annotations

from anydevice_schemas import ROLES
from anydevice_schemas.practice import SCREENS
from anydevice_schemas.roles import INTERACTIVE

from ..case import case
from ..looking import by_id, holds, only, ref_of, states, whole
from ..trial import Trial

STATEFUL = frozenset({"browser", "desktop"})
"""Classes whose platforms all have a word for what is expanded, read-only or required."""


@case(
    "elements.exact-beats-partial",
    "A label that one element carries exactly MUST mean that element, whatever others contain it.",
    command="press",
    sample={"target": "Sign in"},
    screen="form",
    mutates=True,
)
async def exact_beats_partial(t: Trial) -> None:
    await t.call("press", target="Sign in", timeoutMs=0)
    await t.heard("press", id="form.signin")
    t.equal([report["id"] for report in t.reports("press")], ["form.signin"], "what was pressed")


@case(
    "elements.part-of-a-label-is-enough",
    "Part of a label MUST mean the element that contains it where no element carries it exactly.",
    command="press",
    sample={"target": "in with Apple"},
    screen="form",
    mutates=True,
)
async def part_of_a_label_is_enough(t: Trial) -> None:
    await t.call("press", target="in with Apple", timeoutMs=0)
    await t.heard("press", id="form.signin-apple")


@case(
    "elements.labels-are-folded",
    "A label MUST be matched without regard to case and to the amount of white space.",
    command="press",
    sample={"target": "open  LIST"},
    mutates=True,
)
async def labels_are_folded(t: Trial) -> None:
    await t.call("press", target="  open   LIST ", timeoutMs=0)
    await t.heard("press", id="home.list")


@case(
    "elements.several-are-numbered",
    "A label that several elements carry MUST be refused as ambiguous_element with candidates numbered from 0, each "
    "with a ref of its own; none of them MUST be pressed.",
    command="press",
    sample={"target": "Delete"},
    screen="form",
    mutates=True,
)
async def several_are_numbered(t: Trial) -> None:
    answer = await t.call("press", target="Delete", expect="ambiguous_element")
    candidates = t.detail(answer, "candidates")["candidates"]
    t.equal([entry.get("index") for entry in candidates], [0, 1], "the numbers of the candidates")
    t.equal(len({entry.get("ref") for entry in candidates}), 2, "different refs among the candidates")
    t.equal({entry.get("name") for entry in candidates}, {"Delete"}, "the names of the candidates")
    await t.unheard()


@case(
    "elements.index-picks",
    "index=N MUST pick the N-th candidate, counted from 0 as the candidates are numbered.",
    command="press",
    sample={"target": "label=Delete index=1"},
    screen="form",
    mutates=True,
)
async def index_picks(t: Trial) -> None:
    for number, name in ((1, "form.delete-2"), (0, "form.delete-1")):
        await t.call("press", target=f"label=Delete index={number}")
        await t.heard("press", id=name)
    await t.call("press", target="label=Delete index=2", timeoutMs=0, expect="element_not_found")
    t.equal(len(t.reports("press")), 2, "presses")


@case(
    "elements.ref-of-a-candidate-picks",
    "The ref of a candidate MUST mean that very candidate, also where another one looks the same.",
    command="press",
    sample={"target": "Delete"},
    screen="form",
    mutates=True,
)
async def ref_of_a_candidate_picks(t: Trial) -> None:
    answer = await t.call("press", target="Delete", expect="ambiguous_element")
    candidates = t.detail(answer, "candidates")["candidates"]
    await t.call("press", target=candidates[1]["ref"])
    await t.heard("press", id="form.delete-2")
    t.equal([report["id"] for report in t.reports("press")], ["form.delete-2"], "what was pressed")


@case(
    "elements.container-and-label-are-one",
    "A container and the label inside it that says the same MUST be found as one element: the one that can be acted "
    "on.",
    command="find",
    sample={"query": "General"},
    screen="form",
)
async def container_and_label_are_one(t: Trial) -> None:
    found = await only(t, "General")
    t.equal(found["role"], "button", "the role of what is found")
    t.equal(found.get("identifier"), "form.row", "the identifier of what is found")


@case(
    "elements.roles-are-of-the-vocabulary",
    "Every element MUST have a role of the one vocabulary, and every control and heading the one it is.",
    command="snapshot",
    screen="form",
)
async def roles_are_of_the_vocabulary(t: Trial) -> None:
    for screen in ("form", "states"):
        await t.open(screen)
        nodes = await whole(t)
        strange = sorted({node["role"] for node in nodes} - ROLES)
        t.require(not strange, f"roles that are not of the vocabulary: {strange[:5]}")
        for spec in SCREENS[screen].elements:
            if "hidden" not in spec.states and (spec.role in INTERACTIVE or spec.role == "heading"):
                t.equal(by_id(nodes, spec.id)["role"], spec.role, f"the role of {spec.id}")


@case(
    "elements.ids-are-exact",
    "id= MUST match a whole identifier, letter by letter, and nothing else.",
    command="find",
    sample={"query": "id=form.name"},
    screen="form",
)
async def ids_are_exact(t: Trial) -> None:
    found = await only(t, "id=form.name")
    t.equal(found.get("name"), "Name", "the name of form.name")
    for wrong in ("form.nam", "FORM.NAME", "form.delete", "name"):
        await t.call("find", query=f"id={wrong}", timeoutMs=0, expect="element_not_found")


@case(
    "elements.filters-narrow",
    "Role and state filters MUST leave exactly the elements that meet all of them.",
    command="find",
    sample={"query": "role=button"},
    screen="form",
)
async def filters_narrow(t: Trial) -> None:
    expected = {
        "role=switch": {"form.wifi"},
        "role=button label=Delete": {"form.delete-1", "form.delete-2"},
        "role=button enabled=false": {"form.submit"},
        "label=Submit enabled=false": {"form.submit"},
        "label=Name editable=true": {"form.name"},
        'label="No such thing" || id=form.volume': {"form.volume"},
    }
    for query, wanted in expected.items():
        answer = await t.call("find", query=query, timeoutMs=0)
        t.equal({entry.get("identifier") for entry in answer.data["matches"]}, wanted, f"what {query} finds")
    for query in ("role=heading label=Delete", "label=Submit enabled=true", 'label="Sign in" editable=true'):
        await t.call("find", query=query, timeoutMs=0, expect="element_not_found")


@case(
    "elements.tells-what-is-disabled",
    "An element MUST be told to be disabled exactly while it is.",
    command="is",
    sample={"predicate": "disabled", "target": "Submit"},
    screen="form",
)
async def tells_what_is_disabled(t: Trial) -> None:
    nodes = await whole(t)
    t.require("disabled" in states(by_id(nodes, "form.submit")), "Submit is disabled, and must be told to be")
    for name in ("form.name", "form.signin", "form.wifi", "form.delete-1"):
        t.require("disabled" not in states(by_id(nodes, name)), f"{name} is told to be disabled and is not")
    t.require(await holds(t, "disabled", "Submit"), "is disabled must be true of Submit")
    t.require(not await holds(t, "enabled", "Submit"), "is enabled must be false of Submit")
    t.require(await holds(t, "enabled", "Sign in"), "is enabled must be true of Sign in")


@case(
    "elements.tells-what-is-checked",
    "A checkbox MUST be told to be checked exactly while it is.",
    command="press",
    sample={"target": "Agree"},
    screen="states",
    mutates=True,
)
async def tells_what_is_checked(t: Trial) -> None:
    t.require(await holds(t, "checked", "Agree"), "Agree begins checked, and must be told to be")
    for wanted in (False, True):
        await t.call("press", target="Agree")
        await t.heard("toggle", id="states.agree", value=wanted)
        await t.call("wait", target=f"label=Agree checked={str(wanted).lower()}", timeoutMs=3000)
        t.equal("checked" in states(by_id(await whole(t), "states.agree")), wanted, "checked")


@case(
    "elements.tells-what-is-selected",
    "A tab MUST be told to be selected exactly while it is.",
    command="press",
    sample={"target": "Night"},
    screen="states",
    mutates=True,
)
async def tells_what_is_selected(t: Trial) -> None:
    t.require(await holds(t, "selected", "role=tab label=Day"), "Day begins selected, and must be told to be")
    t.require(not await holds(t, "selected", "role=tab label=Night"), "Night is told to be selected and is not")
    await t.call("press", target="role=tab label=Night")
    await t.heard("press", id="states.night")
    await t.call("wait", target="role=tab label=Night selected=true", timeoutMs=3000)
    t.require(not await holds(t, "selected", "role=tab label=Day"), "Day is told to be selected and is no longer")


@case(
    "elements.tells-what-is-expanded",
    "What can be expanded MUST be told to be collapsed or expanded, as it is.",
    command="press",
    sample={"target": "More"},
    classes=STATEFUL,
    screen="states",
    mutates=True,
)
async def tells_what_is_expanded(t: Trial) -> None:
    def of(seen: set[str]) -> set[str]:
        return seen & {"collapsed", "expanded"}

    t.equal(of(states(await only(t, "id=states.more"))), {"collapsed"}, "before the press")
    await t.call("press", target="More", settle=True)
    await t.heard("press", id="states.more")
    t.equal(of(states(await only(t, "id=states.more"))), {"expanded"}, "after the press")


@case(
    "elements.tells-fields-apart",
    "A field that cannot be changed MUST be told to be read-only and not editable; one that must be filled, required.",
    command="snapshot",
    classes=STATEFUL,
    screen="states",
)
async def tells_fields_apart(t: Trial) -> None:
    nodes = await whole(t)
    fixed, needed = states(by_id(nodes, "states.fixed")), states(by_id(nodes, "states.needed"))
    t.require("readonly" in fixed, "Fixed must be told to be read-only")
    t.require("readonly" not in needed and "required" in needed, "Needed must be told to be required, not read-only")
    t.require("required" not in fixed, "Fixed is told to be required and is not")
    t.require(not await holds(t, "editable", "Fixed"), "is editable must be false of Fixed")
    t.require(await holds(t, "editable", "Needed"), "is editable must be true of Needed")


@case(
    "elements.tells-what-has-the-focus",
    "The field that has the keyboard focus MUST be told to have it, and no other.",
    command="type",
    sample={"target": "Notes", "text": "a"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def tells_what_has_the_focus(t: Trial) -> None:
    for name in ("Notes", "Name"):
        await t.call("type", target=f"label={name} role=textbox", text="a")
        await t.heard("fill", id=f"form.{name.lower()}", value="a")
        await t.call("wait", target=f"label={name} role=textbox focused=true", timeoutMs=3000)
        focused = [node.get("identifier") for node in await whole(t) if "focused" in states(node)]
        t.equal(focused, [f"form.{name.lower()}"], "what has the focus")


@case(
    "elements.names-and-values",
    "Every control of a form MUST be told with its name and the value it holds.",
    command="snapshot",
    screen="form",
)
async def names_and_values(t: Trial) -> None:
    nodes = await whole(t)
    for name, label, value in (
        ("form.name", "Name", ""),
        ("form.notes", "Notes", ""),
        ("form.password", "Password", ""),
        ("form.letters", "Letters", ""),
        ("form.wifi", "Wi-Fi", None),
        ("form.volume", "Volume", "50"),
        ("form.colour", "Colour", "Red"),
        ("form.submit", "Submit", None),
    ):
        node = by_id(nodes, name)
        t.equal(node.get("name"), label, f"the name of {name}")
        if value is not None:
            told = str(node.get("value") or "")
            # some platforms put a unit behind a slider's number
            holds_it = told.startswith(value) if value == "50" else told == value
            t.require(holds_it, f"the value of {name} is {value!r}, and it is told as {told[:60]!r}")


@case(
    "elements.unseen-are-not-matched",
    "An element that cannot be seen MUST NOT be matched: it is not found, not pressed, and not shown in a snapshot.",
    command="press",
    sample={"target": "Ghost"},
    screen="states",
    mutates=True,
)
async def unseen_are_not_matched(t: Trial) -> None:
    await ref_of(t, "More")
    await t.call("find", query="Ghost", timeoutMs=0, expect="element_not_found")
    await t.call("press", target="Ghost", timeoutMs=0, expect="element_not_found")
    t.require(not await holds(t, "visible", "Ghost"), "is visible must be false of what cannot be seen")
    answer = await t.call("snapshot", mode="full")
    t.require("Ghost" not in answer.data["text"], "the snapshot shows what cannot be seen")
    await t.unheard()
