"""A daemon that does not see a program which its caller has says so, where the devices of it are looked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anydevice.places import CALLER_PATH, call_environment
from anydevice.testing import FakeBackend, call, caller, fake_router
from anydevice_schemas import Tool

pytestmark = pytest.mark.anyio

NAME = "gadgetctl-of-the-tests"


def program(folder: Path) -> str:
    """A folder with the program."""
    folder.mkdir()
    (folder / NAME).write_text("#!/bin/sh\n")
    (folder / NAME).chmod(0o755)
    return str(folder)


def gadgets(*ids: str) -> FakeBackend:
    backend = FakeBackend(list(ids), name="gadget")
    tool = Tool(name=NAME, why="it lists them", install="get it")
    backend.manifest = backend.manifest.model_copy(update={"tools": [tool]})
    return backend


async def told(name: str, path: str, *backends: FakeBackend, **arguments: Any) -> Any:
    """What `devices` says is missing, or what `doctor` says of PATHs, to a caller with this PATH."""
    async with fake_router(*backends) as (router, _):
        by = caller(env=call_environment({"PATH": path}))
        data = (await router.call(call(name, by=by, **arguments))).data
        if name == "devices":
            return data.get("missing")
        return [check for check in data["checks"] if check["name"].endswith(": PATH")]


async def test_what_only_the_caller_has_is_told_where_nothing_is_listed(tmp_path: Path) -> None:
    path = program(tmp_path / "bin")
    (row,) = await told("devices", f"/nowhere:{path}", gadgets(), FakeBackend(name="other"))
    assert row["backend"] == "gadget" and f"{NAME} is on your PATH and not on the daemon's" in row["reason"]
    assert row["fix"].startswith("anydevice stop") and path not in str(row)
    assert await told("devices", path, gadgets(), FakeBackend(name="other"), platform="other") is None
    assert await told("devices", path, gadgets("g-1")) is None  # it is found some other way


async def test_doctor_tells_it_always_and_calls_nothing_wrong(tmp_path: Path) -> None:
    (row,) = await told("doctor", program(tmp_path / "bin"), gadgets("g-1"))
    assert (row["name"], row["ok"], row["optional"]) == ("gadget: PATH", False, True)


async def test_another_program_of_one_name_is_told_and_the_same_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = program(tmp_path / "ours"), program(tmp_path / "theirs")
    monkeypatch.setenv("PATH", ours)
    (row,) = await told("devices", theirs, gadgets())
    assert "another one on the daemon's" in row["reason"]
    (tmp_path / "links").symlink_to(ours)
    assert await told("devices", f"{tmp_path}/links:{theirs}", gadgets()) is None


@pytest.mark.parametrize("path", ["", "bin:.", "x" * 9000])
async def test_a_path_that_says_nothing_is_passed_over(path: str) -> None:
    assert await told("devices", path, gadgets()) is None


async def test_a_path_travels_under_a_name_by_which_nothing_is_started() -> None:
    assert call_environment({"PATH": "/a", "HOME": "/h"}) == {CALLER_PATH: "/a"}
