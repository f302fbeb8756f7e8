"""`atos`: names of addresses, from files with debug symbols that the lab writes.

As the real one it never asks whether the symbols are of the build that crashed: a wrong file gives wrong names, calmly.
"""

from __future__ import annotations

from ..model.symbols import NoSymbols, read
from ..programs import Invocation, Program


async def run(call: Invocation, words: list[str]) -> int:
    """`atos -o FILE [-arch ARCH] -l LOADADDRESS ADDRESS…`; without addresses it waits for them on stdin."""
    words = list(words)
    given: dict[str, str] = {}
    while words and words[0].startswith("-"):
        name = words.pop(0)
        given[name] = words.pop(0) if name in ("-o", "-arch", "-l") and words else ""
    if "-o" not in given or "-l" not in given:
        return await call.fail(1, "Usage: atos [-p pid] [-o executable/dSYM] [-f file] [-s slide | -l loadAddress]\n")
    try:
        found = read(call.path(given["-o"]))
    except (OSError, NoSymbols):
        return await call.fail(1, f"atos: could not load inserted library or file: {given['-o']}\n")
    arch = given.get("-arch") or next(iter(found))
    if arch not in found:
        return await call.fail(1, f"atos cannot load symbols for the file {given['-o']} for architecture {arch}.\n")
    table = found[arch]
    try:
        base = int(given["-l"], 16)
        asked = words or (await call.read_all()).decode().split()
        for word in asked:
            await call.out(table.say(word, int(word, 16) - base) + "\n")
    except ValueError:
        return await call.fail(1, "atos: an address is no number\n")
    return 0


async def atos(call: Invocation) -> int:
    """The program under its own name."""
    return await run(call, call.args)


PROGRAMS: dict[str, Program] = {"atos": atos}
