"""Every error anydevice answers with, drawn in one file.

The wire form of an error is ``{code, message, retryable, hint, details, device?}`` (see `to_wire`).
Codes are stable; details are machine-usable and snake_case; ``hint`` names the next call to make.
Text that came from a device never appears in ``message`` or ``hint``, only in ``details``.

This module imports the standard library only, so the command line can raise and print these errors
without paying for pydantic.

    AnydeviceError
      ArgumentError
        InvalidArgument        invalid_argument        param, expected, errors, accepted
        UnknownCommand         unknown_command         nearest
        Unsupported            unsupported             operation, alternatives, reason
      SelectionError
        SelectorConflict       selector_conflict       conflicts
        AmbiguousDevice        ambiguous_device        candidates, matches
        DeviceNotFound         device_not_found        looked_for, looked_in, unusable, nearest
        SessionNotFound        session_not_found       nearest
      DeviceError
        DeviceOffline          device_offline          state, fix
        DeviceUnauthorized     device_unauthorized     state, fix
        DeviceNotReady         device_not_ready        state, fix
        DeviceUnhealthy        device_unhealthy        health, reason
      LeaseError
        LeaseHeld              lease_held              holder, expires
        LeaseExpired           lease_expired           expired
        LeaseStale             lease_stale             fence, current
        LeaseLost              lease_lost              by, reason
        QuotaExceeded          quota_exceeded          quota, limit, used
      ElementError
        ElementNotFound        element_not_found       nearest_matches, on_screen
        AmbiguousElement       ambiguous_element       candidates, matches
        StaleRef               stale_ref               ref, reason, nearest_matches
        ElementDisabled        element_disabled        element
        ElementCovered         element_covered         element, cover
        ElementOffscreen       element_offscreen       element
      EffectError
        ActionUnverified       action_unverified       expected, actual
        OutcomeUnknown         outcome_unknown         sent, reason
      AppError
        AppNotFound            app_not_found           nearest_matches
        AppNotRunning          app_not_running         app
        AppCrashed             app_crashed             app, reason
        DialogOpen             dialog_open             kind, text, buttons
      HostError
        PermissionMissing      permission_missing      permission, fix
        ToolMissing            tool_missing            tools, install
        FocusUnavailable       focus_unavailable       holder, fix
        HostAtCapacity         host_at_capacity        limit
        MachineUnreachable     machine_unreachable     machine, last_seen
        UpstreamUnavailable    upstream_unavailable    upstream, enable_hint
      PolicyError
        ConfirmationRequired   confirmation_required   token, expires_in, command
        ConfirmationInvalid    confirmation_invalid    reason
        Refused                refused                 reason, alternative
        PathNotFound           path_not_found          path
        PathRefused            path_refused            path, roots
      RunError
        CallTimeout            timeout                 after, waiting_for
        CallCancelled          cancelled               by
        ConnectionLost         connection_lost         restarted, lost
      DefectError
        BackendBroken          backend_broken          backend, reason
        Internal               internal                incident
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

Details = dict[str, Any]


class AnydeviceError(Exception):
    """Base of every error anydevice answers with.

    Args:
        message: One sentence for a person. Never holds text that came from a device.
        hint: The next call to make, as it would be typed; the class's own hint when omitted.
        retryable: Overrides the class's default answer to "may the same call work later?".
        device: Canonical key of the device concerned, when one was chosen.
        **details: Machine-usable facts in snake_case; must hold every field in `recovery`.
    """

    code: ClassVar[str] = "internal"
    retryable_default: ClassVar[bool] = False
    hint_default: ClassVar[str] = ""
    recovery: ClassVar[tuple[str, ...]] = ()
    family: ClassVar[str | None] = None
    answer: Mapping[str, Any] | None = None
    """The whole answer, where a client raises the error of one (notices, selection and cost are in it)."""

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        retryable: bool | None = None,
        device: str | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = self.hint_default if hint is None else hint
        self.retryable = self.retryable_default if retryable is None else retryable
        self.device = device
        missing = [name for name in self.recovery if name not in details]
        if missing:
            raise TypeError(f"{type(self).__name__} must say {', '.join(missing)}")
        if self.family is not None:
            details.setdefault("family", self.family)
        self.details: Details = details

    def __str__(self) -> str:
        """The message and, where there is one, the hint: whoever sees only a traceback is told what to do, too."""
        return f"{self.message} {self.hint}".rstrip()

    def to_wire(self) -> Details:
        """The error as it crosses every wire: ``{code, message, retryable, hint, details, device?}``."""
        wire: Details = {
            "code": self.code,
            "message": self.message,
            "retryable": self.retryable,
            "hint": self.hint,
            "details": self.details,
        }
        if self.device is not None:
            wire["device"] = self.device
        return wire

    @staticmethod
    def from_wire(wire: Mapping[str, Any]) -> AnydeviceError:
        """Rebuilds a typed error from its wire form.

        An unknown code (a newer daemon) becomes a plain `AnydeviceError` that keeps the code it came with.
        """
        cls = ERRORS.get(str(wire.get("code")), AnydeviceError)
        error = cls.__new__(cls)
        Exception.__init__(error, str(wire.get("message", "")))
        error.message = str(wire.get("message", ""))
        error.hint = str(wire.get("hint", ""))
        error.retryable = bool(wire.get("retryable", False))
        error.device = wire.get("device")
        error.details = dict(wire.get("details") or {})
        if cls is AnydeviceError:
            error.code = str(wire.get("code", "internal"))  # type: ignore[misc]
        return error


# --- what was asked -------------------------------------------------------------------------------


class ArgumentError(AnydeviceError):
    """The call itself cannot be carried out as asked."""


class InvalidArgument(ArgumentError):
    """An argument is unknown, missing, of the wrong type or outside what is accepted.

    Every problem of the call is reported at once: ``errors`` is a list of ``{param, problem, expected}``;
    ``param`` and ``expected`` repeat the first; ``accepted`` lists the names the command takes.
    """

    code = "invalid_argument"
    recovery = ("param", "expected")
    hint_default = "Fix the named argument; command-search shows what the command takes."


class UnknownCommand(ArgumentError):
    """No command of this name is in the catalogue."""

    code = "unknown_command"
    recovery = ("nearest",)
    hint_default = "Call command-search with a word of what you want to do."


class Unsupported(ArgumentError):
    """The command or operation does not exist for this device; asking again will not help."""

    code = "unsupported"
    recovery = ("operation", "alternatives")
    hint_default = "Call capabilities for what this device can do."


# --- which device ---------------------------------------------------------------------------------


class SelectionError(AnydeviceError):
    """The selectors do not lead to exactly one device."""


class SelectorConflict(SelectionError):
    """Two selectors, or a selector and the session, name different devices. Nothing wins silently."""

    code = "selector_conflict"
    recovery = ("conflicts",)
    hint_default = "Drop one of the two named selectors."


class AmbiguousDevice(SelectionError):
    """Several devices fit. Each candidate carries the selectors that pin it."""

    code = "ambiguous_device"
    recovery = ("candidates", "matches")
    hint_default = "Repeat the call with the selectors of one candidate."


class DeviceNotFound(SelectionError):
    """No usable device fits; says what was looked for where, and which devices exist but cannot be used."""

    code = "device_not_found"
    recovery = ("looked_for", "looked_in", "unusable", "nearest")
    hint_default = "Call devices to see what is there."


class SessionNotFound(SelectionError):
    """The named session does not exist; never falls through to some default device."""

    code = "session_not_found"
    recovery = ("nearest",)
    hint_default = "Call open to start the session, or session to list those that exist."


# --- the device -----------------------------------------------------------------------------------


class DeviceError(AnydeviceError):
    """The right device was found and cannot be driven now."""


class DeviceOffline(DeviceError):
    """The device is listed but its connection is down."""

    code = "device_offline"
    retryable_default = True
    recovery = ("state", "fix")
    hint_default = "Reconnect the device, then call devices."


class DeviceUnauthorized(DeviceError):
    """The device has not approved this host."""

    code = "device_unauthorized"
    retryable_default = True
    recovery = ("state", "fix")
    hint_default = "Approve this host on the device, then call devices."


class DeviceNotReady(DeviceError):
    """The device is shut down, booting, or otherwise not ready for this command."""

    code = "device_not_ready"
    retryable_default = True
    recovery = ("state", "fix")
    hint_default = "Call boot with this device."


class DeviceUnhealthy(DeviceError):
    """The device is out of the pool until somebody looks at it."""

    code = "device_unhealthy"
    recovery = ("health", "reason")
    hint_default = "Call doctor, or choose another device."


# --- whose device ---------------------------------------------------------------------------------


class LeaseError(AnydeviceError):
    """The caller is not the one who drives this device."""


class LeaseHeld(LeaseError):
    """Somebody else drives this device until ``expires`` (UTC, ISO 8601)."""

    code = "lease_held"
    retryable_default = True
    recovery = ("holder", "expires")
    hint_default = "Wait until it expires, or choose another device from devices."


class LeaseExpired(LeaseError):
    """The caller's lease ran out."""

    code = "lease_expired"
    recovery = ("expired",)
    hint_default = "Call open again for a new lease."


