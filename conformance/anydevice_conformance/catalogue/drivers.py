"""What a driver must do where no command, or not one alone, would show it."""

from __future__ import annotations

from typing import Any

from anydevice.driver import TreeScope
from anydevice_schemas import Node, Tree, tree_faults
from anydevice_schemas.errors import StaleRef
from anydevice_schemas.practice import SCREENS

from ..case import case
from ..looking import has
from ..trial import CaseFailed, Trial

FULL = TreeScope(mode="full", max_nodes=20_000)


async def tree(t: Trial) -> Tree:
    """All of the screen, as the driver itself reports it."""
    driver = await t.driver()
    found: Tree = await driver.screen.tree(FULL)  # type: ignore[attr-defined]
    return found


def node(seen: Tree, identifier: str) -> Node:
    """The node of an identifier.

    Raises:
        CaseFailed: There is none, or several.
    """
    found = [node for node in seen.nodes if node.identifier == identifier]
    if len(found) != 1:
        raise CaseFailed(f"the driver tells {len(found)} elements with the identifier {identifier}")
    return found[0]


def key(t: Trial, seen: Node) -> str:
    """The driver's handle of an element, which operations on elements take."""
    t.require(seen.key, f"{seen.identifier} must have a key: the driver has operations that take one")
    return str(seen.key)


async def part(t: Trial, name: str) -> Any:
    """A capability of the driver."""
    return getattr(await t.driver(), name)


@case(
    "drivers.trees-are-sound",
    "The driver's own tree MUST be sound on every screen, and MUST give an element the same key in every look.",
    needs=("screen.tree",),
)
async def trees_are_sound(t: Trial) -> None:
    for screen in ("home", "form", "list", "text", "states"):
        await t.open(screen)
        one, two = await tree(t), await tree(t)
        for seen in (one, two):
            faults = tree_faults(seen.nodes)
            t.require(not faults, f"on {screen}: {'; '.join(faults)}")
            t.require(seen.nodes[0].root, f"on {screen}: the first node is no root")
        t.equal(two.generation, one.generation, f"the generation of two looks at {screen}")
        keys = [{n.identifier: n.key for n in seen.nodes if n.identifier} for seen in (one, two)]
        t.equal(keys[1], keys[0], f"the keys of two looks at {screen}")
        wanted = {spec.id for spec in SCREENS[screen].elements if spec.role == "button" and "hidden" not in spec.states}
        t.require(wanted <= keys[0].keys(), f"buttons of {screen} are missing")


@case(
    "drivers.at-tells-what-is-on-top",
    "elements.at MUST tell what is on top at a point, with its key: the control that is seen there, or what covers it.",
    needs=("elements.at",),
    optional=True,
    screen="form",
)
async def at_tells_what_is_on_top(t: Trial) -> None:
    seen = await tree(t)
    elements = await part(t, "elements")
    for name, expected in (("form.signin", "Sign in"), ("form.wifi", "Wi-Fi"), ("form.covered", "Veil")):
        rect = node(seen, name).rect
        assert rect is not None
        found: Node | None = await elements.at(rect.center)
        t.require(found is not None and found.key, f"something with a key must be told at the middle of {name}")
        assert found is not None
        t.equal(found.name, expected, f"what is on top at the middle of {name}")


@case(
    "drivers.probe-agrees-with-the-tree",
    "elements.probe MUST tell the same of an element as the tree does, and a point that lies on it.",
    needs=("elements.probe",),
    optional=True,
    screen="form",
)
async def probe_agrees_with_the_tree(t: Trial) -> None:
    seen = await tree(t)
    elements = await part(t, "elements")
    for name in ("form.name", "form.wifi", "form.colour", "form.signin", "form.submit"):
        told = node(seen, name)
        probe = await elements.probe(key(t, told))
        for field in ("role", "name", "value", "identifier", "key"):
            t.equal(getattr(probe.node, field), getattr(told, field), f"the {field} of {name}")
        t.equal("disabled" in probe.node.states, name == "form.submit", f"disabled, of {name}")
        assert told.rect is not None and probe.node.rect is not None
        t.require(abs(told.rect.y - probe.node.rect.y) <= 1, f"the place of {name} differs between tree and probe")
        t.require(probe.point is None or told.rect.contains(probe.point), f"the point of {name} lies outside of it")


