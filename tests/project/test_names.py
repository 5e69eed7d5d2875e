"""Naming rules: unique class names, nouns as module names, and no imports between test modules."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT

SOURCE: Final = ROOT / "src"
TESTS: Final = ROOT / "tests"
# Words that end in -ing and are nouns in the field's vocabulary, not gerunds.
NOUNS: Final = {
    "encoding": "a character encoding",
    "finding": "a rule that a backup breaks",
    "padding": "bytes that hide how long something is",
    "hosting": "the service of storing and serving repositories",
    "string": "a sequence of characters",
}
# What may be a class or an import statement, on several lines if it has parentheses.
CLASS: Final = re.compile(r"^\s*class\s+(\w+)", re.MULTILINE)
IMPORT: Final = re.compile(r"^\s*(?:from|import)\b(?:[^\n(]*\([^)]*\)|[^\n]*)", re.MULTILINE)


def modules(source: Path) -> list[Path]:
    """List the Python modules of a source folder."""
    return sorted(source.rglob("*.py"))


def duplicates(source: Path) -> dict[str, list[str]]:
    """Return the class names that more than one module defines, with the modules."""
    texts = {path: path.read_text(encoding="utf-8") for path in modules(source)}
    # Parsing takes a hundred times as long as this search, which may also find text that is not code.
    candidates = {path: set(CLASS.findall(text)) for path, text in texts.items()}
    counts = Counter(name for names in candidates.values() for name in names)
    defined: dict[str, set[str]] = defaultdict(set)
    for path, names in candidates.items():
        if any(counts[name] > 1 for name in names):
            for node in ast.walk(ast.parse(texts[path])):
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


def imported_names(statement: ast.Import | ast.ImportFrom) -> list[str]:
    """Return what a statement imports, as dotted names that begin with the module."""
    prefix = f"{statement.module or ''}." if isinstance(statement, ast.ImportFrom) else ""
    return [f"{prefix}{alias.name}" for alias in statement.names]


def imports_of_tests(tests: Path) -> list[str]:
    """Return where modules of a folder of tests import a test module, or a name from one."""
    test_modules = {path.stem for path in modules(tests) if path.name.startswith("test_")}
    texts = {path: path.read_text(encoding="utf-8") for path in modules(tests)}
    return [
        f"{path.relative_to(tests).as_posix()}:{node.lineno}"
        for path, text in texts.items()
        if any("test_" in statement for statement in IMPORT.findall(text))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any(not test_modules.isdisjoint(name.split(".")) for name in imported_names(node))
    ]


def test_class_names_are_unique() -> None:
    """No two modules define a class of the same name."""
    assert duplicates(SOURCE) == {}


def test_modules_are_not_gerunds() -> None:
    """A module is named by the thing it defines, not by an activity."""
    assert gerunds(SOURCE) == []


def test_no_test_module_imports_from_another() -> None:
    """A helper that several test modules use belongs into a module without tests, beside them."""
    assert imports_of_tests(TESTS) == []


@pytest.fixture(name="package")
def make_package(tmp_path: Path) -> Path:
    """Return an empty source folder with a package in it."""
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "__init__.py").touch()
    return tmp_path


def test_a_duplicate_class_name_is_reported(package: Path) -> None:
    """The modules that define the class are listed."""
    (package / "web" / "rows.py").write_text("class Row: ...\n", encoding="utf-8")
    (package / "tables.py").write_text("if True:\n    class Row: ...\n", encoding="utf-8")
    assert duplicates(package) == {"Row": ["tables.py", "web/rows.py"]}


def test_a_gerund_module_is_reported(package: Path) -> None:
    """A noun of the list is no gerund, and neither is a word with -ing inside it."""
    for name in ("reading", "file_serving", "encoding", "settings"):
        (package / "web" / f"{name}.py").touch()
    assert gerunds(package) == ["web/file_serving.py", "web/reading.py"]


@pytest.mark.parametrize(
    ("statement", "is_reported"),
    [
        ("from tests.web.test_pages import page_title", True),
        ("from tests.web import test_pages", True),
        ("from tests.web import (\n    page_helpers,\n    test_pages,\n)", True),
        ("import tests.web.test_pages", True),
        ("from .test_pages import page_title", True),
        ("def late() -> None:\n    from tests.web.test_pages import page_title", True),
        ("from tests.web.page_helpers import page_title", False),
        ("from starlette.testclient import TestClient", False),
    ],
)
def test_an_import_from_a_test_module_is_reported(package: Path, statement: str, *, is_reported: bool) -> None:
    """Every way to write the import is reported with its file and line, also inside of a function."""
    (package / "web" / "test_pages.py").touch()
    (package / "web" / "test_forms.py").write_text(f"{statement}\n", encoding="utf-8")
    line = 2 if statement.startswith("def") else 1
    assert imports_of_tests(package) == ([f"web/test_forms.py:{line}"] if is_reported else [])
