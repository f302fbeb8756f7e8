"""What cases about files, shells and packages use: a folder of the caller, a person's yes, a shell on the device."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from anydevice_schemas import Answer, Caller, Device

from .trial import CaseBlocked, Trial


@asynccontextmanager
async def folder(t: Trial) -> AsyncIterator[tuple[Path, Caller]]:
    """A folder of this host, and a caller who works in it."""
    temporary = await anyio.to_thread.run_sync(lambda: tempfile.TemporaryDirectory(prefix="anydevice-case-"))
    try:
        path = Path(temporary.name)
        yield path, t.new_caller(f"{t.caller.connection}-folder", cwd=str(path))
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(temporary.cleanup)


@contextmanager
def profile(t: Trial, name: str) -> Iterator[None]:
    """Lets the server run in another profile."""
    policy = t.router.services.policy
    before, policy.profile = policy.profile, name
    try:
        yield
    finally:
        policy.profile = before


async def approved(t: Trial, command: str, **arguments: Any) -> Answer:
    """A call that is refused until a person approves it, and is approved.

    Raises:
        CaseFailed: It is not refused before, or works with a token nobody approved.
    """
    more = {name: arguments.pop(name) for name in ("by", "on", "expect") if name in arguments}
    expect = more.pop("expect", "ok")
    asked = await t.call(command, expect="confirmation_required", **more, **arguments)
    token = t.detail(asked, "token", "expires_in")["token"]
    if t.router.services.policy.confirm == "person":
        await t.call(command, expect="confirmation_invalid", confirmToken=token, **more, **arguments)
    t.router.services.policy.approve(token)
    return await t.call(command, expect=expect, confirmToken=token, **more, **arguments)


async def shell(t: Trial, line: str, *, on: Device | None = None, by: Caller | None = None, **more: Any) -> Answer:
    """Runs a command line on a device, in the folder where files may be made."""
    if t.manifest.practice.folder:
        more.setdefault("cwd", t.manifest.practice.folder)
    with profile(t, "full"):
        return await t.call("shell", on=on, by=by, commandLine=line, **more)


async def said(t: Trial, line: str, **more: Any) -> str:
    """What a command line writes.

    Raises:
        CaseFailed: It does not work.
    """
    answer = await shell(t, line, **more)
    t.require(answer.data["ok"] is True, f"{line}: ended with {answer.data['status']}")
    return str(answer.data["stdout"])


async def made(t: Trial, name: str, text: str, *, by: Caller | None = None) -> str:
    """A file on the device, made by its own shell; its whole path."""
    await said(t, f"echo {text} > {name}", by=by)
    return (await said(t, "pwd", by=by)).strip() + "/" + name


async def package(t: Trial, into: Path) -> Path:
    """A copy of the backend's package to install.

    Raises:
        CaseBlocked: It brings none.
    """
    name = t.manifest.practice.package
    if not name:
        raise CaseBlocked("the backend's manifest names no package to install")
    home = type(await t.driver()).__module__.partition(".")[0]
    copy = into / Path(name).name
    copy.write_bytes(files(home).joinpath(*name.split("/")).read_bytes())
    return copy
