"""What is asked of the console of an emulator."""

from __future__ import annotations

from anydevice_adb.console import TOKEN, ask

__all__ = ["TOKEN", "ask", "avd_name", "kill"]


async def kill(host: str, port: int) -> bool:
    """Asks an emulator's console to end it; whether the console took it."""
    return await ask(host, port, "kill") is not None


async def avd_name(host: str, port: int) -> str:
    """The name its console tells; empty where it tells none."""
    said = await ask(host, port, "avd name")
    return said[0] if said else ""
