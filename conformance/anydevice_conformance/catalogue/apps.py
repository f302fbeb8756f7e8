"""The list of apps: what runs, what is in front, and what a name narrows it to."""

from __future__ import annotations

import secrets

from ..case import case
from ..trial import Trial


@case(
    "apps.narrowed-by-name-and-by-what-runs",
    "apps MUST list the app that was opened as running and in front, first of all; a name or running MUST leave out "
    "exactly what does not fit, and a cut MUST be told.",
    command="apps",
    bundle="apps",
)
async def narrowed(t: Trial) -> None:
    everything = (await t.call("apps", limit=1000)).data
    front = everything["apps"][0]
    t.require(front.get("running") is True and front.get("foreground") is True, "the first is not said to be in front")
    t.equal(sum(row.get("foreground") is True for row in everything["apps"]), 1, "apps that are said to be in front")
    ids = [row["id"] for row in everything["apps"]]
    t.equal(len(set(ids)), len(ids), "ids, each of which may be listed once")
    by_name = (await t.call("apps", name=front["id"].upper(), limit=1000)).data["apps"]
    t.require(front["id"] in [row["id"] for row in by_name], "its own id does not find it")
    none = await t.call("apps", name=f"no-such-{secrets.token_hex(8)}")
    t.equal((none.data["apps"], none.data["count"]), ([], 0), "apps of a name that none has")
    running = [row["id"] for row in (await t.call("apps", running=True, limit=1000)).data["apps"]]
    resting = [row["id"] for row in (await t.call("apps", running=False, limit=1000)).data["apps"]]
    t.require(front["id"] in running and front["id"] not in resting, "what runs is not told from what does not")
    t.equal(sorted(running + resting), sorted(ids), "both together")
    if len(ids) > 1:
        first = await t.call("apps", limit=1)
        t.equal(([row["id"] for row in first.data["apps"]], first.data["count"]), ([front["id"]], len(ids)), "of one")
        t.require(first.truncated, "that there are more is not told")
