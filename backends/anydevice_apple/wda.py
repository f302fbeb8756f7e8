"""A WebDriverAgent over HTTP: requests with deadlines, its errors by name, and its one session.

A new session ends the one before it, whoever made that. So a session that is gone is made anew once, and then only what
reads is repeated; what acts is refused, having done nothing.

Every answer tells the session that is active. One that is not ours means that another program drives the device, or
that another device's agent has the port by now: then `prove` is asked, before anything of the answer is believed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import anyio
import structlog

from anydevice_schemas.errors import AnydeviceError, CallTimeout, OutcomeUnknown, UpstreamUnavailable

from .answers import WdaError, another, answer, strange, unread, value

if TYPE_CHECKING:
    import httpx2

log = structlog.get_logger("anydevice.apple")

QUICK = 10.0
"""Seconds of a request that finds or reads one thing."""
ANSWER_MOST = 64 << 20
"""Bytes of one answer."""
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


Prove = Callable[["Wda"], Awaitable[bool]]


class Wda:
    """One WebDriverAgent, at an address such as `http://127.0.0.1:8100`."""

    def __init__(self, url: str, prove: Prove | None = None, *, fixed: bool = False) -> None:
        """`prove` says whether what serves there is the agent of the device that is meant; `fixed`: a person named
        the address, so that no other agent is looked for.
        """
        self.url = url.rstrip("/")
        self._fixed = fixed
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
                raise unread(error) from error

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
            told = await self.get("/status", deadline=deadline)
        except WdaError:
            return {}
        ready = isinstance(told, Mapping) and told.get("ready", told.get("state") == "success")
        return told if isinstance(told, Mapping) and ready else {}

    async def proved(self) -> None:
        """As `sure`.

        Raises:
            UpstreamUnavailable: It does not; another one does.
        """
        if await self.sure():
            return
        raise another(fixed=self._fixed)

    async def sure(self) -> bool:
        """Asks whether the agent of the device that is meant serves here."""
        self._sure = self._prove is None or await self._prove(self)
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
                    raise unread(error) from error
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
                made = await self._ask("POST", "/session", body, max(deadline, 20.0), None)
                found = made.get("sessionId") if isinstance(made, Mapping) else None
                if not isinstance(found, str):
                    raise strange("no session id")
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
                            raise strange("the answer is too large")
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
        said = answer(response.status_code, bytes(data))
        told = said.get("sessionId", self._session)
        told = told if isinstance(told, str) else None
        if self._session is not None and told != self._session and told not in self._had:
            await self.proved()
            self._had.add(told)
        return value(response.status_code, said)

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
