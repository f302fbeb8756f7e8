"""Cases as pytest items: in this process, not sealed, one by one. For developing only; there is no level here."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from anydevice.assembly import open_router
from anydevice.discovery import BACKENDS, discover
from anydevice.settings import Settings
from anydevice_schemas.errors import BackendBroken
from anydevice_schemas.report import CaseResult

from .case import Case, catalogue
from .engine import Engine
from .runner import UnknownSubject, alone, chosen_cases, record_of
from .subject import Pair, Subject
from .witness import Witness


@asynccontextmanager
async def opened(backend: str) -> AsyncIterator[tuple[Engine, dict[str, Pair]]]:
    """An engine around a backend and its devices by class, closed at the end."""
    witness = Witness()
    try:
        with tempfile.TemporaryDirectory(prefix="anydevice-d-") as folder:
            settings = alone(backend, Settings.load(), Path(folder, "home"))
            async with open_router(settings) as router:
                await router.services.backends.instance(backend)
                subject = Subject(router, backend)
                try:
                    pairs = {pair.device_class: pair for pair in await subject.pairs()}
                    yield Engine(router, subject, witness, catalogue(), partial=True), pairs
                finally:
                    await subject.aclose()
    finally:
        witness.close()


class Developing:
    """The plugin that is registered where a backend is named: collects its cases, and nothing else."""

    def __init__(self, backend: str, only: Sequence[str]) -> None:
        self.backend = backend
        self.only = only
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._engine: Engine | None = None
        self._pairs: dict[str, Pair] = {}

    @pytest.hookimpl
    def pytest_ignore_collect(self) -> bool:
        """Nothing but cases."""
        return True

    @pytest.hookimpl
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Puts the cases in."""
        cases = catalogue()
        try:
            record = record_of(discover(BACKENDS, prefer=Settings.load().prefer), self.backend)
            chosen = chosen_cases([case.id for case in cases], self.only)
        except UnknownSubject as error:
            raise pytest.UsageError(str(error)) from None
        if record.manifest is None or record.state != "ready":
            raise pytest.UsageError(f"the backend {self.backend} is {record.state}: {record.reason}")
        items[:] = [
            CaseItem.from_parent(session, name=f"{case.id}[{name}]", case=case, device_class=name, home=self)
            for name in record.manifest.device_classes
            for case in cases
            if name in case.classes and (chosen is None or case.id in chosen)
        ]

    @pytest.hookimpl
    def pytest_sessionfinish(self) -> None:
        """Closes the devices."""
        self._stack.close()

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Says what this was not."""
        terminalreporter.write_line(
            f"cases for developing: no level; `anydevice conformance {self.backend}` judges the backend"
        )

    def try_case(self, case: Case, device_class: str) -> CaseResult:
        """Tries one case; the devices are opened before the first one."""
        if self._portal is None:
            self._portal = self._stack.enter_context(start_blocking_portal())
        if self._engine is None:
            engine = self._portal.wrap_async_context_manager(opened(self.backend))
            self._engine, self._pairs = self._stack.enter_context(engine)
        pair = self._pairs[device_class]
        if pair.device is None or pair.other is None:
            pytest.fail(f"blocked: {pair.blocked}", pytrace=False)
        return self._portal.call(self._engine.try_case, case, pair.device, pair.other)


class CaseItem(pytest.Item):
    """One case on one device class."""

    def __init__(self, *, case: Case, device_class: str, home: Developing, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case
        self.device_class = device_class
        self.home = home

    def runtest(self) -> None:
        """Tries it. What is blocked fails: there is no skip."""
        try:
            row = self.home.try_case(self.case, self.device_class)
        except BackendBroken as error:
            pytest.fail(f"the backend cannot be loaded: {error.details.get('reason')}", pytrace=False)
        if row.verdict in ("failed", "blocked", "engine_error"):
            steps = [f"  {step.call} {step.arguments or ''} -> {step.outcome} ({step.ms:g} ms)" for step in row.steps]
            pytest.fail("\n".join([f"{row.verdict}: {row.reason}", row.must, *steps]), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where it comes from, and its name."""
        return Path("anydevice"), None, self.name
