"""Acting on one element."""

from __future__ import annotations

from ..case import case
from ..looking import has, holds, ref_of, steered, took
from ..trial import Trial

SOON = 2.5
"""Seconds within which a call that has nothing to wait for has answered, on a slow device too."""


@case(
    "press.reaches-the-named-device",
    "A press MUST reach the element on the device that was named, and on no other, whichever of two is named.",
    command="press",
    sample={"target": "Increment"},
)
async def reaches_the_named_device(t: Trial) -> None:
    answer = await t.call("press", target="Increment")
    await t.heard("press", id="home.increment")
    await t.heard("count", value=1)
    t.require(
        answer.device is not None and answer.device.key == t.device.key, "the answer must name the device that acted"
    )
    await t.unheard(on=t.other)
    # The other one is asked as well: so that a device which stands in for another is found out, however it does it.
    await t.call("press", on=t.other, target="Increment")
    await t.heard("count", value=1, on=t.other)
    t.equal([report["value"] for report in t.reports("count")], [1], "what the device that was named first counted")


@case(
    "press.refuses-disabled",
    "A press on a disabled element MUST be refused as element_disabled and MUST NOT reach the app.",
    command="press",
    sample={"target": "Submit"},
    screen="form",
    mutates=True,
)
async def refuses_disabled(t: Trial) -> None:
    answer = await t.call("press", target="Submit", expect="element_disabled")
    t.detail(answer, "element")
    await t.unheard()


@case(
    "press.refuses-covered",
    "A press on an element that something of its own app lies over MUST be refused as element_covered, MUST say by "
    "what, and MUST reach neither the element nor what covers it.",
    command="press",
    sample={"target": "Covered"},
    needs=("elements.probe",),
    optional=True,
    screen="form",
    mutates=True,
)
async def refuses_covered(t: Trial) -> None:
    answer = await t.call("press", target="Covered", expect="element_covered")
    details = t.detail(answer, "element", "cover")
    t.require(details["cover"], "it must say what lies over the element")
    await t.unheard()


@case(
    "press.brings-the-element-on-screen",
    "An element off screen MUST be brought on screen before it is pressed; where the device cannot do that, the press "
    "MUST be refused as element_offscreen and MUST NOT reach the app.",
    command="press",
    sample={"target": "Far"},
    screen="tall",
    mutates=True,
)
async def brings_the_element_on_screen(t: Trial) -> None:
    unseen = "offscreen" in t.manifest.unseen
    can = has(t, "elements.reveal") or (steered(t) and not unseen)
    refused = "element_not_found" if unseen else "element_offscreen"
    await t.call("press", target="Far", timeoutMs=0, expect="ok" if can else refused)
    if can:
        await t.heard("press", id="tall.far")
    else:
        await t.unheard()


@case(
    "press.lands-on-the-point",
    "A press at a point MUST land on what the device shows at that point, in points.",
    command="press",
    sample={"x": 5, "y": 5},
    bundle="points",  # where something is pressed is not how one moves there: a TV that drags may click nowhere
    mutates=True,
)
async def lands_on_the_point(t: Trial) -> None:
    where = await t.call("get", target="Open list", what="point")
    x, y = where.data["point"]
    await t.call("press", x=x, y=y)
    await t.heard("press", id="home.list")
    t.equal([report["id"] for report in t.reports("press")], ["home.list"], "what was pressed")


@case(
    "press.presses-as-often-as-asked",
    "A press with a count MUST press exactly so many times.",
    command="press",
    sample={"target": "Increment", "count": 3},
    bundle="press",
    mutates=True,
)
async def presses_as_often_as_asked(t: Trial) -> None:
    await t.call("press", target="Increment", count=3)
    await t.heard("count", value=3)
    t.equal(len(t.reports("press")), 3, "presses")


@case(
    "press.verifies-a-toggle",
    "A press on a switch MUST be read back: verified true, once its state is seen to have changed.",
    command="press",
    sample={"target": "Wi-Fi"},
    screen="form",
    mutates=True,
)
async def verifies_a_toggle(t: Trial) -> None:
    for wanted in (True, False):
        answer = await t.call("press", target="Wi-Fi")
        await t.heard("toggle", id="form.wifi", value=wanted)
        t.require(answer.verified is True, f"a switch that went {'on' if wanted else 'off'} must be verified")
        t.equal(await holds(t, "checked", "Wi-Fi"), wanted, "the state of the switch")


