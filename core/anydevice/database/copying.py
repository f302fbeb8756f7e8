"""Keeps a copy of a damaged database beside it. Run as a program of its own, never inside the process that has it open.

Closing any descriptor of a file drops the locks this process holds on it (POSIX), SQLite's among them; so whoever may
still have the database open copies it through a child. Standard library only.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import sys

SIDES = ("", "-wal", "-shm")
"""The files of one database in WAL mode."""


def keep_copy(path: str) -> str:
    """Copies a database and what belongs to it to `<path>.damaged-<n>`; one that is there already is not made again.

    Returns:
        The path of the copy.

    Raises:
        OSError: It could not be made; nothing half copied is left.
    """
    number = 1
    while any(os.path.lexists(f"{path}.damaged-{number}{side}") for side in SIDES):
        number += 1
    if number > 1 and _same(path, f"{path}.damaged-{number - 1}"):
        return f"{path}.damaged-{number - 1}"
    copy = f"{path}.damaged-{number}"
    try:
        for side in SIDES:
            if os.path.isfile(path + side):
                shutil.copyfile(path + side, copy + side)
                os.chmod(copy + side, 0o600)
    except OSError:
        for side in SIDES:
            if os.path.exists(copy + side):
                os.unlink(copy + side)
        raise
    return copy


def _same(path: str, copy: str) -> bool:
    for side in SIDES[:2]:
        if os.path.isfile(path + side) != os.path.isfile(copy + side):
            return False
        if os.path.isfile(path + side) and not filecmp.cmp(path + side, copy + side, shallow=False):
            return False
    return True


if __name__ == "__main__":
    sys.stdout.write(keep_copy(sys.argv[1]))
