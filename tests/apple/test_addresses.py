"""Addresses of agents that a person configured: used for the device they are named for, and for no other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from anydevice_lab.apple import Lab

from .rig import PRACTICE, Rig, rig

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def three(lab: Lab) -> dict[str, str]:
    """An iPhone, its twin and an iPad, each with an agent that somebody started."""
    names = ("PHONE", "TWIN", "PAD")
    return dict(zip(names, await lab.start("iphone", "iphone", "ipad"), strict=True))


async def address(lab: Lab, udid: str) -> str:
    return f"http://127.0.0.1:{await lab.agent(udid)}"


@pytest.fixture
async def named(lab: Lab, three: dict[str, str], tmp_path: Path) -> AsyncIterator[Rig]:
    """A router that knows the agent of the iPhone by its address."""
    async with rig(lab, tmp_path / "home", agents={three["PHONE"]: await address(lab, three["PHONE"])}) as running:
        yield running


async def test_an_agent_at_an_address_drives_the_device_it_is_named_for(
    lab: Lab, named: Rig, three: dict[str, str]
) -> None:
    await named.open(three["PHONE"])
    await lab.journal(three["PHONE"], clear=True)
    await named.do("press", target="Increment")
    assert await lab.journal(three["PHONE"], "tap") and await named.text("Count") == "1"


@pytest.mark.parametrize("wrong", ["TWIN", "PAD"])
async def test_the_agent_of_another_device_is_refused_before_it_is_told_anything(
    lab: Lab, three: dict[str, str], tmp_path: Path, wrong: str
) -> None:
    """A twin of the same kind and system differs in nothing that an agent says of itself but its processes."""
    at = await address(lab, three[wrong])
    await lab.journal(three[wrong], clear=True)
    async with rig(lab, tmp_path / "home", agents={three["PHONE"]: at}) as router:
        for command, given in (("snapshot", {}), ("press", {"x": 100, "y": 200}), ("home", {})):
            told = await router.refused("upstream_unavailable", command, device=three["PHONE"], **given)
            assert told["reason"] == "another_device" and "[apple.agents]" in told["hint"]
    noted = [entry for entry in await lab.journal(three[wrong]) if entry["kind"] not in ("wda_request", "program")]
    lines = [str(entry["line"]) for entry in await lab.journal(three[wrong], "wda_request")]
    assert not noted and all(line.startswith("GET ") for line in lines)


async def test_an_agent_that_changes_under_way_is_noticed_by_its_session(
    lab: Lab, three: dict[str, str], tmp_path: Path
) -> None:
    """Its port is given to the agent of the twin while a session is open."""
    port = await lab.agent(three["PHONE"])
    async with rig(lab, tmp_path / "home", agents={three["PHONE"]: f"http://127.0.0.1:{port}"}) as router:
        await router.open(three["PHONE"])
        for udid in (three["PHONE"], three["TWIN"]):
            await lab.set(udid, runner=False)
            await lab.set(udid, runner=True)
        assert await lab.agent(three["TWIN"], port) == port
        await lab.journal(three["TWIN"], clear=True)
        answer = await router.do("press", target="Increment", expect=None)
        assert not answer.ok and answer.error is not None
        assert {"tap", "session"}.isdisjoint(entry["kind"] for entry in await lab.journal(three["TWIN"]))


async def test_a_device_at_a_cable_is_proved_by_its_processes_too(lab: Lab, tmp_path: Path) -> None:
    one, other = await lab.start("iphone-device", "iphone-device")
    try:
        at = await address(lab, other)
        async with rig(lab, tmp_path / "a", agents={one: at}) as router:
            told = await router.refused("upstream_unavailable", "snapshot", device=one)
            assert told["reason"] == "another_device"
        async with rig(lab, tmp_path / "b", agents={other: at}) as router:
            assert (await router.do("open", device=other, app=PRACTICE)).data["engine"] == "wda"
    finally:
        await lab.stop(one)
        await lab.stop(other)


async def test_an_address_where_nothing_answers_is_told_as_such(
    lab: Lab, three: dict[str, str], tmp_path: Path
) -> None:
    async with rig(lab, tmp_path / "home", agents={three["PHONE"]: "http://127.0.0.1:9"}) as router:
        told = await router.refused("upstream_unavailable", "snapshot", device=three["PHONE"])
        assert told["reason"] == "not_running"
