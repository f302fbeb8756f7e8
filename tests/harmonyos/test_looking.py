"""Layouts, pictures, videos and logs: whole, of now, of the kind that is told, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from anydevice.kit import images, movies
from anydevice_harmonyos.looking import Looking
from anydevice_lab.harmonyos import Lab
from anydevice_schemas.errors import CallTimeout, DeviceNotReady, UpstreamUnavailable

from .rig import PRACTICE, Rig, eventually, lines, reach

pytestmark = pytest.mark.anyio


# --- layouts ---


async def test_a_layout_that_fails_is_told_and_one_that_was_cut_is_taken_again(lab: Lab, phone: str) -> None:
    looking = Looking(reach(lab, phone))
    await lab.fault(phone, "dump_fails", times=1)
    with pytest.raises(DeviceNotReady):
        await looking.take()
    await lab.fault(phone, "dump_cut", times=1)
    layout, _ = await looking.take()
    assert layout.count > 0
    await lab.fault(phone, "dump_cut", times=2)
    with pytest.raises(UpstreamUnavailable):
        await looking.take()


async def test_a_look_that_was_given_up_is_never_the_answer_to_the_next(lab: Lab, router: Rig, phone: str) -> None:
    """Reported of clients that keep one socket: a late answer makes every later tree lag one step."""
    await router.open(phone, "home")
    looking = Looking(reach(lab, phone))
    await lab.fault(phone, "hang", match="dumpLayout", times=1)
    with pytest.raises(CallTimeout):
        import anydevice_harmonyos.looking as module

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "DEADLINE", 0.5)
            await looking.take()
    await router.open(phone, "form")
    layout, view = await looking.take()
    ids = {attributes.get("id") for window in layout.windows for attributes in window.attributes}
    assert "form.name" in ids and view.app == PRACTICE


async def test_nothing_stays_behind_on_the_device(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await router.do("snapshot", device=phone)
    await router.do("screenshot", device=phone)
    root = next(row["root"] for row in await lab.devices() if row["serial"] == phone)

    async def tidy() -> bool:
        return not list(Path(root, "data/local/tmp").glob("anydevice_*"))

    await eventually(tidy)


# --- pictures ---


async def test_a_picture_is_of_the_kind_that_is_told(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    answer = await router.do("screenshot", device=phone)
    data = picture(router, answer.artefacts[0].uri)
    assert images.inspect(data).mime == answer.artefacts[0].mime


@pytest.mark.parametrize("fault", ["screen_fails", "screen_empty", "screen_cut"])
async def test_a_picture_that_is_not_whole_is_none(lab: Lab, router: Rig, phone: str, fault: str) -> None:
    await router.open(phone)
    await lab.fault(phone, fault)
    await router.do("screenshot", device=phone, expect="upstream_unavailable")


async def test_where_the_quick_program_makes_no_png_a_jpeg_is_taken_and_told(lab: Lab, router: Rig) -> None:
    (old,) = await lab.start("old-phone")
    await router.open(old)
    answer = await router.do("screenshot", device=old)
    assert answer.artefacts[0].mime == images.inspect(picture(router, answer.artefacts[0].uri)).mime
    await lab.stop(old)


def picture(router: Rig, uri: str) -> bytes:
    """The bytes of an artefact."""
    return router.router.services.artefacts.read(uri)


# --- videos ---


async def test_a_film_is_fetched_once_it_is_whole_and_the_gallery_is_as_before(
    lab: Lab, router: Rig, phone: str, tmp_path: Path
) -> None:
    await router.open(phone)
    await router.do("record", device=phone, action="start")
    await router.do("press", device=phone, target="Increment")
    answer = await router.do("record", device=phone, action="stop")
    path = tmp_path / "film.mp4"
    path.write_bytes(picture(router, answer.artefacts[0].uri))
    assert movies.inspect(path).frames
    assert any("mediatool delete" in line for line in await lines(lab, phone))
    toggles = await lab.journal(phone, "recorder")
    assert len(toggles) == 2, "the same call starts and stops: one more would start again"


async def test_a_recorder_that_keeps_nothing_is_told(
    lab: Lab, router: Rig, phone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice_harmonyos.recording.FINISHING", 1.0)
    await router.open(phone)
    await lab.fault(phone, "recorder_lost")
    await router.do("record", device=phone, action="start")
    await router.do("record", device=phone, action="stop", expect="upstream_unavailable")


# --- logs ---


async def test_lines_of_an_app_are_those_of_its_processes(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await router.do("logs", device=phone, action="start")
    await lab.ask("log", serial=phone, text="[Fail]Not match target founded", tag="lab/Other", pid=1)
    every = (await router.do("logs", device=phone, action="read")).data
    assert "[Fail]Not match" in str(every), "what looks like a refusal is a line of the log"
    mine = (await router.do("logs", device=phone, app=PRACTICE)).data
    assert "[Fail]" not in str(mine)
