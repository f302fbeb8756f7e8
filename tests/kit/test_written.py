"""What people write in one line is taken apart the same way on every platform."""

from __future__ import annotations

import pytest

from anydevice.kit import written
from anydevice_schemas.errors import InvalidArgument


@pytest.mark.parametrize(
    ("text", "held", "key"),
    [
        ("enter", [], "enter"),
        ("Ctrl+A", ["ctrl"], "a"),
        (" ctrl + shift +  F5 ", ["ctrl", "shift"], "f5"),
        ("+", [], "+"),
        ("ctrl++", ["ctrl"], "+"),
        ("", [], ""),
        ("ctrl+", ["ctrl"], ""),
        ("+a", [""], "a"),
    ],
)
def test_a_chord_is_what_is_held_and_what_is_pressed(text: str, held: list[str], key: str) -> None:
    assert written.chord(text) == (held, key)


def test_launch_arguments_have_names_and_values_in_three_ways() -> None:
    given = ["--user", "ann", "--env=a=b", "--empty=", "--fast", "--last", "x y"]
    assert list(written.named(given, "Tele")) == [
        ("user", "ann"), ("env", "a=b"), ("empty", ""), ("fast", None), ("last", "x y"),
    ]  # fmt: skip


@pytest.mark.parametrize("given", [["loose"], ["--"], ["-x", "1"], ["--a", "1", "2"], ["--=3"], [""]])
def test_launch_arguments_without_a_name_are_refused_in_the_platforms_name(given: list[str]) -> None:
    with pytest.raises(InvalidArgument, match="Tele takes") as refused:
        list(written.named(given, "Tele"))
    assert refused.value.details["param"] == "arguments"
