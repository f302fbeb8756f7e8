"""JSON Schema between pydantic and the outside: flat, without `$ref`, titles or null unions.

Hosts refuse or misread `$ref`, root unions and type arrays in tool inputs, so none is ever published.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.alias_generators import to_snake


def flat_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The model's JSON Schema with everything inlined and every optional field simply optional."""
    raw = model.model_json_schema(by_alias=True, mode="validation")
    defs = raw.pop("$defs", {})
    flat: dict[str, Any] = _flatten(raw, defs)
    flat.pop("description", None)
    flat["additionalProperties"] = False
    return flat


def _flatten(node: Any, defs: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_flatten(item, defs) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = defs[node["$ref"].rsplit("/", 1)[-1]]
        return _flatten({**target, **{k: v for k, v in node.items() if k != "$ref"}}, defs)
    if "anyOf" in node:
        options = [option for option in node["anyOf"] if option.get("type") != "null"]
        if len(options) == 1:
            merged = {**options[0], **{k: v for k, v in node.items() if k != "anyOf"}}
            if merged.get("default", ...) is None:
                del merged["default"]
            return _flatten(merged, defs)
    out = {}
    for key, value in node.items():
        if key == "title" and isinstance(value, str):
            continue
        if key == "properties":
            out[key] = {name: _flatten(prop, defs) for name, prop in value.items()}
        else:
            out[key] = _flatten(value, defs)
    return out


_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict[str, Any],
}


class SchemaError(ValueError):
    """A manifest's input schema uses something we do not publish; the message names the property."""


def model_from_schema(name: str, schema: Mapping[str, Any]) -> type[BaseModel]:
    """A strict pydantic model for a flat JSON Schema, as manifests carry them.

    Understood: string, integer, number, boolean, object, arrays of those, enum, minimum, maximum, minLength,
    maxLength, pattern, default, description, required.

    Raises:
        SchemaError: Anything else.
    """
    required = set(schema.get("required", ()))
    fields: dict[str, Any] = {}
    for prop, spec in schema.get("properties", {}).items():
        kind = _kind(name, prop, spec)
        limits = {
            ours: spec[theirs]
            for theirs, ours in (
                ("minimum", "ge"), ("maximum", "le"), ("minLength", "min_length"), ("maxLength", "max_length"),
                ("minItems", "min_length"), ("maxItems", "max_length"), ("pattern", "pattern"),
            )
            if theirs in spec
        }  # fmt: skip
        default = ... if prop in required else spec.get("default")
        if default is None:
            kind = kind | None
        fields[to_snake(prop)] = (
            kind,
            Field(default=default, alias=prop, description=spec.get("description"), **limits),
        )
    unknown = required - set(schema.get("properties", {}))
    if unknown:
        raise SchemaError(f"{name}: required but not described: {', '.join(sorted(unknown))}")
    config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
    return create_model(f"{name}-input", __config__=config, **fields)


def _kind(name: str, prop: str, spec: Mapping[str, Any]) -> Any:
    if "enum" in spec:
        return Literal[tuple(spec["enum"])]
    kind = spec.get("type")
    if kind == "array":
        return list[_kind(name, prop, spec.get("items", {"type": "string"}))]  # type: ignore[misc]
    if not isinstance(kind, str) or kind not in _TYPES:
        raise SchemaError(f"{name}: property {prop}: type {kind!r} is not one of {', '.join(_TYPES)}, array")
    return _TYPES[kind]
