"""`command-search` finds a command by the words people use."""

from __future__ import annotations

import pytest

from anydevice.catalogue import Catalogue
from anydevice.commands import all_commands
from anydevice.discovery import BACKENDS, discover
from anydevice.everyday import EVERYDAY
from anydevice.searching import stem
from anydevice_schemas import Command

FIRST = {
    "landscape": "orientation",
    "rotate": "orientation",
    "rotate screen": "orientation",
    "rotate the screen to portrait": "orientation",
    "turn the phone sideways": "orientation",
    "pinch to zoom": "gesture",
    "zoom in on the map": "gesture",
    "drag and drop": "gesture",
    "wifi off": "settings",
    "turn off wi-fi": "settings",
    "turn on dark mode": "settings",
    "airplane mode": "settings",
    "battery": "settings",
    "grant the camera permission": "settings",
    "fake gps location": "settings",
    "clear app data": "settings",
    "bigger font size": "settings",
    "apk": "install",
    "install an app": "install",
    "sideload a package": "install",
    "install from a url": "install-from-source",
    "uninstall the app": "uninstall",
    "delete an app": "uninstall",
    "clean install": "reinstall",
    "factory reset": "erase",
    "wipe the phone": "erase",
    "delete a file": "trash",
    "logcat": "logs",
    "crash": "logs",
    "why did my app crash": "logs",
    "stack trace": "logs",
    "error messages": "logs",
    "cpu": "perf",
    "memory leak": "perf",
    "fps": "perf",
    "paste": "clipboard",
    "copied text": "clipboard",
    "video": "record",
    "record a video of the screen": "record",
    "screen recording": "record",
    "take a picture": "screenshot",
    "screen shot": "screenshot",
    "capture the screen": "screenshot",
    "add a photo to the gallery": "add-media",
    "kill app": "close",
    "quit the app": "close",
    "force stop": "close",
    "launch an app": "open",
    "go to a website": "open",
    "deep link": "open",
    "start the emulator": "boot",
    "turn on the phone": "boot",
    "turn off the phone": "shutdown",
    "power off": "shutdown",
    "tap a button": "press",
    "double click": "press",
    "enter text": "fill",
    "choose from a dropdown": "fill",
    "choose an option of a list": "fill",
    "log in": "fill",
    "long tap": "longpress",
    "context menu": "longpress",
    "tooltip": "hover",
    "keyboard shortcut": "key",
    "hide the keyboard": "keyboard",
    "ocr": "ocr",
    "text recognition": "ocr",
    "scroll down": "scroll",
    "what is on the screen": "snapshot",
    "ui tree": "snapshot",
    "accessibility tree": "snapshot",
    "what changed": "diff",
    "which app is in front": "appstate",
    "list installed apps": "apps",
    "switch apps": "app-switcher",
    "is the button enabled": "is",
    "wait until it appears": "wait",
    "sleep": "wait",
    "http requests": "network",
    "port forwarding": "forward",
    "upload a file": "files",
    "find a file": "file-search",
    "push notification": "push",
    "send event to app": "trigger-app-event",
    "remote control": "tv-remote",
    "play pause": "tv-remote",
    "reserve a device": "lease",
    "popup": "alert",
    "several commands at once": "batch",
    "what is supported": "capabilities",
    "connected devices": "devices",
    "troubleshoot": "doctor",
    "run a shell command": "shell",
    "resize the window": "window",
    "go back": "back",
    "home screen": "home",
}
"""What somebody asks for, and the command that has to be told first."""

AMONG = {
    "mute": {"audio", "tv-remote", "key"},
    "volume": {"audio", "tv-remote", "key"},
    "reboot": {"boot", "shutdown"},
    "restart the app": {"close", "open"},
    "rotate": {"orientation", "gesture"},
    "choose an option of a list": {"fill", "press"},
    "select an option": {"fill", "press"},
    "type text": {"type", "fill"},
    "dismiss the dialog": {"alert"},
    "read text from an image": {"ocr"},
    "where is the button": {"find"},
    "where does the app keep its files": {"app-container"},
    "who uses the device": {"lease"},
}
"""What has to be among the first three."""


