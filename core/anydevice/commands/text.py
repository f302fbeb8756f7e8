"""fill, type, key: text and keys."""

from __future__ import annotations

import unicodedata
from typing import Any, Literal

from pydantic import Field

from anydevice_schemas import EDITABLE, Example, Node, Plan
from anydevice_schemas.errors import (
    ActionUnverified,
    AnydeviceError,
    DeviceNotReady,
    ElementDisabled,
    ElementNotFound,
    FocusUnavailable,
    InvalidArgument,
    StaleRef,
    Unsupported,
    UpstreamUnavailable,
)

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Acted, Elements, Keys, Pointer, Screen, Touch, TreeScope
from ..elements import describe_node
from ._aim import Aim, ElementInput, aim, probe_node
from ._effect import UNREADABLE, Watch, merged
from ._steer import steer

TEXT_MOST = 100_000
SHORT_TEXT = 1000
SECONDS_A_CHARACTER, SECONDS_MOST = 0.005, 120.0
"""What a text that is longer adds to the deadline: some devices are given it a few letters at a time."""
SELECT_ALL = "primary+a"
TYPED = {"method": ["type", "*absent*"]}


def long_text_seconds(text: str) -> float:
    """Seconds that a text adds to the deadline of what types it; 0 for what people type in one go."""
    return min(SECONDS_MOST, len(text) * SECONDS_A_CHARACTER) if len(text) > SHORT_TEXT else 0.0


class FillInput(ElementInput):
    """Inputs of `fill`."""

    text: str = Field(max_length=TEXT_MOST, description="The whole new content; empty clears the field.")
    method: Literal["set", "type", "paste"] | None = Field(
        default=None,
        description="set: by accessibility; type: by keys; paste: by the clipboard, for long text. Omitted: the best.",
    )

    @property
    def extra_seconds(self) -> float:
        """Time a long text takes."""
        return long_text_seconds(self.text)


@command(
    name="fill",
    summary="Replaces the whole content of one field with text (any Unicode; for a select: the option) and reads it "
    "back; a field that ends up with something else is action_unverified. To add keystrokes to what has the focus use "
    "type.",
    effect="mutate",
    idempotent=True,
    input=FillInput,
    plans=[
        Plan(
            name="set-text",
            operations=["elements.set_text"],
            when={"target": ["*given*"], "method": ["set", "*absent*"]},
        ),
        Plan(name="pointer-keys", operations=["pointer.click", "keys.press", "keys.type_text"], when=TYPED),
        Plan(name="touch-keys", operations=["touch.tap", "keys.press", "keys.type_text"], when=TYPED),
        Plan(
            name="remote-keys",
            operations=["screen.tree", "remote.press", "keys.press", "keys.type_text"],
            when={"target": ["*given*"], **TYPED},
        ),
        Plan(
            name="touch-paste",
            operations=["touch.tap", "keys.press", "keys.type_text", "keys.paste"],
            when={"method": ["paste"]},
        ),
    ],
    output={"element": {"type": "object"}, "changed": {"type": "boolean"}},
    examples=[
        Example(why="By label", arguments={"target": "Name", "text": "Ada"}),
        Example(why="Clear a field", arguments={"target": "@e4", "text": ""}),
    ],
)
async def fill(ctx: Context, args: FillInput) -> Outcome:
    """Replaces the content of one field and reads it back."""
    assert ctx.plan is not None
    target = await aim(ctx, args, by_pointer=ctx.plan.name in ("pointer-keys", "touch-keys", "touch-paste"))
    before = target.node
    if before is not None:
        _refuse_unfit(before, by_keys=ctx.plan.name != "set-text")
    if target.key is not None and ctx.plan.name == "set-text":
        try:
            acted = await ctx.use(Elements).set_text(target.key, args.text)
        except AnydeviceError as error:
            if before is not None and error.details.get("element") == target.key:
                error.details["element"] = describe_node(before)
            raise
    else:
        acted = await _by_keys(ctx, target, args.text)
    after = await _now(ctx, target)
    verified = _read_back(args.text, acted, after)
    data = merged(target.to_wire(), acted.data)
    data.pop("point", None)
    if after is not None:
        after.ref = before.ref if before is not None else ""
        data["element"] = describe_node(after)
    data["changed"] = before is None or after is None or before.value != after.value or before.secure
    if acted.happenings:
        data["happened"] = [{"kind": h.kind, **dict(h.data)} for h in acted.happenings]
    return Outcome(data=data, verified=verified, method=acted.method)


