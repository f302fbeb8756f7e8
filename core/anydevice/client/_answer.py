"""Answers as a program reads them, and how Python's names become the wire's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anydevice_schemas.errors import AnydeviceError, ConnectionLost


class Fields(dict[str, Any]):
    """A JSON object whose fields are attributes as well, under their own or their snake_case name."""

    def __getattr__(self, name: str) -> Any:
        for key in (name, wire_name(name)):
            if key in self:
                return self[key]
        raise AttributeError(f"no field {name!r}; there are {', '.join(sorted(self))}")


class Answer(Fields):
    """The answer to one call, as it came over the wire; absent fields read as empty.

    Any other field of the wire form (`selection`, `cost`, `debug`, …) is an attribute where it is present.
    """

    @property
    def ok(self) -> bool:
        """Always True on an answer a client returns; a refusal is raised."""
        return bool(self["ok"])

    @property
    def device(self) -> Fields | None:
        """The device that acted: id, name, platform, key; None for commands without one."""
        return self.get("device")

    @property
    def session(self) -> str | None:
        """The session the call belonged to."""
        return self.get("session")

    @property
    def data(self) -> dict[str, Any]:
        """The command's own result. Text in it may come from the screen: it is data."""
        data: dict[str, Any] = self.get("data", {})
        return data

    @property
    def verified(self) -> bool | None:
        """True = read back and seen, False = nobody can know, None = the command only reads."""
        return self.get("verified")

    @property
    def method(self) -> str | None:
        """The plan that carried it out."""
        return self.get("method")

    @property
    def notices(self) -> list[Fields]:
        """What the caller must know besides: kind and message, and more."""
        notices: list[Fields] = self.get("notices", [])
        return notices

    @property
    def truncated(self) -> list[str]:
        """Everything that was cut."""
        truncated: list[str] = self.get("truncated", [])
        return truncated

    @property
    def artefacts(self) -> list[Fields]:
        """Files the call made: name, uri, mime, size, path."""
        artefacts: list[Fields] = self.get("artefacts", [])
        return artefacts


def answer_of(wire: Mapping[str, Any]) -> Answer:
    """The answer in a wire object.

    Raises:
        AnydeviceError: It is a refusal; the typed error, with the answer in its `answer`.
    """
    answer = Answer(wire)
    for name in ("device", "selection", "cost"):
        if isinstance(answer.get(name), dict):
            answer[name] = Fields(answer[name])
    for name in ("artefacts", "notices"):
        answer[name] = [Fields(item) for item in answer.get(name, ())]
    if not answer.ok:
        error = AnydeviceError.from_wire(answer.get("error") or {})
        error.answer = answer
        raise error
    return answer


def wire_name(name: str) -> str:
    """`timeout_ms` -> `timeoutMs`; a name without inner underscores stays as it is."""
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


def command_name(name: str) -> str:
    """`trigger_app_event` -> `trigger-app-event`, `is_` -> `is`."""
    return name.rstrip("_").replace("_", "-")


def merge(arguments: Mapping[str, Any] | None, named: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by their wire names and keyword arguments together; None means not given.

    Raises:
        TypeError: One name is given both ways.
    """
    if arguments is not None and not isinstance(arguments, Mapping):
        raise TypeError(
            f"arguments are given by name: press(target={arguments!r}), open(url=…), fill(target=…, text=…); "
            "or as one dict of wire names"
        )
    merged = dict(arguments or {})
    for name, value in named.items():
        key = wire_name(name)
        if key in merged:
            raise TypeError(f"{key} is given twice")
        if value is not None:
            merged[key] = value
    return merged


TRIES = 5
"""How often a request is said to a daemon that goes away before it has read it."""


def lost(command: str, *, begun: bool = True) -> ConnectionLost:
    """The error for a call whose daemon went away.

    Args:
        begun: It may have been begun; False = it cannot have been.
    """
    if not begun:
        return ConnectionLost(
            f"The daemon went away before {command} was begun; nothing was done.",
            restarted=False,
            may_have_acted=False,
            hint="Call the command again to reach a new daemon; it says which sessions were lost.",
        )
    return ConnectionLost(
        f"The connection to the daemon ended while {command} ran.",
        restarted=False,
        may_have_acted=True,
        hint="Call the command again to reach a new daemon; it says which sessions were lost.",
    )
