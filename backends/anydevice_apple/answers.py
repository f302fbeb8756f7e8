"""What a WebDriverAgent answers: values, and errors by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import from_json

from anydevice_schemas.errors import (
    AnydeviceError,
    AppNotRunning,
    CallTimeout,
    InvalidArgument,
    OutcomeUnknown,
    Unsupported,
    UpstreamUnavailable,
)

SAID: Final = 1000
ELEMENT: Final = "element-6066-11e4-a52e-4f735466cecf"


class WdaError(Exception):
    """It answered with an error.

    Attributes:
        error: Its name of it, such as `no such alert`; that is what tells errors apart, not the HTTP status.
        said: Its message.
        status: HTTP status.
    """

    def __init__(self, error: str, said: str, status: int) -> None:
        super().__init__(error)
        self.error, self.said, self.status = error, said, status


def another(*, fixed: bool) -> UpstreamUnavailable:
    """The error of an address where another device's agent serves; `fixed`: a person named that address."""
    if fixed:
        return UpstreamUnavailable(
            "What answers at the address that is configured for this device is the agent of another one.",
            hint="Correct the address of this device in [apple.agents], or take it out.",
            upstream="WebDriverAgent",
            enable_hint="Look which device the agent at that address drives: each has one of its own.",
            reason="another_device",
        )
    return UpstreamUnavailable(
        "WebDriverAgent ended, and what serves at its port by now is not the agent of this device.",
        hint="Repeat the call: an agent is started anew.",
        upstream="WebDriverAgent",
        enable_hint="Set [apple] ports to a range that nothing else uses.",
        reason="another_device",
        retryable=True,
    )


def unread(error: OutcomeUnknown) -> UpstreamUnavailable:
    """What was lost was only read: nothing can have been done."""
    return UpstreamUnavailable(
        "The answer of WebDriverAgent was lost.",
        hint="Repeat the call: nothing was done.",
        upstream="WebDriverAgent",
        enable_hint="Call doctor where that does not help.",
        reason="answer_lost",
        retryable=True,
        sent=error.details.get("sent", ""),
    )


def answer(status: int, data: bytes) -> Mapping[str, Any]:
    """An answer as it came.

    Raises:
        UpstreamUnavailable: It is no answer of a WebDriverAgent.
    """
    try:
        told = _json(data)
    except ValueError:
        raise strange(f"status {status}, and no JSON") from None
    if not isinstance(told, Mapping):
        raise strange("no object")
    return told


def _json(data: bytes) -> object:
    """JSON, by the quicker reader, which gives up where things lie deeper in each other than any screen.

    Raises:
        ValueError: It is none.
    """
    try:
        return from_json(data, cache_strings="keys")
    except ValueError:
        return json.loads(data)


def value(status: int, answer: Mapping[str, Any]) -> Any:
    """What an answer says.

    Raises:
        WdaError: It is an error.
    """
    told = answer.get("value")
    if isinstance(told, Mapping) and "error" in told and (status >= 400 or "traceback" in told):
        raise WdaError(str(told["error"]), str(told.get("message", "")), status)
    if status >= 400:
        raise WdaError("unknown error", "", status)
    return told


def strange(reason: str) -> UpstreamUnavailable:
    """The refusal where something else answers at the address of an agent."""
    return UpstreamUnavailable(
        "What answers there is no WebDriverAgent.",
        upstream="WebDriverAgent",
        enable_hint="Check the address in the configuration; see what listens on that port.",
        reason=reason,
    )


def element_id(value: object) -> str | None:
    """The id of an element in an answer."""
    if not isinstance(value, Mapping):
        return None
    found = value.get(ELEMENT) or value.get("ELEMENT")
    return found if isinstance(found, str) else None


def typed(error: WdaError, operation: str) -> AnydeviceError:
    """An error of WebDriverAgent as one of ours, by its name, then by its words."""
    said = error.said[:SAID]
    if error.error == "no such alert":
        return AppNotRunning("No dialog is open.", app="dialog", hint="Call snapshot to see what is on the screen.")
    if error.error == "timeout":
        return CallTimeout("WebDriverAgent gave up waiting.", after=0, waiting_for=operation, said=said)
    if "supports the following buttons" in said:
        return Unsupported(
            "This device has no such button that can be pressed.",
            hint="See details.said for the buttons it has.",
            operation=operation,
            alternatives=[],
            said=said,
        )
    if error.error in ("unknown command", "unknown method", "unsupported operation"):
        return Unsupported(
            "This WebDriverAgent cannot do that.",
            hint="Use a newer WebDriverAgent.",
            operation=operation,
            alternatives=[],
            said=said,
        )
    if error.error in ("invalid argument", "invalid coordinates") or "INFINITY" in said:
        return InvalidArgument(
            "WebDriverAgent does not take these values.",
            param=operation,
            expected="points on the screen; see details.said",
            said=said,
        )
    return UpstreamUnavailable(
        "WebDriverAgent could not do it.",
        upstream="WebDriverAgent",
        enable_hint="See details.said, which are its own words.",
        reason=error.error,
        said=said,
    )
