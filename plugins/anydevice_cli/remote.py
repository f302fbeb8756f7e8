"""The daemon as the command line sees it: its catalogue, kept on disk, and one connection."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from anydevice.client._answer import Answer
from anydevice.client._sync import Client
from anydevice.places import home_path
from anydevice_schemas.errors import ConfirmationRequired


class Catalogue:
    """The published catalogue of a home folder (see `anydevice.host.published`).

    Attributes:
        digest: Which catalogue this is; empty when there is none yet.
        commands: Descriptors by name, in alphabetical order.
        aliases: Names by alias.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.digest: str = document.get("digest", "")
        self.commands: dict[str, dict[str, Any]] = {c["name"]: c for c in document.get("commands", ())}
        self.aliases = {alias: name for name, c in self.commands.items() for alias in c["aliases"]}
        self.selectors: dict[str, Any] = document.get("selectors", {})
        self.switches: dict[str, Any] = document.get("switches", {})

    def get(self, name: str) -> dict[str, Any] | None:
        """The descriptor of a name or alias."""
        name = name.replace("_", "-")
        return self.commands.get(self.aliases.get(name, name))

    @staticmethod
    def cached() -> Catalogue:
        """The copy on disk, or an empty one; never starts a daemon."""
        try:
            with open(os.path.join(home_path(), "data", "catalogue.json"), encoding="utf-8") as file:
                return Catalogue(json.load(file))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return Catalogue({})


class Stale(Exception):
    """The daemon's catalogue is another than the one the arguments were read by; carries the right one."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__("the catalogue has changed")
        self.catalogue = catalogue


def connect() -> Client:
    """A connection for calls; starts a daemon when none runs."""
    return Client(transport="cli")


def connect_host(deadline: float = 10.0) -> Client:
    """A connection for what is asked of the daemon itself; starts none, and any version will do."""
    return Client(transport="cli", conversation="host", start=False, deadline=deadline)


def operate(client: Client, operation: str, **arguments: Any) -> dict[str, Any]:
    """Asks the daemon itself for something it has no method of `Host` for.

    Raises:
        UnknownCommand: The daemon is of a version without this operation.
        AnydeviceError: Whatever it refuses.
    """
    return client.host._ask(operation, arguments)


def fetch() -> Catalogue:
    """The catalogue of the daemon, which is started if need be."""
    with connect() as client:
        return Catalogue(client.host.catalogue())


def call(
    catalogue: Catalogue,
    name: str,
    arguments: dict[str, Any],
    *,
    yes: bool,
    deadline: float | None,
    progress: Callable[[float | None, str], None] | None,
) -> Answer:
    """Makes one call.

    Args:
        catalogue: The catalogue the arguments were read by.
        yes: Approve what asks for a person's confirmation, as the person at the terminal.
        deadline: Seconds until the daemon ends the call.

    Raises:
        Stale: The daemon has another catalogue.
        AnydeviceError: The typed error of the answer.
    """
    with connect() as client:
        if client.greeting["catalogue"] != catalogue.digest:
            raise Stale(Catalogue(client.host.catalogue()))
        try:
            return client.call(name, arguments, deadline=deadline, progress=progress)
        except ConfirmationRequired as asked:
            if not yes:
                raise
            token = asked.details["token"]
            client.host.approve(token)
            return client.call(name, {**arguments, "confirmToken": token}, deadline=deadline, progress=progress)
