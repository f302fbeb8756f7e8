"""Files of a device: put away so that they can be had back, found by name, marked with tags."""

from __future__ import annotations

import secrets
from typing import Any

from ..case import case
from ..hands import approved, made, said, shell
from ..trial import Trial

FILING: dict[str, Any] = {"bundle": "filing", "screen": None}
TRASH: dict[str, Any] = {"needs": ("files.trash", "shell.run"), **FILING}


async def _path(t: Trial, told: str) -> str:
    """A path as the device's shell has it."""
    return (await said(t, "pwd")).strip() + told[1:] if told.startswith("~/") else told


@case(
    "filing.trash-moves-and-never-deletes",
    "trash MUST move a file to where it says, whole, and away from where it was; it MUST NOT delete it.",
    **TRASH,
)
async def moves(t: Trial) -> None:
    name = f"case-{secrets.token_hex(4)}.txt"
    path = await made(t, name, "precious")
    answer = await approved(t, "trash", path=path)
    t.equal(answer.verified, True, "verified")
    t.equal((await shell(t, f"cat {name}")).data["ok"], False, "ok, of reading it where it was")
    where = await _path(t, str(answer.data["trashed"]))
    t.equal(await said(t, f"cat '{where}'"), "precious\n", "what lies where it says")


@case(
    "filing.trash-waits-for-a-person",
    "trash MUST NOT move anything before a person approved that very call.",
    **TRASH,
)
async def waits(t: Trial) -> None:
    name = f"case-{secrets.token_hex(4)}.txt"
    path, other = await made(t, name, "precious"), await made(t, f"other-{name}", "too")
    asked = await t.call("trash", path=path, expect="confirmation_required")
    token = t.detail(asked, "token", "expires_in", "command")["token"]
    t.router.services.policy.approve(token)
    await t.call("trash", path=other, confirmToken=token, expect="confirmation_invalid")
    t.equal(await said(t, f"cat {name} other-{name}"), "precious\ntoo\n", "what is there still")
    await said(t, f"rm {name} other-{name}")


@case(
    "filing.names-in-the-trash-are-taken-once",
    "Two files of one name MUST both be there in the trash, each with what was in it.",
    **TRASH,
)
async def taken_once(t: Trial) -> None:
    name = f"case-{secrets.token_hex(4)}.txt"
    places = []
    for text in ("first", "second"):
        path = await made(t, name, text)
        places.append(await _path(t, str((await approved(t, "trash", path=path)).data["trashed"])))
    t.require(places[0] != places[1], "both are said to lie at one place")
    t.equal(await said(t, f"cat '{places[0]}' '{places[1]}'"), "first\nsecond\n", "what lies there")


@case(
    "filing.search-finds-by-name",
    "file-search MUST find what has the text in its name, in any case, the newest first, and nothing else.",
    needs=("files.search", "shell.run"),
    **FILING,
)
async def finds(t: Trial) -> None:
    word = secrets.token_hex(4)
    names = [f"case-{word}-One.txt", f"CASE-{word.upper()}-two.txt", f"kase-{word}.txt"]
    paths = [await made(t, name, "x") for name in names]
    under = paths[0].rpartition("/")[0]
    answer = await t.call("file-search", name=f"case-{word}", under=under)
    found = [str(row["path"]).rpartition("/")[2] for row in answer.data["files"]]
    t.equal(sorted(found), sorted(names[:2]), "what was found")
    answer = await t.call("file-search", name=f"?ase-{word}*.txt", under=under, limit=2)
    t.equal(answer.data["count"], 2, "how many are told, where three match and two are wanted")
    t.require(answer.truncated, "that there are more is not told")
    await said(t, "rm " + " ".join(names))


@case(
    "filing.tags-are-read-back",
    "Tags MUST be those that were set, added and removed, of that file alone.",
    needs=("files.tags", "files.set_tags", "shell.run"),
    bundle="tags",
    screen=None,
)
async def tags(t: Trial) -> None:
    name = f"case-{secrets.token_hex(4)}.txt"
    path, other = await made(t, name, "x"), await made(t, f"other-{name}", "x")
    steps: list[tuple[str, list[str], list[str]]] = [
        ("set", ["urgent", "über wichtig"], ["urgent", "über wichtig"]),
        ("add", ["third", "urgent"], ["urgent", "über wichtig", "third"]),
        ("remove", ["urgent"], ["über wichtig", "third"]),
        ("set", ["only"], ["only"]),
        ("set", [], []),
    ]
    for action, given, due in steps:
        answer = await t.call("tags", action=action, path=path, tags=given)
        t.equal((set(answer.data["tags"]), answer.verified), (set(due), True), f"tags after {action}")
        now = await t.call("tags", path=path)
        t.equal(set(now.data["tags"]), set(due), f"tags that are read after {action}")
    t.equal((await t.call("tags", path=other)).data["tags"], [], "tags of another file")
    await said(t, f"rm {name} other-{name}")
