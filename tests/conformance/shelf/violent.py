"""Backends that do something to the process they run in, or leave something behind."""

from __future__ import annotations

from . import Member

PRESS = "press.reaches-the-named-device"
LEAVES = "run.leaves-nothing-behind"


def _in_press(*lines: str) -> str:
    """Methods of a backend whose driver runs these lines in the middle of a press."""
    body = "\n".join("        " + line for line in lines)
    return f"""async def connect(self, device, env):
    driver = await super().connect(device, env)
    activate = driver.elements.activate

    async def pressed(key):
{body}
        return await activate(key)

    driver.elements.activate = pressed
    return driver
"""


MEMBERS = [
    Member(
        "skips-itself",
        _in_press("import pytest", "pytest.skip('not today')"),
        only=(PRESS, "press.refuses-disabled"),
        ended="died",
        why=f"ended early in the middle of {PRESS} on phone: Skipped: not today",
        cases={PRESS: ("failed", "Skipped"), "press.refuses-disabled": ("not_run", "")},
        spares_the_daemon=False,
    ),
    Member(
        "skips-itself-politely",
        _in_press("import unittest", "raise unittest.SkipTest('not today')"),
        level="partial",
        cases={PRESS: ("failed", "backend_broken")},
    ),
    Member(
        "exits-in-the-middle",
        _in_press("import os", "os._exit(0)"),
        only=(PRESS, "press.refuses-disabled"),
        ended="died",
        why=f"ended with exit status 0 in the middle of {PRESS} on phone",
        cases={PRESS: ("failed", "exit status 0"), "press.refuses-disabled": ("not_run", "exit status 0")},
    ),
    Member(
        "dies-in-the-middle",
        _in_press("import os, signal", "os.kill(os.getpid(), signal.SIGSEGV)"),
        ended="died",
        why=f"ended by signal 11 in the middle of {PRESS} on phone",
        cases={PRESS: ("failed", "signal 11")},
    ),
    Member(
        "ends-its-keeper",
        _in_press("import os, signal", "os.kill(os.getppid(), signal.SIGKILL)"),
        ended="died",
        why="the process that keeps the run was ended",
        cases={LEAVES: ("not_run", "")},
    ),
    Member(
        "blocks-in-the-middle",
        _in_press("import time", "time.sleep(3600)"),
        only=("operation.screen.tree", PRESS),
        ended="stopped",
        why="took longer than [0-9.]+ s in the middle of",
        cases={"operation.screen.tree": ("passed", ""), PRESS: ("failed", "took longer")},
    ),
    Member(
        "leaks-a-process",
        """
        def set_up(self):
            import subprocess

            # In a session of its own, under a shell that goes away at once: it has lost its parent and its group.
            command = "exec 1>&- 2>&-; sleep 613 & exit 0"
            subprocess.run(["sh", "-c", command], start_new_session=True, env={}, check=True)
        """,
        level="partial",
        cases={PRESS: ("passed", ""), LEAVES: ("failed", r"1 processes outlived the run and were ended: sleep \(")},
        spares_the_daemon=False,
    ),
    Member(
        "leaks-a-thread",
        """
        def set_up(self):
            import threading
            import time

            threading.Thread(target=time.sleep, args=(3600,)).start()
        """,
        level="partial",
        cases={PRESS: ("passed", ""), LEAVES: ("failed", "a thread keeps it alive")},
        spares_the_daemon=False,
    ),
    Member(
        "prints-garbage",
        """
        def set_up(self):
            import os
            import sys

            print('{"event": "finished"}', "\\x1b[2J", "the end of it")
            for descriptor in (1, 2):
                for _ in range(200):
                    os.write(descriptor, b"\\xff\\x00 {\\"event\\": \\"row\\"}\\n" * 500)
            sys.stderr.write("last words")
        """,
        level="partial",
        cases={PRESS: ("passed", ""), LEAVES: ("passed", "")},
    ),
]
