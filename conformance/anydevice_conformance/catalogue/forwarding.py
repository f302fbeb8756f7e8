"""Ports of the device on the host: there while they are wanted, and gone after."""

from __future__ import annotations

from typing import Any

import anyio

from anydevice.driver import Forward

from ..case import case
from ..trial import Trial

FORWARD: dict[str, Any] = {
    "needs": ("forwards.list", "forwards.add", "forwards.remove"),
    "bundle": "forward",
    "screen": None,
}
PORT = 45_871
"""A port of the device."""
WITHIN = 10.0
"""Seconds after which the ports of a holder that has left must be gone."""


async def _there(t: Trial) -> set[Forward]:
    driver = await t.driver()
    return set(await driver.forwards.list())  # type: ignore[attr-defined]


@case(
    "forwarding.what-is-added-is-listed-until-it-is-removed",
    "A forwarded port MUST be listed by the number that was chosen, by the device itself too, until it is removed; "
    "what is not forwarded MUST NOT be removable.",
    **FORWARD,
)
async def listed(t: Trial) -> None:
    answer = await t.call("forward", action="add", hostPort=0, devicePort=PORT)
    made = answer.data["forward"]
    t.require(made["hostPort"] > 0 and answer.verified is True, "the port that was chosen is not told")
    own = Forward(f"tcp:{made['hostPort']}", f"tcp:{PORT}")
    t.require(own in await _there(t), "the device does not list it")
    t.require(made in (await t.call("forward")).data["forwards"], "it is not told to be there")
    await t.call("forward", action="remove", hostPort=made["hostPort"], devicePort=PORT)
    t.require(own not in await _there(t), "the device lists it though it was removed")
    await t.call("forward", action="remove", hostPort=made["hostPort"], devicePort=PORT, expect="invalid_argument")


@case(
    "forwarding.ports-end-with-their-holder",
    "A forwarded port MUST be gone once its holder gave the device back.",
    **FORWARD,
)
async def given_back(t: Trial) -> None:
    answer = await t.call("forward", action="add", hostPort=0, devicePort=PORT)
    t.require(await _there(t), "the device lists no port")
    await t.call("session", named=False, action="end", name=answer.session)
    with anyio.move_on_after(WITHIN):
        while await _there(t):  # noqa: ASYNC110 - nothing tells when it is gone
            await anyio.sleep(0.05)
    t.equal(await _there(t), set(), "ports that the device lists")