@case(
    "press.claims-nothing-it-cannot-see",
    "A press on a button, which may do anything, MUST say verified false, and MUST say how it acted.",
    command="press",
    sample={"target": "Sign in"},
    screen="form",
    mutates=True,
)
async def claims_nothing_it_cannot_see(t: Trial) -> None:
    answer = await t.call("press", target="Sign in")
    await t.heard("press", id="form.signin")
    t.require(answer.verified is False, f"a press on a button cannot be verified, yet it says {answer.verified}")
    t.require(answer.method, "it must say how it acted")


@case(
    "press.tells-what-changed",
    "A press MUST tell that the screen changed and what changed on it.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def tells_what_changed(t: Trial) -> None:
    answer = await t.call("press", target="Increment", settle=True)
    await t.heard("count", value=1)
    t.require(answer.data.get("changed") is True, "the count changed, and that must be told")
    lines = answer.data.get("changes") or []
    t.require(any("1" in str(line) for line in lines), f"what changed must be told, not {str(lines)[:200]}")


@case(
    "press.missing-names-what-is-near",
    "An element that is not there MUST be element_not_found with the nearest names and what is on screen instead; "
    "nothing MUST be pressed in its place.",
    command="press",
    sample={"target": "Incremet"},
    mutates=True,
)
async def missing_names_what_is_near(t: Trial) -> None:
    answer = await t.call("press", target="Incremet", timeoutMs=0, expect="element_not_found")
    details = t.detail(answer, "nearest_matches", "on_screen")
    near = [entry.get("name") for entry in details["nearest_matches"]]
    t.require("Increment" in near, f"Increment is near and must be named, not {near}")
    t.require(any(entry.get("name") == "Open list" for entry in details["on_screen"]), "what is on screen must be told")
    await t.unheard()


@case(
    "press.suggestions-work",
    "Every query that an error suggests MUST mean exactly the element it is suggested for.",
    command="press",
    sample={"target": "Delet this"},
    screen="form",
    mutates=True,
)
async def suggestions_work(t: Trial) -> None:
    answer = await t.call("press", target="Delet this", timeoutMs=0, expect="element_not_found")
    near = t.detail(answer, "nearest_matches")["nearest_matches"]
    t.require(len([entry for entry in near if entry.get("name") == "Delete"]) == 2, "both Delete buttons are near")
    for entry in near:
        t.require(entry.get("query"), f"no query is suggested for {entry.get('ref')}")
        t.equal(await ref_of(t, entry["query"], timeoutMs=0), entry["ref"], f"what {entry['query']} finds")
    await t.unheard()


@case(
    "press.waits-for-a-late-element",
    "A press MUST wait for an element that is not there yet, as long as it was told.",
    command="press",
    sample={"target": "Undo", "timeoutMs": 8000},
    screen="alerts",
    mutates=True,
)
async def waits_for_a_late_element(t: Trial) -> None:
    await t.call("press", target="Undo", timeoutMs=0, expect="element_not_found")
    await t.call("press", target="Show toast")
    await t.call("press", target="Undo", timeoutMs=8000)
    await t.heard("press", id="alerts.undo")


@case(
    "press.gives-up-when-told",
    "A press on an element that does not come MUST give up when its time is up, neither before nor long after.",
    command="press",
    sample={"target": "Nowhere to be found", "timeoutMs": 400},
    mutates=True,
)
async def gives_up_when_told(t: Trial) -> None:
    await t.call("press", target="Nowhere to be found", timeoutMs=400, expect="element_not_found")
    t.require(0.4 <= took(t) <= 0.4 + SOON, f"it was told to wait for 0.4 s and took {took(t):.1f} s")
    await t.unheard()


@case(
    "press.works-on-a-screen-that-never-rests",
    "A press MUST work on a screen that never stops moving, without waiting for it to rest.",
    command="press",
    sample={"target": "Press me"},
    screen="busy",
    mutates=True,
)
async def works_on_a_screen_that_never_rests(t: Trial) -> None:
    await t.call("press", target="Press me")
    t.require(took(t) <= 5, f"it took {took(t):.1f} s")
    await t.heard("press", id="busy.press")


@case(
    "press.label-inside-presses-the-container",
    "A label inside something that can be pressed and says the same MUST be pressed as that thing.",
    command="press",
    sample={"target": "General"},
    screen="form",
    mutates=True,
)
async def label_inside_presses_the_container(t: Trial) -> None:
    await t.call("press", target="General", timeoutMs=0)
    await t.heard("press", id="form.row")
    t.equal(len([report for report in t.reports("press") if report["id"] == "form.row"]), 1, "presses of the row")
