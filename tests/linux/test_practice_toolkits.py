"""The practice app's Form screen in GTK 4 and Qt, through our commands, judged by the witness and nothing else."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

import anydevice_linux
from anydevice_schemas.practice import as_data

from .desktop import SYSTEM_PYTHON, missing
from .through import Seated, Witness, seated

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(missing() is not None, reason=missing() or "")]
FOLDER = Path(anydevice_linux.__file__).parent / "practice"
SECRET = "swordfish 42"
TOOLKITS = {
    "gtk4": ("form_gtk4.py", SYSTEM_PYTHON, "import gi; gi.require_version('Gtk', '4.0')", "gir1.2-gtk-4.0"),
    "qt5": ("form_qt.py", SYSTEM_PYTHON, "import PyQt5.QtWidgets", "python3-pyqt5"),
    "qt6": ("form_qt.py", sys.executable, "import PySide6.QtWidgets", "PySide6"),
}
"""Of each: the program, the Python that runs it, what that has to know, and the package that brings it."""


def _spec() -> dict[str, Any]:
    """The specification, and one more screen with what the form has not: a box to check and two of which one is on."""
    data = as_data()
    blank = dict(data["screens"]["form"]["elements"][0], value=None)
    data["screens"]["choices"] = {
        **data["screens"]["form"],
        "id": "choices",
        "title": "Choices",
        "elements": [
            dict(blank, id="choices.agree", role="checkbox", name="Agree"),
            dict(blank, id="choices.small", role="radio", name="Small", states=["checked"]),
            dict(blank, id="choices.large", role="radio", name="Large"),
        ],
    }
    return data


@cache
def _absent(toolkit: str) -> str | None:
    _, python, probe, package = TOOLKITS[toolkit]
    if toolkit == "qt6":
        return None if importlib.util.find_spec("PySide6") else f"not installed: {package}"
    done = subprocess.run([python, "-c", probe], capture_output=True, check=False)
    return None if done.returncode == 0 else f"not installed: {package}"


@dataclass
class Form:
    """A form on a desktop, and its witness."""

    toolkit: str
    desktop: Seated
    witness: Witness
    spec: Path
    opened: bool = False

    async def open(self, screen: str = "form") -> None:
        """Starts the program on a screen; returns once that is up."""
        program, python, _, _ = TOOLKITS[self.toolkit]
        argv = [python, FOLDER / program, "--spec", self.spec, "--screen", screen, "--witness", self.witness.address]
        self.desktop.install("form", argv)
        self.opened = True
        await self.desktop.do("open", app="form")
        await self.witness.until(lambda: self.witness.said("ready") == [screen])

    async def do(self, command: str, **arguments: Any) -> Any:
        return await self.desktop.do(command, **arguments)

    async def last(self, what: str, id: str, value: object) -> None:
        """Waits until the last word on an element is this one."""
        await self.witness.until(lambda: (self.witness.said(what, id) or [None])[-1] == value)


@pytest.fixture(scope="module")
async def desktop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Seated]:
    async with seated(tmp_path_factory.mktemp("desktop")) as made:
        yield made


@pytest.fixture(params=list(TOOLKITS))
async def form(request: pytest.FixtureRequest, desktop: Seated, tmp_path: Path) -> AsyncIterator[Form]:
    reason = await anyio.to_thread.run_sync(_absent, request.param)
    if reason is not None:
        pytest.skip(reason)
    spec = tmp_path / "specification.json"
    spec.write_text(json.dumps(_spec(), ensure_ascii=False), "utf-8")
    made = Form(request.param, desktop, Witness(), spec)
    yield made
    if made.opened:
        await desktop.do("close", force=True)
    made.witness.close()


async def test_what_is_filled_in_arrives_whole_and_is_read_back(form: Form) -> None:
    await form.open()
    for field, id in (("Name", "form.name"), ("Notes", "form.notes")):
        for text in ("Grüße 世界 🙂", "Ada"):
            answer = await form.do("fill", target=f'label="{field}" role=textbox', text=text)
            assert answer.verified is True
            await form.last("fill", id, text)
    answer = await form.do("fill", target='label="Notes" role=textbox', text="one\ntwo")
    await form.last("fill", "form.notes", "one\ntwo")
    assert answer.verified is True
    assert (await form.do("get", target='label="Name" role=textbox')).data["text"] == "Ada"


async def test_what_is_typed_arrives_key_by_key(form: Form) -> None:
    await form.open()
    await form.do("type", target='label="Name" role=textbox', text="Zoë ☃")
    await form.last("fill", "form.name", "Zoë ☃")
    assert not form.witness.said("key")
    await form.do("key", chord="ctrl+a")
    await form.do("key", chord="backspace")
    await form.last("fill", "form.name", "")
    assert form.witness.said("key") == ["ctrl+a", "backspace"]


async def test_a_field_that_drops_characters_is_not_said_to_hold_them(form: Form) -> None:
    await form.open()
    await form.do("fill", target='label="Letters" role=textbox', text="a1b2", expect="action_unverified")
    await form.last("fill", "form.letters", "ab")


async def test_a_secure_field_is_filled_and_never_read(form: Form) -> None:
    await form.open()
    answers = [await form.do("fill", target='label="Password" role=textbox', text=SECRET)]
    await form.last("fill", "form.password", len(SECRET))
    answers.append(await form.do("snapshot", mode="full", responseLevel="full"))
    answers.append(await form.do("find", query='label="Password" role=textbox'))
    answers.append(await form.do("get", target='label="Password" role=textbox', what="attrs"))
    assert all(SECRET not in answer.model_dump_json() for answer in answers)
    assert "secure" in answers[1].data["text"]


async def test_a_switch_a_slider_and_a_list_take_what_they_are_given(form: Form) -> None:
    await form.open()
    switch = (await form.do("find", query='label="Wi-Fi"')).data["matches"]
    (ref,) = [match["ref"] for match in switch if match["role"] in ("switch", "checkbox")]
    answer = await form.do("press", target=ref)
    await form.last("toggle", "form.wifi", True)
    assert answer.verified is True
    await form.do("press", target=ref)
    await form.last("toggle", "form.wifi", False)
    answer = await form.do("fill", target='label="Volume" role=slider', text="80")
    await form.last("fill", "form.volume", "80")
    assert answer.verified is True
    answer = await form.do("fill", target='label="Colour" role=combobox', text="Blue")
    await form.last("select", "form.colour", "Blue")
    assert answer.verified is True
    assert (await form.do("get", target='label="Colour" role=combobox')).data["text"] == "Blue"


async def test_a_list_is_opened_and_one_of_its_options_pressed(form: Form) -> None:
    await form.open()
    await form.do("press", target='label="Colour" role=combobox')
    await form.do("wait", target="label=Green role=option", timeoutMs=10_000)
    await form.do("press", target="label=Green role=option")
    await form.last("select", "form.colour", "Green")
    assert (await form.do("get", target='label="Colour" role=combobox')).data["text"] == "Green"


async def test_boxes_are_checked_and_one_of_several_chosen(form: Form) -> None:
    await form.open("choices")
    answer = await form.do("press", target="label=Agree role=checkbox")
    await form.last("toggle", "choices.agree", True)
    assert answer.verified is True
    await form.do("press", target="label=Large role=radio")
    await form.last("toggle", "choices.large", True)
    await form.last("toggle", "choices.small", False)
    tree = (await form.do("snapshot", responseLevel="full")).data["tree"]
    states = {node["name"]: set(node["states"]) & {"checked", "unchecked"} for node in tree if node["role"] == "radio"}
    assert states == {"Small": {"unchecked"}, "Large": {"checked"}}


async def test_what_is_disabled_covered_or_ambiguous_is_refused_and_gets_nothing(form: Form) -> None:
    await form.open()
    await form.do("press", target="label=Submit role=button", expect="element_disabled", timeoutMs=0)
    await form.do("press", target="label=Covered role=button", expect="element_covered", timeoutMs=0)
    await form.do("press", target="label=Delete role=button", expect="ambiguous_element", timeoutMs=0)
    await form.do("press", target='label="Sign in" role=button')  # exact beats partial
    await form.witness.until(lambda: form.witness.pressed() == ["form.signin"])


async def test_the_form_is_submitted_once_it_may_be(form: Form) -> None:
    await form.open()
    await form.do("fill", target='label="Name" role=textbox', text="Ada")
    await form.do("press", target="label=Submit role=button")
    await form.witness.until(lambda: form.witness.said("submit") == ["Ada"])
    await form.do("press", target="General")
    await form.witness.until(lambda: form.witness.pressed() == ["form.submit", "form.row"])


async def test_what_is_off_screen_is_brought_there_before_it_is_pressed(form: Form) -> None:
    await form.open()
    await form.do("press", target='label="Delete" role=button index=1')
    await form.witness.until(lambda: form.witness.pressed() == ["form.delete-2"])


async def test_a_screen_that_cannot_be_drawn_is_refused_at_the_start(form: Form) -> None:
    program, python, _, _ = TOOLKITS[form.toolkit]
    argv = [python, str(FOLDER / program), "--spec", str(form.spec), "--screen", "list"]
    done = await anyio.to_thread.run_sync(lambda: subprocess.run(argv, capture_output=True, check=False, timeout=60))
    assert done.returncode != 0 and b"only practice_app.py has that" in done.stderr
