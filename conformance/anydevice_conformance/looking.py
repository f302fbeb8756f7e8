"""What cases see through the commands: nodes, elements and refs, as answers carry them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from anydevice.plans import declared
from anydevice_schemas import Answer, Device

from .trial import HEARD_WITHIN, QUIET_FOR, CaseFailed, Trial
from .witness import Report

Shown = Mapping[str, Any]
"""An element as answers carry it: ref, role, name, value, identifier, states, rect."""

ROOTS = frozenset({"application", "window", "document"})


def has(t: Trial, operation: str) -> bool:
    """Whether the backend declares an operation for the device under test."""
    return declared(t.manifest, t.device, operation)


def steered(t: Trial) -> bool:
    """Whether the device has no way to an element but the arrows of a remote control."""
    return has(t, "remote.press") and not has(t, "elements.activate") and not pointed(t)


def pointed(t: Trial) -> bool:
    """Whether the device can be pressed at a point."""
    return has(t, "touch.tap") or has(t, "pointer.click")


async def whole(t: Trial, *, mode: str = "full", on: Device | None = None, **more: Any) -> list[dict[str, Any]]:
    """Every node of a snapshot, in order, each with the ref of its parent."""
    answer = await t.call("snapshot", on=on, mode=mode, responseLevel="full", **more)
    nodes: list[dict[str, Any]] = answer.data["tree"]
    return nodes


async def only(t: Trial, query: str, **more: Any) -> dict[str, Any]:
    """The one element a query finds.

    Raises:
        CaseFailed: It finds several, or none.
    """
    answer = await t.call("find", query=query, **more)
    matches: list[dict[str, Any]] = answer.data["matches"]
    t.equal(answer.data["count"], 1, f"elements that match {query}")
    t.equal(len(matches), 1, f"elements listed for {query}")
    return matches[0]


async def ref_of(t: Trial, query: str, **more: Any) -> str:
    """The ref of the one element a query finds."""
    return str((await only(t, query, **more))["ref"])


async def holds(t: Trial, predicate: str, target: str, value: str | None = None) -> bool:
    """The answer to one question of `is`."""
    more: dict[str, Any] = {} if value is None else {"value": value}
    answer = await t.call("is", predicate=predicate, target=target, **more)
    return bool(answer.data["result"])


def named(nodes: Sequence[Shown], name: str, role: str | None = None) -> list[Shown]:
    """The nodes of a name (and role)."""
    return [node for node in nodes if node.get("name") == name and role in (None, node["role"])]


def by_id(nodes: Sequence[Shown], identifier: str) -> Shown:
    """The node of an identifier.

    Raises:
        CaseFailed: There is none, or several.
    """
    found = [node for node in nodes if node.get("identifier") == identifier]
    if len(found) != 1:
        raise CaseFailed(f"{len(found)} elements have the identifier {identifier}, where one was due")
    return found[0]


def states(node: Shown) -> set[str]:
    """The states of an element."""
    return set(node.get("states", ()))


def took(t: Trial) -> float:
    """Seconds the latest call took."""
    return t.steps[-1].ms / 1000


def told_cut(answer: Answer, word: str) -> bool:
    """Whether the answer tells that something of this kind was cut."""
    return any(word in entry for entry in answer.truncated)


async def heard_times(t: Trial, what: str, count: int) -> None:
    """The app reported something so many times, and no more.

    Raises:
        CaseFailed: It did it less or more often.
    """

    def often(reports: list[Report]) -> bool:
        return len([report for report in reports if report.get("what") == what]) >= count

    await t.witness.until(t.tokens[t.device.key], often, HEARD_WITHIN)
    await anyio.sleep(QUIET_FOR)
    t.equal(len(t.reports(what)), count, f"how often the app reported {what}")
