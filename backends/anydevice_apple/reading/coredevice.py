"""`devicectl --json-output`, read into results and devices; an error is the deepest one it tells."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_TEXTS: Final = (
    "NSLocalizedFailureReason", "NSLocalizedDescription", "NSDescription", "BSErrorCodeDescription",
    "NSLocalizedRecoverySuggestion",
)  # fmt: skip
_DEEPEST: Final = 20


class Failed(Exception):
    """devicectl says that it failed.

    Attributes:
        chain: (domain, code) of each error, the outermost first.
        said: Texts of all of them, the deepest first.
    """

    def __init__(self, chain: list[tuple[str, int]], said: list[str]) -> None:
        super().__init__(said[0] if said else "failed")
        self.chain, self.said = chain, said

    def has(self, domain: str, code: int) -> bool:
        """Whether one of the errors is this one."""
        return any(one == (domain, code) or (one[0].endswith(domain) and one[1] == code) for one in self.chain)


class NoAnswer(ValueError):
    """The file is no answer of devicectl."""


def result(text: str) -> Mapping[str, Any]:
    """The result of an answer; empty where it has none.

    Raises:
        Failed: It tells an error.
        NoAnswer: It is none.
    """
    try:
        answer = json.loads(text)
    except ValueError:
        raise NoAnswer("no JSON") from None
    if not isinstance(answer, Mapping):
        raise NoAnswer("no object")
    error = answer.get("error")
    outcome = _mapping(answer.get("info")).get("outcome")
    if error is not None or outcome == "failed":
        raise _failed(_mapping(error))
    return _mapping(answer.get("result"))


def _failed(error: Mapping[str, Any]) -> Failed:
    chain: list[tuple[str, int]] = []
    said: list[str] = []
    while error and len(chain) < _DEEPEST:
        code = error.get("code")
        chain.append((str(error.get("domain", "")), code if isinstance(code, int) else 0))
        info = _mapping(error.get("userInfo"))
        texts = [text for key in _TEXTS if (text := _text(info.get(key)))]
        said = [*texts, *said]
        error = _mapping(_mapping(info.get("NSUnderlyingError")).get("error"))
    return Failed(chain, list(dict.fromkeys(said)))


def _text(value: object) -> str:
    return str(_mapping(value).get("string") or "") if isinstance(value, Mapping) else str(value or "")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


@dataclass(slots=True, frozen=True)
class PhysicalDevice:
    """A physical device as listed.

    Attributes:
        identifier: devicectl's own id of it.
        udid: What everybody else calls it; empty where it is not told.
        platform: `iOS`, `tvOS`, `watchOS`; empty where it is not told.
        transport: `wired`, `localNetwork`; empty while it is out of reach.
        tunnel: `connected`, `disconnected` (is made when it is needed), `unavailable`.
        developer_mode: `enabled`, `disabled`; empty where it is not told.
    """

    identifier: str
    udid: str = ""
    name: str = ""
    platform: str = ""
    kind: str = ""
    model: str = ""
    version: str = ""
    transport: str = ""
    tunnel: str = ""
    paired: bool = True
    developer_mode: str = ""


def devices(text: str) -> list[PhysicalDevice]:
    """Devices of `devicectl list devices`, whatever they are.

    Raises:
        Failed, NoAnswer: As `result`.
    """
    rows = result(text).get("devices")
    return [_device(row) for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _device(row: Mapping[str, Any]) -> PhysicalDevice:
    connection = _mapping(row.get("connectionProperties"))
    about = _mapping(row.get("deviceProperties"))
    hardware = _mapping(row.get("hardwareProperties"))
    pairing = connection.get("pairingState")
    return PhysicalDevice(
        identifier=str(row.get("identifier", "")),
        udid=str(hardware.get("udid") or ""),
        name=str(about.get("name") or ""),
        platform=str(hardware.get("platform") or ""),
        kind=str(hardware.get("deviceType") or ""),
        model=str(hardware.get("marketingName") or hardware.get("productType") or ""),
        version=str(about.get("osVersionNumber") or ""),
        transport=str(connection.get("transportType") or ""),
        tunnel=str(connection.get("tunnelState") or ""),
        paired=pairing in (None, "paired"),
        developer_mode=str(about.get("developerModeStatus") or ""),
    )
