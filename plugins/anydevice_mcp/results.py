"""From an answer of the router to what a model reads: text, structured content, pictures.

Some hosts show the model only the text, others only the structured content where there is any, so both say
everything that is needed. Pictures travel without structured content (those hosts would drop them).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_jsonable_python

from anydevice_schemas import Answer, Command
from anydevice_schemas.errors import ERRORS, AnydeviceError, ArgumentError, Internal, LeaseError, PolicyError

from .bounds import ERROR_LIMIT, LIMITS, shrink
from .plain import block, dense, row
from .schemas import fits
from .untrusted import Fence, Scrub, marked, said, scrubbed

OUR_OWN_WORDS: frozenset[str] = frozenset({"command-search"})
"""Commands whose result holds nothing that came from a device, a host or a vendor's program."""

SAID_BY_TEXT: dict[str, dict[str, Any]] = {
    "snapshot": {"title": ..., "location": ..., "nodes": ..., "omitted": ..., "quality": "complete"},
}
"""Fields that a command's own `text` says already, so the text of the answer does not say them twice; where a
value stands, only that value."""

_TRUSTED_DETAILS = (ArgumentError, PolicyError, LeaseError, Internal)
_OUR_DETAILS: frozenset[str] = frozenset(
    {
        # of the call
        "param", "expected", "errors", "accepted", "nearest", "keys", "given", "characters", "path", "roots",
        # of what may be done
        "operation", "alternatives", "alternative", "token", "expires_in", "command", "why", "quota", "limit", "used",
        # of a lease, and of a fault of ours
        "expires", "expired", "fence", "current", "incident", "kind", "size",
    }
)  # fmt: skip
"""Errors, and details of them, that are our words and the caller's own. A detail of another name (the element that was
meant, what a tool said, who holds the device) may hold anything."""
_OURS_WITHOUT_DEVICE = _OUR_DETAILS | {"reason"}
"""The same before a device was asked: a reason may be the device's own."""


Keep = Callable[[Mapping[str, Any]], str | None]
"""Keeps data for who wants all of it; returns its address, None where it is too much even for that."""


@dataclass(slots=True, frozen=True)
class Style:
    """How the caller wants the answer.

    Attributes:
        json: The text is the answer as JSON.
        level: digest, default or full.
    """

    json: bool = False
    level: str = "default"

    @staticmethod
    def of(arguments: Mapping[str, Any]) -> Style:
        """Reads the switches of a call; of `command-run`, the inner call's where the outer has none."""
        inner = arguments.get("arguments")
        found = {**inner, **arguments} if isinstance(inner, dict) else arguments
        level = found.get("responseLevel")
        return Style(
            found.get("mcpOutputFormat") == "json",
            level if isinstance(level, str) and level in LIMITS else "default",
        )


@dataclass(slots=True)
class Picture:
    """An image that goes into the result."""

    mime: str
    data: bytes


@dataclass(slots=True)
class Result:
    """What a tool call returns."""

    text: str
    structured: dict[str, Any] | None
    pictures: list[Picture] = field(default_factory=list)
    is_error: bool = False
    whole: str | None = None
    """Address of what was too long to say here."""


def render(
    answer: Answer,
    command: Command,
    style: Style,
    scrub: Scrub,
    *,
    pictures: list[Picture] | None = None,
    keep: Keep | None = None,
) -> Result:
    """The result of a call.

    Args:
        answer: What the router said.
        command: The command that answered (of `command-run`: the inner one).
        style: The caller's switches.
        scrub: Takes the folders of this host out of our own words.
        pictures: Images that travel with it; structured content then does not.
        keep: Keeps data that is too long to say.
    """
    facts = _Facts(answer, command, style, scrub, keep)
    if not answer.ok:
        return Result(facts.error_text(), facts.error_structure(), is_error=True)
    structured = None if pictures else facts.structure()
    return Result(facts.text(), structured, pictures or [], whole=facts.whole)


