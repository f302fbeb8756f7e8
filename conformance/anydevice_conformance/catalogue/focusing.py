"""Focus: the element that is named gets the keyboard, nothing is pressed, and it is told by what has it."""

from __future__ import annotations

from ..case import case
from ..looking import holds
from ..trial import Trial


@case(
    "focus.takes-the-keyboard-there",
    "focus MUST give the named element the keyboard: what is typed after it arrives there, and nothing was pressed.",
    command="focus",
    sample={"target": "Name"},
    needs=("keys.type_text",),
    bundle="focus",
    screen="form",
    mutates=True,
)
async def takes_the_keyboard(t: Trial) -> None:
    for name in ("Name", "Notes", "Name"):
        answer = await t.call("focus", target=f'label="{name}" role=textbox')
        t.require(answer.verified is True, "focus that was read back must be verified")
        t.require(await holds(t, "focused", f'label="{name}" role=textbox'), f"{name} must be told as focused")
    await t.unheard("press")
    await t.call("type", text="xyz")
    await t.heard("fill", id="form.name", value="xyz")
