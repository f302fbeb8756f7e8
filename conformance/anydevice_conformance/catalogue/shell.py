"""A shell on the device: what a line says and how it ends, and that nothing of it stays."""

from __future__ import annotations

import secrets
from typing import Any

import anyio

from ..case import case
from ..hands import profile, said, shell
from ..trial import Trial

SHELL: dict[str, Any] = {"needs": ("shell.run",), "bundle": "shell", "screen": None}


@case(
    "shell.how-it-ended-is-told",
    "A command line MUST be answered with its exit status and both outputs apart; one that fails MUST be ok: false in "
    "the data and no error.",
    **SHELL,
)
async def how_it_ended(t: Trial) -> None:
    word = secrets.token_hex(4)
    answer = await shell(t, f"echo {word}; echo bad-{word} >&2; exit 3")
    told = {name: answer.data.get(name) for name in ("ok", "status", "stdout", "stderr")}
    t.equal(told, {"ok": False, "status": 3, "stdout": f"{word}\n", "stderr": f"bad-{word}\n"}, "what it said")
    t.equal(answer.verified, False, "verified, where nobody can know what a line did")
    answer = await shell(t, "exit 0")
    t.equal((answer.data["ok"], answer.data["status"]), (True, 0), "of a line that worked")


@case(
    "shell.a-line-arrives-as-it-was-written",
    "A command line MUST reach the device's shell as it was written: quotes, spaces and signs of the shell in them.",
    **SHELL,
)
async def as_it_was_written(t: Trial) -> None:
    line = "echo 'two  spaces; one && two' \"it's > x\" '*' '$HOME'"
    t.equal(await said(t, line), "two  spaces; one && two it's > x * $HOME\n", "what echo was given")


@case(
    "shell.only-on-this-device",
    "A command line MUST run on the device that was named and on no other.",
    **SHELL,
)
async def only_here(t: Trial) -> None:
    name = f"case-{secrets.token_hex(4)}"
    await said(t, f"echo here > {name}")
    t.equal(await said(t, f"cat {name}"), "here\n", "what the device kept")
    there = await shell(t, f"cat {name}", on=t.other, by=t.new_caller("elsewhere"))
    t.equal(there.data["ok"], False, "ok, of reading that file on the other device")
    await said(t, f"rm {name}")


@case(
    "shell.late-lines-are-ended",
    "A command line that does not end in time MUST be a timeout, and MUST be ended: nothing of it may happen later.",
    **SHELL,
)
async def late_lines(t: Trial) -> None:
    name = f"case-{secrets.token_hex(4)}"
    await shell(t, f"sleep 2; echo late > {name}", timeoutMs=300, expect="timeout")
    t.equal(await said(t, "echo next"), "next\n", "what the next line says")
    await anyio.sleep(2.5)
    t.equal((await shell(t, f"cat {name}")).data["ok"], False, "ok, of reading what it would have written")


@case(
    "shell.refused-below-profile-full",
    "A command line MUST be refused in every profile below full, and MUST NOT run.",
    **SHELL,
)
async def below_full(t: Trial) -> None:
    name = f"case-{secrets.token_hex(4)}"
    cwd: dict[str, Any] = {"cwd": t.manifest.practice.folder} if t.manifest.practice.folder else {}
    for level in ("standard", "read-only"):
        with profile(t, level):
            answer = await t.call("shell", commandLine=f"echo no > {name}", expect="refused", **cwd)
        t.detail(answer, "reason", "alternative")
    t.equal((await shell(t, f"cat {name}")).data["ok"], False, "ok, of reading what it would have written")