class _Facts:
    """An answer, cut to size and made safe once, for both of its forms."""

    def __init__(self, answer: Answer, command: Command, style: Style, scrub: Scrub, keep: Keep | None) -> None:
        self.answer = answer
        self.command = command
        self.style = style
        self.device = answer.device.key if answer.device is not None else None
        limit = LIMITS[style.level]
        data = marked(to_jsonable_python(answer.data, fallback=str))
        data = self._introduced(data)
        self.data, cuts = shrink(data, limit)
        self.whole = keep(self._told(data)) if cuts and keep is not None else None
        if self.whole is not None:
            cuts.append(f"all of it is the resource {self.whole}")
        self.left_out = [scrub(said(cut)) for cut in answer.truncated]
        self.truncated = [scrub(cut) for cut in cuts]
        notices = marked(to_jsonable_python(answer.notices, fallback=str))
        self.notices: list[dict[str, Any]] = scrubbed(shrink(notices, 2_000, "notices")[0], scrub)
        self.debug = scrubbed(marked(shrink(answer.debug, 8_000, "debug")[0]), scrub) if answer.debug else None
        self.cost = answer.cost.model_dump(by_alias=True) if answer.cost is not None else None
        # How something was read is worth its tokens only to those who ask for everything.
        self.method = answer.method if answer.verified is not None or style.level == "full" else None
        self.fence = None if command.name in OUR_OWN_WORDS else Fence(self._source())
        self.error: dict[str, Any] = {}
        self.ours: dict[str, Any] = {}
        """Details of the error that are ours, and stand outside of the fence."""
        if answer.error is not None:
            self._take_error(answer.error.model_dump(by_alias=True), scrub)

    def _introduced(self, data: dict[str, Any]) -> dict[str, Any]:
        """The data, led by the device's name where one begins to work with it. Later answers name it by its key
        alone: a name is a device's own text, and costs its tokens each time."""
        device = self.answer.device
        if device is None or not (self.command.opens_session or self.command.boots or self.style.level == "full"):
            return data
        return {"deviceName": marked(device.name), **data}

    def _told(self, data: dict[str, Any]) -> dict[str, Any]:
        """The data as a resource: what it holds is said in front of it, for there is no fence."""
        return data if self.command.name in OUR_OWN_WORDS else {"untrusted": self._source()} | data

    def _source(self) -> str:
        return f"screen of {self.device}" if self.device is not None else self.command.name

    def _take_error(self, wire: dict[str, Any], scrub: Scrub) -> None:
        details, cuts = shrink(marked(to_jsonable_python(wire["details"], fallback=str)), ERROR_LIMIT, "details")
        self.truncated += cuts
        self.error = {
            "code": wire["code"],
            "message": scrub(said(wire["message"])),
            "retryable": wire["retryable"],
            "hint": scrub(said(wire["hint"])),
            "details": scrubbed(details, scrub),
        }
        if wire.get("device") is not None:
            self.error["device"] = wire["device"]
        kind = ERRORS.get(wire["code"], AnydeviceError)
        if issubclass(kind, _TRUSTED_DETAILS):
            words = _OURS_WITHOUT_DEVICE if self.error.get("device") is None else _OUR_DETAILS
            self.ours = {name: value for name, value in self.error["details"].items() if name in words}
            if len(self.ours) == len(self.error["details"]):
                self.fence = None

    # --- success ---

    def text(self) -> str:
        """The answer as text."""
        if self.style.json:
            return self._json()
        lines = [self._headline(), *self._notice_lines()]
        inside = [part for part in (block(self._own_data()), *self._fenced_lines()) if part]
        if inside:
            whole = "\n".join(inside)
            lines.append(self.fence.around(whole) if self.fence is not None else whole)
        lines += [f"file: {a.uri} ({a.mime}, {a.size} bytes)" for a in self.answer.artefacts]
        return "\n".join([*lines, *self._tail()])

    def _headline(self) -> str:
        answer = self.answer
        parts = [self.command.name]
        if answer.device is not None:
            parts[0] += f" on {answer.device.key}"
        if answer.verified is not None:
            parts.append(f"verified: {'true' if answer.verified else 'false'}")
        if self.method:
            parts.append(f"method: {self.method}")
        if self.command.opens_session and answer.session:
            parts.append(f"session: {answer.session}")
        chosen = answer.selection
        if chosen is not None and chosen.reason in ("only-usable", "default") and self.style.level != "digest":
            parts.append(f"chosen as {chosen.reason} of {chosen.considered}")
        return "; ".join(parts)

    def _own_data(self) -> dict[str, Any]:
        """The data without what the headline, or the command's own text, says already."""
        told = dict(SAID_BY_TEXT.get(self.command.name, {})) if "text" in self.data else {}
        if self.command.opens_session:
            told["session"] = self.answer.session
        return {n: value for n, value in self.data.items() if n not in told or told[n] not in (..., value)}

    def _notice_lines(self) -> list[str]:
        return [f"notice {said(n.get('kind', 'note'))}: {said(n.get('message', ''))}" for n in self.notices]

    def _fenced_lines(self) -> list[str]:
        """What else may hold the device's words: what was left out there, the rest of notices, and the runners-up."""
        lines = [] if self.fence is None else self._truncated(self.left_out)
        for notice in self.notices:
            rest = {name: value for name, value in notice.items() if name not in ("kind", "message")}
            if rest:
                lines.append(f"notice {said(notice.get('kind', 'note'))}: {row(rest)}")
        if self.style.level == "full" and self.answer.selection is not None:
            lines.append(f"selection: {dense(self._selection())}")
        return lines

    def _selection(self) -> dict[str, Any]:
        assert self.answer.selection is not None
        wire: dict[str, Any] = marked(self.answer.selection.model_dump(by_alias=True))
        return wire

    @staticmethod
    def _truncated(what: list[str]) -> list[str]:
        return [f"truncated: {'; '.join(what)}"] if what else []

    def _tail(self) -> list[str]:
        lines = self._truncated(self.truncated if self.fence is not None else [*self.left_out, *self.truncated])
        lines += [f"cost: {dense(self.cost)}"] if self.cost is not None else []
        lines += [f"debug: {dense(self.debug)}"] if self.debug is not None else []
        return lines

    def structure(self) -> dict[str, Any]:
        """The same facts as an object that fits the tool's output schema."""
        answer = self.answer
        out: dict[str, Any] = {}
        if self.device is not None:
            out["device"] = self.device
        if answer.verified is not None:
            out["verified"] = answer.verified
        if self.method:
            out["method"] = self.method
        if self.command.opens_session and answer.session:
            out["session"] = answer.session
        misfits = self._merge_data(out)
        if misfits:
            out["data"] = misfits
        self._add_asides(out)
        if answer.artefacts:
            out["files"] = [a.uri for a in answer.artefacts]
        if self.fence is not None and self._own_data():
            out["untrusted"] = self.fence.source
        return out

    def _merge_data(self, out: dict[str, Any]) -> dict[str, Any]:
        """Puts the command's own fields beside the common ones; returns what cannot stand there."""
        misfits: dict[str, Any] = {}
        for name, value in self.data.items():
            if value is None:
                continue
            if (name in out and out[name] != value) or name == "error" or not fits(self.command, name, value):
                misfits[name] = value
            elif name == "text" and isinstance(value, str) and self.fence is not None:
                out[name] = self.fence.around(value)
            else:
                out[name] = value
        return misfits

    def _add_asides(self, out: dict[str, Any]) -> None:
        out |= self._asides()
        chosen = self.answer.selection
        if chosen is not None and self.style.level == "full":
            out["selection"] = self._selection()
        elif chosen is not None and chosen.reason in ("only-usable", "default") and self.style.level != "digest":
            out["selection"] = chosen.reason

    def _asides(self) -> dict[str, Any]:
        asides = {
            "notices": self.notices,
            "truncated": [*self.left_out, *self.truncated],
            "cost": self.cost,
            "debug": self.debug,
        }
        return {name: value for name, value in asides.items() if value}

    # --- error ---

    def error_text(self) -> str:
        """The error as text: what, what next, whether again, and the details on one line."""
        if self.style.json:
            return self._json()
        error = self.error
        lines = [f"{error['code']}: {error['message']}"]
        if error["hint"]:
            lines.append(f"Hint: {error['hint']}")
        lines.append(f"Retryable: {'true' if error['retryable'] else 'false'}")
        if error.get("device"):
            lines.append(f"Device: {error['device']}")
        lines += self._notice_lines()
        rest = {name: value for name, value in error["details"].items() if name not in self.ours}
        lines += [dense(self.ours)] if self.ours else []
        inside = [dense(rest)] if rest else []
        inside += self._fenced_lines()
        if inside:
            whole = "\n".join(inside)
            lines.append(self.fence.around(whole) if self.fence is not None else whole)
        return "\n".join([*lines, *self._tail()])

    def error_structure(self) -> dict[str, Any]:
        """The error as structured content."""
        out: dict[str, Any] = {"error": self.error}
        self._add_asides(out)
        if self.fence is not None and self.error["details"]:
            out["untrusted"] = self.fence.source
        return out

    # --- json ---

    def _json(self) -> str:
        answer = self.answer
        wire: dict[str, Any] = {"ok": answer.ok, "command": answer.command}
        if answer.device is not None:
            wire["device"] = marked(answer.device.model_dump(by_alias=True))
        common = {"session": answer.session, "verified": answer.verified, "method": answer.method}
        wire |= {name: value for name, value in common.items() if value is not None}
        if answer.selection is not None and self.style.level != "digest":
            wire["selection"] = self._selection()
        if self.data:
            wire["data"] = self.data
        if self.error:
            wire["error"] = self.error
        wire |= self._asides()
        if answer.artefacts:
            wire["artefacts"] = [
                {"name": a.name, "uri": a.uri, "mime": a.mime, "size": a.size} for a in answer.artefacts
            ]
        if self.fence is not None and (self.data or self.error):
            wire["untrusted"] = self.fence.source
        return dense(wire)
