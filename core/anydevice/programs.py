"""Programs that a caller has and the daemon does not see: it keeps the PATH of whoever started it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable

import anyio.to_thread

from anydevice_schemas import Manifest

from .driver import Environment
from .places import CALLER_PATH

FIX = "anydevice stop ; the next command starts a daemon with your PATH"


async def unseen(manifests: Iterable[Manifest], env: Environment) -> dict[str, list[str]]:
    """What differs between the caller's PATH and the daemon's, a sentence each, by backend; backends of none left out.

    Only of programs that manifests name as tools. Says names of programs and no folders.
    """
    path = os.pathsep.join(folder for folder in _folders(env) if os.path.isabs(folder))
    if not path or path == os.environ.get("PATH"):
        return {}
    tools = {manifest.name: [tool.name for tool in manifest.tools] for manifest in manifests}
    return await anyio.to_thread.run_sync(_compared, tools, path)


def _folders(env: Environment) -> list[str]:
    return env.variables.get(CALLER_PATH, "").split(os.pathsep)


def _compared(tools: dict[str, list[str]], path: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for backend, names in tools.items():
        for name in names:
            theirs, ours = shutil.which(name, path=path), shutil.which(name)
            if theirs is None or (ours is not None and os.path.realpath(theirs) == os.path.realpath(ours)):
                continue
            other = "and not on the daemon's" if ours is None else "and another one on the daemon's"
            found.setdefault(backend, []).append(f"{name} is on your PATH {other}")
    return found
