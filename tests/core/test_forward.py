"""Forwarded ports of a fake device: added, told, removed, and taken back when the device is given back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from anydevice.driver import Forward
from anydevice.testing import FakeBackend, call, fake_router
from anydevice.testing.disk import FakeDisk
from anydevice_schemas import Answer

pytestmark = pytest.mark.anyio


class One:
    """A router with two phones, and calls on the first."""

    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend

    @property
    def disk(self) -> FakeDisk:
        return self.backend.disks["fake-1"]

    async def __call__(self, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call("forward", device="fake-1", **arguments))
        return answer

    async def refused(self, **arguments: Any) -> dict[str, Any]:
        answer = await self(**arguments)
        assert answer.error is not None, answer.data
        return {"code": answer.error.code, **answer.error.details}


@pytest.fixture
async def phone(anyio_backend: str) -> AsyncIterator[One]:
    backend = FakeBackend(["fake-1", "other"], cleans=True)
    async with fake_router(backend) as (router, _):
        yield One(router, backend)
    assert backend.disks["other"].journal == [], "the other device was touched"


async def test_ports_are_added_told_and_removed(phone: One) -> None:
    answer = await phone(action="add", hostPort=9000, devicePort=8080)
    assert answer.verified is True and answer.data == {"forward": {"hostPort": 9000, "devicePort": 8080}}
    await phone(action="add", hostPort=9001, deviceSocket="localabstract:debug")
    await phone(action="add", hostPort=3000, devicePort=3000, reverse=True)
    assert (await phone()).data["forwards"] == [
        {"hostPort": 9000, "devicePort": 8080},
        {"hostPort": 9001, "deviceSocket": "localabstract:debug"},
        {"hostPort": 3000, "devicePort": 3000, "reverse": True},
    ]
    assert (await phone(action="remove", hostPort=9000, devicePort=8080)).verified is True
    assert list(phone.disk.forwards) == [
        Forward("tcp:9001", "localabstract:debug"),
        Forward("tcp:3000", "tcp:3000", reverse=True),
    ]


async def test_a_free_port_is_chosen_and_told(phone: One) -> None:
    answer = await phone(action="add", hostPort=0, devicePort=8080)
    port = answer.data["forward"]["hostPort"]
    assert port > 0 and Forward(f"tcp:{port}", "tcp:8080") in phone.disk.forwards
    again = await phone(action="add", hostPort=0, devicePort=8080)
    assert again.data["forward"]["hostPort"] not in (0, port)
    turned = await phone(action="add", hostPort=5000, devicePort=0, reverse=True)
    assert turned.data["forward"]["devicePort"] > 0


async def test_the_same_once_more_changes_nothing_and_another_on_its_port_is_refused(phone: One) -> None:
    await phone(action="add", hostPort=9000, devicePort=8080)
    assert (await phone(action="add", hostPort=9000, devicePort=8080)).data["already"] is True
    refused = await phone.refused(action="add", hostPort=9000, devicePort=8081)
    assert (refused["code"], refused["forward"]["devicePort"]) == ("refused", 8080)
    assert (await phone(action="add", hostPort=9000, devicePort=9000, reverse=True)).ok  # it listens on the other side
    assert len(phone.disk.forwards) == 2


async def test_what_somebody_else_forwarded_is_told_and_left_alone(phone: One) -> None:
    theirs = Forward("tcp:7000", "tcp:7000")
    phone.disk.forwards[theirs] = False
    assert (await phone()).data["forwards"] == [{"hostPort": 7000, "devicePort": 7000}]
    assert (await phone.refused(action="remove", hostPort=7000, devicePort=7000))["code"] == "refused"
    assert theirs in phone.disk.forwards


@pytest.mark.parametrize(
    ("arguments", "param"),
    [
        ({"action": "add", "devicePort": 1}, "hostPort"),
        ({"action": "add", "hostPort": 1}, "devicePort"),
        ({"action": "add", "hostPort": 1, "devicePort": 1, "deviceSocket": "tcp:1"}, "devicePort"),
        ({"action": "add", "hostPort": 1, "devicePort": 0}, "devicePort"),
        ({"action": "add", "hostPort": 0, "devicePort": 1, "reverse": True}, "hostPort"),
        ({"action": "add", "hostPort": 1, "deviceSocket": "no socket"}, "deviceSocket"),
        ({"action": "add", "hostPort": 1, "deviceSocket": "local:a;rm -rf"}, "deviceSocket"),
        ({"action": "add", "hostPort": 65536, "devicePort": 1}, "hostPort"),
        ({"action": "remove", "hostPort": 0, "devicePort": 1}, "hostPort"),
        ({"action": "remove", "hostPort": 1, "devicePort": 1}, "hostPort"),
        ({"hostPort": 1}, "action"),
    ],
)
async def test_what_makes_no_forward_is_refused(phone: One, arguments: dict[str, Any], param: str) -> None:
    refused = await phone.refused(**arguments)
    assert (refused["code"], refused["param"]) == ("invalid_argument", param)
    assert phone.disk.forwards == {}


@pytest.mark.parametrize("action", ["add", "remove"])
async def test_what_says_so_and_does_not_is_unverified(phone: One, action: str) -> None:
    if action == "remove":
        await phone(action="add", hostPort=9000, devicePort=8080)
    phone.backend.fault.swallow.add(f"forwards.{action}")
    assert (await phone.refused(action=action, hostPort=9000, devicePort=8080))["code"] == "action_unverified"


async def test_ports_are_taken_back_when_the_device_is_given_back(phone: One) -> None:
    theirs = Forward("tcp:7000", "tcp:7000")
    phone.disk.forwards[theirs] = False
    answer = await phone(action="add", hostPort=9000, devicePort=8080)
    assert len(phone.disk.forwards) == 2
    await phone.router.call(call("session", action="end", name=answer.session))
    other = await phone.router.call(call("forward", device="fake-1"))
    assert other.data["forwards"] == [{"hostPort": 7000, "devicePort": 7000}]
    with anyio.fail_after(10):
        while phone.backend.cleaned != ["fake-1"]:
            await anyio.sleep(0.01)
