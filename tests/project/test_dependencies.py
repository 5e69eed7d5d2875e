"""Declared dependencies: every imported package is in the core install or in an extra."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from holdfast.cli.extras import SERVER_MODULES
from tests.conftest import ROOT

SOURCE = ROOT / "src" / "holdfast"
# By what is imported first: the parts of the package, and the extras they may need.
PARTS = {
    "backup": {"encryption", "parquet", "dataset", "ray"},
    "cli": {"server"},
    "hosting": {"server", "postgres", "otel"},
    "http_client": {"server"},
    "server": {"server"},
    "web": {"server"},
}
# Part of Python's typing, imported for type checkers only; distributions of this repository; and what only the
# interpreted core imports, whose wheel requires it.
NOT_INSTALLED = {"_typeshed", "cython", "holdfast", "holdfast_demo"}


def declared() -> dict[str, set[str]]:
    """Read the distributions of the core install (as "") and of each extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = {"": project["dependencies"], **project["optional-dependencies"]}
    return {
        name: {normalized(re.split(r"[\[><=]", requirement)[0]) for requirement in requirements}
        for name, requirements in lists.items()
    }


def normalized(distribution: str) -> str:
    """Write the name of a distribution as registries do."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


@cache
def distributions_by_module() -> Mapping[str, list[str]]:
    """Read which distributions have a module; it takes a second."""
    return packages_distributions()


def imported(part: str) -> Iterator[tuple[Path, str]]:
    """Yield the modules of other projects that a part imports."""
    folder = SOURCE / part
    for path in sorted(folder.rglob("*.py") if folder.is_dir() else [SOURCE / f"{part}.py"]):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in names:
                module = name.partition(".")[0]
                if module not in sys.stdlib_module_names and module not in NOT_INSTALLED:
                    yield path, module


@pytest.mark.parametrize("part", sorted({*PARTS, *(path.stem for path in SOURCE.glob("*.py"))}))
def test_what_is_imported_is_declared(part: str) -> None:
    """Each imported package is declared for the core install or for the extra of its part."""
    lists = declared()
    allowed = lists[""].union(*(lists[extra] for extra in PARTS.get(part, set())))
    owners = distributions_by_module()
    for path, module in imported(part):
        distributions = {normalized(name) for name in owners.get(module, [])}
        assert distributions & allowed, f"{path.relative_to(ROOT)} imports {module}, which is not declared"


def test_the_commands_know_the_modules_of_the_server() -> None:
    """The list of server modules covers each package of the extra and none of the core install."""
    lists = declared()
    owners = distributions_by_module()
    for module in SERVER_MODULES:
        distributions = {normalized(name) for name in owners[module]}
        assert distributions & lists["server"]
        assert not distributions & lists[""]
    named = {normalized(name) for module in SERVER_MODULES for name in owners[module]}
    assert lists["server"] <= named