class LeaseStale(LeaseError):
    """The fence the caller sent is not the current one."""

    code = "lease_stale"
    recovery = ("fence", "current")
    hint_default = "Call open again; another grant replaced yours."


class LeaseLost(LeaseError):
    """The caller's lease was taken: says by whom (as far as the caller may know) and why."""

    code = "lease_lost"
    recovery = ("by", "reason")
    hint_default = "Call devices to see who holds it and until when."


class QuotaExceeded(LeaseError):
    """The tenant holds as many leases as it may."""

    code = "quota_exceeded"
    retryable_default = True
    recovery = ("quota", "limit", "used")
    hint_default = "Close a session you no longer need."


# --- the element ----------------------------------------------------------------------------------


class ElementError(AnydeviceError):
    """The element named by a ref, query or point cannot be used."""

    hint_default = "Call snapshot and take the element from there."


class ElementNotFound(ElementError):
    """Nothing on screen matches after waiting; nearest matches and what is on screen are in details."""

    code = "element_not_found"
    recovery = ("nearest_matches", "on_screen")


class AmbiguousElement(ElementError):
    """Several elements match. Candidates are numbered from 0 as `index` counts, each with its ref."""

    code = "ambiguous_element"
    recovery = ("candidates", "matches")
    hint_default = "Repeat with the ref of one candidate, or add index=N."


