"""The server of a runner: which request is meant, in which session, one after the other."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import anyio

from ..model.apps import RUNNER
from ..model.pictures import NoPictures
from .errors import ALERT, NO_SESSION, WdaError
from .http import Cut, HttpServer, Message
from .session import Request, Route, Session

if TYPE_CHECKING:
    from ..device import LabDevice


class Server(HttpServer):
    """WebDriverAgent on one device.

    Attributes:
        session: The one session there is.
        inner_port: The port as the device has it, where it is no simulator.
        video: Facts of the recording that runs.
    """

    def __init__(self, device: LabDevice) -> None:
        super().__init__(self._answer)
        self.device = device
        self.session: Session | None = None
        self.inner_port = 0
        self.video: dict[str, Any] | None = None
        self._one = anyio.Lock()

    async def _answer(self, message: Message) -> tuple[int, object]:
        """One request at a time, to its end: one that hangs blocks all."""
        async with self._one:
            try:
                status, value = 200, await self._route(message)
            except WdaError as error:
                status, value = error.status, error.value
            except NoPictures as lacks:
                told = WdaError("unable to capture screen", str(lacks))
                status, value = told.status, told.value
            except _Given as given:
                return given.status, given.answer
            return status, {"value": value, "sessionId": self.session.id if self.session else None}

    async def _route(self, message: Message) -> Any:
        device, line = self.device, f"{message.method} {message.path}"
        device.journal.add("wda_request", line=line, body=_brief(message.body))
        faults = device.faults
        if faults.active("wda_hang", line):
            await anyio.sleep_forever()
        if slow := faults.active("wda_slow", line):
            await anyio.sleep(slow.seconds)
        if faults.active("wda_dies", line):
            device.terminate(device.machine.apps[RUNNER])
            raise Cut
        if given := faults.active("wda_answer", line):
            raise _Given(given.code or 200, json.loads(given.text or "null"))
        cut = faults.active("wda_cut", line)
        answer = await self._carry_out(message)
        if cut is not None:
            raise Cut
        return answer

    async def _carry_out(self, message: Message) -> Any:
        found = find(message.method, message.path, tv=self.device.kind.tv)
        if found is None:
            parameters = "{\n" + "".join(f"    {name} = {value};\n" for name, value in message.body.items()) + "}"
            text = f"Unhandled endpoint: http://{message.host}{message.path} with parameters {parameters}"
            raise WdaError("unknown command", text)
        route, params = found
        if "session" in params:
            if self.session is not None and self.device.faults.active("session_lost", message.path):
                self.session = None
            if self.session is None or params["session"] != self.session.id:
                raise WdaError("invalid session id", NO_SESSION)
        request = Request(self, message, self.session, params)
        if self.session is not None and self.session.alert_action and self.device.machine.current_popup() is not None:
            from .alerts import answer_alert

            answer_alert(request, accept=self.session.alert_action == "accept")
        return await route(request)

    def blocked(self, *, system: bool = True) -> None:
        """An alert of the system is in the way of what is done to elements.

        Raises:
            WdaError: It is.
        """
        if system and self.device.machine.system is not None:
            raise WdaError("unexpected alert open", ALERT)


class _Given(Exception):
    """An answer that a fault gives."""

    def __init__(self, status: int, answer: object) -> None:
        super().__init__(status)
        self.status, self.answer = status, answer


def _brief(body: dict[str, Any]) -> dict[str, Any]:
    """A body for the journal: nothing long, and nothing that was typed."""
    return {
        name: value if len(str(value)) < 400 else "…"
        for name, value in body.items()
        if name not in ("value", "content")
    }


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r":(\w+)", r"(?P<\1>[^/]+)", path) + r"/?")


def _all_routes() -> list[tuple[str, re.Pattern[str], Route, bool | None]]:
    from . import alerts, applications, elements, gestures, hardware, sessions, source, touching, typing

    parts = (sessions, source, elements, touching, gestures, typing, alerts, applications, hardware)
    return [
        (method, _pattern(path), route, _where(path, touches=part is touching))
        for part in parts
        for (method, path), route in part.ROUTES.items()
    ]


def _where(path: str, *, touches: bool) -> bool | None:
    """True: only televisions have the route; False: they do not have it; None: everything has it."""
    path = path.removeprefix("/session/:session")
    if path.endswith("/focuse"):
        return True
    return False if touches or path.startswith(NOT_ON_TV) else None


NOT_ON_TV = (
    "/orientation", "/rotation", "/wda/deviceOrientation", "/wda/setPasteboard", "/wda/getPasteboard",
    "/wda/batteryInfo", "/wda/simulatedLocation", "/wda/pickerwheel", "/wda/element/:element/scrollTo",
)  # fmt: skip
"""Beginnings of routes that the agent of a television is built without, besides all touches."""
_routes: list[tuple[str, re.Pattern[str], Route, bool | None]] = []


def find(method: str, path: str, *, tv: bool) -> tuple[Route, dict[str, str]] | None:
    """The route of a request, and what its path holds."""
    if not _routes:
        _routes.extend(_all_routes())
    for verb, pattern, route, where in _routes:
        if verb == method and where in (None, tv) and (match := pattern.fullmatch(path)):
            return route, match.groupdict()
    return None
