"""A WebDriverAgent over HTTP: requests with deadlines, its errors by name, and its one session.

A new session ends the one before it, whoever made that. So a session that is gone is made anew once, and then only what
reads is repeated; what acts is refused, having done nothing.

Every answer tells the session that is active. One that is not ours means that another program drives the device, or
that another device's agent has the port by now: then `prove` is asked, before anything of the answer is believed.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import anyio
import structlog

from anydevice_schemas.errors import (
    AnydeviceError,
    AppNotRunning,
    CallTimeout,
    InvalidArgument,
    OutcomeUnknown,
    Unsupported,
    UpstreamUnavailable,
)

if TYPE_CHECKING:
    import httpx2

log = structlog.get_logger("anydevice.apple")

QUICK = 10.0
"""Seconds of a request that finds or reads one thing."""
ANSWER_MOST = 64 << 20
"""Bytes of one answer."""
SAID = 1000
ELEMENT: Final = "element-6066-11e4-a52e-4f735466cecf"
CAPABILITIES: Final[Mapping[str, Any]] = {
    "shouldWaitForQuiescence": False,
    "shouldTerminateApp": False,
    "forceAppLaunch": False,
    "disableAutomaticScreenshots": True,
}
SETTINGS: Final[Mapping[str, Any]] = {
    "waitForIdleTimeout": 0,
    "animationCoolOffTimeout": 0,
    "snapshotMaxDepth": 60,
    "keyboardAutocorrection": False,
    "keyboardPrediction": False,
    "respectSystemAlerts": True,
    "maxTypingFrequency": 60,
}
"""What makes it answer at once: by default it waits for seconds until an app is idle and animations have cooled off."""


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


class Wda:
    """One WebDriverAgent, at an address such as `http://127.0.0.1:8100`."""

    def __init__(self, url: str, prove: Callable[[], Awaitable[bool]] | None = None) -> None:
        """`prove` says whether what serves there is still the agent of the device that is meant."""
        self.url = url.rstrip("/")
        self.settings: dict[str, Any] = dict(SETTINGS)
        self._prove = prove
        self._client: httpx2.AsyncClient | None = None
        self._session: str | None = None
        self._sure = False
        self._had: set[str | None] = set()
        """Sessions of others, of which it is proved that they are on the same device."""
        self._making = anyio.Lock()

    # --- without a session ---

    async def get(self, path: str, *, deadline: float = QUICK, params: Mapping[str, str] | None = None) -> Any:
        """Reads something; a connection that was closed meanwhile is opened once more.

        Raises:
            WdaError: It answered with an error.
            UpstreamUnavailable: It does not answer at all.
            CallTimeout: Not in time.
        """
        try:
            return await self._ask("GET", path, None, deadline, params)
        except OutcomeUnknown:
            try:
                return await self._ask("GET", path, None, deadline, params)
            except OutcomeUnknown as error:
                raise _unread(error) from error

    async def post(self, path: str, body: Mapping[str, Any] | None = None, *, deadline: float = QUICK) -> Any:
        """Does something that needs no session.

        Raises:
            OutcomeUnknown: It was asked, and the answer was lost.
            WdaError, UpstreamUnavailable, CallTimeout: As `get`.
        """
        return await self._ask("POST", path, body or {}, deadline, None)

    async def delete(self, path: str, *, deadline: float = QUICK) -> Any:
        """As `post`, by DELETE."""
        return await self._ask("DELETE", path, None, deadline, None)

    async def status(self, *, deadline: float = 5.0) -> Mapping[str, Any]:
        """What it says of itself; empty where it is not ready.

        Raises:
            UpstreamUnavailable, CallTimeout: As `get`.
        """
        try:
            value = await self.get("/status", deadline=deadline)
        except WdaError:
            return {}
        ready = isinstance(value, Mapping) and value.get("ready", value.get("state") == "success")
        return value if isinstance(value, Mapping) and ready else {}

    async def proved(self) -> None:
        """As `sure`.

        Raises:
            UpstreamUnavailable: It does not; another one does.
        """
        if await self.sure():
            return
        raise UpstreamUnavailable(
            "WebDriverAgent ended, and what serves at its port by now is not the agent of this device.",
            hint="Repeat the call: an agent is started anew.",
            upstream="WebDriverAgent",
            enable_hint="Set [apple] ports to a range that nothing else uses.",
            reason="another_device",
            retryable=True,
        )

    async def sure(self) -> bool:
        """Asks whether the agent of the device that is meant serves here."""
        self._sure = self._prove is None or await self._prove()
        if not self._sure:
            self._session = None
        return self._sure

    def _forget(self) -> None:
        """The session is no more, and perhaps its agent neither."""
        self._session, self._sure = None, False

    # --- in the session ---

    async def look(self, path: str, *, deadline: float = QUICK) -> Any:
        """Reads something in the session; made anew once where somebody else ended it.

        Raises:
            WdaError, UpstreamUnavailable, CallTimeout: As `get`.
        """
        for last in (False, True):
            session = await self._open(deadline)
            try:
                return await self.get(f"/session/{session}{path}", deadline=deadline)
            except WdaError as error:
                if error.error != "invalid session id" or last:
                    raise
                self._forget()
        raise AssertionError("unreachable")

    async def act(
        self, path: str, body: Mapping[str, Any] | None = None, *, deadline: float = QUICK, reads: bool = False
    ) -> Any:
        """Does something in the session; `reads`: it changes nothing, though it is a POST.

        Raises:
            WdaError, UpstreamUnavailable, CallTimeout: As `get`.
            UpstreamUnavailable: Somebody else took the session; nothing was done.
            OutcomeUnknown: The answer was lost.
        """
        for last in (False, True):
            session = await self._open(deadline)
            try:
                return await self.post(f"/session/{session}{path}", body, deadline=deadline)
            except OutcomeUnknown as error:
                if reads:
                    raise _unread(error) from error
                raise
            except WdaError as error:
                if error.error != "invalid session id":
                    raise
                self._forget()
                log.info("session_taken", url=self.url)
                if not reads or last:
                    raise UpstreamUnavailable(
                        "Another program took the session of WebDriverAgent; nothing was done.",
                        hint="End the other program (Appium, Xcode, another tool), then repeat the call.",
                        upstream="WebDriverAgent",
                        enable_hint="Only one program can drive a device by WebDriverAgent.",
                        reason="session_taken",
                        retryable=True,
                    ) from None
        raise AssertionError("unreachable")

    async def set(self, **settings: Any) -> None:
        """Changes settings of the session, and keeps them for the next one.

        Raises:
            WdaError, UpstreamUnavailable, CallTimeout: As `act`.
        """
        self.settings |= settings
        await self.act("/appium/settings", {"settings": settings}, reads=True)

    async def ready(self) -> None:
        """Makes the session where there is none: only with one the settings hold that make it answer at once.

        Raises:
            WdaError, UpstreamUnavailable, CallTimeout: As `act`.
        """
        await self._open(QUICK)

    async def _open(self, deadline: float) -> str:
        async with self._making:
            if self._session is None:
                if not self._sure:
                    await self.proved()
                self._had.clear()
                body = {"capabilities": {"firstMatch": [{}], "alwaysMatch": dict(CAPABILITIES)}}
                value = await self._ask("POST", "/session", body, max(deadline, 20.0), None)
                found = value.get("sessionId") if isinstance(value, Mapping) else None
                if not isinstance(found, str):
                    raise _strange("no session id")
                self._session = found
                try:
                    await self._ask(
                        "POST", f"/session/{found}/appium/settings", {"settings": self.settings}, QUICK, None
                    )
                except WdaError as error:
                    log.info("settings_refused", error=error.error)  # an old one; it is slower then
            return self._session

    # --- below ---

    async def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None, deadline: float, params: Mapping[str, str] | None
    ) -> Any:
        import httpx2

        if self._client is None:
            # The environment's proxies are not asked: this is a program of this machine, or behind a tunnel of it.
            self._client = httpx2.AsyncClient(trust_env=False, follow_redirects=False)
        try:
            with anyio.fail_after(deadline):
                async with self._client.stream(
                    method, self.url + path, json=body, params=params, timeout=httpx2.Timeout(deadline)
                ) as response:
                    data = bytearray()
                    async for piece in response.aiter_bytes():
                        data += piece
                        if len(data) > ANSWER_MOST:
                            raise _strange("the answer is too large")
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            self._sure = False
            raise UpstreamUnavailable(
                "WebDriverAgent does not run there.",
                hint="Call doctor; the next call starts it anew where it can.",
                upstream="WebDriverAgent",
                enable_hint="Start it, or let the configuration name where it is (see docs/apple.md).",
                reason="not_running",
                retryable=True,
            ) from error
        except (TimeoutError, httpx2.TimeoutException):
            raise CallTimeout(
                "WebDriverAgent did not answer in time.", after=deadline, waiting_for=f"{method} {path[:80]}"
            ) from None
        except httpx2.TransportError as error:
            raise OutcomeUnknown(
                "The answer of WebDriverAgent was lost.",
                sent=f"{method} {path[:80]}",
                reason=type(error).__name__,
            ) from error
        answer = _answer(response.status_code, bytes(data))
        told = answer.get("sessionId", self._session)
        told = told if isinstance(told, str) else None
        if self._session is not None and told != self._session and told not in self._had:
            await self.proved()
            self._had.add(told)
        return _value(response.status_code, answer)

    async def aclose(self) -> None:
        """Ends the session, where that is quick, and the connections."""
        session, self._session = self._session, None
        client = self._client
        if client is None:
            return
        if session is not None:
            with anyio.move_on_after(2.0, shield=True):
                try:
                    await self._ask("DELETE", f"/session/{session}", None, 2.0, None)
                except (AnydeviceError, WdaError):
                    log.info("session_not_ended", url=self.url)
        self._client = None
        await client.aclose()


def _unread(error: OutcomeUnknown) -> UpstreamUnavailable:
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


def _answer(status: int, data: bytes) -> Mapping[str, Any]:
    """An answer as it came.

    Raises:
        UpstreamUnavailable: It is no answer of a WebDriverAgent.
    """
    try:
        answer = json.loads(data)
    except ValueError:
        raise _strange(f"status {status}, and no JSON") from None
    if not isinstance(answer, Mapping):
        raise _strange("no object")
    return answer


def _value(status: int, answer: Mapping[str, Any]) -> Any:
    """What an answer says.

    Raises:
        WdaError: It is an error.
    """
    value = answer.get("value")
    if isinstance(value, Mapping) and "error" in value and (status >= 400 or "traceback" in value):
        raise WdaError(str(value["error"]), str(value.get("message", "")), status)
    if status >= 400:
        raise WdaError("unknown error", "", status)
    return value


def _strange(reason: str) -> UpstreamUnavailable:
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