def _refuse_unfit(node: Node, *, by_keys: bool) -> None:
    """Refuses what takes no text before anything is done to it.

    Args:
        node: The element.
        by_keys: It is going to be pressed and typed into: whatever is no field would only be pressed.

    Raises:
        ElementDisabled: It is read-only.
        InvalidArgument: It is no field.
    """
    if "readonly" in node.states:
        raise ElementDisabled("The field is read-only.", element=describe_node(node), reason="read-only")
    takes = node.role in EDITABLE or "editable" in node.states or "set_text" in node.actions
    if by_keys and not takes:
        raise InvalidArgument(
            "This element takes no text.",
            param="target",
            expected="a field",
            element=describe_node(node),
            hint="Use press on it, or name the field.",
        )


async def _by_keys(ctx: Context, target: Aim, text: str) -> Acted:
    assert ctx.plan is not None
    if ctx.plan.name == "remote-keys":
        await _steer_to(ctx, target)
    elif ctx.plan.name in ("touch-keys", "touch-paste"):
        await ctx.use(Touch).tap(target.point)
    else:
        await ctx.use(Pointer).click(target.point)
    keys = ctx.use(Keys)
    await keys.press(SELECT_ALL)
    if not text:
        return await keys.press("delete")
    if ctx.plan.name == "touch-paste":
        try:
            return await keys.paste(text)
        except Unsupported as error:
            ctx.notice("not_pasted", "The field offers nothing to paste with; the text was typed.", **error.details)
    return await keys.type_text(text)


async def _steer_to(ctx: Context, target: Aim) -> None:
    """Brings the focus to a field by the remote control, without pressing it.

    Raises:
        FocusUnavailable: It does not get there.
    """
    assert target.node is not None
    await steer(ctx, target.node)
    await _hold_focus(ctx, target, Acted("remote"))


async def _now(ctx: Context, target: Aim) -> Node | None:
    """The field as it is now, or None when it is gone (a form that sent itself off)."""
    try:
        probes = ctx.driver is not None and ctx.driver.has("elements.probe")
        if target.node is not None and target.key is not None and probes:
            return (await probe_node(ctx, target.node, None)).node
        if ctx.driver is not None and ctx.driver.has("keys.focused"):
            return await ctx.use(Keys).focused() or await _still_there(ctx, target.node)
    except (StaleRef, ElementNotFound):
        return None
    except (DeviceNotReady, UpstreamUnavailable) as error:
        if error.details.get("reason") not in UNREADABLE:
            raise
        ctx.notice("not_read", "The screen cannot be read now; what the field holds is not known.")
    return None


async def _still_there(ctx: Context, field: Node | None) -> Node | None:
    """The field where it was, though nothing has the focus: it was never reached, or let go of it."""
    if field is None or ctx.driver is None or not ctx.driver.has("screen.tree"):
        return None
    same = (field.role, field.identifier, field.name, field.rect)
    tree = await ctx.use(Screen).tree(TreeScope())
    return next((node for node in tree.nodes if (node.role, node.identifier, node.name, node.rect) == same), None)


