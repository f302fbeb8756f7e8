"""atm: which permissions an app has asked for and got, and, on builds for development alone, giving and taking them.

A user build has no `perm` at all, and its shell cannot grant anything. What `dump -t` prints looks like JSON and is
none: a comma stands behind the last thing of each permission.
"""

from __future__ import annotations

from ..framework.apps import App
from ..programs import Invocation, Program

HELP = "usage: atm <command> <option>\nThese are common atm commands list:\n  help    list available commands\n"
NO_OPTION = "error: you must specify an option at least.\n"
USER_FIXED = 2


async def atm(call: Invocation) -> int:
    """The access token manager."""
    verb, *rest = call.args or ["help"]
    if verb == "help":
        await call.out(HELP)
    elif verb == "dump":
        await call.out(_dump(call, rest) + "\n")
    elif verb == "perm" and call.device.kind.debuggable:
        await call.out(_change(call, rest))
    else:
        await call.out(f"atm: '{verb}' is not a valid atm command. See 'atm help'.\n")
    return 0


def _value(words: list[str], *names: str) -> str:
    for name in names:
        if name in words and words.index(name) + 1 < len(words):
            return words[words.index(name) + 1]
    return ""


def _dump(call: Invocation, rest: list[str]) -> str:
    apps = call.device.machine.apps
    if "-t" not in rest and "--token-info" not in rest:
        return NO_OPTION
    name, number = _value(rest, "-b", "--bundle-name"), _value(rest, "-i", "--token-id")
    if not name and not number:
        return "".join(f"{app.token}: {app.id}\n" for app in apps.values())
    found = apps.get(name) or next((app for app in apps.values() if str(app.token) == number), None)
    return _told(found) if found is not None else ""


def _told(app: App) -> str:
    rows = ",\n".join(
        f'    {{\n      "permissionName": "{name}",\n      "grantStatus": {0 if state.granted else -1},\n'
        f'      "grantFlag": {state.flag},\n    }}'
        for name, state in app.permissions.items()
    )
    return (
        f'{{\n  "tokenID": {app.token},\n  "tokenAttr": {int(app.system)},\n  "ver": 1,\n  "userId": 100,\n'
        f'  "bundleName": "{app.id}",\n  "instIndex": 0,\n  "dlpType": 0,\n  "isRemote": false,\n'
        f'  "isPermDialogForbidden": false,\n  "permStateList": [\n{rows}\n  ]\n}}'
    )


def _change(call: Invocation, rest: list[str]) -> str:
    """`perm -g|-c -i TOKEN -p PERMISSION`: only what the app has asked for."""
    number, name = _value(rest, "-i", "--token-id"), _value(rest, "-p", "--permission-name")
    app = next((app for app in call.device.machine.apps.values() if str(app.token) == number), None)
    state = app.permissions.get(name) if app is not None else None
    if state is None:
        return "Failure\n"
    state.granted, state.flag = "-g" in rest or "--grant" in rest, USER_FIXED
    call.device.journal.add("permission", app=app.id if app is not None else "", name=name, granted=state.granted)
    return "Success\n"


PROGRAMS: dict[str, Program] = {"atm": atm}
