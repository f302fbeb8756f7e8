"""What the exit code of a command says. One table; every error code of `anydevice_schemas.errors` is in it.

  0  done, and verified as far as the command can be
  1  the command failed, `is` answered no, or `doctor` found something wrong (not: something optional that lacks)
  2  it was called wrongly
  3  no such device or session, or it is busy, held, not in order, or cannot be driven now; a lease that was lost,
     ran out or is not the current one; a quota that is used up
  4  no such element or app, or the effect was not seen
  5  a person has to confirm it
  6  it is not allowed: permission, policy, or a path outside the caller's folders
124  out of time
130  interrupted
"""

from __future__ import annotations

OK, FAILED, USAGE, DEVICE, ELEMENT, CONFIRM, NOT_ALLOWED, TIMEOUT, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 124, 130

EXIT_CODES: dict[str, int] = {
    "invalid_argument": USAGE,
    "unknown_command": USAGE,
    "unsupported": FAILED,
    "selector_conflict": DEVICE,
    "ambiguous_device": DEVICE,
    "device_not_found": DEVICE,
    "session_not_found": DEVICE,
    "device_offline": DEVICE,
    "device_unauthorized": DEVICE,
    "device_not_ready": DEVICE,
    "device_unhealthy": DEVICE,
    "lease_held": DEVICE,
    "lease_expired": DEVICE,
    "lease_stale": DEVICE,
    "lease_lost": DEVICE,
    "quota_exceeded": DEVICE,
    "host_at_capacity": DEVICE,
    "machine_unreachable": DEVICE,
    "element_not_found": ELEMENT,
    "ambiguous_element": ELEMENT,
    "stale_ref": ELEMENT,
    "element_disabled": ELEMENT,
    "element_covered": ELEMENT,
    "element_offscreen": ELEMENT,
    "action_unverified": ELEMENT,
    "outcome_unknown": ELEMENT,
    "app_not_found": ELEMENT,
    "app_not_running": FAILED,
    "app_crashed": FAILED,
    "dialog_open": FAILED,
    "permission_missing": NOT_ALLOWED,
    "refused": NOT_ALLOWED,
    "path_refused": NOT_ALLOWED,
    "path_not_found": FAILED,
    "tool_missing": FAILED,
    "focus_unavailable": FAILED,
    "upstream_unavailable": FAILED,
    "confirmation_required": CONFIRM,
    "confirmation_invalid": CONFIRM,
    "timeout": TIMEOUT,
    "cancelled": INTERRUPTED,
    "connection_lost": FAILED,
    "backend_broken": FAILED,
    "internal": FAILED,
}


def exit_code(error_code: str) -> int:
    """The exit code for an error code; one this version does not know (a newer daemon's) is a plain failure."""
    return EXIT_CODES.get(error_code, FAILED)
