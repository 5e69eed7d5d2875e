"""A class name means one thing in the whole project, and modules are named by nouns."""

import ast
from collections import defaultdict
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT

SOURCE: Final = ROOT / "src"
# Words that end in -ing and are nouns in the field's vocabulary, not gerunds.
NOUNS: Final = {
    "encoding": "a character encoding",
    "finding": "a rule that a backup breaks",
    "padding": "bytes that hide how long something is",
    "hosting": "the service of storing and serving repositories",
    "string": "a sequence of characters",
}


def modules(source: Path) -> list[Path]:
    """List the Python modules of a source folder."""
    return sorted(source.rglob("*.py"))


def duplicates(source: Path) -> dict[str, list[str]]:
    """Return the class names that more than one module defines, with the modules."""
    defined: dict[str, set[str]] = defaultdict(set)
    for path in modules(source):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                defined[node.name].add(path.relative_to(source).as_posix())
    return {name: sorted(paths) for name, paths in defined.items() if len(paths) > 1}


def gerunds(source: Path) -> list[str]:
    """Return the modules and packages whose last word is a gerund."""
    named = {path.parent if path.name == "__init__.py" else path for path in modules(source)}
    return sorted(
        path.relative_to(source).as_posix()
        for path in named
        if (word := path.stem.rpartition("_")[2]).endswith("ing") and word not in NOUNS
    )


def test_class_names_are_unique() -> None:
    """No two modules define a class of the same name."""
    assert duplicates(SOURCE) == {}


def test_modules_are_not_gerunds() -> None:
    """A module is named by the thing it defines, not by an activity."""
    assert gerunds(SOURCE) == []


@pytest.fixture(name="package")
def make_package(tmp_path: Path) -> Path:
    """Return an empty source folder with a package in it."""
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "__init__.py").touch()
    return tmp_path


def test_a_duplicate_class_name_is_reported(package: Path) -> None:
    """With the modules that define it."""
    (package / "web" / "rows.py").write_text("class Row: ...\n", encoding="utf-8")
    (package / "tables.py").write_text("if True:\n    class Row: ...\n", encoding="utf-8")
    assert duplicates(package) == {"Row": ["tables.py", "web/rows.py"]}


def test_a_gerund_module_is_reported(package: Path) -> None:
    """A noun of the list is not, and neither is a word with -ing inside it."""
    for name in ("reading", "file_serving", "encoding", "settings"):
        (package / "web" / f"{name}.py").touch()
    assert gerunds(package) == ["web/file_serving.py", "web/reading.py"]
