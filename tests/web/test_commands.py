"""The backend's own commands, through the router like any caller's: `tabs` and `browser-profile`."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from anydevice.driver import CAPABILITIES
from anydevice.router import Router
from anydevice.testing import caller, fake_router
from anydevice_schemas import Answer, Call, Manifest, contract_accepts
from anydevice_web import WebBackend
from anydevice_web.driver import WebDriver
from anydevice_web.instance import Instance, Plan

from .site import Site
from .web import running_backend

pytestmark = pytest.mark.anyio


def manifest() -> Manifest:
    return Manifest.from_toml((files("anydevice_web") / "backend.toml").read_text(encoding="utf-8"))


def test_the_manifest_declares_exactly_what_the_driver_implements() -> None:
    told = manifest()
    assert contract_accepts(told.contract)
    instance = Instance(Plan("chromium", "Chromium"), "")
    driver = WebDriver.__new__(WebDriver)
    WebDriver.__init__(driver, None, instance)  # type: ignore[arg-type]
    base = {kind.name: kind for kind in CAPABILITIES}
    implemented = set()
    for name, capability in vars(driver).items():
        if name in ("device", "instance"):
            continue
        kind = base.get(name)
        for method in dir(type(capability)):
            own = getattr(type(capability), method)
            if method.startswith("_") or not callable(own) or (kind and own is getattr(kind, method, None)):
                continue
            implemented.add(f"{name}.{method}")
    assert set(told.operations) == implemented


def test_every_handler_exists() -> None:
    for entry in manifest().commands:
        module, _, name = entry.handler.partition(":")
        assert callable(getattr(importlib.import_module(module), name))


@dataclass
class Held:
    router: Router
    backend: WebBackend

    async def call(self, command: str, /, **arguments: Any) -> Answer:
        return await self.router.call(Call(name=command, arguments=arguments, caller=caller()))


@pytest.fixture
async def held(anyio_backend: str, tmp_path: Path) -> AsyncIterator[Held]:
    async with running_backend(tmp_path) as backend:
        backend.manifest = manifest()  # type: ignore[attr-defined]
        async with fake_router(backend) as (router, _):  # type: ignore[arg-type]
            yield Held(router, backend)


@pytest.mark.chromium
async def test_tabs_are_listed_selected_and_closed(held: Held, shared_site: Site) -> None:
    assert (await held.call("boot", device="chromium")).ok
    popup = shared_site.page("<h1>popup</h1>")
    url = shared_site.page(f"<h1>main</h1><button onclick=\"window.open('{popup}')\">open</button>")
    assert (await held.call("open", device="chromium", url=url)).ok
    pressed = await held.call("press", target="open")
    opened = [event for event in pressed.data["happened"] if event["kind"] == "tab_opened"]
    assert len(opened) == 1
    listed = await held.call("tabs")
    assert listed.verified is None
    assert [row["tab"] for row in listed.data["tabs"] if row.get("current")] == [opened[0]["opener"]]
    selected = await held.call("tabs", action="select", tab=opened[0]["tab"])
    assert (selected.ok, selected.verified, selected.device.id if selected.device else "") == (True, True, "chromium")
    assert "popup" in str((await held.call("snapshot")).data)
    closed = await held.call("tabs", action="close", tab=opened[0]["tab"])
    assert closed.verified is True
    gone = await held.call("tabs", action="select", tab=opened[0]["tab"])
    assert gone.error is not None
    assert gone.error.code == "app_not_found"
    for bad in ({"action": "select"}, {"tab": "t1"}, {"action": "list", "tab": "t1"}, {"action": "drop"}):
        answer = await held.call("tabs", **bad)
        assert answer.error is not None
        assert answer.error.code == "invalid_argument", bad


async def test_profiles_and_endpoints_come_and_go_as_devices(held: Held) -> None:
    added = await held.call("browser-profile", action="add", name="work", browser="chromium")
    assert (added.ok, added.verified, added.data["device"]) == (True, True, "chromium:work")
    attached = await held.call("browser-profile", action="add", name="mine", endpoint="http://127.0.0.1:9222")
    assert attached.data["device"] == "endpoint:mine"
    listed = (await held.call("browser-profile")).data
    assert listed["profiles"] == [{"name": "work", "browser": "chromium", "device": "chromium:work"}]
    assert listed["endpoints"] == [{"name": "mine", "address": "http://127.0.0.1:9222", "device": "endpoint:mine"}]
    ids = {row.id for row in await held.backend.devices(None)}  # type: ignore[arg-type]
    assert {"chromium:work", "endpoint:mine"} <= ids
    folder = Path(held.backend.host.data_dir) / "profiles" / "chromium-work"
    assert folder.is_dir()
    removed = await held.call("browser-profile", action="remove", name="work")
    assert (removed.ok, removed.data["data_deleted"], folder.is_dir()) == (True, False, True)
    assert (await held.call("browser-profile", action="remove", name="mine")).ok
    assert (await held.call("browser-profile")).data == {"profiles": [], "endpoints": []}


async def test_deleting_a_profiles_data_asks_a_person_first(held: Held) -> None:
    await held.call("browser-profile", action="add", name="old")
    answer = await held.call("browser-profile", action="remove", name="old", deleteData=True)
    assert answer.error is not None
    assert answer.error.code == "confirmation_required"
    assert (await held.call("browser-profile")).data["profiles"][0]["name"] == "old"


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "add"},
        {"action": "add", "name": "bad name"},
        {"action": "add", "name": "../up"},
        {"action": "add", "name": "x", "browser": "netscape"},
        {"action": "add", "name": "x", "browser": "chromium", "endpoint": "http://127.0.0.1:1"},
        {"action": "add", "name": "x", "endpoint": "ftp://127.0.0.1"},
        {"action": "add", "name": "x", "endpoint": "http://127.0.0.1:port"},
        {"action": "add", "name": "taken", "endpoint": "http://127.0.0.1:1"},
        {"action": "add", "name": "x", "deleteData": True},
        {"action": "remove", "name": "nobody"},
        {"action": "remove", "name": "taken", "browser": "chromium"},
        {"name": "x"},
        {"action": "rename", "name": "x"},
    ],
)
async def test_what_does_not_make_sense_is_refused_and_changes_nothing(held: Held, arguments: dict[str, Any]) -> None:
    await held.call("browser-profile", action="add", name="taken")
    before = (await held.call("browser-profile")).data
    answer = await held.call("browser-profile", **arguments)
    assert answer.error is not None
    assert answer.error.code == "invalid_argument"
    assert (await held.call("browser-profile")).data == before


async def test_a_profiles_file_that_cannot_be_read_is_never_written_over(held: Held) -> None:
    file = Path(held.backend.host.data_dir) / "profiles.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{ not json")
    assert (await held.call("browser-profile")).data == {"profiles": [], "endpoints": []}
    answer = await held.call("browser-profile", action="add", name="x")
    assert answer.error is not None
    assert file.read_text() == "{ not json"


@pytest.mark.chromium
async def test_a_running_profile_is_not_removed(held: Held) -> None:
    await held.call("browser-profile", action="add", name="busy")
    assert (await held.call("boot", device="chromium:busy")).ok
    answer = await held.call("browser-profile", action="remove", name="busy")
    assert answer.error is not None
    assert (answer.error.code, answer.error.details["alternative"]) == ("refused", "shutdown")
