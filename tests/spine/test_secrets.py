"""Passwords and typed texts stay where they were typed: in no answer, and in no file below the home folder."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from ..support.daemons import Home
from .conftest import CONFIG, caller
from .doors import DOORS, Door
from .witness import Witness

pytestmark = [pytest.mark.daemon, pytest.mark.chromium]

DEVICE = "chromium"


class Secrets:
    """Words nobody could guess, one for every way a text may get to a page."""

    def __init__(self) -> None:
        self.made: dict[str, str] = {}

    def __call__(self, why: str) -> str:
        return self.made.setdefault(why, f"{why}-{secrets.token_hex(12)}")

    def in_text(self, text: str) -> list[str]:
        """Which of them a text holds, in any form they might be written in."""
        return [why for why, word in self.made.items() if word in text or quote(word, safe="") in text]

    def in_files(self, folder: Path, *, without: str = "") -> list[str]:
        """Which of them are in which file below a folder."""
        found = []
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink() and not (without and without in str(path)):
                data = path.read_bytes()
                found += [
                    f"{why} in {path.relative_to(folder)}"
                    for why, word in self.made.items()
                    if word.encode() in data or word.encode("utf-16-le") in data
                ]
        return found


@pytest.fixture(scope="module")
def module_home() -> Iterator[Home]:
    with Home.made(CONFIG) as home:
        home.serve()
        yield home


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, module_home: Home) -> Iterator[Door]:
    with caller(module_home, request.param, f"secrets-{request.param}") as made:
        yield made


def test_a_password_is_in_no_answer_and_no_text_is_in_any_file(
    door: Door, module_home: Home, witness: Witness, tag: str
) -> None:
    secret, heard = Secrets(), []
    loud = {"responseLevel": "full", "debug": True, "includeCost": True}

    def call(command: str, **arguments: object) -> None:
        said = door.call(command, **arguments)
        heard.append(said.text)
        heard.append(str(said.wire))

    door.do("open", url=witness.url(tag), device=DEVICE, boot=True, eventUrlTemplate="app://{event}")
    call("fill", target="Password", text=secret("filled"), **loud)
    assert witness.state(tag)["fields"]["password"] == secret("filled")
    call("type", target="Password", text=secret("typed"), **loud)
    assert witness.state(tag)["fields"]["password"] == secret("filled") + secret("typed")
    fill = {"command": "fill", "arguments": {"target": "Password", "text": secret("in-a-batch")}}
    call("batch", steps=[fill], **loud)
    call("command-run", name="fill", arguments={"target": "Password", "text": secret("run"), **loud})
    assert witness.state(tag)["fields"]["password"] == secret("run")
    for mode in ("full", "interactive"):
        call("snapshot", mode=mode, **loud)
    call("get", target="Password", what="text", **loud)
    call("get", target="Password", what="attrs", **loud)
    call("find", query="role=textbox", **loud)
    call("press", target="Password", **loud)
    call("appstate", **loud)
    # What cannot be done must not tell either.
    call("fill", target="Fixed", text=secret("refused"), **loud)
    call("fill", target="Colour", text=secret("no-option"), **loud)
    call("fill", target="Nowhere", text=secret("nowhere"), timeoutMs=0, **loud)
    call("fill", target="Password", text=secret("unknown-field"), taget="x")
    call("fill", target="Password", text=[secret("wrong-type")])
    call("type", text=secret("wrong-delay"), delayMs="soon")
    assert secret.in_text("\n".join(heard)) == []

    # Into fields that anybody may read, the answer may say what they hold; no file may.
    door.do("fill", target="Name", text=secret("name"))
    door.do("type", target="Mail", text=secret("mail"))
    door.do("trigger-app-event", event="seed", payload={"token": secret("payload")})
    door.do("press", target="Prompt me")
    door.do("alert", action="accept", text=secret("prompted"))
    door.do("batch", steps=[{"command": "type", "arguments": {"target": "Notes", "text": secret("batched")}}])
    assert witness.all(tag, "prompt") == [secret("prompted")]
    assert len(secret.made) == 15
    # The browser's own profile is its own; it is gone with the browser.
    assert secret.in_files(module_home.path, without="/profile/") == []
    door.do("shutdown", device=DEVICE)
    assert secret.in_files(module_home.path) == []
    assert secret.in_text(module_home.json("daemon-log", "--lines", "10000")["data"]["lines"].__str__()) == []
