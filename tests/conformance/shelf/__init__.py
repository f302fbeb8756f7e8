"""A shelf of dishonest and broken backends: each a distribution of its own, and what the suite has to say of it.

Where it is not said otherwise a member is the reference backend's phone with one thing wrong. What a member must
be found out by is written beside it.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anydevice.testing import ReferenceBackend

from ...support.distributions import install, install_backend

HEAD = """
from anydevice.testing import ReferenceBackend


class Backend(ReferenceBackend):
    def __init__(self, host):
        super().__init__(host, name={name!r}, classes=("phone",))
        self.set_up()

    def set_up(self):
        pass
"""


@dataclass(frozen=True)
class Member:
    """One backend.

    Attributes:
        name: Of the backend.
        source: Of its package: methods of the class above, or with `whole` everything.
        manifest: What replaces fields of the reference's manifest; None = there is no manifest.
        only: Cases it is tried on.
        level, ended: What the report must say.
        why: What its reason must hold (a pattern).
        cases: What the rows of these cases must say: verdict, and what the reason must hold.
        twice: Two distributions bring it.
        spares_the_daemon: It can be installed in a daemon without ending or blocking the daemon's own process, which no
            process can prevent whose code it is part of.
    """

    name: str
    source: str = ""
    manifest: dict[str, Any] | None = field(default_factory=dict)
    only: tuple[str, ...] = ("press.reaches-the-named-device",)
    whole: bool = False
    level: str = "none"
    ended: str = "finished"
    why: str = ""
    cases: dict[str, tuple[str, str]] = field(default_factory=dict)
    twice: bool = False
    spares_the_daemon: bool = True

    def install(self, folder: Path) -> None:
        """Installs it into a folder for PYTHONPATH."""
        body = textwrap.dedent(self.source)
        if not self.whole:
            body = textwrap.dedent(HEAD).format(name=self.name) + textwrap.indent(body, "    ")
        if self.manifest is None:
            install(
                folder,
                f"{self.name}-vendor",
                modules={f"{self.package}/__init__.py": body},
                entry_points={"anydevice.backends": {self.name: f"{self.package}:Backend"}},
            )
            return
        base = ReferenceBackend(name=self.name, classes=("phone",)).manifest
        fields = base.model_dump(mode="json", by_alias=False, exclude_defaults=True)
        fields |= {"device_classes": ["phone"]} | self.manifest
        for distribution in (f"{self.name}-vendor", f"{self.name}-other")[: 2 if self.twice else 1]:
            install_backend(folder, self.name, body, manifest=fields, distribution=distribution)

    @property
    def package(self) -> str:
        """Its package."""
        return f"{self.name}_vendor".replace("-", "_")


def operations(*, without: tuple[str, ...] = (), **more: dict[str, Any]) -> dict[str, Any]:
    """The reference's operations for a manifest, some left out; underscores in names of further ones stand for dots."""
    base = ReferenceBackend(classes=("phone",)).manifest.model_dump(mode="json", by_alias=False, exclude_defaults=True)
    kept = {name: constraint for name, constraint in base["operations"].items() if name not in without}
    return kept | {name.replace("_", ".", 1): constraint for name, constraint in more.items()}


def everyone() -> dict[str, Member]:
    """Every member by name."""
    from . import broken, lying, violent

    members = [*lying.MEMBERS, *broken.MEMBERS, *violent.MEMBERS]
    assert len({member.name for member in members}) == len(members)
    return {member.name: member for member in members}
