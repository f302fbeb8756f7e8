"""The error tree: every code is typed, says how to recover, and survives the wire."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from anydevice_schemas import errors
from anydevice_schemas.errors import ERRORS, AnydeviceError, UpstreamUnavailable

SEED_CODES = {
    "permission_missing": {"fix"},
    "element_not_found": {"nearest_matches"},
    "invalid_argument": {"param", "expected"},
    "refused": {"reason", "alternative"},
    "action_unverified": {"expected", "actual"},
    "timeout": set(),
    "confirmation_required": {"token"},
    "upstream_unavailable": {"enable_hint"},
    "machine_unreachable": {"last_seen"},
    "host_at_capacity": set(),
    "lease_held": {"expires"},
}


@pytest.mark.parametrize("code", sorted(ERRORS))
def test_every_error_survives_the_wire_with_its_recovery_fields(code: str) -> None:
    cls = ERRORS[code]
    details = {name: f"some {name}" for name in cls.recovery}
    error = cls("What happened.", device="b:1", **details)
    wire = json.loads(json.dumps(error.to_wire()))
    assert wire["code"] == code and set(cls.recovery) <= set(wire["details"])
    back = AnydeviceError.from_wire(wire)
    assert type(back) is cls and back.to_wire() == error.to_wire()


@pytest.mark.parametrize("code", sorted(code for code, cls in ERRORS.items() if cls.recovery))
def test_an_error_that_does_not_say_how_to_recover_cannot_be_made(code: str) -> None:
    with pytest.raises(TypeError, match=ERRORS[code].recovery[0]):
        ERRORS[code]("Oops.")


@pytest.mark.parametrize("code", sorted(SEED_CODES))
def test_the_eleven_well_known_codes_keep_their_recovery_fields(code: str) -> None:
    assert SEED_CODES[code] <= set(ERRORS[code].recovery)


def test_every_error_is_drawn_in_the_docstring_and_the_other_way_round() -> None:
    assert errors.__doc__ is not None
    drawn = {
        line.split()[1] for line in errors.__doc__.splitlines() if len(line.split()) > 1 and line.startswith("        ")
    }
    assert drawn == set(ERRORS)


def test_a_code_of_a_newer_daemon_is_kept() -> None:
    error = AnydeviceError.from_wire({"code": "brand_new", "message": "m", "retryable": True, "details": {"a": 1}})
    assert (error.code, error.retryable, error.details) == ("brand_new", True, {"a": 1})
    assert AnydeviceError.code == "internal"


def test_errors_can_be_raised_without_paying_for_pydantic() -> None:
    code = "import sys, anydevice_schemas.errors; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_whoever_sees_only_a_traceback_is_told_what_to_do() -> None:
    error = UpstreamUnavailable(
        "The daemon cannot be started.", upstream="daemon", enable_hint="x", hint="Run: anydevice serve"
    )
    assert str(error) == "The daemon cannot be started. Run: anydevice serve"
    assert str(AnydeviceError.from_wire(error.to_wire())) == str(error)
    assert error.to_wire()["message"] == "The daemon cannot be started."
    assert str(UpstreamUnavailable("It is down.", upstream="x", enable_hint="y", hint="")) == "It is down."