def _read_back(wanted: str, acted: Acted, after: Node | None) -> bool:
    """True when the field was seen to hold the text; raises when it was seen to hold something else."""
    if after is None or after.secure or after.value is None:
        if acted.verified is False:
            raise ActionUnverified(
                "The field does not hold the text.",
                expected="the text as given" if after is not None and after.secure else wanted[:200],
                actual="something else",
                element=describe_node(after) if after is not None else None,
            )
        return bool(acted.verified)
    if acted.verified is True or same_text(after.value, wanted):
        return True
    raise ActionUnverified(
        "The field holds something else than the text.",
        expected=wanted[:200],
        actual=after.value[:200],
        element=describe_node(after),
    )


def same_text(one: str, other: str) -> bool:
    """Whether two texts are the same to a reader: line ends and composed characters do not count."""

    def plain(text: str) -> str:
        return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))

    return plain(one) == plain(other)


class TypeInput(Input):
    """Inputs of `type`."""

    text: str = Field(min_length=1, max_length=TEXT_MOST, description="Text to type, any Unicode.")
    target: str | None = Field(
        default=None,
        min_length=1,
        max_length=2000,
        description="Element to focus first; omitted = what has the focus.",
    )
    delay_ms: int = Field(default=0, ge=0, le=1000, description="Pause between characters, in ms.")
    timeout_ms: int = Field(default=3000, ge=0, le=300_000, description="How long to wait for target.")

    @property
    def extra_seconds(self) -> float:
        """Time the typing itself takes."""
        return len(self.text) * self.delay_ms / 1000 + long_text_seconds(self.text)


@command(
    name="type",
    summary="Types text key by key into what has the keyboard focus (or into target, which is focused first), after "
    "what is there already. To replace the content of a field use fill; for Enter, Tab or shortcuts use key.",
    effect="mutate",
    input=TypeInput,
    plans=[
        Plan(name="keys", operations=["elements.focus", "keys.type_text"], when={"target": ["*given*"]}),
        Plan(name="keys", operations=["pointer.click", "keys.type_text"], when={"target": ["*given*"]}),
        Plan(name="keys", operations=["touch.tap", "keys.type_text"], when={"target": ["*given*"]}),
        Plan(
            name="remote-keys",
            operations=["screen.tree", "remote.press", "keys.type_text"],
            when={"target": ["*given*"]},
        ),
        Plan(name="keys", operations=["keys.type_text"], when={"target": ["*absent*"]}),
    ],
    output={"typed": {"type": "integer", "description": "Characters sent."}, "element": {"type": "object"}},
    examples=[Example(why="Into the focused field", arguments={"text": "hello"})],
)
async def type_(ctx: Context, args: TypeInput) -> Outcome:
    """Types text into what has the focus."""
    if args.target is not None:
        await _focus(ctx, ElementInput.model_construct(target=args.target, x=None, y=None, timeout_ms=args.timeout_ms))
    before, seen = await _focus_now(ctx)
    acted = await ctx.use(Keys).type_text(args.text, delay=args.delay_ms / 1000)
    after, seen = await _focus_now(ctx) if seen else (None, False)
    if not seen:
        ctx.notice("not_read", "What has the focus cannot be read now; the keys were sent all the same.")
    elif after is None or not _takes_text(after):
        ctx.notice("not_a_field", "What has the focus takes no text; the keys were sent all the same.")
    data: dict[str, Any] = {"typed": len(args.text)}
    if after is not None:
        data["element"] = describe_node(after)
    data = merged(data, acted.data)
    if acted.happenings:
        data["happened"] = [{"kind": h.kind, **dict(h.data)} for h in acted.happenings]
    return Outcome(data=data, verified=_typed(args.text, before, after, acted), method=acted.method)


def _takes_text(node: Node) -> bool:
    return node.role in EDITABLE or "editable" in node.states


