"""Acting on one element."""

from __future__ import annotations

from ..case import case
from ..trial import Trial


@case(
    "press.reaches-the-named-device",
    "A press MUST reach the element on the device that was named, and on no other.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def reaches_the_named_device(t: Trial) -> None:
    answer = await t.call("press", target="Increment")
    await t.heard("press", id="home.increment")
    await t.heard("count", value=1)
    t.require(
        answer.device is not None and answer.device.key == t.device.key, "the answer must name the device that acted"
    )


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
