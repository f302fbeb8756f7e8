"""The catalogue: every command there is, how its arguments are read, and how it is found by a word.

Core's own commands, a backend's and a plugin's are registered through the same door (`Catalogue.register`).
A name that is taken is refused, never replaced.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from anydevice_schemas import Command, Confirm, DeviceSelector, Example, Plan, Switches
from anydevice_schemas.errors import BackendBroken, InvalidArgument, UnknownCommand

from .nesting import refuse_deep
from .schema import flat_schema, model_from_schema
from .searching import Index

Handler = Callable[[Any, Any], Awaitable[Any]]
"""What carries a command out: takes its `Context` and its typed inputs, returns an `Outcome`."""


class Input(BaseModel):
    """Base of a command's own inputs: camelCase outside, strict types, nothing unknown swallowed."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        alias_generator=to_camel,
        validate_by_name=False,
        validate_by_alias=True,
        serialize_by_alias=True,
    )

    @property
    def extra_seconds(self) -> float:
        """Time the arguments add to the command's deadline, besides `timeoutMs` and `durationMs`."""
        return 0.0


@dataclass(slots=True)
class CommandSpec:
    """A command with the code behind it.

    Attributes:
        command: The descriptor facades publish.
        input: Model of the command's own inputs.
        handler: The function that carries it out, or `module:function`, imported on first call.
    """

    command: Command
    input: type[BaseModel]
    handler: Handler | str
    own_fields: frozenset[str] = frozenset()
    time_fields: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        fields = self.input.model_fields
        self.time_fields = tuple(name for name in ("timeout_ms", "duration_ms") if name in fields)
        self.own_fields = frozenset(f.alias or name for name, f in self.input.model_fields.items())

    def load(self) -> Handler:
        """The handler, imported if need be.

        Raises:
            BackendBroken: The distribution that brings the command cannot be imported.
        """
        if isinstance(self.handler, str):
            module, _, name = self.handler.partition(":")
            try:
                self.handler = getattr(importlib.import_module(module), name)
            except Exception as error:
                raise BackendBroken(
                    f"The handler of {self.command.name} cannot be imported.",
                    backend=self.command.origin,
                    reason=f"{type(error).__name__}: {error}",
                ) from error
        return self.handler  # type: ignore[return-value]


@dataclass(slots=True, frozen=True)
class Parsed:
    """A call after step 1: what is to be done, on what, and how the answer should look."""

    spec: CommandSpec
    input: Any
    selector: DeviceSelector
    switches: Switches
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The command's own arguments as they were given, for plans and confirmation rules."""
    deadline: float = 30.0
    """Seconds the call may take: the command's own deadline and what its waiting arguments add."""

    @property
    def boots(self) -> bool:
        """Whether the call itself asks for a device to be started (`boot` of `open`)."""
        return "boot" in self.spec.own_fields and bool(self.input.boot)


_SELECTOR_NAMES = {f.alias or n: n for n, f in DeviceSelector.model_fields.items()}
_SWITCH_NAMES = {f.alias or n: n for n, f in Switches.model_fields.items()}
_TARGET_ALIAS = "target"
_NO_SELECTOR = DeviceSelector()
_NO_SWITCHES = Switches()


def command(
    *,
    name: str,
    summary: str,
    effect: str,
    input: type[Input],
    scope: str = "device",
    plans: Iterable[Plan] = (),
    confirm: Iterable[Confirm] = (),
    examples: Iterable[Example] = (),
    output: Mapping[str, Any] | None = None,
    **rest: Any,
) -> Callable[[Handler], CommandSpec]:
    """Makes a `CommandSpec` of the function below it; see `Command` for what the arguments mean."""
    descriptor = Command.model_validate(
        {
            "name": name,
            "summary": summary,
            "effect": effect,
            "scope": scope,
            "plans": list(plans),
            "confirm": list(confirm),
            "examples": list(examples),
            "input_schema": flat_schema(input),
            "output_schema": {"type": "object", "properties": dict(output or {})},
            **rest,
        }
    )

    def make(handler: Handler) -> CommandSpec:
        return CommandSpec(descriptor, input, handler)

    return make


