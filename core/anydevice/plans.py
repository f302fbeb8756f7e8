"""Which operation plan carries a command out on this device now, chosen before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from anydevice_schemas import Command, Constraint, Device, Manifest, Plan
from anydevice_schemas.errors import Unsupported

from .driver import Driver
from .policy import applies

FINGERS = frozenset({"touch", "pointer"})
STEERED = "A TV has no fingers or pointer: name an element to press or focus, or call scroll or tv-remote."
"""What to do instead where a TV is asked for a gesture."""


def declared(manifest: Manifest, device: Device, operation: str) -> bool:
    """Whether the manifest declares an operation for this very device (kind, class, OS version)."""
    constraint = manifest.operations.get(operation)
    return constraint is not None and _fits(constraint, device)


def _fits(constraint: Constraint, device: Device) -> bool:
    if constraint.kinds and device.kind not in constraint.kinds:
        return False
    if constraint.classes and device.device_class not in constraint.classes:
        return False
    return not constraint.min_os or _version(device.os_version) >= _version(constraint.min_os)


def _version(text: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for part in text.split("."):
        digits = "".join(ch for ch in part if ch.isdigit())
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


def available(manifest: Manifest, device: Device, driver: Driver, operation: str) -> bool:
    """Whether an operation can be used now: declared for the device, implemented, and not down."""
    return declared(manifest, device, operation) and driver.has(operation)


def why_not(manifest: Manifest, device: Device, driver: Driver, operation: str) -> str:
    """Why an operation cannot be used now."""
    if not declared(manifest, device, operation):
        return _undeclared(manifest, operation)
    down = driver.unavailable()
    return down.get(operation) or down.get(operation.partition(".")[0]) or "declared, but the driver does not offer it"


def _undeclared(manifest: Manifest, operation: str) -> str:
    """Why a device has no such operation, as far as its backend says."""
    told = manifest.absent
    return told.get(operation) or told.get(operation.partition(".")[0]) or "not declared for this device"


def choose(
    command: Command,
    arguments: Mapping[str, Any],
    manifest: Manifest,
    device: Device,
    driver: Driver,
) -> Plan | None:
    """The first plan of the command that applies to these arguments and is fully available; None if it needs none.

    Raises:
        Unsupported: No plan can be carried out; details say which operations are missing, and why they are down.
    """
    return _choose(
        command,
        arguments,
        device,
        can=lambda op: available(manifest, device, driver, op),
        why=lambda op: why_not(manifest, device, driver, op),
    )


def refuse_undeclared(command: Command, arguments: Mapping[str, Any], manifest: Manifest, device: Device) -> None:
    """Refuses what a device can never do, before anybody is asked to approve it.

    Raises:
        Unsupported: No plan that applies to these arguments is declared for the device.
    """
    _choose(
        command,
        arguments,
        device,
        can=lambda op: declared(manifest, device, op),
        why=lambda op: _undeclared(manifest, op),
    )


def _choose(
    command: Command,
    arguments: Mapping[str, Any],
    device: Device,
    *,
    can: Callable[[str], bool],
    why: Callable[[str], str],
) -> Plan | None:
    if not command.plans:
        return None
    missing: dict[str, str] = {}
    others: dict[str, None] = {}
    for plan in command.plans:
        lacking = [op for op in plan.operations if not can(op)]
        if not applies(plan.when, arguments):
            if not lacking:
                others |= dict.fromkeys(_asked(plan, arguments))
            continue
        if not lacking:
            return plan
        for op in lacking:
            missing[op] = why(op)
    steered = device.device_class == "tv" and bool(missing) and all(op.partition(".")[0] in FINGERS for op in missing)
    raise Unsupported(
        f"{command.name} cannot be carried out on this device.",
        hint=STEERED if steered else None,
        operation=next(iter(missing), command.name),
        alternatives=list(others),
        missing=missing,
        device=device.key,
    )


def _asked(plan: Plan, arguments: Mapping[str, Any]) -> list[str]:
    """What a call has to say for a plan to apply, such as `kind=memory`; plans that anything goes with say nothing.

    What it must not say, but did, is `without durationMs`.
    """
    asked = [
        f"{name}={value}"
        for name, wanted in plan.when.items()
        for value in wanted
        if not (value.startswith("*") and value.endswith("*"))
    ]
    return asked + [
        f"without {name}"
        for name, wanted in plan.when.items()
        if wanted == ["*absent*"] and arguments.get(name) is not None
    ]


def offered(command: Command, manifest: Manifest, device: Device, driver: Driver) -> tuple[bool, dict[str, str]]:
    """Whether a command has any plan that is fully available on a device now, and what is missing otherwise."""
    if command.backend is not None and command.backend != device.backend:
        return False, {command.name: f"only devices of {command.backend} have it"}
    if not command.plans:
        return True, {}
    missing: dict[str, str] = {}
    for plan in command.plans:
        lacking = [op for op in plan.operations if not available(manifest, device, driver, op)]
        if not lacking:
            return True, {}
        for op in lacking:
            missing.setdefault(op, why_not(manifest, device, driver, op))
    return False, missing
