"""Which device: what a listing must hold, what names a device, and what is refused instead of guessed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from anydevice.driver import Environment
from anydevice.resolution import Request, resolve
from anydevice_schemas import Answer, Device, DeviceRef, DeviceSelector
from anydevice_schemas.errors import AnydeviceError

from ..case import case
from ..neighbour import NAME, neighbour
from ..trial import CaseFailed, Trial

TARGETS = {"phone": "mobile", "tablet": "mobile", "tv": "tv", "desktop": "desktop", "browser": "desktop"}
AT_ONCE = 6


async def rows_of(t: Trial, env: Environment | None = None) -> Sequence[Device]:
    """What the backend itself lists now, within its own deadline.

    Raises:
        CaseFailed: The listing fails or takes too long.
    """
    backend = await t.router.services.backends.instance(t.device.backend)
    try:
        with anyio.fail_after(t.manifest.discovery_deadline):
            return list(await backend.devices(env or Environment()))
    except TimeoutError:
        raise CaseFailed(f"the listing took longer than the {t.manifest.discovery_deadline:g} s it declares") from None
    except Exception as error:
        raise CaseFailed(f"the listing failed with {type(error).__name__}: {error}") from None


def fold(text: str) -> str:
    """A name as the contract compares names, written down a second time."""
    return " ".join(text.replace("_", " ").casefold().split())


def pair_is_there(t: Trial, rows: Sequence[Device], when: str) -> None:
    """Both devices of the trial are listed, unchanged in what identifies them."""
    for known in (t.device, t.other):
        found = [row for row in rows if row.id == known.id]
        t.require(len(found) == 1, f"{when}, {known.id} is listed {len(found)} times")
        for field in ("id", "name", "platform", "device_class", "device_target", "kind", "id_kind"):
            t.equal(getattr(found[0], field), getattr(known, field), f"{when}, {field} of {known.id}")


@case(
    "selection.ids-stay-the-same",
    "A device MUST keep its id, name and kind from one listing to the next.",
    screen=None,
)
async def ids_stay_the_same(t: Trial) -> None:
    for number in range(3):
        pair_is_there(t, await rows_of(t), f"in listing {number + 1}")


@case(
    "selection.rows-are-sound",
    "Every row of a listing MUST be a valid Device of this backend, of a class it declares, and its id unique.",
    screen=None,
)
async def rows_are_sound(t: Trial) -> None:
    rows = await rows_of(t)
    platforms = {entry.platform or entry.name for entry in t.manifest.platforms}
    for row in rows:
        t.require(isinstance(row, Device), f"a row is a {type(row).__name__}")
        try:
            Device.model_validate(row.model_dump())
        except ValueError as error:
            raise CaseFailed(f"row {row.id} is not valid: {str(error)[:300]}") from None
        t.equal(row.backend, t.manifest.name, f"backend of {row.id}")
        t.require(row.platform in platforms, f"{row.id} is of platform {row.platform}, which is not declared")
        t.require(row.device_class in t.manifest.device_classes, f"{row.id} is of class {row.device_class}")
        t.require(row.name.strip(), f"{row.id} has no name")
        expected = TARGETS.get(row.device_class, row.device_target)
        t.equal(row.device_target, expected, f"device target of {row.id}, a {row.device_class}")
    twice = [device_id for device_id, times in Counter(row.id for row in rows).items() if times > 1]
    t.require(not twice, f"ids are listed more than once: {', '.join(twice)}")


@case(
    "selection.rows-say-why-and-what-to-do",
    "A row that cannot be driven now MUST say what to do about it, and why unless it is only shut down.",
    screen=None,
)
async def rows_say_why(t: Trial) -> None:
    for row in await rows_of(t):
        if row.state == "ready":
            continue
        t.require(row.fix.strip(), f"{row.id} is {row.state} and says no fix")
        t.require(row.state == "shutdown" or row.reason.strip(), f"{row.id} is {row.state} and says no reason")


@case(
    "selection.listings-run-side-by-side",
    "Listings asked for at the same time MUST each be whole and end within the declared deadline.",
    screen=None,
)
async def listings_side_by_side(t: Trial) -> None:
    async def one(number: int) -> None:
        pair_is_there(t, await rows_of(t), f"in listing {number + 1} of {AT_ONCE} at once")

    failures: list[CaseFailed] = []

    async def kept(number: int) -> None:
        try:
            await one(number)
        except CaseFailed as failure:
            failures.append(failure)

    async with anyio.create_task_group() as group:
        for number in range(AT_ONCE):
            group.start_soon(kept, number)
    if failures:
        raise failures[0]


@case(
    "selection.listings-bear-an-odd-environment",
    "A listing MUST NOT fail because of the caller's working directory or variables.",
    screen=None,
)
async def odd_environment(t: Trial) -> None:
    odd = Environment("/no/such/folder", dict.fromkeys(t.manifest.env, "no such value \u2603"))
    await rows_of(t, odd)
    pair_is_there(t, await rows_of(t), "after an odd environment")


@case(
    "selection.a-sick-neighbour-spoils-nothing",
    "A backend that fails or hangs while listing MUST NOT keep the devices of others from being listed and driven, "
    "and the answer MUST say what is missing and why.",
)
async def sick_neighbour(t: Trial) -> None:
    faults: tuple[dict[str, Any], ...] = ({"fails": RuntimeError("out of order")}, {"hangs": True})
    for fault in faults:
        async with neighbour(t, {"id": "ill"}, **fault):
            answer = await t.call("devices", named=False)
            t.require(_listed(answer, t.device.id), "the device is not listed beside a backend that does not list")
            missing = [gone for gone in answer.data.get("missing", ()) if gone["backend"] == NAME]
            t.require(missing and missing[0]["reason"] and missing[0]["fix"], "nothing says what is missing and why")
            await t.call("appstate")


@case(
    "selection.id-key-and-name-name-it",
    "A full id, `backend:id` and a name that only this device has MUST each name the device, and the answer MUST say "
    "what decided.",
)
async def names_it(t: Trial) -> None:
    ways: list[dict[str, Any]] = [{"device": t.device.id}, {"device": t.device.key}]
    if t.device.id_kind != "id":
        ways.append({t.device.id_kind: t.device.id})
    rows = _everything(t)
    if len([row for row in rows if fold(t.device.name) in (fold(row.name), row.id.casefold())]) == 1:
        ways.append({"device": t.device.name})
    for way in ways:
        answer = await t.call("appstate", named=False, **way)
        _acted(t, answer, t.device, way)
        t.require(answer.selection is not None and answer.selection.reason == "selectors", "selectors decided")
        assert answer.selection is not None
        said = answer.selection.by.get(next(iter(way)), "")
        t.require(said.startswith(next(iter(way.values()))), f"the answer does not say that {way} decided: {said!r}")


@case(
    "selection.case-and-white-space-are-folded",
    "Ids and names MUST be compared without case, names besides with white space and `_` folded.",
)
async def folded(t: Trial) -> None:
    rows = _everything(t)
    words = {t.device.id.upper(), t.device.id.lower(), t.device.id.swapcase()}
    name = t.device.name.upper().replace(" ", "_")
    if len([row for row in rows if fold(t.device.name) in (fold(row.name), row.id.casefold())]) == 1:
        words |= {name, f"  {t.device.name.lower()} "}
    for word in sorted(words):
        like = [row for row in rows if word.casefold() == row.id.casefold()]
        if len(like) > 1:
            continue  # ids that differ by case alone: only the exact spelling is one
        _acted(t, await t.call("appstate", named=False, device=word), t.device, {"device": word})


@case(
    "selection.part-of-an-id-names-nobody",
    "A part of an id or a misspelt one MUST be refused as device_not_found with what was looked for where and the "
    "nearest devices, whose selectors MUST work.",
    screen=None,
)
async def part_of_an_id(t: Trial) -> None:
    word = t.device.id[:-1] or t.device.id + "x"
    if any(word.casefold() == row.id.casefold() or fold(word) == fold(row.name) for row in _everything(t)):
        word = t.device.id + "-no-such"
    answer = await t.call("appstate", device=word, expect="device_not_found")
    details = t.detail(answer, "looked_for", "looked_in", "unusable", "nearest")
    t.equal(details["looked_for"].get("device"), word, "what was looked for")
    t.require(details["nearest"], f"no device is near {word!r}")
    for near in details["nearest"]:
        t.equal(_means(t, near["selectors"]), near["key"], "what the selectors of a near device mean")


@case(
    "selection.contradictions-are-refused",
    "Selectors that do not agree on one device MUST be refused as selector_conflict naming both sides; none of them "
    "wins.",
    screen=None,
)
async def contradictions(t: Trial) -> None:
    target = next(word for word in ("tv", "mobile", "desktop") if word != t.device.device_target)
    platforms = t.router.services.backends.platforms
    foreign = next(word.name for word in platforms if word.platform == word.name != t.device.platform)
    pairs: list[dict[str, Any]] = [
        {"device": t.device.id, "deviceTarget": target},
        {"device": t.device.key, "platform": foreign},
    ]
    if t.device.id_kind != "id":
        pairs.append({"device": t.other.key, t.device.id_kind: t.device.id})
    for pair in pairs:
        answer = await t.call("appstate", named=False, expect="selector_conflict", **pair)
        conflicts = t.detail(answer, "conflicts")["conflicts"]
        sides = {side["selector"] for conflict in conflicts for side in conflict["sides"]}
        t.require(set(pair) <= sides, f"the conflict of {sorted(pair)} names only {sorted(sides)}")


@case(
    "selection.equal-names-are-ambiguous",
    "A word that several devices answer to MUST be refused as ambiguous_device, and the selectors of every candidate "
    "MUST work when they are pasted back.",
)
async def equal_names(t: Trial) -> None:
    twin = {"id": t.device.id, "name": t.device.name, "device_target": t.device.device_target}
    async with neighbour(t, twin | {"device_class": t.device.device_class}) as beside:
        words = [t.device.id]
        if fold(t.device.name) not in {row.id.casefold() for row in _everything(t)}:
            words.append(t.device.name)
        for word in words:
            answer = await t.call("appstate", device=word, expect="ambiguous_device")
            candidates = t.detail(answer, "candidates", "matches")["candidates"]
            keys = {candidate["key"] for candidate in candidates}
            t.require({t.device.key, f"{NAME}:{t.device.id}"} <= keys, f"candidates of {word!r} are {sorted(keys)}")
            await _paste_back(
                t, candidates, {t.device.key: t.device, f"{NAME}:{t.device.id}": beside.rows[t.device.id]}
            )


@case(
    "selection.nothing-named-and-several-usable-is-ambiguous",
    "A call that names no device, by a caller without a session, MUST be refused as ambiguous_device when several "
    "devices are usable, and the selectors of every candidate MUST work.",
    screen=None,
)
async def nothing_named(t: Trial) -> None:
    scopes: tuple[dict[str, Any], ...]
    scopes = ({}, {"platform": t.device.platform, "deviceTarget": t.device.device_target})
    for scope in scopes:
        answer = await t.call("appstate", named=False, expect="ambiguous_device", **scope)
        details = t.detail(answer, "candidates", "matches")
        t.require(details["matches"] >= 2, "two devices are usable")
        for candidate in details["candidates"]:
            t.equal(_means(t, candidate["selectors"]), candidate["key"], "what the selectors of a candidate mean")


@case(
    "selection.unusable-rows-are-told-and-never-chosen",
    "Devices that are offline, unauthorized or unavailable MUST be listed with reason and fix, refused by the error "
    "of their state when they are named, and never chosen.",
    screen=None,
)
async def unusable_rows(t: Trial) -> None:
    refusals = {"offline": "device_offline", "unauthorized": "device_unauthorized", "unavailable": "device_not_found"}
    rows = [
        {"id": f"so-{state}", "state": state, "reason": f"why {state}", "fix": f"mend {state}"} for state in refusals
    ]
    async with neighbour(t, *rows) as beside:
        listed = await t.call("devices", named=False, platform=NAME)
        told = {row["state"]: (row.get("reason"), row.get("fix")) for row in listed.data["devices"]}
        t.equal(told, {state: (f"why {state}", f"mend {state}") for state in refusals}, "what the listing tells")
        for state, code in refusals.items():
            answer = await t.call("appstate", named=False, device=f"so-{state}", expect=code)
            details = t.detail(answer)
            sick = details if code != "device_not_found" else details["unusable"][0]
            t.equal((sick["reason"], sick["fix"]), told[state], f"reason and fix of {code}")
        answer = await t.call("appstate", named=False, platform=NAME, expect="device_not_found")
        unusable = {row["id"]: (row["reason"], row["fix"]) for row in t.detail(answer, "unusable")["unusable"]}
        t.equal(len(unusable), len(refusals), "devices that exist and cannot be used")
        t.require(not beside.drivers, "a device that cannot be used was connected to")


@case(
    "selection.the-acting-device-is-read-back",
    "An answer MUST carry id, name, platform and key of the device that acted, as its driver reads them back.",
)
async def read_back(t: Trial) -> None:
    for device in (t.device, t.other, t.device):
        row: DeviceRef = device.ref()
        answer = await t.call("appstate", on=device)
        t.equal(answer.device, row, "the device the answer names")
        t.equal(await (await t.driver(device)).identify(), row, "what the driver says who it is")


@case(
    "selection.stopping-needs-a-named-device",
    "boot and shutdown MUST be refused with the candidates when no device is named in the call itself, even where the "
    "caller has a session, and MUST NOT touch any device.",
    command="shutdown",
    needs=("power.boot",),
    bundle="power",
    mutates=True,
)
async def stopping_needs_a_name(t: Trial) -> None:
    for command in ("boot", "shutdown"):
        answer = await t.call(command, named=False, expect="invalid_argument")
        details = t.detail(answer, "param", "expected", "candidates")
        t.equal(details["param"], "device", "what is missing")
        keys = {candidate["key"] for candidate in details["candidates"]}
        t.require({t.device.key, t.other.key} & keys, f"the candidates are {sorted(keys)}")
    await t.first_press()
    t.equal({row.state for row in await rows_of(t) if row.id in (t.device.id, t.other.id)}, {"ready"}, "states")


def _listed(answer: Answer, device_id: str) -> bool:
    return any(row["id"] == device_id for row in answer.data["devices"])


def _everything(t: Trial) -> tuple[Device, ...]:
    inventory = t.router.services.backends.cached(Environment())
    return tuple(row.device for row in inventory.rows)


def _acted(t: Trial, answer: Answer, device: Device, way: Mapping[str, Any]) -> None:
    t.require(answer.device is not None and answer.device.key == device.key, f"{way} led to {answer.device}")


def _means(t: Trial, selectors: Mapping[str, str]) -> str:
    """Key of the device some selectors lead to, without driving it: it may be somebody else's."""
    t.require(selectors, "no selectors are suggested")
    request = Request(selector=DeviceSelector.model_validate(selectors), boots=True)
    try:
        return resolve(request, t.router.services.backends.cached(Environment())).device.key
    except AnydeviceError as error:
        raise CaseFailed(f"the suggested selectors {selectors} are refused: {error.message}") from None


async def _paste_back(t: Trial, candidates: Sequence[Mapping[str, Any]], ours: Mapping[str, Device]) -> None:
    for candidate in candidates:
        selectors = candidate["selectors"]
        t.equal(_means(t, selectors), candidate["key"], "what the selectors of a candidate mean")
        if candidate["key"] in ours:
            answer = await t.call("appstate", named=False, **selectors)
            _acted(t, answer, ours[candidate["key"]], selectors)
