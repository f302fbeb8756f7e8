"""The caller's own `hdc`: where the development kits put it, and running it where the server is on another host."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio.to_thread

from anydevice.kit import processes
from anydevice_schemas.errors import MachineUnreachable, ToolMissing, UpstreamUnavailable

TOOLCHAINS: Final = ("default", "openharmony", "toolchains")
VARIABLES: Final = ("HDC_SDK_PATH", "DEVECO_SDK_HOME", "HARMONYOS_COMMAND_LINE_TOOLS", "OHOS_SDK_NATIVE")
"""What of a caller's environment says where the kits are."""
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
"""Addresses of this host."""
INSTALL: Final = (
    "Install DevEco Studio or HarmonyOS's command line tools, and put the folder toolchains with hdc on the PATH (or "
    "set HDC_SDK_PATH to it)."
)


def find(variables: Mapping[str, str], configured: str = "") -> str | None:
    """Path of the program: the one of the configuration, else of the caller's kits, else on PATH; None = nowhere."""
    for folder in _folders(variables, configured):
        for name in ("hdc", "hdc.exe"):
            path = folder / name if folder.is_dir() else folder
            if path.is_file() and os.access(path, os.X_OK):
                return str(path)
    return shutil.which("hdc")


def _folders(variables: Mapping[str, str], configured: str) -> list[Path]:
    def told(name: str) -> Path | None:
        value = variables.get(name, "")
        return Path(value) if os.path.isabs(value) else None

    found: list[Path | None] = [Path(configured) if os.path.isabs(configured) else None, told("HDC_SDK_PATH")]
    kit = told("DEVECO_SDK_HOME")
    found.append(kit.joinpath(*TOOLCHAINS) if kit else None)
    tools = told("HARMONYOS_COMMAND_LINE_TOOLS")
    found.append(tools.joinpath("sdk", *TOOLCHAINS) if tools else None)
    native = told("OHOS_SDK_NATIVE")
    found.append(native.parent / "toolchains" if native else None)
    if sys.platform == "darwin":
        found.append(Path("/Applications/DevEco-Studio.app/Contents/sdk").joinpath(*TOOLCHAINS))
    return [folder for folder in found if folder is not None]


async def locate(variables: Mapping[str, str], configured: str = "") -> str:
    """As `find`.

    Raises:
        ToolMissing: It is nowhere.
    """
    path = await anyio.to_thread.run_sync(find, variables, configured)
    if path is None:
        raise ToolMissing("The program hdc is not installed.", tools=["hdc"], install=INSTALL)
    return path


async def run(path: str, words: Sequence[str], *, port: int, deadline: float) -> str:
    """Runs hdc to its end; what it printed. Its exit status is 0 whatever happened, so it says nothing.

    Args:
        path: The program.
        words: Its arguments.
        port: Of the server on this host that it may start; it never means another.

    Raises:
        UpstreamUnavailable, MachineUnreachable: It printed nothing but a complaint: there was no server.
        CallTimeout: It did not end in time.
    """
    env = {**os.environ, "OHOS_HDC_SERVER_PORT": str(port)}
    done = await processes.run([path, *words], deadline=deadline, env=env)
    if not done.text.strip() and done.complaint.strip():
        raise silent(done.complaint, words)
    return done.text


def silent(said: str, words: Sequence[str]) -> UpstreamUnavailable | MachineUnreachable:
    """The error of a client that could not speak with a server: it says so on stderr alone."""
    at = words[words.index("-s") + 1] if "-s" in words else ""
    if at and at.rpartition(":")[0] not in LOOPBACK:
        return MachineUnreachable(
            "The hdc server on another host does not answer.", machine=at, last_seen=None, said=said.strip()[-1000:]
        )
    return UpstreamUnavailable(
        "The hdc server does not answer its own program.",
        upstream="hdc server",
        enable_hint="Run hdc start -r by hand, then repeat the call.",
        said=said.strip()[-1000:],
    )
