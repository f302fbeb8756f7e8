"""Resources: the files that calls made, results too long to say, the devices there are, and guides."""

from __future__ import annotations

import base64
import json
import secrets
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources as packaged
from typing import Any

import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from anydevice.artefacts import SCHEME
from anydevice_schemas import Artefact, Caller
from anydevice_schemas.errors import AnydeviceError

from .features import Feature
from .untrusted import marked

Request = ServerRequestContext[Any, Any]

DEVICES, GUIDES, RESULTS = "anydevice://devices", "anydevice://guides/", "anydevice://results/"
JSON, TEXT = "application/json", "text/markdown"

KEPT, PRINCIPALS = 100, 1000
"""Files that are listed for a principal, the latest of them; principals that are remembered."""

RESULTS_KEPT, RESULT_MOST, RESULTS_MOST = 8, 4 * 1024 * 1024, 64 * 1024 * 1024
"""Results too long to say that are kept in memory for a principal, the latest of them; bytes of each, and of those of
all principals together, at most."""

READ_MOST = 8 * 1024 * 1024
"""Bytes of a file that is handed over whole."""


class Resources(Feature):
    """The facade's own resources. A file belongs to the principal whose call made it."""

    name = "resources"

    def __init__(self) -> None:
        self._made: OrderedDict[str, deque[Artefact]] = OrderedDict()
        self._results: OrderedDict[str, deque[tuple[str, bytes]]] = OrderedDict()

    def made(self, caller: Caller, artefacts: Sequence[Artefact]) -> None:
        """A call made files: they are listed from now on."""
        if not artefacts:
            return
        mine = self._made.setdefault(caller.principal, deque(maxlen=KEPT))
        self._made.move_to_end(caller.principal)
        while len(self._made) > PRINCIPALS:
            self._made.popitem(last=False)
        mine.extend(artefacts)
        self.host.changed("resources")

    def keep(self, caller: Caller, data: Mapping[str, Any]) -> str | None:
        """Keeps a result for a while, in memory only; returns its address, None where it is too long even for that."""
        text = json.dumps(data, ensure_ascii=False, default=str).encode("utf-8", "replace")
        if len(text) > RESULT_MOST:
            return None
        mine = self._results.setdefault(caller.principal, deque(maxlen=RESULTS_KEPT))
        self._results.move_to_end(caller.principal)
        while len(self._results) > PRINCIPALS // 10:
            self._results.popitem(last=False)
        uri = RESULTS + secrets.token_hex(8)
        mine.append((uri, text))
        self._make_room()
        return uri

    def _make_room(self) -> None:
        """Lets go of the earliest results of whoever has most, until all together are within their bound."""
        sizes = {name: sum(len(text) for _, text in kept) for name, kept in self._results.items()}
        while sum(sizes.values()) > RESULTS_MOST:
            most = max(sizes, key=lambda name: sizes[name])
            _, text = self._results[most].popleft()
            sizes[most] -= len(text)

    async def resources(self, ctx: Request) -> Sequence[types.Resource]:
        """The device list, the guides, and the caller's files."""
        found = [
            types.Resource(uri=DEVICES, name="devices", title="Devices", mime_type=JSON,
                           description="Every device this host has, with its state."),
        ]  # fmt: skip
        for name, (title, _) in guides().items():
            found.append(types.Resource(uri=GUIDES + name, name=f"guide-{name}", title=title, mime_type=TEXT))
        found += [
            types.Resource(uri=file.uri, name=file.name, mime_type=file.mime, size=file.size)
            for file in self._made.get(self.host.caller_of(ctx).principal, ())
        ]
        return found

    async def templates(self, ctx: Request) -> Sequence[types.ResourceTemplate]:
        """Addresses of files and guides."""
        return [
            types.ResourceTemplate(uri_template=SCHEME + "{name}", name="artefact", title="A file that a call made"),
            types.ResourceTemplate(uri_template=RESULTS + "{id}", name="result", title="All of a result that was cut",
                                   mime_type=JSON),
            types.ResourceTemplate(uri_template=GUIDES + "{name}", name="guide", title="A guide", mime_type=TEXT),
        ]  # fmt: skip

    async def read(self, ctx: Request, params: types.ReadResourceRequestParams) -> types.ReadResourceResult | None:
        """One of them."""
        uri = str(params.uri)
        if uri == DEVICES:
            rows = marked(await self.host.devices(ctx))
            return _text(
                uri, JSON, json.dumps({"untrusted": "devices", "devices": rows}, ensure_ascii=False, default=str)
            )
        if uri.startswith(GUIDES):
            guide = guides().get(uri.removeprefix(GUIDES))
            return _text(uri, TEXT, guide[1]) if guide is not None else None
        if uri.startswith(RESULTS):
            kept = dict(self._results.get(self.host.caller_of(ctx).principal, ()))
            return _text(uri, JSON, kept[uri].decode("utf-8")) if uri in kept else None
        if uri.startswith(SCHEME):
            return await self._file(ctx, uri)
        return None

    async def _file(self, ctx: Request, uri: str) -> types.ReadResourceResult | None:
        caller, store = self.host.caller_of(ctx), self.host.router.services.artefacts
        mine = {artefact.uri: artefact.mime for artefact in self._made.get(caller.principal, ())}
        if uri not in mine and not caller.principal.startswith("uid:"):
            return None  # another's file, or none: both look alike. The user of this host owns the folder anyway.
        try:
            data = await anyio.to_thread.run_sync(lambda: store.read(uri, limit=READ_MOST))
        except (AnydeviceError, OSError) as error:
            words = error.message if isinstance(error, AnydeviceError) else "It cannot be read."
            raise MCPError(types.INVALID_PARAMS, f"Resource not found: {words}", {"uri": uri[:200]}) from None
        mime = mine.get(uri, "application/octet-stream")
        if mime.startswith("text/") or mime == JSON:
            return _text(uri, mime, marked(data.decode("utf-8", "replace")))
        blob = types.BlobResourceContents(uri=uri, mime_type=mime, blob=base64.b64encode(data).decode("ascii"))
        return types.ReadResourceResult(contents=[blob])

    async def complete(self, ctx: Request, params: types.CompleteRequestParams) -> types.Completion | None:
        """Names of files and guides."""
        ref = params.ref
        if not isinstance(ref, types.ResourceTemplateReference):
            return None
        if str(ref.uri) == GUIDES + "{name}":
            names = list(guides())
        elif str(ref.uri) == SCHEME + "{name}":
            names = [each.name for each in self._made.get(self.host.caller_of(ctx).principal, ())]
        else:
            return None
        fit = [name for name in names if name.startswith(params.argument.value)]
        return types.Completion(values=fit[:100], total=len(fit), has_more=len(fit) > 100)


@cache
def guides() -> dict[str, tuple[str, str]]:
    """Title and text of each guide, by name."""
    found = {}
    for entry in packaged.files(__package__).joinpath("guides").iterdir():
        if entry.name.endswith(".md"):
            text = entry.read_text("utf-8")
            found[entry.name.removesuffix(".md")] = (text.partition("\n")[0].removeprefix("# "), text)
    return dict(sorted(found.items()))


def _text(uri: str, mime: str, text: str) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=mime, text=text)])