@case(
    "drivers.keys-of-what-is-gone-are-refused",
    "Every operation on an element MUST refuse the key of one that is gone as stale_ref, and MUST NOT act on what took "
    "its place.",
    needs=("elements.probe",),
    optional=True,
    screen="list",
    mutates=True,
)
async def keys_of_what_is_gone_are_refused(t: Trial) -> None:
    old = key(t, node(await tree(t), "list.refresh"))
    await t.call("press", target="label=Refresh role=button", settle=True)
    await t.heard("press", id="list.refresh")
    elements = await part(t, "elements")
    for method, arguments in (("probe", ()), ("activate", ()), ("set_text", ("x",)), ("focus", ()), ("reveal", ())):
        if not has(t, f"elements.{method}"):
            continue
        try:
            await getattr(elements, method)(old, *arguments)
        except StaleRef:
            continue
        except Exception as error:
            raise CaseFailed(f"elements.{method} answers the key of what is gone with {type(error).__name__}") from None
        raise CaseFailed(f"elements.{method} takes the key of what is gone")
    t.equal(len(t.reports("press")), 1, "presses")
    await t.unheard("fill")


@case(
    "drivers.focused-reads-the-focus",
    "keys.focused MUST tell the field that has the keyboard focus, by the key it has in the tree, with what it holds.",
    needs=("keys.focused", "elements.focus"),
    optional=True,
    screen="form",
)
async def focused_reads_the_focus(t: Trial) -> None:
    seen = await tree(t)
    elements, keys = await part(t, "elements"), await part(t, "keys")
    for name in ("form.notes", "form.name"):
        told = node(seen, name)
        await elements.focus(key(t, told))
        focused: Node | None = await keys.focused()
        t.require(focused is not None, f"nothing is told to have the focus after {name} was given it")
        assert focused is not None
        t.equal((focused.key, focused.identifier, focused.value), (told.key, name, ""), "what has the focus")


@case(
    "drivers.apps-are-listed",
    "apps.list MUST list the app that is in front, as running and in front, under the id that apps.state gives it.",
    needs=("apps.list",),
    optional=True,
)
async def apps_are_listed(t: Trial) -> None:
    apps = await part(t, "apps")
    listed = list(await apps.list())
    ids = [app.id for app in listed]
    t.equal(len(ids), len(set(ids)), "different ids among the apps")
    front = [app for app in listed if app.foreground]
    t.equal(len(front), 1, "apps told to be in front")
    t.require(front[0].running is not False, "an app in front runs")
    t.equal(front[0].id, (await apps.state())["app"], "the app in front")
    if t.manifest.practice.opens == "app":
        t.equal(front[0].id, t.manifest.practice.app, "the app in front")


@case(
    "drivers.back-leads-to-the-screen-before",
    "back MUST lead to the screen before, and MUST say that it did.",
    command="back",
    needs=("navigation.back",),
    optional=True,
    mutates=True,
)
async def back_leads_to_the_screen_before(t: Trial) -> None:
    await t.call("press", target="Open list")
    await t.heard("ready", value="list")
    answer = await t.call("back")
    t.require(answer.verified is True, "it must have seen that it went back")
    await t.witness.until(t.tokens[t.device.key], lambda reports: len(_screens(reports)) >= 3, 3.0)
    t.equal(_screens(t.reports()), ["home", "list", "home"], "the screens the app was on")
    await t.call("wait", target="label=Increment role=button", timeoutMs=3000)


def _screens(reports: list[dict[str, Any]]) -> list[Any]:
    return [report.get("value") for report in reports if report.get("what") == "ready"]
