"""What a case works with: the device, the other device, the witness, and words for what must hold."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anyio

from anydevice.context import Progress
from anydevice.driver import Driver, Environment
from anydevice.plans import declared as operation_declared
from anydevice.router import Router
from anydevice_schemas import Answer, Call, Caller, Device, Manifest
from anydevice_schemas.errors import Unsupported
from anydevice_schemas.report import Step

from .witness import Report, Witness

HEARD_WITHIN = 3.0
"""Seconds the witness is given to hear of something that must happen."""
ARROWS = frozenset({"up", "down", "left", "right"})

QUIET_FOR = 0.15
"""Seconds it is given to hear of something that must not."""


class CaseFailed(Exception):
    """What must hold does not."""


class CaseBlocked(Exception):
    """The surroundings do not allow the case to be tried."""


class Trial:
    """One attempt of one case on one device.

    Attributes:
        device: The device under test.
        other: A second device of the same kind, which must not change unless the case drives it.
        manifest: Of the backend.
        caller: Who calls, made anew for every case.
    """

    def __init__(  # noqa: PLR0917 - made by the engine only
        self,
        router: Router,
        witness: Witness,
        manifest: Manifest,
        device: Device,
        other: Device,
        name: str,
    ) -> None:
        self.router = router
        self.witness = witness
        self.manifest = manifest
        self.device = device
        self.other = other
        self.caller = self.new_caller(name)
        self.steps: list[Step] = []
        self.tokens: dict[str, str] = {}

    # --- calling ---

    def new_caller(self, name: str, **fields: Any) -> Caller:
        """Another caller of the same user, on a connection of its own."""
        base = {"principal": "uid:conformance", "transport": "test", "connection": name, "scopes": ["read", "act"]}
        return Caller.model_validate(base | fields)

    async def call(
        self,
        command: str,
        *,
        expect: str | None = "ok",
        on: Device | None = None,
        by: Caller | None = None,
        named: bool = True,
        progress: Progress | None = None,
        **arguments: Any,
    ) -> Answer:
        """Makes one call and keeps it as a step.

        Args:
            command: Name of the command.
            expect: `ok`, or the code of the error it must answer; None leaves it to the case.
            on: Another device than the one under test.
            by: Another caller.
            named: False leaves the device selector out.
            progress: Told how far the command is.
            **arguments: Wire arguments.

        Raises:
            CaseFailed: The answer is another than was expected, or names another device.
        """
        device = on or self.device
        given = {"device": device.key, **arguments} if named and "device" not in arguments else dict(arguments)
        started = time.perf_counter()
        answer = await self.router.call(
            Call(name=command, arguments=given, caller=by or self.caller), progress=progress
        )
        ms = (time.perf_counter() - started) * 1000
        outcome = "ok" if answer.ok else (answer.error.code if answer.error is not None else "?")
        shown = json.loads(json.dumps(arguments, default=str))
        self.steps.append(
            Step(
                call=command,
                arguments=_short(shown),
                device=device.key if named else None,
                outcome=outcome,
                ms=round(ms, 1),
            )
        )
        if expect is not None and outcome != expect:
            said = answer.error.message if answer.error is not None else "it worked"
            raise CaseFailed(f"{command} answered {outcome} where {expect} was due: {said}")
        if answer.ok and answer.device is not None and named and answer.device.key != device.key:
            raise CaseFailed(f"{command} on {device.key} was answered by {answer.device.key}")
        return answer

    async def open(self, screen: str, *, on: Device | None = None, by: Caller | None = None, **more: Any) -> Answer:
        """Opens the practice app on a screen and waits until it says that it is up; `more` goes with the call.

        Raises:
            CaseBlocked: There is no practice app on the device.
            CaseFailed: It does not open, or does not report.
        """
        device = on or self.device
        token = self.tokens[device.key] = self.witness.new_token()
        answer = await self.call("open", on=device, by=by, expect=None, **self.opening(screen, token), **more)
        if not answer.ok and answer.error is not None:
            kind = CaseBlocked if answer.error.code in ("app_not_found", "tool_missing") else CaseFailed
            raise kind(f"the practice app does not open: {answer.error.code}: {answer.error.message}")
        await self.heard("ready", value=screen, on=device, within=10.0)
        return answer

    def opening(self, screen: str, token: str) -> dict[str, Any]:
        """The arguments of `open` that start the practice app on a screen, reporting under a token."""
        if self.manifest.practice.opens == "url":
            return {"url": self.witness.page(screen, token)}
        options = ["--screen", screen, "--witness", self.witness.address(token)]
        return {"app": self.manifest.practice.app, "arguments": options}

    @contextmanager
    def hurried(self, command: str, seconds: float) -> Iterator[None]:
        """Gives a command a shorter deadline than its own, so that a case need not sit its own one out."""
        spec = self.router.services.catalogue.get(command)
        whole = spec.command
        spec.command = whole.model_copy(update={"deadline": seconds})
        try:
            yield
        finally:
            spec.command = whole

    async def driver(self, on: Device | None = None) -> Driver:
        """The driver itself, for what must hold on it and not only behind the router."""
        return await self.router.services.connections.get(on or self.device, Environment())

    async def refuses_on_the_driver(self, operation: str, *arguments: Any, **named: Any) -> None:
        """The driver itself refuses an operation by type.

        Raises:
            CaseFailed: It works, or fails in another way.
        """
        driver = await self.driver()
        capability, _, method = operation.partition(".")
        found = getattr(getattr(driver, capability, None), method, None)
        if found is None:
            return
        try:
            with anyio.fail_after(10):
                await found(*arguments, **named)
        except Unsupported:
            return
        except Exception as error:
            raise CaseFailed(
                f"{operation} is not declared and must be refused as unsupported; it raised {type(error).__name__}"
            ) from None
        raise CaseFailed(f"{operation} is not declared, yet it works on the driver")

    # --- the witness ---

    def reports(self, what: str | None = None, *, on: Device | None = None) -> list[Report]:
        """What the app reported since it was opened, of one kind or all."""
        token = self.tokens.get((on or self.device).key, "")
        return [report for report in self.witness.reports(token) if what in (None, report.get("what"))]

    async def heard(
        self,
        what: str,
        *,
        id: str | None = None,
        value: Any = ...,
        where: Callable[[Any], bool] | None = None,
        on: Device | None = None,
        within: float = HEARD_WITHIN,
    ) -> Report:
        """The app's own report of something that must have happened.

        Args:
            what: Kind of report.
            id: Of the element it is about.
            value: What it must say.
            where: What must hold of what it says, for values that are measured.
            on: Another device than the one under test.
            within: Seconds it is waited for.

        Raises:
            CaseFailed: It reported nothing of the kind in time.
        """
        token = self.tokens.get((on or self.device).key, "")

        def fits(report: Report) -> bool:
            return (
                report.get("what") == what
                and id in (None, report.get("id"))
                and (value is ... or report.get("value") == value)
                and (where is None or where(report.get("value")))
            )

        seen = await self.witness.until(token, lambda reports: any(map(fits, reports)), within)
        found = [report for report in seen if fits(report)]
        if found:
            return found[-1]
        like = [report for report in seen if report.get("what") == what]
        wanted = what + (f" of {id}" if id else "") + ("" if value is ... else f" with {str(value)[:80]!r}")
        raise CaseFailed(f"the app reported no {wanted}; of that kind it reported {str(like[-3:])[:300]}")

    async def unheard(self, *whats: str, on: Device | None = None) -> None:
        """Nothing of these kinds (all but `ready` when none is named) is reported.

        Raises:
            CaseFailed: Something was.
        """
        await anyio.sleep(QUIET_FOR)
        words = whats or None
        seen = [
            report
            for report in self.reports(on=on)
            if (report.get("what") in words if words else report.get("what") != "ready")
        ]
        self.require(not seen, f"nothing may have happened, yet the app reported {str(seen[:3])[:300]}")

    async def first_press(self, *, by: Caller | None = None, named: bool = True, **selectors: Any) -> None:
        """Presses Increment on the home screen; it must be the first input of which the app ever reports.

        Reports come in order, so this shows without waiting that nothing that was done before reached the app.

        Raises:
            CaseFailed: The press does not arrive, or something arrived before it.
        """
        await self.call("press", by=by, named=named, target="Increment", **selectors)
        await self.heard("press", id="home.increment")
        await self.heard("count")
        inputs = [(report.get("what"), report.get("value")) for report in self.reports() if report["what"] != "ready"]
        if operation_declared(self.manifest, self.device, "remote.press"):
            inputs = [told for told in inputs if told[0] != "key" or told[1] not in ARROWS]  # on the way to the element
        if inputs != [("press", None), ("count", 1)]:
            raise CaseFailed(f"nothing may have reached the app before the first press, yet it reported {inputs[:4]}")

    # --- what must hold ---

    def require(self, holds: object, reason: str) -> None:
        """Something must hold.

        Raises:
            CaseFailed: It does not.
        """
        if not holds:
            raise CaseFailed(reason)

    def equal(self, actual: Any, expected: Any, what: str) -> None:
        """Two things must be equal.

        Raises:
            CaseFailed: They are not.
        """
        if actual != expected:
            raise CaseFailed(f"{what}: expected {str(expected)[:200]!r}, got {str(actual)[:200]!r}")

    def detail(self, answer: Answer, *names: str) -> Mapping[str, Any]:
        """The details of an error, which must hold these fields.

        Raises:
            CaseFailed: It is no error, or a field is missing.
        """
        self.require(answer.error is not None, "an error was due")
        assert answer.error is not None
        for name in names:
            self.require(name in answer.error.details, f"{answer.error.code} must say {name}")
        return answer.error.details

    def note(self, text: str) -> None:
        """Adds a remark to the steps."""
        self.steps.append(Step(call="note", outcome="ok", ms=0.0, note=text[:300]))


def _short(value: Any) -> Any:
    """Arguments as the report shows them: long texts cut."""
    if isinstance(value, str):
        return value if len(value) <= 120 else value[:120] + "…"
    if isinstance(value, dict):
        return {key: _short(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_short(inner) for inner in value[:20]]
    return value
