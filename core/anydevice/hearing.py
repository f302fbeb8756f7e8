"""Which backends have to be heard before a call is answered: those whose devices can be meant, and nobody else.

A platform, or a key (`backend:id`), says whose devices are meant, so a call that gives one does not wait for other
backends. A refusal that others could change (who else is named so, what is near) is given only when all were heard.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from anydevice_schemas import DeviceSelector, Manifest
from anydevice_schemas.errors import DeviceNotFound, SelectorConflict

from .driver import Environment
from .inventory import Backends
from .resolution import Inventory, Missing, Request, Resolution, resolve


def concerned(selector: DeviceSelector, backends: Backends, bound: str | None = None) -> frozenset[str] | None:
    """Names of the backends whose devices some selectors can mean; None = any backend's.

    An id or a name without a platform can be any backend's: who has not been heard might have another of that name.

    Args:
        selector: What is given.
        backends: Who there is.
        bound: Key of the device the caller's session is bound to, which counts too.
    """
    manifests = {name: entry.manifest for name, entry in backends.entries.items()}
    found: set[str] | None = None
    if selector.platform is not None:
        found = _of_platform(selector.platform, manifests, backends)
    if selector.device is not None:
        prefix, colon, _ = selector.device.partition(":")
        name = prefix.strip().casefold()
        if colon and name in manifests:
            found = {name} if found is None else found & {name}
    if found is None and bound is not None and not selector.names_a_device():
        found = set()
    if found is None:
        return None
    if bound is not None:
        found.add(bound.partition(":")[0])
    return frozenset(_with_special(found, manifests))


def _of_platform(word: str, manifests: Mapping[str, Manifest], backends: Backends) -> set[str]:
    index = Inventory((), platforms=backends.platforms)
    root = index.root_of(word.strip())
    return {
        name
        for name, manifest in manifests.items()
        if any(index.root_of(entry.name) == root for entry in manifest.platforms)
    }


def _with_special(names: set[str], manifests: Mapping[str, Manifest]) -> set[str]:
    """Those, and the backends that may have a row taken from them (see `Manifest.specialises`)."""
    return names | {name for name, manifest in manifests.items() if names.intersection(manifest.specialises)}


async def resolved(
    request: Request, inventory: Inventory, heard: Collection[str] | None, backends: Backends, env: Environment
) -> tuple[Resolution, Inventory]:
    """Resolves a request; where others than those heard could change a refusal, they are heard first.

    Args:
        request: What is asked.
        inventory: What was listed.
        heard: The backends that were asked for it; None = all of them.
        backends: Who else there is.
        env: The caller's environment.

    Returns:
        The device, and what was listed when it was found.

    Raises:
        AnydeviceError: As `resolve` refuses.
    """
    try:
        return resolve(request, inventory), inventory
    except (DeviceNotFound, SelectorConflict):
        if heard is None or not request.selector.names_a_device() or backends.entries.keys() <= set(heard):
            raise
    inventory = await backends.listed(env, sick=False)
    return resolve(request, inventory), inventory


def silent(inventory: Inventory, selector: DeviceSelector, backends: Backends) -> tuple[Missing, ...]:
    """Backends that gave no listing and might have a device some selectors mean."""
    only = concerned(selector, backends)
    if only is None:
        return inventory.missing
    root = inventory.root_of(selector.platform.strip()) if selector.platform is not None else None
    return tuple(
        gone
        for gone in inventory.missing
        if gone.backend in only
        or (gone.backend not in backends.entries and (root is None or not gone.platforms or root in gone.platforms))
    )
