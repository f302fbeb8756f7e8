"""Single cases of the suite as pytest tests, for developing a backend. Such a run never gives a level.

    pytest --anydevice-backend acme --anydevice-case 'press.*'

Loaded in every pytest run where anydevice is installed: it adds two options, and imports more only when they are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("anydevice", "anydevice conformance cases, for developing a backend")
    group.addoption(
        "--anydevice-backend", metavar="NAME", help="Run conformance cases on this backend, and nothing else."
    )
    group.addoption(
        "--anydevice-case",
        metavar="CASE",
        action="append",
        default=[],
        help="Only this case, or pattern such as 'press.*'; may be repeated.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Takes over the collection where a backend is named."""
    backend, cases = config.getoption("--anydevice-backend"), config.getoption("--anydevice-case")
    if backend:
        from .developing import Developing

        config.pluginmanager.register(Developing(backend, cases), "anydevice-conformance-cases")
    elif cases:
        import pytest

        raise pytest.UsageError("--anydevice-case needs --anydevice-backend")
