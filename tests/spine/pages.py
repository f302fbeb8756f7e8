"""The practice page in a browser, and one caller's way to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .doors import Door, Said
from .witness import Witness

DEVICE = "chromium"
KEY = "web:chromium"
TEMPLATE = "practice://event?name={event}&payload={payload}&on={platform}"


@dataclass
class Page:
    """The practice page, fresh in the browser, and one caller's way to it."""

    door: Door
    witness: Witness
    tag: str

    def do(self, command: str, /, **arguments: Any) -> Said:
        """A call that names no device: it goes to the one this caller has opened."""
        said = self.door.do(command, **arguments)
        assert said.device == KEY, said.wire
        return said

    def refused(self, code: str, command: str, /, **arguments: Any) -> Said:
        said = self.door.refused(code, command, **arguments)
        assert said.device == KEY, said.wire
        return said

    def told(self, what: str) -> list[Any]:
        return self.witness.all(self.tag, what)

    @property
    def state(self) -> Any:
        return self.witness.state(self.tag)

    @staticmethod
    def fresh(door: Door, witness: Witness, tag: str) -> Page:
        """The page, opened anew; the browser is started if need be."""
        tag = f"{door.name}-{tag}"
        said = door.do("open", url=witness.url(tag), device=DEVICE, boot=True, eventUrlTemplate=TEMPLATE)
        assert (said.device, said.verified, said.data["location"]) == (KEY, True, witness.url(tag))
        assert witness.all(tag, "loaded") == [None]
        return Page(door, witness, tag)
