"""`diff`: the screen compared with earlier snapshots of the session."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice.elements import Looks
from anydevice.elements.looks import KEPT_MOST, NODES_MOST
from anydevice.testing import FakeBackend, call, caller, fake_router
from anydevice_schemas import Answer, Node, Tree

pytestmark = pytest.mark.anyio


class One:
    """A router with a phone and another one, and short calls on the first."""

    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend

    async def __call__(self, command: str, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call(command, device="fake-1", **arguments))
        return answer

    async def done(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = await self(command, **arguments)
        assert answer.error is None, answer.error
        return dict(answer.data)

    async def refused(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = await self(command, **arguments)
        assert answer.error is not None, answer.data
        return {"code": answer.error.code, "hint": answer.error.hint, **answer.error.details}


@pytest.fixture
async def phone(anyio_backend: str) -> Any:
    async with fake_router(FakeBackend(["fake-1", "other"])) as (router, backend):
        yield One(router, backend)
        assert backend.screen("other").journal == [], "the other device was touched"


async def test_a_change_is_told_by_ref_with_what_it_was_and_nothing_is_pressed_for_it(phone: One) -> None:
    first = await phone.done("snapshot")
    ref = (await phone.done("get", target="Count", what="attrs"))["element"]["ref"]
    await phone.done("press", target="Increment")
    pressed = list(phone.backend.screen("fake-1").journal)
    data = await phone.done("diff", responseLevel="full")
    assert phone.backend.screen("fake-1").journal == pressed
    assert (data["changed"], data["counts"]["changed"], data["baseline"]["id"]) == (True, 1, first["id"])
    (count,) = data["altered"]
    assert (count["ref"], count["was"]) == (ref, {"value": "0"})
    assert any(line.startswith(f"~ {ref} ") and '"0" -> "1"' in line for line in data["changes"])


async def test_each_diff_is_a_snapshot_that_the_next_is_compared_with(phone: One) -> None:
    first = await phone.done("snapshot")
    await phone.done("press", target="Increment")
    second = await phone.done("diff")
    third = await phone.done("diff")
    assert second["baseline"]["id"] == first["id"] and third["baseline"]["id"] == second["id"]
    assert (third["changed"], third["changes"]) == (False, [])
    assert (await phone.done("diff", since=first["id"]))["changed"] is True


async def test_the_same_part_is_looked_at_in_the_same_way(phone: One) -> None:
    await phone.done("snapshot", mode="full", scope="Count")
    await phone.done("fill", target="Name", text="Ada")
    assert (await phone.done("diff"))["changed"] is False, "the field is not in the part that was looked at"
    await phone.done("press", target="Increment")
    data = await phone.done("diff")
    assert (data["counts"]["changed"], data["baseline"]["mode"]) == (1, "full")


async def test_without_a_snapshot_and_with_an_unknown_one_it_is_refused(phone: One) -> None:
    refused = await phone.refused("diff")
    assert (refused["code"], refused["reason"], refused["alternative"]) == ("refused", "no_baseline", "snapshot")
    assert (await phone.refused("diff", since="s123456"))["code"] == "refused"
    known = (await phone.done("snapshot"))["id"]
    unknown = await phone.refused("diff", since="s-other")
    assert unknown["code"] == "invalid_argument" and known in unknown["expected"]


async def test_another_session_has_snapshots_of_its_own(phone: One) -> None:
    mine = (await phone.done("snapshot"))["id"]
    await phone.done("close")
    other = await phone.router.call(call("diff", device="fake-1", since=mine, by=caller("somebody-else")))
    assert other.error is not None
    assert (other.error.code, other.error.details["reason"]) == ("refused", "no_baseline")


async def test_what_was_cut_is_told_and_what_it_means_for_the_comparison(phone: One) -> None:
    await phone.done("snapshot", maxNodes=5)
    answer = await phone("diff")
    assert answer.error is None and any("nodes" in cut for cut in answer.truncated)
    assert "not_whole" in [notice["kind"] for notice in answer.notices]
    assert answer.data["changed"] is False


async def test_a_digest_has_one_line_and_a_limit_is_kept(phone: One) -> None:
    first = (await phone.done("snapshot"))["id"]
    await phone.done("press", target="Increment")
    await phone.done("fill", target="Name", text="Ada")
    assert len((await phone.done("diff", responseLevel="digest"))["changes"]) == 1
    answer = await phone("diff", since=first, limit=1)
    assert len(answer.data["changes"]) == 1
    assert any("differences (limit 1)" in cut for cut in answer.truncated)


async def test_no_secret_is_told(phone: One) -> None:
    await phone.done("snapshot", mode="full")
    await phone.done("fill", target="Password", text="open sesame")
    assert "open sesame" not in str(await phone("diff", responseLevel="full"))


def tree(nodes: int) -> Tree:
    return Tree(nodes=[Node(role="text", name=str(n), ref=f"@e{n}") for n in range(1, nodes + 1)])


def test_few_snapshots_are_kept_and_the_latest_always() -> None:
    looks = Looks()
    ids = [looks.keep(tree(2), None, float(at)).id for at in range(KEPT_MOST + 3)]
    assert [look.id for look in looks] == ids[3:] and len(set(ids)) == len(ids)
    big = looks.keep(tree(NODES_MOST + 1), None, 99.0)
    assert [look.id for look in looks] == [big.id] and looks.last is big