def every_command(*, backends: bool) -> Catalogue:
    catalogue = Catalogue()
    for spec in all_commands():
        assert catalogue.register(spec)
    for record in discover(BACKENDS) if backends else ():
        if record.manifest is not None:
            for entry in record.manifest.commands:
                catalogue.register_manifest(entry, backend=record.name, origin=record.distribution)
    return catalogue


@pytest.fixture(scope="module", params=[False, True], ids=["core", "with-backends"])
def catalogue(request: pytest.FixtureRequest) -> Catalogue:
    return every_command(backends=request.param)


def found(catalogue: Catalogue, words: str, limit: int = 3) -> list[str]:
    return [command.name for command in catalogue.search(words, limit=limit)]


@pytest.mark.parametrize("words", FIRST)
def test_what_people_say_finds_the_command_first(catalogue: Catalogue, words: str) -> None:
    assert found(catalogue, words)[:1] == [FIRST[words]]


@pytest.mark.parametrize("words", AMONG)
def test_what_people_say_finds_every_command_that_does_it(catalogue: Catalogue, words: str) -> None:
    assert set(found(catalogue, words)) >= AMONG[words]


def test_every_command_is_found_first_by_its_name_and_by_its_aliases(catalogue: Catalogue) -> None:
    for command in catalogue.commands():
        for name in (command.name, *command.aliases):
            for words in (name, name.replace("-", " "), name.replace("-", "_"), name.upper()):
                assert found(catalogue, words)[0] == command.name, words


def test_every_command_of_core_has_everyday_words_and_no_other_has() -> None:
    assert set(EVERYDAY) == {spec.command.name for spec in all_commands()}
    assert all(phrases and all(phrases) for phrases in EVERYDAY.values())


def test_a_misspelt_word_finds_what_was_meant(catalogue: Catalogue) -> None:
    for words, name in {"screnshot": "screenshot", "orientaton": "orientation", "clipbord": "clipboard"}.items():
        assert found(catalogue, words)[0] == name


def test_the_beginning_of_a_word_finds_it_after_whole_words(catalogue: Catalogue) -> None:
    assert found(catalogue, "orient")[0] == "orientation"
    assert found(catalogue, "notif")[0] == "push"
    assert found(catalogue, "log")[0] == "logs"


@pytest.mark.parametrize("words", ["qqqq", "…", "日本語", "🦊", "x" * 200, " ", "sms on my phone"])
def test_words_of_no_command_find_none(catalogue: Catalogue, words: str) -> None:
    assert found(catalogue, words) == []


def test_words_that_say_nothing_do_not_change_what_is_found(catalogue: Catalogue) -> None:
    for words, name in FIRST.items():
        assert found(catalogue, f"how can I please {words} on my phone")[0] == name


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("name the functions of a crash report", "debug"), ("crash", "debug"), ("switch to another tab", "tabs"),
        ("browser that keeps its logins", "browser-profile"), ("a second desktop", "virtual-desktop"),
        ("screen reader", "vega-config"),
    ],
)  # fmt: skip
def test_a_command_of_a_backend_is_found_by_its_description(words: str, name: str) -> None:
    assert name in found(every_command(backends=True), words)


def test_no_more_is_told_than_was_asked_for(catalogue: Catalogue) -> None:
    assert len(found(catalogue, "app", limit=10)) <= 10
    assert len(found(catalogue, "app", limit=1)) == 1


def test_a_command_that_comes_later_is_found_by_its_description() -> None:
    catalogue = every_command(backends=False)
    assert found(catalogue, "seismograph") == []
    spec = catalogue.get("press")
    told = {
        "name": "quake",
        "summary": "Reads the seismographs of a device. To turn the lathe use press.",
        "effect": "read",
        "scope": "device",
    }
    spec = type(spec)(Command.model_validate(told), spec.input, spec.handler)
    assert catalogue.register(spec)
    assert found(catalogue, "seismograph") == ["quake"]
    assert found(catalogue, "lathe") == []  # it says that another command does that


@pytest.mark.parametrize(
    "forms",
    [
        "rotate rotates rotated rotating rotation",
        "tap taps tapped tapping",
        "press presses pressed pressing",
        "copy copies copied",
    ],
)
def test_the_forms_of_a_word_are_one_word(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1
