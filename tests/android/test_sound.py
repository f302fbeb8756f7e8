"""How loud a device plays: told of the time since start, by what its sound server says."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest

from anydevice_android import sound
from anydevice_android.reading.loudness import loudness
from anydevice_lab.android import Lab

from .asking import given_back
from .rig import Rig

HEAD = "Output thread 0x1, name AudioOut_D, type 0 (MIXER):\n  Standby: no\n"
ROWS = (
    "      Signal power history:\n"
    "       12-31 16:00:00.000: [   -6.0   -6.0  -18.1\n"
    "       12-31 16:00:00.150:    -18.1  -18.1 ] sum(2.3)\n"
    "       12-31 16:00:02.000: [   -6.0\n\n"
    "     -6.0 -|***   |\n           |____\n"
)


def test_levels_are_read_with_their_times_and_the_sum_is_none_of_them() -> None:
    found = loudness(HEAD + ROWS)
    assert found is not None and len(found) == 1
    first = min(found[0])
    assert [(round(at - first, 3), level) for at, level in found[0].items()] == [
        (0.0, -6.0), (0.05, -6.0), (0.1, -18.1), (0.15, -18.1), (0.2, -18.1), (2.0, -6.0),
    ]  # fmt: skip


def test_what_a_microphone_hears_is_not_played() -> None:
    assert loudness("Input thread 0x2, name AudioIn:\n" + ROWS) is None
    found = loudness(HEAD + "      Signal power history: (none)\n" + "Input thread 0x2:\n" + ROWS)
    assert found == [{}]


def test_the_finest_of_several_resolutions_is_taken() -> None:
    coarse = ROWS.replace("history:", "history (resolution: 1000.0 ms):")
    fine = ROWS.replace("history:", "history (resolution: 50.0 ms):").replace("-18.1", "-30.0")
    for text in (HEAD + coarse + fine, HEAD + fine + coarse):
        found = loudness(text)
        assert found is not None and len(found) == 1 and -30.0 in found[0].values()


@pytest.mark.parametrize("text", ["", "Permission Denial: can't dump AudioFlinger from pid=1", HEAD + "  Tracks: 0\n"])
def test_a_server_that_keeps_no_history_is_not_silent(text: str) -> None:
    assert loudness(text) is None


@pytest.fixture
async def loud(lab: Lab, phone: str) -> AsyncIterator[str]:
    yield phone
    await lab.set(phone, sound=None)


@pytest.mark.anyio
async def test_what_plays_after_the_start_is_heard_and_what_played_before_is_not(
    lab: Lab, router: Rig, loud: str
) -> None:
    await lab.set(loud, sound=-3.0)
    await anyio.sleep(0.3)
    await lab.set(loud, sound=None)
    begun = (await router.do("audio", device=loud, action="start")).data
    assert begun["listening"] is True and begun["silent"] is True and begun["peakDbfs"] == -120
    await lab.set(loud, sound=-20.0)
    await anyio.sleep(0.6)
    await lab.set(loud, sound=None)
    told = (await router.do("audio", device=loud)).data
    assert told["silent"] is False and told["peakDbfs"] == -20.0 and -40 < told["rmsDbfs"] < -20.0
    ended = (await router.do("audio", device=loud, action="stop")).data
    assert ended["listening"] is False and ended["peakDbfs"] == -20.0 and ended["rmsDbfs"] <= told["rmsDbfs"]
    await router.do("audio", device=loud, expect="action_unverified")


@pytest.mark.anyio
async def test_a_sound_that_the_device_has_forgotten_by_the_end_was_heard(
    lab: Lab, router: Rig, loud: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sound, "AGAIN", 0.1)
    await router.do("audio", device=loud, action="start")
    await lab.set(loud, sound=-10.0)
    await anyio.sleep(0.4)
    for _ in range(45):  # each a row of its own: what was before them is told no more
        await lab.set(loud, sound=-50.0)
        await anyio.sleep(0.06)
    await lab.set(loud, sound=None)
    done = await router.do("shell", device=loud, commandLine="dumpsys media.audio_flinger")
    assert "-50.0" in done.data["stdout"] and "-10.0" not in done.data["stdout"]
    assert (await router.do("audio", device=loud, action="stop")).data["peakDbfs"] == -10.0


@pytest.mark.anyio
async def test_a_device_that_keeps_no_history_says_so_and_never_silence(lab: Lab, router: Rig, phone: str) -> None:
    await lab.fault(phone, "no_power_history")
    await router.do("audio", device=phone, action="start", expect="unsupported")
    await router.do("audio", device=phone, expect="action_unverified")


@pytest.mark.anyio
async def test_who_gets_the_device_next_is_not_told_what_was_heard(lab: Lab, router: Rig, phone: str) -> None:
    await router.do("audio", device=phone, action="start")
    await given_back(router, phone)
    await router.do("audio", device=phone, action="stop", expect="action_unverified")
