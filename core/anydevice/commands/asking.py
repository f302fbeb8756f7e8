"""is: one yes-or-no question about an element, an app or a window."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from anydevice_schemas import Example, Node, Plan
from anydevice_schemas.errors import ElementNotFound, StaleRef

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import App
from ..elements import describe_node
from ._aim import look_up
from ._windows import apps_named, apps_of, described, matching, the_window, windows_of


class IsInput(Input):
    """Inputs of `is`."""

    predicate: Literal[
        "visible", "hidden", "exists", "absent", "editable", "selected", "focused", "enabled", "disabled", "checked",
        "text", "running", "open", "gone", "title",
    ] = Field(
        description="What to ask; text compares the element's text with value. Of an app: running, gone; of a window: "
        "open, gone, title."
    )  # fmt: skip
    target: str | None = Field(default=None, min_length=1, max_length=2000, description="Ref, label or query.")
    app: str | None = Field(default=None, min_length=1, max_length=256, description="Instead: an app, by id or name.")
    window: str | None = Field(
        default=None, min_length=1, max_length=1000, description="Instead: a window, by id or title."
    )
    value: str | None = Field(
        default=None, max_length=10_000, description="For predicate text or title: the exact text."
    )


OF_APPS = ("running", "gone")
OF_WINDOWS = ("open", "gone", "title")


@command(
    name="is",
    summary="Answers one yes-or-no question about one element, at once, without waiting: result true or false. An "
    "element that is not there is false (true for absent and hidden). Use wait to wait for it.",
    effect="read",
    idempotent=True,
    observe=True,
    input=IsInput,
    plans=[
        Plan(name="apps", operations=["apps.list"], when={"app": ["*given*"]}),
        Plan(name="windows", operations=["windows.list"], when={"window": ["*given*"], "app": ["*absent*"]}),
        Plan(name="tree", operations=["screen.tree"], when={"app": ["*absent*"], "window": ["*absent*"]}),
    ],
    output={"result": {"type": "boolean"}},
    examples=[Example(why="Is it ticked", arguments={"predicate": "checked", "target": "Wi-Fi"})],
)
async def is_(ctx: Context, args: IsInput) -> Outcome:
    """Answers a question about one element, app or window."""
    if (args.predicate in ("text", "title")) != (args.value is not None):
        raise ctx.bad_argument("value", "goes with predicate text or title, and only with them", "the exact text")
    named = [name for name in ("target", "app", "window") if getattr(args, name) is not None]
    if len(named) != 1:
        problem = "nothing to ask about is named" if not named else f"{' and '.join(named)} are given together"
        raise ctx.bad_argument(named[0] if named else "target", problem, "exactly one of target, app, window")
    of = {"app": OF_APPS, "window": OF_WINDOWS}.get(named[0])
    if (of is None and args.predicate in (*OF_APPS, *OF_WINDOWS)) or (of is not None and args.predicate not in of):
        expected = ", ".join(of) if of is not None else "a predicate of elements; name an app or window for this one"
        raise ctx.bad_argument("predicate", f"is no question about {_KINDS[named[0]]}", expected)
    if args.app is not None:
        return _is_app(args.predicate, apps_named(await apps_of(ctx), args.app))
    if args.window is not None:
        return await _is_window(ctx, args, args.window)
    assert args.target is not None
    try:
        node, _ = await look_up(ctx, args.target, 0)
    except (ElementNotFound, StaleRef) as error:
        if isinstance(error, StaleRef) and "never" in str(error.details.get("reason")):
            raise
        return Outcome(data={"result": args.predicate in ("absent", "hidden"), "found": False})
    return Outcome(data={"result": holds(node, args.predicate, args.value), "element": describe_node(node)})


_KINDS = {"target": "an element", "app": "an app", "window": "a window"}


def _is_app(predicate: str, found: list[App]) -> Outcome:
    running = [app for app in found if app.running]
    data: dict[str, Any] = {"result": bool(running) is (predicate == "running"), "found": bool(found)}
    if found:
        data["app"] = (running or found)[0].id
    return Outcome(data=data)


async def _is_window(ctx: Context, args: IsInput, name: str) -> Outcome:
    windows = await windows_of(ctx)
    if args.predicate == "title":
        one = the_window(windows, window=name)
        return Outcome(data={"result": one.title == args.value, "window": described(one)})
    found = matching(windows, window=name)
    data: dict[str, Any] = {"result": bool(found) is (args.predicate == "open"), "found": bool(found)}
    if found:
        data["window"] = described(found[0])
    return Outcome(data=data)


def holds(node: Node, predicate: str, value: str | None = None) -> bool:
    """Whether a predicate of `is` holds for an element that is there."""
    states = node.states
    seen = node.rect is not None and "hidden" not in states and "offscreen" not in states
    answers = {
        "exists": True,
        "absent": False,
        "visible": seen,
        "hidden": not seen,
        "editable": "editable" in states and "readonly" not in states and "disabled" not in states,
        "selected": "selected" in states,
        "focused": "focused" in states,
        "enabled": "disabled" not in states,
        "disabled": "disabled" in states,
        "checked": "checked" in states,
    }
    if predicate == "text":
        return not node.secure and value in (node.value, node.name)
    return answers[predicate]
