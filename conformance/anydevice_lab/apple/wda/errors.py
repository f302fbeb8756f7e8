"""The errors of WebDriverAgent, and with which HTTP status each is answered."""

from __future__ import annotations

STATUS = {
    "no such element": 404, "stale element reference": 404, "no such alert": 404, "invalid session id": 404,
    "unknown command": 404, "invalid argument": 400, "invalid selector": 400, "invalid element state": 400,
    "element not visible": 400, "invalid coordinates": 400, "unknown method": 405, "timeout": 408,
    "unknown error": 500, "session not created": 500, "unexpected alert open": 500, "unable to capture screen": 500,
    "unsupported operation": 500,
}  # fmt: skip
TRACE = (
    "(\n\t0   CoreFoundation                      0x00007ff8004278cb __exceptionPreprocess + 242\n"
    "\t1   libobjc.A.dylib                     0x00007ff80004dba3 objc_exception_throw + 48\n"
    "\t3   WebDriverAgentLib                   0x0000000115b4bcb6 -[FBRoute mountRequest] + 86\n)"
)
THROWN = (
    "invalid session id", "stale element reference", "invalid selector", "element not visible", "timeout",
)  # fmt: skip
"""Errors that are exceptions in the agent, and so have a traceback."""
NO_SESSION = "Session does not exist"
NO_ALERT = "An attempt was made to operate on a modal dialog when one was not open"
NO_ALERT_NOW = "No alert is open"
ALERT = "A modal dialog was open, blocking this operation"
NO_SCREEN = "A screen capture was made impossible"
NO_FOCUS = 'Error Domain=com.facebook.WebDriverAgent Code=1 "Neither element nor any descendant has keyboard focus"'
KEYBOARD = (
    "Did not know how to dismiss the keyboard. Try to dismiss it in the way supported by your application under test."
)


class WdaError(Exception):
    """A request fails with one of the errors of the protocol.

    Args:
        error: One of `STATUS`.
        message: What it says.
    """

    def __init__(self, error: str, message: str) -> None:
        super().__init__(message)
        self.error, self.message = error, message

    @property
    def status(self) -> int:
        """HTTP status."""
        return STATUS[self.error]

    @property
    def value(self) -> dict[str, str]:
        """What is answered in place of a value."""
        return {"error": self.error, "message": self.message, "traceback": TRACE if self.error in THROWN else ""}


def own(text: str) -> str:
    """An error of the agent itself, as its description is printed."""
    return f'Error Domain=com.facebook.WebDriverAgent Code=1 "{text}" UserInfo={{NSLocalizedDescription={text}}}'


def unknown(reference: str) -> WdaError:
    """A reference that was never given out, or is of an element that was forgotten."""
    text = (
        f'The element identified by "{reference}" is either not present or it has expired from the internal cache. '
        "Try to find it again"
    )
    return WdaError("stale element reference", text)


def stale(what: str) -> WdaError:
    """An element is gone."""
    return WdaError(
        "stale element reference",
        f'The previously found element "{what}" is not present in the current view anymore. Make sure the application '
        "UI has the expected state. Original error: No matches found for first query match sequence",
    )
