"""A process that races for devices of a store: a job on standard input, `ready`, `go`, then a line for each device.

With `dies` it ends without any tidying up once everything is answered, as a killed process does. With `returns` it
then waits for a line that says what time it is, and asks again under what it was granted. With `endless` it grants and
releases one device after another until it is killed, and says each time what it is about to do.

Many of these are started, so it stands outside the packages and imports no more than a race needs.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from anydevice.leases import LeaseStore, Request
from anydevice_schemas import Holder, Lease
from anydevice_schemas.errors import AnydeviceError

Factory = Callable[..., LeaseStore]


def load_factory(name: str) -> Factory:
    """The factory of a store from `module:factory`.

    Raises:
        ImportError, AttributeError, TypeError: There is none of that name.
    """
    module, _, attribute = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{name} is no function or class that makes a store")
    return found  # type: ignore[no-any-return]


def open_store(factory: Factory, folder: Path) -> LeaseStore:
    """Makes the store; a factory that takes an argument is given the folder."""
    takes = [
        parameter
        for parameter in inspect.signature(factory).parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return factory(str(folder)) if takes else factory()


def fence(lease: Lease) -> tuple[int, int]:
    """The fence as numbers that can be compared."""
    return (lease.fence.epoch, lease.fence.counter)


def main() -> int:
    """Does one job."""
    job: dict[str, Any] = json.loads(sys.stdin.readline())
    store = open_store(load_factory(job["store"]), Path(job["folder"]))
    _say("ready")
    if sys.stdin.readline() != "go\n":
        return 1
    requests = [
        Request(device=f"b:{device}", holder=Holder(principal="p", session=job["who"]), ttl=60.0)
        for device in job["devices"]
    ]
    if job.get("endless"):
        _endless(store, requests, job["now"])
    leases = [_ask(store, request, job["now"]) for request in requests]
    if job.get("returns"):
        now = float(sys.stdin.readline())
        for request, lease in zip(requests, leases, strict=True):
            if lease is not None:
                _ask(store, replace(request, lease_id=lease.lease_id, fence=fence(lease)), now)
    if job.get("dies"):
        os._exit(0)
    return 0


def _ask(store: LeaseStore, request: Request, now: float) -> Lease | None:
    """Asks, and says what was answered."""
    try:
        lease, _ = store.grant(request, now)
    except AnydeviceError as error:
        _say(json.dumps({"device": request.device, "code": error.code}))
        return None
    _say(json.dumps({"device": lease.device, "code": "ok", "fence": fence(lease)}))
    return lease


def _endless(store: LeaseStore, requests: list[Request], now: float) -> NoReturn:
    """Never more than half of the devices are held."""
    held: list[Lease] = []
    for request in itertools.cycle(requests):
        if len(held) > len(requests) // 2:
            lease = held.pop(0)
            _say(json.dumps({"device": lease.device, "code": "releasing"}))
            store.release(lease.lease_id, now)
            _say(json.dumps({"device": lease.device, "code": "released"}))
        _say(json.dumps({"device": request.device, "code": "asking"}))
        if (lease_or_none := _ask(store, request, now)) is not None:
            held.append(lease_or_none)
    raise AssertionError("there is always another device")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
