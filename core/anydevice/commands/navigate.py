"""back, home, app-switcher: the ways a platform has out of where one is."""

from __future__ import annotations

from anydevice_schemas import Example, Plan
from anydevice_schemas.errors import ActionUnverified

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Acted, Navigation
from ._effect import Watch, merged


class BackInput(Input):
    """Inputs of `back`."""


@command(
    name="back",
    summary="Goes one step back, as the platform does it (a page in a browser, a screen on a phone), and tells whether "
    "anything moved.",
    effect="mutate",
    input=BackInput,
    plans=[Plan(name="navigation", operations=["navigation.back"])],
    output={"location": {"type": "string"}, "changed": {"type": "boolean"}},
    examples=[Example(why="One page back", arguments={})],
)
async def back(ctx: Context, args: BackInput) -> Outcome:
    """Goes one step back."""
    watch = await Watch.start(ctx)
    acted = await ctx.use(Navigation).back()
    data = merged(acted.data, await watch.report(acted))
    if acted.verified is False:
        raise ActionUnverified(
            "Nothing went back.",
            expected="an earlier screen",
            actual="the same screen: there is nothing to go back to",
            hint="Call snapshot to see where you are.",
        )
    return Outcome(data=data, verified=bool(acted.verified), method=acted.method)


class HomeInput(Input):
    """Inputs of `home`."""


@command(
    name="home",
    summary="Goes to the home screen, as the home button or gesture does; the app that was in front stays open behind. "
    "To end it use close.",
    effect="mutate",
    idempotent=True,
    input=HomeInput,
    toolset="device",
    plans=[Plan(name="navigation", operations=["navigation.home"])],
    output={"app": {"type": "string"}, "changed": {"type": "boolean"}},
    examples=[Example(why="To the home screen", arguments={})],
)
async def home(ctx: Context, args: HomeInput) -> Outcome:
    """Goes to the home screen."""
    watch = await Watch.start(ctx)
    acted = await ctx.use(Navigation).home()
    return await _left(watch, acted, "the home screen")


class AppSwitcherInput(Input):
    """Inputs of `app-switcher`."""


@command(
    name="app-switcher",
    summary="Opens the list of recent apps. To open an app by its name use open.",
    effect="mutate",
    idempotent=True,
    input=AppSwitcherInput,
    toolset="device",
    plans=[Plan(name="navigation", operations=["navigation.app_switcher"])],
    output={"app": {"type": "string"}, "changed": {"type": "boolean"}},
    examples=[Example(why="See what was used last", arguments={})],
)
async def app_switcher(ctx: Context, args: AppSwitcherInput) -> Outcome:
    """Opens the list of recent apps."""
    watch = await Watch.start(ctx)
    acted = await ctx.use(Navigation).app_switcher()
    return await _left(watch, acted, "the list of recent apps")


async def _left(watch: Watch, acted: Acted, where: str) -> Outcome:
    """The answer of a way out.

    Raises:
        ActionUnverified: The driver saw that one is still where one was.
    """
    data = merged(acted.data, await watch.report(acted))
    if acted.verified is False:
        raise ActionUnverified(
            "The device did not go there.",
            expected=where,
            actual="something else",
            hint="Call snapshot to see where you are.",
        )
    return Outcome(data=data, verified=bool(acted.verified), method=acted.method)
