"""What holds for every inventory and every request, judged by a resolver written a second time, naively."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from anydevice.resolution import Default, Inventory, Missing, Request, resolve
from anydevice_schemas import Device, DeviceSelector, Held
from anydevice_schemas.errors import AmbiguousDevice, AnydeviceError, DeviceError, SelectionError

SECRET = "§"  # in names of devices only; must never appear in a message

IDS = ["a1", "A1", "a-2", "A-2", "pixel 8", "127.0.0.1:5555", "android:a1", "apple:a1", "x_1", "local", "ß", "SS"]
NAMES = [
    "Pixel 8" + SECRET, "pixel_8" + SECRET, "PIXEL \t 8" + SECRET, "Ｐｉｘｅｌ 8" + SECRET, "a1", "A1", "a-2",
    "local", "x 1", "android:a1", " ", "_", "straße" + SECRET, "STRASSE" + SECRET,
]  # fmt: skip
STATES = ["ready", "ready", "ready", "booting", "shutdown", "offline", "unauthorized", "unknown", "unavailable"]
HOMES = {
    "apple": ("udid", ["mobile", "tv", "desktop"]),
    "android": ("serial", ["mobile", "tv"]),
    "harmonyos": ("serial", ["mobile", "tv"]),
    "linux": ("id", ["desktop"]),
    "toaster": ("id", ["desktop", "tv"]),
}
WORDS = {
    **{p: (p, None) for p in ("apple", "android", "harmonyos", "vega", "linux", "web", "toaster")},
    "ios": ("apple", {"mobile", "tv"}),
    "macos": ("apple", {"desktop"}),
}


@st.composite
def devices(draw: st.DrawFn) -> Device:
    platform = draw(st.sampled_from(list(HOMES)))
    kind, targets = HOMES[platform]
    return Device(
        id=draw(st.sampled_from(IDS)),
        name=draw(st.sampled_from(NAMES)),
        platform=platform,
        backend=draw(st.sampled_from([platform, platform, platform + "2"])),
        device_target=draw(st.sampled_from(targets)),
        device_class="phone",
        kind="device",
        state=draw(st.sampled_from(STATES)),
        id_kind=draw(st.sampled_from([kind, kind, kind, "id"])),
        health=draw(st.sampled_from(["good", "good", "unknown", "suspect"])),
    )


inventories = st.lists(devices(), max_size=9)
namings = st.sampled_from([*IDS, *NAMES, "linux:local", "ANDROID:A1", "android2:a1", "nobody", "Pixel_8" + SECRET])
selectors = st.builds(
    DeviceSelector,
    platform=st.none() | st.sampled_from([*WORDS, "IOS"]),
    device_target=st.none() | st.sampled_from(["mobile", "tv", "desktop"]),
    device=st.none() | namings,
    udid=st.none() | st.none() | st.sampled_from(IDS),
    serial=st.none() | st.none() | st.sampled_from(IDS),
    android_device_allowlist=st.none() | st.none() | st.sampled_from(["a1", "A-2 a1", "127.0.0.1:5555,x_1", ""]),
)
defaults = st.lists(
    st.sampled_from(
        [
            ("serial", "a1", "an environment"),
            Default("serial", "A-2", "a variable", "android"),
            ("udid", "a1", "a file"),
            ("device", "local", "a file"),
            ("platform", "ios", "a file"),
            ("deviceTarget", "tv", "a file"),
            ("androidDeviceAllowlist", "a1", "an environment"),
        ]
    ),
    max_size=2,
)


@st.composite
def requests(draw: st.DrawFn, rows: list[Device]) -> Request:
    keys = sorted({row.key for row in rows}) or ["linux:local"]
    taken = draw(st.lists(st.sampled_from(keys), max_size=4, unique=True))
    return Request(
        selector=draw(selectors),
        bound=draw(st.none() | st.none() | st.none() | st.tuples(st.just("work"), st.sampled_from(keys))),
        explicit_device=draw(st.sampled_from([False, False, False, True])),
        boots=draw(st.booleans()),
        defaults=draw(defaults),
        held={key: Held(until="later", yours=draw(st.booleans())) for key in taken},
        lock=draw(st.sampled_from(["reject", "strip"])),
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Device], Request]:
    rows = draw(inventories)
    return rows, draw(requests(rows))


@st.composite
def aimed(draw: st.DrawFn) -> tuple[list[Device], Request]:
    """Somebody means a device of the inventory and says nothing but what is true of it."""
    rows = draw(st.lists(devices(), min_size=1, max_size=9))
    meant = draw(st.sampled_from(rows))
    platforms = {word for word, (home, kinds) in WORDS.items() if home == meant.platform}
    platforms -= {word for word in platforms if (kinds := WORDS[word][1]) and meant.device_target not in kinds}
    truths = {
        "platform": st.sampled_from(sorted(platforms)),
        "device_target": st.just(meant.device_target),
        "device": st.sampled_from([meant.id, meant.key, meant.name]),
        **({meant.id_kind: st.just(meant.id)} if meant.id_kind in ("udid", "serial") else {}),
    }
    said = draw(st.sets(st.sampled_from(sorted(truths))))
    selector = DeviceSelector(**{name: draw(truths[name]) for name in sorted(said)})
    bound = draw(st.none() | st.just(("work", meant.key)))
    return rows, replace(draw(requests(rows)), selector=selector, bound=bound)


leading = aimed() | cases()
"""For what holds of a device that was found: of requests that come of nothing, few lead to one."""


def outcome(request: Request, inventory: Inventory) -> dict[str, Any]:
    """Everything an answer would say, as plain data."""
    try:
        found = resolve(request, inventory)
    except AnydeviceError as error:
        return {"error": json.loads(json.dumps(error.to_wire()))}
    return {
        "device": found.device.model_dump(),
        "selection": found.selection.model_dump(),
        "notices": [dict(notice) for notice in found.notices],
    }


# --- the naive second opinion --------------------------------------------------------------------------


def folded(name: str) -> str:
    for _ in range(2):
        name = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(unicodedata.normalize("NFKC", name).replace("_", " ").split())


def in_scope(device: Device, selector: DeviceSelector) -> bool:
    if selector.platform is not None:
        platform, targets = WORDS[selector.platform.lower()]
        if device.platform != platform or (targets is not None and device.device_target not in targets):
            return False
    if selector.device_target is not None and device.device_target != selector.device_target:
        return False
    if selector.android_device_allowlist is not None and device.platform == "android":
        allowed = selector.android_device_allowlist.replace(",", " ").lower().split()
        return device.id.lower() in allowed
    return True


def named(rows: list[Device], selector: str, value: str) -> tuple[list[Device], bool]:
    """What one naming selector names, and whether it matched names."""
    if selector == "device":
        tiers = [
            [row for row in rows if value in (row.id, row.key)],
            [row for row in rows if value.casefold() in (row.id.casefold(), row.key.casefold())],
            [row for row in rows if folded(value) and folded(value) == folded(row.name)],
        ]
    else:
        rows = [row for row in rows if row.id_kind == selector]
        tiers = [
            [row for row in rows if value == row.id],
            [row for row in rows if value.casefold() == row.id.casefold()],
        ]
    for number, tier in enumerate(tiers):
        if tier:
            return tier, number == 2
    return [], False


def second_opinion(rows: list[Device], selector: DeviceSelector) -> Device | None:
    """The device some selectors mean when nothing else is known; None when they mean none or several."""
    keys = [row.key for row in rows]
    parts = [
        named(rows, name, value)
        for name in ("device", "udid", "serial")
        if (value := getattr(selector, name)) is not None
    ]
    left = [
        row
        for row in rows
        if all(row in part for part, _ in parts)
        and keys.count(row.key) == 1
        and row.state != "unavailable"
        and in_scope(row, selector)
    ]
    if len(left) > 1 and parts and all(by_name for _, by_name in parts):
        left = [row for row in left if row.state == "ready"]
    return left[0] if len(left) == 1 else None


# --- the properties -----------------------------------------------------------------------------------


@given(cases(), st.randoms())
def test_the_order_of_discovery_changes_neither_the_device_nor_a_word_of_the_answer(
    case: tuple[list[Device], Request], random: Any
) -> None:
    rows, request = case
    shuffled = list(rows)
    random.shuffle(shuffled)
    missing = [Missing("slow", "no answer"), Missing("broken", "no tool")]
    assert outcome(request, Inventory(rows, missing=missing)) == outcome(
        request, Inventory(shuffled, missing=missing[::-1])
    )


@given(cases())
def test_a_named_device_is_the_one_a_second_resolver_finds(case: tuple[list[Device], Request]) -> None:
    rows, request = case
    assume(request.bound is None and request.selector.names_a_device())
    request = Request(selector=request.selector, boots=request.boots)
    expected = second_opinion(rows, request.selector)
    answer = outcome(request, Inventory(rows))
    if "device" in answer:
        assert expected is not None
        assert answer["device"] == expected.model_dump()
        assert expected.state == "ready" or request.boots
    elif expected is not None:
        # found, and refused only for its state
        assert expected.state != "ready"
        assert not request.boots
        assert answer["error"]["device"] == expected.key
        assert answer["error"]["code"] in ("device_offline", "device_unauthorized", "device_not_ready")


@given(cases())
def test_what_is_not_named_is_the_only_usable_device(case: tuple[list[Device], Request]) -> None:
    rows, request = case
    selector = request.selector.model_copy(update={"device": None, "udid": None, "serial": None})
    request = Request(selector=selector, held=request.held, boots=request.boots)
    keys = [row.key for row in rows]
    usable = [
        row
        for row in rows
        if keys.count(row.key) == 1
        and row.state == "ready"
        and in_scope(row, selector)
        and (request.held[row.key].yours if row.key in request.held else row.health != "suspect")
    ]
    answer = outcome(request, Inventory(rows))
    if len(usable) == 1:
        assert answer["device"] == usable[0].model_dump()
    elif not usable:
        unheard_of = selector.platform == "toaster" and all(row.platform != "toaster" for row in rows)
        fitting = ("invalid_argument",) if unheard_of else ("device_not_found", "selector_conflict")
        assert answer["error"]["code"] in fitting
    else:
        assert answer["error"]["code"] == "ambiguous_device"
        assert answer["error"]["details"]["matches"] == len(usable)


@given(leading)
def test_whatever_acts_satisfies_every_selector_given(case: tuple[list[Device], Request]) -> None:
    rows, request = case
    answer = outcome(request, Inventory(rows))
    assume("device" in answer)
    acting = Device.model_validate(answer["device"])
    selector = request.selector
    assert acting.state != "unavailable"
    assert acting.state == "ready" or request.boots
    assert [row.key for row in rows].count(acting.key) == 1
    dropped = {name for notice in answer["notices"] for name in notice.get("selectors", ())}
    assert not dropped or (request.bound is not None and request.lock == "strip")
    kept = selector.model_copy(
        update={
            name: None
            for name, wire in (("platform", "platform"), ("device_target", "deviceTarget"))
            if wire in dropped
        }
    )
    assert in_scope(acting, kept)
    for name in ("device", "udid", "serial"):
        if (value := getattr(selector, name)) is not None:
            assert acting in named(rows, name, value)[0]
    if request.bound is not None:
        assert acting.key == request.bound[1]
    elif not selector.names_a_device():
        assert acting.state == "ready" or answer["selection"]["reason"] == "default"
        assert not request.explicit_device


def suggestions(details: dict[str, Any]) -> list[dict[str, Any]]:
    return [*details.get("candidates", ()), *details.get("nearest", ()), *details.get("unusable", ())]


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(cases())
def test_every_suggested_selector_leads_to_its_device_when_pasted_back(
    case: tuple[list[Device], Request],
) -> None:
    rows, request = case
    inventory = Inventory(rows)
    answer = outcome(request, inventory)
    assume("error" in answer)
    error = answer["error"]
    offered = [row for row in suggestions(error["details"]) if row.get("selectors")]
    for row in offered:
        pasted = DeviceSelector.model_validate(row["selectors"])
        found = outcome(Request(selector=pasted, boots=True), inventory)
        assert found["device"]["id"] == row["id"]
        assert f"{found['device']['backend']}:{found['device']['id']}" == row["key"]
        now = outcome(Request(selector=pasted), inventory)
        assert ("device" in now) == (row["state"] == "ready")
        assert now.get("error", {}).get("device", row["key"]) == row["key"]
    for row in error["details"].get("candidates", ()):
        # laid over what was asked, it works as well, in the very same call
        merged = {**request.selector.model_dump(by_alias=True, exclude_none=True), **row["selectors"]}
        if not row["selectors"]:
            assert not pinnable(rows, row["key"])
        elif request.bound is None:
            again = Request(
                selector=DeviceSelector.model_validate(merged),
                boots=True,
                explicit_device=request.explicit_device,
                defaults=request.defaults,
                held=request.held,
            )
            assert outcome(again, inventory)["device"]["id"] == row["id"]


def pinnable(rows: list[Device], key: str) -> bool:
    """Whether any combination of a device's own id selectors means it, by the second opinion."""
    row = next(row for row in rows if row.key == key)
    parts: list[dict[str, str]] = [{"platform": row.platform}, {"device_target": row.device_target}]
    if row.id_kind != "id":
        parts.append({row.id_kind: row.id})
    for word in (row.id, row.key):
        for some in chain.from_iterable(combinations(parts, n) for n in range(len(parts) + 1)):
            fields: dict[str, str] = {"device": word}
            for part in some:
                fields |= part
            if second_opinion(rows, DeviceSelector(**fields)) == row:
                return True
    return False


