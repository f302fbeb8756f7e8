"""`simctl`: finds the subcommand and the device set, and prints what goes wrong."""

from __future__ import annotations

import anyio

from ..programs import Invocation
from . import sim_apps, sim_list, sim_log, sim_screen, sim_states
from .asking import Ask, Failed, Subcommand

SUBCOMMANDS: dict[str, Subcommand] = {
    **sim_list.SUBCOMMANDS, **sim_states.SUBCOMMANDS, **sim_apps.SUBCOMMANDS, **sim_screen.SUBCOMMANDS,
    **sim_log.SUBCOMMANDS,
}  # fmt: skip
USAGE = """usage: simctl [--set <path>] [--profiles <path>] <subcommand> ...
       simctl help [subcommand]
Command line utility to control the Simulator
"""


async def run(call: Invocation, words: list[str]) -> int:
    """Runs one subcommand."""
    words, where = list(words), ""
    while words and words[0].startswith("--"):
        word = words.pop(0)
        if word == "--set" and words:
            where = words.pop(0)
        elif word == "--profiles" and words:
            words.pop(0)
    name = words.pop(0) if words else "help"
    if name != "help" and call.world.faults.active("first_launch"):
        await anyio.sleep_forever()
    if name == "help":
        await call.out(USAGE + "Subcommands:\n" + "".join(f"\t{known}\n" for known in sorted(SUBCOMMANDS)))
        return 0
    subcommand = SUBCOMMANDS.get(name)
    if subcommand is None:
        return await call.fail(22, f"Unrecognized subcommand: {name}\n{USAGE}")
    devices = call.world.sets.setdefault(where, {}) if where else call.world.devices
    try:
        return await subcommand(Ask(call, words, devices, where))
    except Failed as failed:
        return await call.fail(failed.code, failed.text)
