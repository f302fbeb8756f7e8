"""A process that races for devices of a store: a job on standard input, `ready`, `go`, then a line for each device.

With `dies` it ends without any tidying up once everything is answered, as a killed process does.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from anydevice.leases import Request
from anydevice_schemas import Holder
from anydevice_schemas.errors import AnydeviceError

from .judging import load_factory
from .trial import fence, open_store


def main() -> int:
    """Does one job."""
    job: dict[str, Any] = json.loads(sys.stdin.readline())
    store = open_store(load_factory(job["store"]), Path(job["folder"]))
    _say("ready")
    if sys.stdin.readline() != "go\n":
        return 1
    for device in job["devices"]:
        request = Request(device=f"b:{device}", holder=Holder(principal="p", session=job["who"]), ttl=60.0)
        try:
            lease, _ = store.grant(request, job["now"])
        except AnydeviceError as error:
            _say(json.dumps({"device": request.device, "code": error.code}))
        else:
            _say(json.dumps({"device": lease.device, "code": "ok", "fence": fence(lease)}))
    if job.get("dies"):
        os._exit(0)
    return 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
