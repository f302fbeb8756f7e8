"""The process that vendor code runs in: reads its job from standard input and has it done under a keeper.

Started by `runner`. Nothing but the keeper is imported before the run is forked off it.
"""

from __future__ import annotations

import os
import sys

from .keeper import Keeper, Tell, adopt_orphans, teller

SCRATCH = "anydevice-c-"
"""What the names of runs' own folders begin with."""


def main() -> int:
    """Reads the job and keeps the run that does it."""
    events, parent = int(sys.argv[1]), os.getppid()
    os.set_inheritable(events, False)
    tell = teller(events)
    line = _first_line(0)
    Keeper(lambda: _work(line, tell), tell, 0, adopts=adopt_orphans()).keep()
    if os.getppid() != parent:
        _tidy(line)
    return 0


def _tidy(line: bytes) -> None:
    """Removes the run's folder where whoever made it has gone without doing so."""
    import json
    import shutil

    folder = os.path.dirname(json.loads(line)["home"])
    if os.path.basename(folder).startswith(SCRATCH):
        shutil.rmtree(folder, ignore_errors=True)


def _first_line(descriptor: int) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        data = os.read(descriptor, 65536)
        if not data:
            raise EOFError("no job was given")
        line += data
    return line


def _work(line: bytes, tell: Tell) -> int:
    from .inside import work

    return work(line, tell)


if __name__ == "__main__":
    sys.exit(main())
