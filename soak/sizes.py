"""How large a soak is: all of it for `make soak`, and small ones that tests run."""

from __future__ import annotations

from dataclasses import dataclass, field

TTL = 5.0
"""Seconds a lease of the soak lives without use: the shortest there is."""


@dataclass(frozen=True)
class Faults:
    """How often each kind of fault happens in the storm."""

    client_kills: int = 40
    client_stalls: int = 9
    daemon_kills: int = 4
    daemon_stalls: int = 4
    hangs: int = 10
    slows: int = 6
    drops: int = 20
    jumps: int = 20
    takeovers: int = 10


@dataclass(frozen=True)
class Size:
    """The sizes of the three parts.

    Attributes:
        clients, tenants, devices: Of the storm.
        seconds: How long the storm lasts.
        faults: What happens in it.
        fair: Whether it is long enough to judge fairness: one holder who is killed keeps a device for a TTL.
        kills, kill_clients, kill_devices: Of the part in which the daemon is killed again and again.
        kill_load: Seconds of load before each kill, least and most.
        processes, store_devices, store_seconds, store_kills, store_stalls: Of the part without a daemon.
    """

    clients: int = 64
    tenants: int = 4
    devices: int = 16
    seconds: float = 60.0
    faults: Faults = field(default_factory=Faults)
    fair: bool = True
    kills: int = 200
    kill_clients: int = 8
    kill_devices: int = 8
    kill_load: tuple[float, float] = (0.1, 1.0)
    processes: int = 64
    store_devices: int = 16
    store_seconds: float = 60.0
    store_kills: int = 60
    store_stalls: int = 10


FULL = Size()
SMALL = Size(
    clients=8,
    tenants=2,
    devices=4,
    seconds=5.0,
    faults=Faults(
        client_kills=2, client_stalls=1, daemon_kills=1, daemon_stalls=1, hangs=1, slows=1, drops=2, jumps=4,
        takeovers=1,
    ),
    fair=False,
    kills=8,
    kill_clients=4,
    kill_devices=4,
    kill_load=(0.1, 0.4),
    processes=8,
    store_devices=4,
    store_seconds=5.0,
    store_kills=5,
    store_stalls=2,
)  # fmt: skip
