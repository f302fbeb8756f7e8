"""Lines that the HarmonyOS lab runs without a shell mean the same as in one; all others get one."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from anydevice_lab.harmonyos import Lab
from anydevice_lab.harmonyos.device import HarmonyDevice
from anydevice_lab.harmonyos.kinds import KINDS
from anydevice_lab.harmonyos.outline import outline

from .harmony import Device

pytestmark = pytest.mark.anyio
ON = "hidumper -s RenderService -a screen | grep -i power_status_on | grep -qv '[=:] *0x0'"


def wrapped(command: str) -> str:
    """As the backend's client sends it."""
    return f"({command}\n) 2>&1; echo __rc_1=$?"


SAME = [
    "uitest --version", "param get const.product.model", "bm dump -n no.such.app", "uitest uiInput keyEvent Nonsense",
    "uitest uiInput click 5 -5 && echo never", "uitest uiInput keyEvent Nonsense; echo after", "echo a; echo b",
    f"if {ON}; then echo lit; else echo dark; exit 93; fi", "cat /data/local/tmp/none", "rm -f /data/local/tmp/none",
    "if uitest --version | grep -q nothing; then echo yes; else echo no; exit 7; fi", "echo one && echo two; exit 3",
    "param set persist.test 'a b'; param get persist.test", "if uitest help | grep -qv u; then echo x; else echo y; fi",
]  # fmt: skip
SHELLS = [
    "echo $HOME", "true", "uitest --version | cat", "uitest --version > /data/local/tmp/x", 'echo "a"', "uitest `id`",
    "if true; then echo a; else echo b; fi", "uitest --version || echo x", "exit 3x", "cat /a /b", "cd /; uitest help",
    f"if {ON.replace('0x0', '0x.?')}; then echo a; else echo b; fi", "uitest --version &", "rm -rf /data/local/tmp/x",
    "if uitest help | grep -v u; then echo x; else echo y; fi",
    "if uitest help | grep -q u | grep -q u; then echo x; else echo y; fi",
]  # fmt: skip


@pytest.fixture(scope="module")
async def lab() -> AsyncIterator[Lab]:
    async with Lab() as running:
        yield running


@pytest.fixture(scope="module")
async def phone(lab: Lab) -> Device:
    return Device(lab, (await lab.start("phone"))[0])


@pytest.fixture
def device(tmp_path_factory: pytest.TempPathFactory) -> HarmonyDevice:
    return HarmonyDevice(KINDS["phone"], tmp_path_factory.mktemp("phone"))


async def test_what_runs_without_a_shell_says_and_ends_as_it_would_in_one(
    lab: Lab, phone: Device, device: HarmonyDevice
) -> None:
    for awake in (True, False):
        await lab.set(phone.serial, awake=awake)
        for command in SAME:
            line = wrapped(command)
            assert outline(device, line) is not None, command
            said = {}
            for direct in (True, False):
                await lab.set(phone.serial, direct=direct)
                said[direct] = re.sub(r"^\w+: (/\S+): ", r"\1: ", await phone.ask(f"shell {line}"))
            assert said[True] == said[False], (command, awake)
    await lab.set(phone.serial, awake=True, direct=True)


@pytest.mark.parametrize("command", SHELLS)
def test_whatever_else_is_in_a_line_goes_through_a_real_shell(device: HarmonyDevice, command: str) -> None:
    assert outline(device, wrapped(command)) is None


async def test_a_file_a_program_wrote_is_read_and_taken_away(phone: Device) -> None:
    path = "/data/local/tmp/outline.json"
    said = await phone.ask(
        f"shell {wrapped(f'uitest dumpLayout -p {path}; echo; echo part; cat {path}; rm -f {path}')}"
    )
    head, _, rest = said.partition("part\n")
    assert "DumpLayout saved to" in head and rest.startswith('{"attributes"') and rest.endswith("__rc_1=0\n")
    assert "No such file" in await phone.ask(f"shell {wrapped(f'cat {path}')}")
