"""The console of an emulator or virtual device: what listens below its adb port, for whoever has the user's token."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from .wire import Closed, Connection, Unreachable

ANSWERING: Final = 3.0
"""Seconds a conversation with a console may take."""
TOKEN: Final = ".emulator_console_auth_token"
_MOST = 65536


async def ask(host: str, port: int, command: str, *, deadline: float = ANSWERING) -> list[str] | None:
    """The lines a console answers a command with, without its OK; None where it does not answer or refuses."""
    with anyio.move_on_after(deadline):
        try:
            async with await Connection.open(host, port) as pipe:
                greeting = await _lines(pipe)
                if greeting and any("Authentication required" in line for line in greeting):
                    token = await anyio.to_thread.run_sync(_token)
                    await pipe.send(f"auth {token}\r\n".encode())
                    if await _lines(pipe) is None:
                        return None
                await pipe.send(f"{command}\r\n".encode())
                return await _lines(pipe)
        except (Unreachable, Closed):
            return None
    return None


async def _lines(pipe: Connection) -> list[str] | None:
    """Lines up to `OK`; None at `KO`, or where the console closes."""
    kept = b""
    while chunk := await pipe.receive(4096):
        kept += chunk
        lines = kept.decode("utf-8", "replace").splitlines()
        for number, line in enumerate(lines):
            if line == "OK" or line.startswith("OK:"):
                return lines[:number]
            if line.startswith("KO"):
                return None
        if len(kept) > _MOST:
            return None
    return None


def _token() -> str:
    try:
        return (Path.home() / TOKEN).read_text().strip()
    except (OSError, ValueError):
        return ""
