"""The public schemas are a promise: an export that is stale, or a change nobody wrote a line about, fails here."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load_export() -> ModuleType:
    spec = importlib.util.spec_from_file_location("anydevice_export", ROOT / "tools" / "export.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


export = load_export()
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize("path", sorted(export.files()), ids=lambda path: path.name)
def test_generated_files_are_current(path: Path) -> None:
    assert path.exists() and path.read_text("utf-8") == export.files()[path], "run make docs"


@pytest.mark.parametrize("name", sorted(export.schemas()))
def test_every_change_of_a_schema_has_a_line_in_the_changelog(name: str) -> None:
    mark = f"`{name}` {export.fingerprint(export.schemas()[name])}"
    assert mark in CHANGELOG, f"schema {name} changed: add a line with {mark} and say what changed"


def test_nothing_but_exports_lies_in_the_ledger() -> None:
    assert {path.stem for path in export.SCHEMAS.glob("*.json")} == set(export.schemas())


def test_input_schemas_are_flat_and_portable() -> None:
    from anydevice.commands import all_commands

    def walk(node: object, where: str) -> None:
        if isinstance(node, dict):
            assert "$ref" not in node and "anyOf" not in node and "oneOf" not in node, where
            assert not isinstance(node.get("type"), list), where
            for key, value in node.items():
                walk(value, f"{where}.{key}")
        elif isinstance(node, list):
            for item in node:
                walk(item, where)

    for spec in all_commands():
        schema = spec.command.input_schema
        assert schema["type"] == "object" and schema["additionalProperties"] is False
        walk(schema, spec.command.name)
        for name, prop in schema["properties"].items():
            assert prop.get("description"), f"{spec.command.name}.{name} is not described"
        for example in spec.command.examples:
            spec.input.model_validate({k: v for k, v in example.arguments.items() if k in spec.own_fields}, strict=True)