class StaleRef(ElementError):
    """The element a ref named is gone, or can no longer be told to be the same."""

    code = "stale_ref"
    family = "element_not_found"
    recovery = ("ref", "reason", "nearest_matches")


class ElementDisabled(ElementError):
    """The element is disabled, so acting on it would do nothing."""

    code = "element_disabled"
    retryable_default = True
    recovery = ("element",)
    hint_default = "Do what enables it first, or wait for it to become enabled."


class ElementCovered(ElementError):
    """Something lies over the element: a modal, an overlay, the keyboard or another window."""

    code = "element_covered"
    retryable_default = True
    recovery = ("element", "cover")
    hint_default = "Dismiss the cover named in details first."


class ElementOffscreen(ElementError):
    """The element cannot be brought on screen."""

    code = "element_offscreen"
    recovery = ("element",)
    hint_default = "Call scroll with until, or make its container visible."


# --- the effect -----------------------------------------------------------------------------------


class EffectError(AnydeviceError):
    """The action was sent and its effect is not what was asked."""

    hint_default = "Call snapshot to see what is there now."


class ActionUnverified(EffectError):
    """Accepted without complaint, but reading it back shows something else."""

    code = "action_unverified"
    recovery = ("expected", "actual")


class OutcomeUnknown(EffectError):
    """The action was sent and no answer came back: it may or may not have happened. Never retried for you."""

    code = "outcome_unknown"
    recovery = ("sent", "reason")


# --- the app --------------------------------------------------------------------------------------


class AppError(AnydeviceError):
    """The app, page or dialog is not in the state the command needs."""


class AppNotFound(AppError):
    """No such app is installed (or the page could not be reached)."""

    code = "app_not_found"
    family = "element_not_found"
    recovery = ("nearest_matches",)
    hint_default = "Check the name or address."


class AppNotRunning(AppError):
    """The command needs a running app (or an open page) and there is none."""

    code = "app_not_running"
    recovery = ("app",)
    hint_default = "Call open first."


class AppCrashed(AppError):
    """The app or page died during or before the command."""

    code = "app_crashed"
    recovery = ("app", "reason")
    hint_default = "Call open to start it again."


class DialogOpen(AppError):
    """A dialog blocks the app; nothing else can be done before it is answered."""

    code = "dialog_open"
    retryable_default = True
    recovery = ("kind", "text", "buttons")
    hint_default = "Call alert with action accept or dismiss."


# --- the host -------------------------------------------------------------------------------------


class HostError(AnydeviceError):
    """Something outside the device stands in the way; the fix is in details."""


