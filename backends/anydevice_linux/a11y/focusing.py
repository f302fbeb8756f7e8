"""Which elements of an application say that they have the focus."""

from __future__ import annotations

from typing import Any, Final

from .apps import ACCESSIBLE, App
from .bus import Call, Link, Refusal, first
from .cache import windows_of
from .doing import DEADLINE
from .keys import Key
from .reading import read_app
from .states import ACTIVE, EDITABLE, FOCUSED, SHOWING, bits

_COLLECTION: Final = "org.a11y.atspi.Collection"


async def holders_of_focus(link: Link, app: App) -> list[Key]:
    """The elements of an application that say they have the focus, the likeliest first."""
    name = app.bus_name
    tops = await windows_of(link, app, DEADLINE)
    states = await link.many([Call(name, top, ACCESSIBLE, "GetState") for top in tops], DEADLINE)
    masks = [bits(state[0]) if state else 0 for state in states]
    order = sorted(zip(masks, tops, strict=True), key=lambda pair: not pair[0] & ACTIVE)
    rule: list[Any] = [[FOCUSED | SHOWING, 0], 1, {}, 1, [], 1, [], 1, False]
    answered = False
    for _, top in order:
        if app.toolkit == "GTK":
            break
        call = Call(name, top, _COLLECTION, "GetMatches", "(aiia{ss}iaiiasib)uib", (rule, 1, 0, True))
        try:
            found = [path for owner, path in await link.value(call, DEADLINE) or () if owner == name]
        except Refusal:
            continue
        answered = True
        if found:
            roles = await link.many([Call(name, path, ACCESSIBLE, "GetRole") for path in found], DEADLINE)
            return [Key(name, path, int(first(roles, at, 0))) for at, path in enumerate(found)][::-1]
    if answered:
        return []
    shape = await read_app(link, app, 4.0)
    holders = [item for item in shape.items.values() if item.mask & FOCUSED]
    inmost = [item for item in holders if not any(other.parent == item.path for other in holders)]
    # Tabs, and what a field is made of, say it as well while the field has the keys.
    inmost = [item for item in inmost if not item.mask & EDITABLE] + [i for i in holders if i.mask & EDITABLE]
    return [Key(name, item.path, item.role) for item in reversed(inmost)]
