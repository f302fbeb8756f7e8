"""The house keeps its own rules: what is packed, who knows whom, what core may not name."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from anydevice_schemas import WELL_KNOWN

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ROOTS = PYPROJECT["tool"]["hatch"]["build"]["dev-mode-dirs"]
PACKAGES = [path for root in ROOTS for path in sorted((ROOT / root).iterdir()) if (path / "__init__.py").exists()]


def test_every_package_is_in_the_wheel() -> None:
    listed = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert sorted(listed) == sorted(str(path.relative_to(ROOT)) for path in PACKAGES)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_every_package_is_typed(package: Path) -> None:
    assert (package / "py.typed").exists()


@pytest.mark.parametrize("root", ROOTS)
def test_source_roots_are_no_packages(root: str) -> None:
    assert not (ROOT / root / "__init__.py").exists()
    pattern = re.compile(rf"^\s*(from|import) {root}\b", re.M)
    for path in python_files():
        assert not pattern.search(path.read_text("utf-8")), path


DEFINITION = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def python_files(*below: str) -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *(below or ["."])],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    return [ROOT / name for name in names if name.endswith(".py") and (ROOT / name).exists()]


def test_core_holds_no_platforms_name() -> None:
    words = {word.name for word in WELL_KNOWN} | {
        "chrome",
        "chromium",
        "adb",
        "hdc",
        "simctl",
        "xcrun",
        "safari",
        "iphone",
    }
    pattern = re.compile(rf"\b({'|'.join(sorted(words))})\b", re.I)
    found = []
    for path in python_files("core/anydevice"):
        tree = ast.parse(path.read_text("utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        docs |= {id(word) for word in asks_for_the_host_system(tree)}
        for node in ast.walk(tree):
            texts = []
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                texts.append(node.value)
            elif isinstance(node, ast.Name):
                texts.append(node.id)
            elif isinstance(node, ast.Attribute):
                texts.append(node.attr)
            found += [f"{path.relative_to(ROOT)}:{node.lineno} {text[:60]!r}" for text in texts if pattern.search(text)]  # type: ignore[attr-defined]
    assert "\n".join(found) == ""


def asks_for_the_host_system(tree: ast.AST) -> list[ast.AST]:
    """Words that `sys.platform` is compared with: the host's own system, not a platform of devices."""
    words: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and ast.unparse(node.left) == "sys.platform":
            words += node.comparators
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "sys.platform.startswith":
            words += node.args
    return words


def test_every_public_definition_is_documented() -> None:
    bare = []
    for path in python_files("core", "schemas", "backends", "plugins"):
        tree = ast.parse(path.read_text("utf-8"))
        if ast.get_docstring(tree) is None:
            bare.append(f"{path.relative_to(ROOT)}: module")
        for node in tree.body:
            if not isinstance(node, DEFINITION) or node.name.startswith("_"):
                continue
            if ast.get_docstring(node) is None:
                bare.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert bare == []


def test_importing_anydevice_is_light() -> None:
    heavy = "pydantic anyio click mcp websockets structlog pluggy"
    code = f"import sys, anydevice; print([m for m in {heavy.split()!r} if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_every_extra_that_is_promised_exists() -> None:
    promised = [
        "web",
        "linux",
        "android",
        "apple",
        "macos",
        "harmonyos",
        "vega",
        "mcp",
        "ocr",
        "video",
        "conformance",
        "all",
        "dev",
    ]
    assert sorted(PYPROJECT["project"]["optional-dependencies"]) == sorted(promised)


def test_no_path_of_a_machine_and_no_registry_host_is_written_down() -> None:
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    words = ("python" + "hosted", "pypi" + "[.]org", "npmjs" + "[.]", "deb[.]" + "debian", "/wor" + "k/", "/ro" + "ot/")
    pattern = re.compile("|".join(words))
    found = []
    for name in filter(None, names):
        path = ROOT / name
        if path.suffix in (".png", ".typed") or not path.is_file():
            continue
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            if pattern.search(line):
                found.append(f"{name}:{number}")
    assert found == []


def test_the_error_and_command_references_are_linked_from_the_readme() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    for link in re.findall(r"\]\(([^)#h][^)#]*)\)", text):
        assert (ROOT / link).exists(), link


def test_the_arrows_of_the_house_hold() -> None:
    program = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
