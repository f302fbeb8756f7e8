"""Everything core has, in one hand: what the router and the commands work with."""

from __future__ import annotations

from dataclasses import dataclass, field

from .artefacts import Artefacts
from .catalogue import Catalogue
from .clock import Clock
from .connections import Connections
from .database import Database
from .discovery import PluginRecord
from .inventory import Backends
from .journal import Journal
from .kit.ocr import Reader
from .lanes import Lanes
from .leases import Desk
from .policy import Policy
from .sessions import Sessions
from .settings import Settings


@dataclass(slots=True)
class Services:
    """The parts of core, each in its own file.

    Attributes:
        plugins: A record of every plugin and backend found, whatever its state.
        database: What outlives this process; None where nothing is to.
        reader: Reads text in pictures; its engine is started when it is first needed.
    """

    settings: Settings
    clock: Clock
    catalogue: Catalogue
    backends: Backends
    connections: Connections
    sessions: Sessions
    desk: Desk
    policy: Policy
    lanes: Lanes
    journal: Journal
    artefacts: Artefacts
    plugins: list[PluginRecord]
    database: Database | None = None
    reader: Reader = field(default_factory=Reader)
