"""Virtual desktops that were added by command; remembered in the backend's data folder."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final

from anydevice_schemas.errors import InvalidArgument

from .desktop import SIZE, Plan

FILE: Final = "desktops.json"
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Defined:
    """What is remembered. Touches the file system; call it off the event loop."""

    def __init__(self, data_dir: str) -> None:
        self._path = Path(data_dir) / FILE

    def read(self) -> list[Plan]:
        """Every desktop that was added; a file that cannot be read counts as empty, and is never written over."""
        try:
            return self._plans()
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def add(self, plan: Plan) -> None:
        """Remembers a desktop, or its new size.

        Raises:
            InvalidArgument: The name cannot be used, or the file cannot be read.
        """
        if NAME.fullmatch(plan.id) is None or plan.id.startswith(("display-", "wayland-")):
            raise InvalidArgument(
                "A desktop cannot have this name.",
                param="name",
                expected="up to 64 letters, digits, . _ -, not beginning with display- or wayland-",
            )
        rest = [other for other in self._writable() if other.id != plan.id]
        self._write([*rest, plan])

    def remove(self, id: str) -> None:
        """Forgets a desktop.

        Raises:
            InvalidArgument: None of this name was added.
        """
        plans = self._writable()
        if all(plan.id != id for plan in plans):
            raise InvalidArgument(
                "No desktop of this name was added.",
                hint="Call virtual-desktop with action list.",
                param="name",
                expected=", ".join(plan.id for plan in plans) or "nothing: none was added",
            )
        self._write([plan for plan in plans if plan.id != id])

    def _plans(self) -> list[Plan]:
        try:
            table: dict[str, Any] = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return []
        return [
            Plan(id, str(row.get("name", id)), (int(row["size"][0]), int(row["size"][1])) if "size" in row else SIZE)
            for id, row in table["desktops"].items()
        ]

    def _writable(self) -> list[Plan]:
        try:
            return self._plans()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InvalidArgument(
                f"The file {FILE} cannot be read, and is not written over.",
                hint="Mend or remove it; doctor tells where it is.",
                param="name",
                expected="a file that can be read",
                path=str(self._path),
            ) from error

    def _write(self, plans: list[Plan]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        table = {"desktops": {plan.id: {"name": plan.name, "size": list(plan.size)} for plan in plans}}
        new = self._path.with_suffix(f".{os.getpid()}.new")
        new.write_text(json.dumps(table, indent=1))
        new.replace(self._path)
