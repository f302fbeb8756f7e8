"""What positional words mean, for the catalogue as it really is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anydevice.commands import all_commands
from anydevice_cli.device import _BRINGS, DeviceCommand, in_short, kebab
from anydevice_cli.remote import Catalogue
from anydevice_cli.words import _WORDS, Words, WordsError, read_json

COMMANDS = {spec.command.name: spec.command.model_dump(mode="json", by_alias=True) for spec in all_commands()}


@pytest.mark.parametrize(
    ("command", "words", "arguments"),
    [
        ("open", ["https://example.org"], {"url": "https://example.org"}),
        ("open", ["myapp://x"], {"url": "myapp://x"}),
        ("open", ["com.example.app"], {"app": "com.example.app"}),
        ("press", ["Sign in"], {"target": "Sign in"}),
        ("fill", ["@e3", "a b"], {"target": "@e3", "text": "a b"}),
        ("fill", ["@e3", ""], {"target": "@e3", "text": ""}),
        ("type", ["hello"], {"text": "hello"}),
        ("key", ["ctrl+s"], {"chord": "ctrl+s"}),
        ("get", ["@e1"], {"target": "@e1"}),
        ("get", ["attrs", "@e1"], {"what": "attrs", "target": "@e1"}),
        ("diff", [], {}),
        ("diff", ["s3f09ab"], {"since": "s3f09ab"}),
        ("is", ["checked", "Wi-Fi"], {"predicate": "checked", "target": "Wi-Fi"}),
        ("is", ["text", "Total", "7"], {"predicate": "text", "target": "Total", "value": "7"}),
        ("find", ["role=button"], {"query": "role=button"}),
        ("scroll", ["down"], {"direction": "down"}),
        ("scroll", ["left"], {"direction": "left"}),
        ("scroll", ["bottom"], {"edge": "bottom"}),
        ("wait", ["500"], {"durationMs": 500}),
        ("wait", ["stable"], {"stable": True}),
        ("wait", ["Saved"], {"text": "Saved"}),
        ("wait", ["@e3"], {"target": "@e3"}),
        ("wait", ["text", "stable"], {"text": "stable"}),
        ("wait", ["absent", "role=progressbar"], {"absent": "role=progressbar"}),
        ("boot", ["chromium"], {"device": "chromium"}),
        ("shutdown", ["chromium"], {"device": "chromium"}),
        ("session", ["end", "auto-1"], {"action": "end", "name": "auto-1"}),
        ("alert", ["accept"], {"action": "accept"}),
        ("lease", ["acquire"], {"action": "acquire"}),
        ("command-search", ["app", "event"], {"words": "app event"}),
        ("command-run", ["press"], {"name": "press"}),
        ("trigger-app-event", ["cart.filled"], {"event": "cart.filled"}),
        ("shell", ["ls -l | wc"], {"commandLine": "ls -l | wc"}),
        ("tags", ["a.pdf"], {"path": "a.pdf"}),
        ("tags", ["add", "a.pdf"], {"action": "add", "path": "a.pdf"}),
        ("tags", ["add", "a.pdf", "urgent", "to do"], {"action": "add", "path": "a.pdf", "tags": ["urgent", "to do"]}),
        ("tags", ["a.pdf", "add", "urgent"], {"action": "add", "path": "a.pdf", "tags": ["urgent"]}),
        ("tags", ["a.pdf", "get"], {"action": "get", "path": "a.pdf"}),
        ("tags", ["set"], {"action": "set"}),
        ("files", ["push", "seed.db", "/sd/"], {"action": "push", "hostPath": "seed.db", "devicePath": "/sd/"}),
        ("files", ["pull", "/sd/a", "a"], {"action": "pull", "devicePath": "/sd/a", "hostPath": "a"}),
        ("files", ["pull", "/sd/a"], {"action": "pull", "devicePath": "/sd/a"}),
        ("clipboard", [], {}),
        ("clipboard", ["read"], {"action": "read"}),
        ("clipboard", ["read", "image"], {"action": "read", "kind": "image"}),
        ("clipboard", ["write", "a b"], {"action": "write", "text": "a b"}),
        ("install", ["build/app.zip"], {"path": "build/app.zip"}),
        ("erase", ["My phone"], {"device": "My phone"}),
        ("screenshot", ["shot.png"], {"path": "shot.png"}),
        ("record", ["stop", "demo.mp4"], {"action": "stop", "path": "demo.mp4"}),
        ("apps", ["notes"], {"name": "notes"}),
        ("press", [], {}),
    ],
)
def test_words_become_arguments(command: str, words: list[str], arguments: dict[str, Any]) -> None:
    assert Words(COMMANDS[command]).read(words) == arguments


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("press", ["Sign", "in"]),
        ("devices", ["x"]),
        ("wait", ["until", "x"]),
        ("fill", ["a", "b", "c"]),
        ("tags", ["a", "b"]),
    ],
)
def test_words_that_do_not_fit_are_refused(command: str, words: list[str]) -> None:
    with pytest.raises(WordsError):
        Words(COMMANDS[command]).read(words)


def test_every_command_with_words_is_in_the_catalogue_and_every_word_is_an_argument_of_it() -> None:
    for name, (_, most, reader) in _WORDS.items():
        assert name in COMMANDS, name
        if not callable(reader):
            # a device is named by a selector; a picture or video is copied by the command line itself
            properties = {
                *COMMANDS[name]["inputSchema"]["properties"],
                "device",
                *(["path"] if name in _BRINGS else []),
            }
            assert len(reader) == most and set(reader) <= properties, name


def test_a_command_nobody_foresaw_takes_its_required_plain_inputs_as_words() -> None:
    descriptor = {
        "name": "vendor-x",
        "inputSchema": {
            "properties": {"count": {"type": "integer"}, "tags": {"type": "array"}, "name": {"type": "string"}},
            "required": ["name", "tags", "count"],
        },
    }
    words = Words(descriptor)
    assert (words.metavar, words.read(["a", "3"])) == ("NAME COUNT", {"name": "a", "count": 3})
    with pytest.raises(WordsError, match="'x' is not a number"):
        words.read(["a", "x"])


def test_a_command_that_begins_with_an_action_takes_it_as_its_word() -> None:
    action = {"type": "string", "enum": ["read", "write"]}
    own = {"name": "vendor-y", "inputSchema": {"properties": {"action": action, "text": {"type": "string"}}}}
    words = Words(own)
    assert (words.metavar, words.first, words.read(["write"])) == ("[ACTION]", ["read", "write"], {"action": "write"})
    later = {"name": "vendor-z", "inputSchema": {"properties": {"text": {"type": "string"}, "action": action}}}
    assert Words(later).metavar == ""


def test_steps_come_from_a_file_from_text_or_as_an_object(tmp_path: Path) -> None:
    steps = [{"command": "press", "arguments": {"target": "@e1"}}]
    file = tmp_path / "steps.json"
    file.write_text(json.dumps(steps))
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps({"steps": steps, "onError": "continue"}))
    batch = Words(COMMANDS["batch"])
    assert batch.read([str(file)]) == batch.read([f"@{file}"]) == batch.read([json.dumps(steps)]) == {"steps": steps}
    assert batch.read([str(whole)]) == {"steps": steps, "onError": "continue"}
    with pytest.raises(WordsError, match="No such file"):
        batch.read([str(tmp_path / "absent")])
    with pytest.raises(WordsError, match="not JSON"):
        read_json("{")


def test_every_command_of_the_catalogue_becomes_one_of_the_command_line() -> None:
    from anydevice.schema import flat_schema
    from anydevice_schemas import DeviceSelector, Switches

    catalogue = Catalogue(
        {
            "digest": "x",
            "commands": list(COMMANDS.values()),
            "selectors": flat_schema(DeviceSelector)["properties"],
            "switches": flat_schema(Switches)["properties"],
        }
    )
    for name, descriptor in COMMANDS.items():
        command = DeviceCommand(descriptor, catalogue)
        options = [option for param in command.params for option in (*param.opts, *param.secondary_opts)]
        assert len(options) == len(set(options)), name
        wanted = {*descriptor["inputSchema"]["properties"]}
        if descriptor["selectors"]:
            wanted |= {*catalogue.selectors}
        wanted |= {*catalogue.switches} - {"mcpOutputFormat"}
        assert {f"--{kebab(field)}" for field in wanted} <= set(options), name
        assert ("--path" in options) == (name in ("screenshot", "record") or "path" in wanted)
    by_target = next(p for p in DeviceCommand(COMMANDS["snapshot"], catalogue).params if "--target" in p.opts)
    assert "--device-target" in by_target.opts


def test_a_summary_in_short_is_its_first_sentence_without_what_explains_it() -> None:
    assert in_short("Presses one element: a button. Then more.") == "Presses one element."
    assert in_short("Reads it") == "Reads it."
    assert in_short("Installs from an http(s) address (a zip, say), or a file; it is unpacked.") == (
        "Installs from an http(s) address, or a file."
    )


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_told_in_short_by_a_whole_sentence(name: str) -> None:
    short = in_short(COMMANDS[name]["summary"])
    assert short.endswith(".") and "…" not in short and not short.endswith(",.")
    assert short.count("(") == short.count(")") and len(short) <= 160
    assert short.rstrip(".").split()[-1] not in {"a", "an", "the", "and", "or", "of", "to", "with", "in"}
