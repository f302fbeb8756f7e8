"""Files, shell, packages and ports of a fake device: capabilities over its `FakeDisk`, with faults on request."""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from anydevice_schemas.errors import AppNotFound, CallTimeout, InvalidArgument, PathNotFound, Refused

from .. import driver as d
from .disk import HOME, PORTS, FakeDisk

if TYPE_CHECKING:
    from .driver import FakeDriver

OPERATIONS = [
    "apps.install", "apps.uninstall", "apps.container", "files.push", "files.pull", "files.add_media", "files.trash",
    "files.tags", "files.set_tags", "files.search", "shell.run", "forwards.list", "forwards.add", "forwards.remove",
]  # fmt: skip
"""What is here."""
CUT = 1 << 20
"""Characters of each output of the shell that are kept."""


class Part:
    """Base of the capabilities here."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    @property
    def disk(self) -> FakeDisk:
        """The disk of the device acted on."""
        return self.driver.disk


class FakeFiles(Part, d.Files):
    """See `Files`."""

    async def push(self, source: str, target: str, *, deadline: float) -> d.Acted:
        """See `Files.push`."""
        done = await self.driver.enter("files.push", page=False)
        sent = await _read(source)
        if done:
            for rest, data in sent.items():
                path = posixpath.normpath(f"{target}/{rest}" if rest else target)
                if rest:
                    self._folder(posixpath.dirname(path), target)
                self.disk.write(path, data)
        arrived = [self.disk.files.get(posixpath.normpath(f"{target}/{rest}" if rest else target)) for rest in sent]
        whole = [file is not None and file.data for file in arrived] == list(sent.values())
        self.disk.journal.append(("push", target))
        return d.Acted("push", verified=whole)

    async def pull(self, source: str, target: str, *, deadline: float) -> d.Acted:
        """See `Files.pull`."""
        done = await self.driver.enter("files.pull", page=False)
        path = anyio.Path(target)
        self.disk.journal.append(("pull", source))
        source = posixpath.normpath(source)
        if source not in self.disk.folders:
            data = self.disk.read(source).data
            if done:
                await path.write_bytes(data)
            return d.Acted("pull")
        await path.mkdir()
        for name in self.disk.below(source) if done else ():
            inner = path / name[len(source) :].lstrip("/")
            await inner.parent.mkdir(parents=True, exist_ok=True)
            await inner.write_bytes(self.disk.files[name].data)
        return d.Acted("pull")

    async def add_media(self, source: str, *, deadline: float) -> d.Acted:
        """See `Files.add_media`."""
        done = await self.driver.enter("files.add_media", page=False)
        data, name = await anyio.Path(source).read_bytes(), anyio.Path(source).name
        if done:
            self.disk.gallery[name] = data
            self.disk.write(f"{HOME}/Pictures/{name}", data)
        return d.Acted("gallery", verified=self.disk.gallery.get(name) == data, data={"name": name})

    async def trash(self, path: str) -> d.Acted:
        """See `Files.trash`."""
        if not await self.driver.enter("files.trash", page=False):
            return d.Acted("trash", verified=not self.disk.has(path), data={"trashed": path})
        where = self.disk.put_away(path)
        self.disk.journal.append(("trash", path))
        return d.Acted("trash", verified=self.disk.has(where) and not self.disk.has(path), data={"trashed": where})

    async def tags(self, path: str) -> Sequence[str]:
        """See `Files.tags`."""
        await self.driver.enter("files.tags", page=False)
        return self.disk.read(path).tags

    async def set_tags(self, path: str, tags: Sequence[str]) -> d.Acted:
        """See `Files.set_tags`."""
        if await self.driver.enter("files.set_tags", page=False):
            self.disk.read(path).tags = tuple(tags)
        return d.Acted("tags")

    async def search(
        self, name: str, *, under: str | None = None, most: int = 100, hidden: bool = False, deadline: float = 10.0
    ) -> d.FileList:
        """See `Files.search`."""
        await self.driver.enter("files.search", page=False)
        found = self.disk.search(name, under or HOME, hidden)
        return d.FileList(found[:most], f"{len(found)} match, these are the newest" if len(found) > most else "")

    def _folder(self, path: str, top: str) -> None:
        if posixpath.dirname(posixpath.normpath(top)) not in self.disk.folders:
            raise PathNotFound("The device has no folder it could go into.", path=top)
        while path not in self.disk.folders:
            self.disk.folders.add(path)
            path = posixpath.dirname(path)


async def _read(source: str) -> dict[str, bytes]:
    """The files of a path of the host, by what follows it; a file itself under the empty word."""
    path = anyio.Path(source)
    if await path.is_dir():
        files = [one async for one in path.rglob("*") if await one.is_file()]
        return {str(one.relative_to(path)): await one.read_bytes() for one in files}
    return {"": await path.read_bytes()}


class FakeShell(Part, d.Shell):
    """A shell with a handful of words: cat, echo, exit, false, ls, pwd, rm, sleep, true."""

    async def run(self, command: str, *, cwd: str | None = None, deadline: float = 30.0) -> d.ShellResult:
        """See `Shell.run`."""
        done = await self.driver.enter("shell.run", page=False)
        folder = posixpath.normpath(cwd or HOME)
        if folder not in self.disk.folders:
            raise PathNotFound("The device has no such folder.", path=cwd)
        self.disk.journal.append(("shell", command))
        if not done:
            return d.ShellResult(0, "", "")
        self.disk.running.append(command)
        try:
            with anyio.fail_after(deadline):
                return await _Run(self.disk, folder).line(command)
        except TimeoutError:
            raise CallTimeout("The command did not end in time and was ended.", after=deadline) from None
        finally:
            self.disk.running.remove(command)


class _Run:
    """One command line: simple commands with `;` and `&&` between them, and `>&2` or `> FILE` behind them."""

    def __init__(self, disk: FakeDisk, folder: str) -> None:
        self.disk, self.folder = disk, folder
        self.out, self.err, self.status = "", "", 0

    async def line(self, command: str) -> d.ShellResult:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=";&>|")
        lexer.whitespace_split = True
        words: list[str] = []
        try:
            tokens = [*lexer, ";"]
        except ValueError as error:
            return d.ShellResult(2, "", f"sh: {error}\n")
        for token in tokens:
            if token not in (";", "&&"):
                words.append(token)
                continue
            if words and await self._simple(words):
                break
            words = []
            if token == "&&" and self.status:
                break
        cut = len(self.out) > CUT or len(self.err) > CUT
        return d.ShellResult(self.status, self.out[:CUT], self.err[:CUT], cut)

    async def _simple(self, words: list[str]) -> bool:
        """One command; whether it ends the shell."""
        if len(words) > 2 and words[-2] in (">", ">&"):
            *words, how, where = words
            before, self.out = self.out, ""
            ends = await self._simple(words)
            said, self.out = self.out, before
            if how == ">&":
                self.err += said
            else:
                self.disk.write(posixpath.join(self.folder, where), said.encode())
            return ends
        word, *rest = words
        self.status = 0
        if word == "exit":
            self.status = int(rest[0]) if rest else 0
            return True
        if word == "echo":
            self.out += " ".join(rest) + "\n"
        elif word == "pwd":
            self.out += self.folder + "\n"
        elif word == "sleep":
            await anyio.sleep(float(rest[0]))
        elif word == "ls":
            names = {p.removeprefix(self.folder + "/").partition("/")[0] for p in self.disk.below(self.folder)}
            self.out += "".join(f"{name}\n" for name in sorted(names))
        elif word in ("cat", "rm"):
            for name in rest:
                self._file(word, posixpath.normpath(posixpath.join(self.folder, name)))
        elif word == "false":
            self.status = 1
        elif word != "true":
            self.err, self.status = f"{self.err}sh: {word}: not found\n", 127
        return False

    def _file(self, word: str, path: str) -> None:
        if path not in self.disk.files:
            self.err, self.status = f"{self.err}{word}: {path}: No such file\n", 1
        elif word == "cat":
            self.out += self.disk.files[path].data.decode("utf-8", "replace")
        else:
            del self.disk.files[path]


class Installing(d.Apps):
    """Installing and removing packages: JSON files with an id and a name, `{"package": …, "name": …}`."""

    driver: FakeDriver

    async def install(self, path: str, *, deadline: float) -> d.Acted:
        """See `Apps.install`."""
        done = await self.driver.enter("apps.install", page=False)
        try:
            told = json.loads(await anyio.Path(path).read_bytes())
            app, name = str(told["package"]), str(told["name"])
        except (ValueError, KeyError, TypeError, OSError):
            raise InvalidArgument("This is no package.", param="path", expected="a package") from None
        if done:
            self.driver.disk.packages[app] = name
            self.driver.disk.write(f"{HOME}/{app}.data", b"")
        self.driver.disk.journal.append(("install", app))
        return d.Acted("package", data={"app": app})

    async def uninstall(self, app: str) -> d.Acted:
        """See `Apps.uninstall`."""
        done = await self.driver.enter("apps.uninstall", page=False)
        if app not in self.driver.disk.packages:
            raise AppNotFound("It is not installed.", nearest_matches=[])
        if done:
            del self.driver.disk.packages[app]
            self.driver.disk.files.pop(f"{HOME}/{app}.data", None)
        self.driver.disk.journal.append(("uninstall", app))
        return d.Acted("package")

    async def container(self, app: str, kind: str) -> str:
        """See `Apps.container`."""
        await self.driver.enter("apps.container", page=False)
        if app not in self.driver.disk.packages and app != str(self.driver.model.state()["app"]):
            raise AppNotFound("It is not installed.", nearest_matches=[])
        return self.driver.disk.container(app, kind)


class FakeForwards(Part, d.Forwards):
    """See `Forwards`."""

    async def list(self) -> Sequence[d.Forward]:
        """See `Forwards.list`."""
        await self.driver.enter("forwards.list", page=False)
        return list(self.disk.forwards)

    async def add(self, forward: d.Forward) -> d.Forward:
        """See `Forwards.add`."""
        done = await self.driver.enter("forwards.add", page=False)
        if (forward.device if forward.reverse else forward.host) == "tcp:0":
            port = f"tcp:{next(PORTS)}"
            forward = replace(forward, device=port) if forward.reverse else replace(forward, host=port)
        if done:
            self.disk.forwards[forward] = True
        self.disk.journal.append(("forward", forward))
        return forward

    async def remove(self, forward: d.Forward) -> d.Acted:
        """See `Forwards.remove`."""
        done = await self.driver.enter("forwards.remove", page=False)
        if not self.disk.forwards.get(forward):
            raise Refused("Somebody else forwarded this port.", reason="not ours", alternative="whoever added it")
        if done:
            del self.disk.forwards[forward]
        self.disk.journal.append(("unforward", forward))
        return d.Acted("forward")
