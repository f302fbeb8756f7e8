"""Exit codes: every error has one, and the table a person reads is the one the program uses."""

from __future__ import annotations

import re

from anydevice_cli import exits
from anydevice_cli.exits import EXIT_CODES, exit_code
from anydevice_schemas.errors import (
    ERRORS,
    DeviceError,
    ElementError,
    LeaseError,
    SelectionError,
)


def test_every_error_code_has_an_exit_code_and_no_other_has() -> None:
    assert EXIT_CODES.keys() == ERRORS.keys()


def test_whole_families_share_one() -> None:
    for code, kind in ERRORS.items():
        if issubclass(kind, (SelectionError, DeviceError, LeaseError)):
            assert exit_code(code) == 3, code
        if issubclass(kind, ElementError):
            assert exit_code(code) == 4, code


def test_the_codes_scripts_rely_on() -> None:
    assert {
        "invalid_argument": 2, "unknown_command": 2, "device_not_found": 3, "lease_held": 3, "element_not_found": 4,
        "action_unverified": 4, "confirmation_required": 5, "permission_missing": 6, "timeout": 124, "cancelled": 130,
        "internal": 1,
    }.items() <= EXIT_CODES.items()  # fmt: skip


def test_an_error_of_a_newer_daemon_is_a_failure() -> None:
    assert exit_code("something_new") == 1


def test_the_documented_table_lists_exactly_the_codes_in_use() -> None:
    assert exits.__doc__ is not None
    documented = {int(number) for number in re.findall(r"^ *(\d+)  ", exits.__doc__, re.MULTILINE)}
    assert documented == {0, *EXIT_CODES.values()}
