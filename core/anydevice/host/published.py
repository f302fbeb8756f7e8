"""The catalogue as clients see it: a document the command line can use without pydantic.

The daemon writes it to `data/catalogue.json`; the digest in the hello reply tells a client whether its copy is
still the one.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import anydevice
from anydevice_schemas import Command, DeviceSelector, Switches

from ..catalogue import Catalogue
from ..schema import flat_schema
from ..settings import private_folder

FILE = "catalogue.json"
_FIELDS = {
    "name", "aliases", "toolset", "summary", "effect", "scope", "selectors", "profile", "origin", "backend",
    "input_schema", "examples",
}  # fmt: skip


class Published:
    """The document of a catalogue, made again whenever the catalogue has changed.

    Args:
        catalogue: What is published.
        folder: Where the document is kept for clients; None keeps it in memory only.
    """

    def __init__(self, catalogue: Catalogue, folder: Path | None) -> None:
        self.catalogue = catalogue
        self.folder = folder
        self._document: dict[str, Any] | None = None
        catalogue.listeners.append(self._changed)

    @property
    def document(self) -> dict[str, Any]:
        """`{digest, version, commands, selectors, switches}`."""
        if self._document is None:
            body = {
                "version": anydevice.__version__,
                "commands": [_published(command) for command in self.catalogue.commands()],
                "selectors": flat_schema(DeviceSelector)["properties"],
                "switches": flat_schema(Switches)["properties"],
            }
            text = json.dumps(body, sort_keys=True, separators=(",", ":"))
            self._document = {"digest": hashlib.blake2b(text.encode(), digest_size=8).hexdigest(), **body}
        return self._document

    @property
    def digest(self) -> str:
        """Changes whenever the document does."""
        return str(self.document["digest"])

    def write(self) -> None:
        """Puts the document where clients look for it. Blocking but small."""
        if self.folder is None:
            return
        private_folder(self.folder)
        temporary = self.folder / f"{FILE}.{os.getpid()}"
        temporary.write_text(json.dumps(self.document, separators=(",", ":")), "utf-8")
        os.replace(temporary, self.folder / FILE)

    def _changed(self) -> None:
        self._document = None


def _published(command: Command) -> dict[str, Any]:
    return command.model_dump(mode="json", by_alias=True, include=_FIELDS)
