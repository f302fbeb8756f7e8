"""Which version is newer: only a client that is, is handed over to."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from anydevice.host.versions import newer

RISING = (
    "0.1.0.dev1", "0.1.0a1.dev1", "0.1.0a1", "0.1.0a2", "0.1.0a10", "0.1.0b1", "0.1.0rc1", "0.1.0", "0.1.0.post1.dev1",
    "0.1.0.post1", "0.1.1.dev0", "0.1.1", "0.1.10", "0.2", "0.10", "1.0", "99.0",
)  # fmt: skip


def test_versions_rise_as_everywhere() -> None:
    for earlier, later in combinations(RISING, 2):
        assert newer(later, earlier), (later, earlier)
        assert not newer(earlier, later), (earlier, later)


@pytest.mark.parametrize(("one", "other"), [("1.0", "1"), ("1.0.0", "1.0"), ("1.0+local", "1.0"), ("V1.0", "1.0")])
def test_what_is_the_same_version_is_not_newer(one: str, other: str) -> None:
    assert not newer(one, other) and not newer(other, one)


@pytest.mark.parametrize("nonsense", ["", "x", "1.x", "1..2", None, 7, ["1.0"], "9" * 200, "99.0; rm", "२"])
def test_what_is_no_version_is_never_newer(nonsense: Any) -> None:
    assert not newer(nonsense, "0.1.0")
