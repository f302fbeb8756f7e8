"""What an answer says when time runs out before, while or after something was done; and texts read whole."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from anydevice.commands import _effect
from anydevice.driver import Probe, TreeScope
from anydevice.testing import FakeBackend, call, driver, fake_router
from anydevice_schemas import Answer, Tree
from anydevice_schemas.errors import CallTimeout

pytestmark = pytest.mark.anyio


class One:
    """A router with one phone."""

    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend
        self.screen = backend.screen("fake-1")

    async def __call__(self, command: str, *, within: float | None = None, **arguments: Any) -> Answer:
        spec = self.router.services.catalogue.get(command)
        if within is not None:
            spec.command = spec.command.model_copy(update={"deadline": within})
        answer: Answer = await self.router.call(call(command, device="fake-1", **arguments))
        return answer


@pytest.fixture
async def phone(anyio_backend: str) -> Any:
    async with fake_router(FakeBackend(["fake-1"])) as (router, backend):
        yield One(router, backend)


def error(answer: Answer) -> tuple[str, bool]:
    assert answer.error is not None, answer.data
    return answer.error.code, answer.error.retryable


def hangs_once_pressed(phone: One, monkeypatch: pytest.MonkeyPatch, *, raises: bool = False) -> None:
    """The screen cannot be read any more once something was pressed."""
    original = driver._Screen.tree

    async def tree(self: Any, scope: TreeScope) -> Tree:
        if phone.screen.did("press"):
            if raises:
                raise CallTimeout("The app is busy.", after=1.0)
            await anyio.sleep(60)
        return await original(self, scope)

    monkeypatch.setattr(driver._Screen, "tree", tree)


@pytest.mark.parametrize("raises", [False, True])
async def test_a_press_that_was_done_is_told_as_done_though_the_screen_cannot_be_read_after_it(
    phone: One, monkeypatch: pytest.MonkeyPatch, raises: bool
) -> None:
    monkeypatch.setattr(_effect, "LOOK_MOST", 0.2)
    hangs_once_pressed(phone, monkeypatch, raises=raises)
    answer = await phone("press", target="Increment")
    assert answer.ok and answer.verified is False and "changed" not in answer.data
    assert [notice["kind"] for notice in answer.notices] == ["not_read"]
    assert phone.screen.text("Count") == "1"


async def test_the_look_after_a_press_leaves_time_to_answer(phone: One, monkeypatch: pytest.MonkeyPatch) -> None:
    hangs_once_pressed(phone, monkeypatch)
    answer = await phone("press", within=2.0, target="Increment", timeoutMs=0)
    assert answer.ok and answer.notices[0]["kind"] == "not_read"


async def test_a_screen_that_cannot_be_read_before_a_press_is_a_timeout_and_nothing_is_pressed(phone: One) -> None:
    phone.backend.fault.operations["screen.tree"] = 60.0
    assert error(await phone("press", within=0.2, target="Increment", timeoutMs=0)) == ("timeout", True)
    assert phone.screen.did("press") == []


async def test_a_press_that_gets_no_reply_is_of_unknown_outcome(phone: One) -> None:
    phone.backend.fault.operations["pointer.click"] = 60.0
    answer = await phone("press", within=1.5, target="Increment", timeoutMs=0)
    assert error(answer) == ("outcome_unknown", False)
    assert answer.error is not None and answer.error.details["sent"] == "pointer.click"


@pytest.mark.parametrize("raises", [False, True])
async def test_a_field_that_was_filled_and_cannot_be_read_back_is_of_unknown_outcome(
    phone: One, monkeypatch: pytest.MonkeyPatch, raises: bool
) -> None:
    original = driver._Elements.probe

    async def probe(self: Any, key: str, **more: Any) -> Probe:
        if phone.screen.did("set_text"):
            if raises:
                raise CallTimeout("The app is busy.", after=1.0)
            await anyio.sleep(60)
        return await original(self, key, **more)

    monkeypatch.setattr(driver._Elements, "probe", probe)
    answer = await phone("fill", within=1.5, target="Name", text="Ada", timeoutMs=0)
    assert error(answer) == ("outcome_unknown", False)
    assert answer.error is not None and answer.error.details["sent"] == "elements.set_text"
    assert phone.screen.text("Name") == "Ada"


async def test_what_only_makes_ready_may_be_done_again(phone: One, monkeypatch: pytest.MonkeyPatch) -> None:
    original = driver._Elements.probe

    async def probe(self: Any, key: str, **more: Any) -> Probe:
        if phone.screen.did("scroll"):
            await anyio.sleep(60)
        return await original(self, key, **more)

    monkeypatch.setattr(driver._Elements, "probe", probe)
    answer = await phone("press", within=1.5, target="Row 40", timeoutMs=0)
    assert error(answer) == ("timeout", True)
    assert phone.screen.did("press") == []


# --- texts in full length ---


async def test_get_reads_a_long_text_whole_and_says_when_it_does_not(phone: One) -> None:
    name = phone.screen.named("Name")
    name.value = "x" * 5_000
    answer = await phone("get", target="Name")
    assert answer.data["text"] == name.value and answer.truncated == []
    name.value = "x" * 30_000
    for what in ("text", "attrs"):
        answer = await phone("get", target="Name", what=what)
        text = answer.data["text"] if what == "text" else answer.data["element"]["value"]
        assert len(text) == 20_000 and answer.truncated == ["value (limit 20000 characters)"]


async def test_an_empty_field_is_read_as_empty_and_a_button_by_its_name(phone: One) -> None:
    assert (await phone("get", target="Name")).data["text"] == ""
    assert (await phone("get", target="Increment")).data["text"] == "Increment"


# --- what takes no text ---


async def test_a_read_only_field_is_refused_before_anything_is_done_to_it(phone: One) -> None:
    phone.screen.named("Name").states.add("readonly")
    for command in ("fill", "type"):
        assert error(await phone(command, target="Name", text="x"))[0] == "element_disabled"
    assert phone.screen.journal == []


async def test_filling_by_keys_never_presses_what_is_no_field(phone: One) -> None:
    manifest = phone.backend.manifest
    without = {name: how for name, how in manifest.operations.items() if name != "elements.set_text"}
    phone.backend.manifest = manifest.model_copy(update={"operations": without})
    phone.router.services.backends.add(phone.backend.manifest, phone.backend)
    assert error(await phone("fill", target="Increment", text="x"))[0] == "invalid_argument"
    assert phone.screen.journal == [] and phone.screen.text("Count") == "0"


@pytest.mark.parametrize(("command", "more"), [("fill", {"target": "Name"}), ("type", {})])
async def test_a_long_text_has_more_time_and_not_for_ever(phone: One, command: str, more: dict[str, Any]) -> None:
    def deadline(length: int) -> float:
        return float(phone.router.services.catalogue.parse(command, {"text": "x" * length, **more}).deadline)

    assert deadline(1000) == deadline(1)
    assert deadline(10_000) == deadline(1) + 50
    assert deadline(100_000) == deadline(1) + 120