class PermissionMissing(HostError):
    """The host system has not granted what the command needs."""

    code = "permission_missing"
    recovery = ("permission", "fix")
    hint_default = "Grant the permission named in details."


class ToolMissing(HostError):
    """A program or library the backend needs is not installed."""

    code = "tool_missing"
    recovery = ("tools", "install")
    hint_default = "Install what details names, then call doctor."


class FocusUnavailable(HostError):
    """Input needs the focus and another program or person has it."""

    code = "focus_unavailable"
    retryable_default = True
    recovery = ("holder", "fix")
    hint_default = "Do what details.fix says, then repeat the call."


class HostAtCapacity(HostError):
    """One more device would exceed the configured or platform limit."""

    code = "host_at_capacity"
    retryable_default = True
    recovery = ("limit",)
    hint_default = "Shut down a device you no longer need."


class MachineUnreachable(HostError):
    """A remote host or endpoint is silent."""

    code = "machine_unreachable"
    retryable_default = True
    recovery = ("machine", "last_seen")
    hint_default = "Start or reconnect the machine, call devices, then repeat the call."


class UpstreamUnavailable(HostError):
    """A service the backend builds on is not switched on."""

    code = "upstream_unavailable"
    recovery = ("upstream", "enable_hint")
    hint_default = "Do what details.enable_hint says, then repeat the call."


# --- policy ---------------------------------------------------------------------------------------


class PolicyError(AnydeviceError):
    """Allowed or not is a decision of policy, not of the device."""


class ConfirmationRequired(PolicyError):
    """The command destroys something; a person approves the one-shot token first."""

    code = "confirmation_required"
    recovery = ("token", "expires_in", "command")
    hint_default = "Have a person approve, then repeat the same call with confirmToken."


class ConfirmationInvalid(PolicyError):
    """The token is used, expired, not approved, or belongs to another call."""

    code = "confirmation_invalid"
    recovery = ("reason",)
    hint_default = "Repeat the call without confirmToken to get a new token."


class Refused(PolicyError):
    """A hard line. Do not retry; ``alternative`` points at the legitimate road."""

    code = "refused"
    recovery = ("reason", "alternative")
    hint_default = "Take the alternative named in details; the same call is refused again."


class PathNotFound(PolicyError):
    """A file or folder given by the caller does not exist."""

    code = "path_not_found"
    recovery = ("path",)
    hint_default = "Give a path that exists."


class PathRefused(PolicyError):
    """A path given by the caller lies outside the folders it may use."""

    code = "path_refused"
    recovery = ("path", "roots")
    hint_default = "Use a path below one of details.roots."


# --- the run --------------------------------------------------------------------------------------


class RunError(AnydeviceError):
    """The call did not run to its end."""


class CallTimeout(RunError):
    """The call used up its time (``after`` seconds) and nothing had been sent that may still take effect."""

    code = "timeout"
    retryable_default = True
    recovery = ("after",)
    hint_default = "Raise timeoutMs, or check the device with appstate."


class CallCancelled(RunError):
    """The caller, or a takeover, ended the call."""

    code = "cancelled"
    retryable_default = True
    recovery = ("by",)
    hint_default = "Call appstate to see how far it came, then repeat the call if it is still wanted."


class ConnectionLost(RunError):
    """The daemon, the browser or the device connection went away; ``restarted`` says whether it is back."""

    code = "connection_lost"
    recovery = ("restarted",)
    hint_default = "Call open again; details say what was lost."


# --- defects --------------------------------------------------------------------------------------


class DefectError(AnydeviceError):
    """Something of ours or of a backend is wrong; not the caller's fault."""


class BackendBroken(DefectError):
    """A backend failed in a way its contract does not allow."""

    code = "backend_broken"
    recovery = ("backend", "reason")
    hint_default = "Call doctor for the state of this backend."


class Internal(DefectError):
    """A defect of anydevice; ``incident`` finds it in the daemon's log."""

    code = "internal"
    recovery = ("incident",)
    hint_default = "Report the incident id."


def _leaves(cls: type[AnydeviceError]) -> Iterator[type[AnydeviceError]]:
    for sub in cls.__subclasses__():
        if "code" in sub.__dict__:
            yield sub
        yield from _leaves(sub)


ERRORS: dict[str, type[AnydeviceError]] = {cls.code: cls for cls in _leaves(AnydeviceError)}
"""Every error class by its wire code."""