@given(leading)
def test_a_true_word_more_never_leads_to_another_device(case: tuple[list[Device], Request]) -> None:
    rows, request = case[0], replace(case[1], bound=None)
    inventory = Inventory(rows)
    answer = outcome(request, inventory)
    assume("device" in answer)
    acting = Device.model_validate(answer["device"])
    truths: dict[str, str] = {"platform": acting.platform, "device_target": acting.device_target}
    if acting.id_kind != "id":
        truths[acting.id_kind] = acting.id
    for name, value in truths.items():
        if getattr(request.selector, name) is not None:
            continue
        more = Request(
            selector=request.selector.model_copy(update={name: value}),
            boots=request.boots,
            held=request.held,
            defaults=request.defaults if request.selector.names_a_device() else (),
        )
        again = outcome(more, inventory)
        if "device" in again:
            assert again["device"] == answer["device"] or not request.selector.names_a_device()


@given(cases())
def test_errors_are_typed_complete_and_say_no_name_of_a_device_in_their_words(
    case: tuple[list[Device], Request],
) -> None:
    rows, request = case
    try:
        resolve(request, Inventory(rows))
    except AnydeviceError as error:
        assert isinstance(error, SelectionError | DeviceError) or error.code == "invalid_argument"
        assert error.message
        assert len(error.message) < 900
        assert len(error.details.get("candidates", ())) <= 10
        if SECRET not in (request.selector.device or ""):
            assert SECRET not in error.message + error.hint
        if isinstance(error, AmbiguousDevice):
            assert error.details["matches"] >= 2
        wire = json.dumps(error.to_wire())
        assert AnydeviceError.from_wire(json.loads(wire)).to_wire() == json.loads(wire)