async def _focus(ctx: Context, args: ElementInput) -> None:
    assert ctx.plan is not None
    target = await aim(ctx, args, by_pointer="remote.press" not in ctx.plan.operations)
    if target.node is not None:
        _refuse_unfit(target.node, by_keys=False)
    if "remote.press" in ctx.plan.operations:
        await _steer_to(ctx, target)
    elif "elements.focus" in ctx.plan.operations and target.key is not None:
        acted = await ctx.use(Elements).focus(target.key)
        await _hold_focus(ctx, target, acted)
    elif "touch.tap" in ctx.plan.operations:
        await ctx.use(Touch).tap(target.point)
    else:
        await ctx.use(Pointer).click(target.point)


async def _hold_focus(ctx: Context, target: Aim, acted: Acted) -> None:
    """Refuses to type where the element did not get the focus, or lost it at once: the text would go elsewhere.

    Raises:
        FocusUnavailable: Something else has the focus.
    """
    holder = await _focused(ctx)
    # The focus on something inside the element is the element's own; on another field it is not.
    fields = [node for node in (holder, target.node) if node is not None and "editable" in node.states]
    lost = acted.verified is False or (len(fields) == 2 and fields[0].key != target.key)
    if lost:
        raise FocusUnavailable(
            "The element does not hold the focus; nothing was typed.",
            hint="Look again (snapshot); press the element, or name what has the focus.",
            holder=describe_node(holder) if holder is not None else "nothing",
            fix="Type into what the app gives the focus to, or do what it asks for first.",
        )


async def _focused(ctx: Context) -> Node | None:
    if ctx.driver is None or not ctx.driver.has("keys.focused"):
        return None
    node = await ctx.use(Keys).focused()
    if node is not None and node.key is not None:
        node.ref = ctx.here.refs.ref_for(node.key)
    return node


async def _focus_now(ctx: Context) -> tuple[Node | None, bool]:
    """What has the focus, and whether that can be read: keys reach screens that cannot."""
    try:
        return await _focused(ctx), True
    except (DeviceNotReady, UpstreamUnavailable) as error:
        if error.details.get("reason") not in UNREADABLE:
            raise
        return None, False


def _typed(text: str, before: Node | None, after: Node | None, acted: Acted) -> bool:
    """Whether the text was seen to arrive; raises when the field is certain not to have taken any of it."""
    if acted.verified is not None:
        return acted.verified
    if before is None or after is None or before.key != after.key or after.secure or after.value is None:
        return False
    if text in after.value and after.value != before.value:
        return True
    if after.value == before.value and "editable" in after.states and "readonly" not in after.states:
        raise ActionUnverified(
            "The field did not take the text.",
            expected="the text added to what was there",
            actual="unchanged",
            element=describe_node(after),
        )
    return False


class KeyInput(Input):
    """Inputs of `key`."""

    chord: str = Field(
        min_length=1,
        max_length=64,
        description="Key or chord: enter, tab, escape, down, f5, ctrl+a; primary+a = the platform's own modifier.",
    )
    count: int = Field(default=1, ge=1, le=100, description="How often.")


@command(
    name="key",
    summary="Presses a key or chord in what has the focus, such as enter, escape or ctrl+s, and tells what changed. "
    "For text use type or fill.",
    effect="mutate",
    input=KeyInput,
    plans=[Plan(name="keys", operations=["keys.press"])],
    output={"changed": {"type": "boolean"}, "changes": {"type": "array"}},
    examples=[Example(why="Send a form", arguments={"chord": "enter"})],
)
async def key(ctx: Context, args: KeyInput) -> Outcome:
    """Presses a key or chord."""
    watch = await Watch.start(ctx)
    acted = Acted("keys")
    happenings: list[Any] = []
    for _ in range(args.count):
        acted = await ctx.use(Keys).press(args.chord)
        happenings.extend(acted.happenings)
        if any(h.kind in ("dialog", "crashed", "closed") for h in acted.happenings):
            break
    whole = Acted(acted.method, tuple(happenings), acted.verified, acted.data)
    data = merged({"chord": args.chord}, acted.data, await watch.report(whole))
    return Outcome(data=data, verified=acted.verified or False, method=acted.method)
