"""The words of anydevice: pure data, no I/O. Everyone knows them; they know nobody.

Names are imported on first use, so that a program that needs only the errors does not pay for pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .answer import (
        Answer,
        Artefact,
        Call,
        Caller,
        Cost,
        ErrorBody,
        RunnerUp,
        Scope,
        Selection,
        Transport,
    )  # fmt: skip
    from .command import Command, CommandScope, Confirm, Effect, Example, Plan
    from .device import (
        CANDIDATE_STATES,
        USABLE_STATES,
        Device,
        DeviceClass,
        DeviceKind,
        DeviceRef,
        DeviceSelector,
        DeviceState,
        Health,
        Switches,
    )  # fmt: skip
    from .lease import TTL_DEFAULT, TTL_MAX, TTL_MIN, Fence, Held, Holder, Lease, LeaseKind
    from .manifest import (
        CONTRACT_VERSION,
        MANIFEST_FILE,
        BackendCommand,
        Constraint,
        Manifest,
        PlatformEntry,
        Tool,
        contract_accepts,
    )  # fmt: skip
    from .platforms import (
        DEVICE_TARGETS,
        WELL_KNOWN,
        DeviceTarget,
        IdKind,
        PlatformWord,
        event_template_variables,
        well_known,
    )  # fmt: skip
    from .roles import EDITABLE, INTERACTIVE, ROLES, Role
    from .tree import Node, Point, Quality, Rect, Tree, tree_faults

_HOMES: dict[str, tuple[str, ...]] = {
    "answer": (
        "Answer", "Artefact", "Call", "Caller", "Cost", "ErrorBody", "RunnerUp", "Scope", "Selection", "Transport",
    ),
    "command": ("Command", "CommandScope", "Confirm", "Effect", "Example", "Plan"),
    "device": (
        "CANDIDATE_STATES", "USABLE_STATES", "Device", "DeviceClass", "DeviceKind", "DeviceRef", "DeviceSelector",
        "DeviceState", "Health", "Switches",
    ),
    "lease": ("TTL_DEFAULT", "TTL_MAX", "TTL_MIN", "Fence", "Held", "Holder", "Lease", "LeaseKind"),
    "manifest": (
        "CONTRACT_VERSION", "MANIFEST_FILE", "BackendCommand", "Constraint", "Manifest", "PlatformEntry", "Tool",
        "contract_accepts",
    ),
    "platforms": (
        "DEVICE_TARGETS", "WELL_KNOWN", "DeviceTarget", "IdKind", "PlatformWord", "event_template_variables",
        "well_known",
    ),
    "roles": ("EDITABLE", "INTERACTIVE", "ROLES", "Role"),
    "tree": ("Node", "Point", "Quality", "Rect", "Tree", "tree_faults"),
}  # fmt: skip
_WHERE = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "CANDIDATE_STATES",
    "CONTRACT_VERSION",
    "DEVICE_TARGETS",
    "EDITABLE",
    "INTERACTIVE",
    "MANIFEST_FILE",
    "ROLES",
    "TTL_DEFAULT",
    "TTL_MAX",
    "TTL_MIN",
    "USABLE_STATES",
    "WELL_KNOWN",
    "Answer",
    "Artefact",
    "BackendCommand",
    "Call",
    "Caller",
    "Command",
    "CommandScope",
    "Confirm",
    "Constraint",
    "Cost",
    "Device",
    "DeviceClass",
    "DeviceKind",
    "DeviceRef",
    "DeviceSelector",
    "DeviceState",
    "DeviceTarget",
    "Effect",
    "ErrorBody",
    "Example",
    "Fence",
    "Health",
    "Held",
    "Holder",
    "IdKind",
    "Lease",
    "LeaseKind",
    "Manifest",
    "Node",
    "Plan",
    "PlatformEntry",
    "PlatformWord",
    "Point",
    "Quality",
    "Rect",
    "Role",
    "RunnerUp",
    "Scope",
    "Selection",
    "Switches",
    "Tool",
    "Transport",
    "Tree",
    "contract_accepts",
    "event_template_variables",
    "tree_faults",
    "well_known",
]


def __getattr__(name: str) -> Any:
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value
