"""Backends that say what is not so."""

from __future__ import annotations

from . import Member, operations

PRESS = "press.reaches-the-named-device"

MEMBERS = [
    Member(
        "over-claims",
        manifest={"operations": operations(navigation_app_switcher={})},
        only=("operation.navigation.app_switcher", PRESS),
        level="partial",
        cases={"operation.navigation.app_switcher": ("failed", "declared and not implemented"), PRESS: ("passed", "")},
    ),
    Member(
        "hides",
        manifest={"operations": operations(without=("keys.press",))},
        only=("operation.keys.press",),
        level="partial",
        cases={"operation.keys.press": ("failed", "not declared, yet it works on the driver")},
    ),
    Member(
        "only-experiments",
        manifest={"operations": {name: {**c, "experimental": True} for name, c in operations().items()}},
        level="partial",
        cases={PRESS: ("experimental", "")},
    ),
    Member(
        "wrong-device",
        "def set_up(self):\n    self.fault.redirect = 'phone-2'\n",
        level="partial",
        cases={PRESS: ("failed", "reported no|other device changed|does not open")},
    ),
    Member(
        "answers-for-another",
        "def set_up(self):\n    self.fault.wrong_identity = self.rows['phone-2'].ref()\n",
        level="partial",
        cases={PRESS: ("failed", "Another device than the one that was named has acted")},
    ),
    Member(
        "pretends",
        "def set_up(self):\n    self.fault.swallow = {'elements.activate'}\n",
        level="partial",
        cases={PRESS: ("failed", "the app reported no press")},
    ),
    Member(
        "bends-the-trees",
        """
        async def connect(self, device, env):
            driver = await super().connect(device, env)
            tree = driver.screen.tree

            async def bent(scope):
                found = await tree(scope)
                for node in found.nodes[1:]:
                    node.parent = len(found.nodes) + 5
                return found

            driver.screen.tree = bent
            return driver
        """,
        level="partial",
        cases={PRESS: ("failed", "backend_broken")},
    ),
    Member(
        "leaves-cases-out",
        """
        def set_up(self):
            from anydevice_conformance.engine import Engine

            Engine.expected = lambda engine, name: engine.cases[:1]
        """,
        only=("press.reaches-the-named-device", "press.refuses-disabled"),
        why="cannot be trusted: it said that it was finished and left 1 cases out",
        cases={"press.refuses-disabled": ("not_run", "")},
    ),
    Member(
        "changes-a-case",
        """
        def set_up(self):
            from anydevice_conformance.case import catalogue

            async def nothing(trial):
                return None

            for case in catalogue():
                if case.id == "press.reaches-the-named-device":
                    object.__setattr__(case, "run", nothing)
        """,
        why="cannot be trusted: the run's catalogue was another one",
    ),
    Member(
        "moves-cases-out-of-core",
        """
        def set_up(self):
            from anydevice_conformance.case import catalogue

            for case in catalogue():
                object.__setattr__(case, "bundle", "extras")
                object.__setattr__(case, "optional", True)
        """,
        why="cannot be trusted: the run's catalogue was another one",
    ),
    Member(
        "writes-results-itself",
        """
        async def devices(self, env):
            import json
            import os
            import stat

            row = {"id": "press.refuses-disabled", "must": "", "deviceClass": "phone", "bundle": "core",
                   "declared": True, "verdict": "passed"}
            for number in range(3, 64):
                try:
                    if stat.S_ISFIFO(os.fstat(number).st_mode) and not os.get_inheritable(number):
                        os.write(number, json.dumps({"event": "row", "row": row}).encode() + b"\\n")
                except OSError:
                    continue
            return await super().devices(env)
        """,
        only=("press.reaches-the-named-device", "press.refuses-disabled"),
        why="cannot be trusted: a result was told for press.refuses-disabled, which had not begun",
        spares_the_daemon=False,
    ),
    # The honest limit: code in the process of the run can make every case pass. Such a report is "self-reported", which
    # every report is until somebody else runs the suite.
    Member(
        "forges-the-verdict",
        """
        def set_up(self):
            from anydevice_conformance.engine import Engine

            async def passed(engine, case, trial, declared):
                return "passed", ""

            Engine._verdict = passed
            self.fault.swallow = {"elements.activate"}
        """,
        level="partial",
        cases={PRESS: ("passed", "")},
    ),
]