class Catalogue:
    """All commands by name and alias."""

    def __init__(self) -> None:
        self._specs: dict[str, CommandSpec] = {}
        self._aliases: dict[str, str] = {}
        self._index: Index | None = None
        self.refused: list[dict[str, str]] = []
        self.listeners: list[Callable[[], None]] = []

    def register(self, spec: CommandSpec) -> bool:
        """Adds a command. A name or alias that is taken is not replaced: the newcomer is recorded in `refused`."""
        descriptor = spec.command
        for word in (descriptor.name, *descriptor.aliases):
            holder = self._aliases.get(word)
            if holder is not None:
                taken = self._specs[holder].command
                self.refused.append(
                    {
                        "command": descriptor.name,
                        "origin": descriptor.origin,
                        "reason": f"{word!r} is already a command of {taken.origin}",
                    }
                )
                return False
        self._specs[descriptor.name] = spec
        self._index = None
        for word in (descriptor.name, *descriptor.aliases):
            self._aliases[word] = descriptor.name
        for listener in self.listeners:
            listener()
        return True

    def register_manifest(self, entry: Any, *, backend: str, origin: str) -> bool:
        """Adds a command a backend's manifest brings (a `BackendCommand`)."""
        descriptor = entry.command.model_copy(update={"backend": backend, "origin": origin})
        model = model_from_schema(descriptor.name, descriptor.input_schema)
        return self.register(CommandSpec(descriptor, model, entry.handler))

    def commands(self) -> list[Command]:
        """Every descriptor, sorted by name."""
        return [self._specs[name].command for name in sorted(self._specs)]

    def get(self, name: str) -> CommandSpec:
        """The command of this name or alias.

        Raises:
            UnknownCommand: There is none; carries the nearest names.
        """
        found = self._aliases.get(name) or self._aliases.get(name.replace("_", "-"))
        if found is None:
            raise UnknownCommand(
                f"There is no command {name[:60]!r}.",
                nearest=difflib.get_close_matches(name.replace("_", "-"), self._aliases, n=3, cutoff=0.5),
            )
        return self._specs[found]

    def search(self, words: str, *, limit: int = 3) -> list[Command]:
        """The commands that fit some words best, best first; all words empty = none. See `searching`."""
        if self._index is None:
            self._index = Index(self.commands())
        return self._index.search(words, limit=limit)

    def parse(self, name: str, arguments: Mapping[str, Any]) -> Parsed:
        """Step 1: a name and arguments become a command with typed inputs, selectors and switches.

        Raises:
            UnknownCommand: No such command.
            InvalidArgument: Every problem of the call at once; unknown names with the nearest valid ones.
        """
        spec = self.get(name)
        refuse_deep(arguments)
        own: dict[str, Any] = {}
        select: dict[str, Any] = {}
        switch: dict[str, Any] = {}
        unknown: list[str] = []
        fields = spec.own_fields
        selectors = spec.command.selectors
        for key, value in arguments.items():
            if key in fields:
                own[key] = value
            elif value is None:
                # JSON null for an optional argument is the same as leaving it out.
                if not (selectors and key in _SELECTOR_NAMES) and key not in _SWITCH_NAMES:
                    unknown.append(key)
            elif key in _SWITCH_NAMES:
                switch[key] = value
            elif selectors and key in _SELECTOR_NAMES:
                select[key] = value
            elif selectors and key == _TARGET_ALIAS and value in ("mobile", "tv", "desktop"):
                if select.setdefault("deviceTarget", value) != value:
                    unknown.append(key)
            else:
                unknown.append(key)
        problems = [self._unknown(spec, key, arguments[key]) for key in unknown]
        parsed_input = _validate(spec.input, own, problems)
        selector = _validate(DeviceSelector, select, problems) if select else _NO_SELECTOR
        switches = _validate(Switches, switch, problems) if switch else _NO_SWITCHES
        if problems:
            raise _invalid(spec, problems, self.accepted(spec))
        deadline = spec.command.deadline
        for waiting in spec.time_fields:
            deadline += (getattr(parsed_input, waiting) or 0) / 1000
        if isinstance(parsed_input, Input):
            deadline += parsed_input.extra_seconds
        return Parsed(spec, parsed_input, selector, switches, own, deadline)

    def accepted(self, spec: CommandSpec) -> list[str]:
        """Every argument name a command takes: its own first."""
        own = [f.alias or n for n, f in spec.input.model_fields.items()]
        return own + (list(_SELECTOR_NAMES) if spec.command.selectors else []) + list(_SWITCH_NAMES)

    def _unknown(self, spec: CommandSpec, key: str, value: Any) -> dict[str, Any]:
        if key == _TARGET_ALIAS and spec.command.selectors:
            return {
                "param": key,
                "problem": "not a device target, and this command has no UI target",
                "expected": "mobile, tv or desktop",
            }
        near = difflib.get_close_matches(key, self.accepted(spec), n=3, cutoff=0.6)
        return {
            "param": key[:60],
            "problem": f"{spec.command.name} takes no such argument",
            "expected": f"one of: {', '.join(near)}" if near else "one of the accepted names",
            "nearest": near,
        }


def _validate(model: type[Any], values: dict[str, Any], problems: list[dict[str, Any]]) -> Any:
    try:
        return model.model_validate(values, strict=True)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=True, include_context=True)
        problems.extend(_problem(fault) for fault in faults)
        return None


def _problem(fault: Any) -> dict[str, Any]:
    param = ".".join(str(part) for part in fault["loc"]) or "arguments"
    context = fault.get("ctx") or {}
    kind = fault["type"]
    message = str(fault["msg"])
    if kind == "missing":
        return {"param": param, "problem": "required", "expected": "a value"}
    if kind == "literal_error":
        expected = str(context.get("expected", ""))
        choices = [word.strip(" '") for word in expected.replace(" or ", ",").split(",") if word.strip(" '")]
        near = difflib.get_close_matches(str(fault.get("input"))[:60], choices, n=1, cutoff=0.5)
        return {
            "param": param,
            "problem": "not one of the accepted values",
            "expected": expected,
            "nearest": near,
        }
    if kind == "value_error":
        return {"param": param, "problem": message.removeprefix("Value error, "), "expected": "see problem"}
    return {"param": param, "problem": message, "expected": message.removeprefix("Input should be ")}


def _invalid(spec: CommandSpec, problems: list[dict[str, Any]], accepted: list[str]) -> InvalidArgument:
    first = problems[0]
    count = "" if len(problems) == 1 else f" ({len(problems)} problems in all)"
    return InvalidArgument(
        f"{spec.command.name}: {first['param']}: {first['problem']}{count}.",
        param=first["param"],
        expected=first["expected"],
        errors=problems,
        accepted=accepted,
    )
