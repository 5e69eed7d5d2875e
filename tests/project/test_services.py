"""Writes to the database, which only services make."""

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "src/holdfast"
STORE = "holdfast.hosting.store"
STATEMENTS = frozenset({"insert", "update", "delete", "sqlite_insert", "postgres_insert"})
CALLERS = ("hosting/api", "hosting/guards.py", "web", "cli")


def opens_write(node: ast.AST) -> bool:
    """Return whether a node calls `database.write()`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "write"):
        return False
    opened = node.func.value
    return "database" in {getattr(opened, "id", ""), getattr(opened, "attr", "")}


def names_in(node: ast.AST) -> set[str]:
    """Return the names that a node mentions, and `.write` where it opens a transaction that writes."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | ({".write"} if any(opens_write(part) for part in ast.walk(node)) else set())


def writing_functions(path: Path) -> set[tuple[str, str]]:
    """Return the functions of a module that write: themselves, by a statement, or by a function they call."""
    mentioned: dict[str, set[str]] = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            mentioned[node.name] = names_in(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            mentioned |= {target.id: names_in(node.value) for target in targets if isinstance(target, ast.Name)}
    writing = set(STATEMENTS | {".write"})
    while callers := {name for name, names in mentioned.items() if names & writing} - writing:
        writing |= callers
    return {(path.stem, name) for name in writing & mentioned.keys()}


def functions_used(path: Path) -> set[tuple[str, str]]:
    """Return the functions of the store that a module mentions, by module and name."""
    tree = ast.parse(path.read_text())
    modules: dict[str, str] = {}
    used: set[tuple[str, str]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == STORE:
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{STORE}."):
            used |= {((node.module or "").rpartition(".")[2], alias.name) for alias in node.names}
    return used | {
        (modules[node.value.id], node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
    }


@pytest.fixture(scope="module")
def writers() -> set[tuple[str, str]]:
    """Return what writes in the store, by module and name, but for schema migrations, which no user makes."""
    files = [path for path in (PACKAGE / "hosting/store").glob("*.py") if path.stem != "migrate"]
    return {function for path in files for function in writing_functions(path)}


@pytest.mark.parametrize("caller", CALLERS)
def test_what_writes_to_the_database_is_called_by_services_only(
    caller: str, writers: set[tuple[str, str]]
) -> None:
    """Only services call functions of the store that write, because those check no permissions or fields."""
    place = PACKAGE / caller
    for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
        assert functions_used(path) & writers == set(), path
        assert ".write" not in names_in(ast.parse(path.read_text())), path


def test_what_writes_is_found(writers: set[tuple[str, str]]) -> None:
    """Functions that write, directly or by a call, are found, and functions that only read are not."""
    assert {("accounts", "rename_account"), ("accounts", "add_account"), ("members", "join_team")} <= writers
    assert not {("accounts", "find_account"), ("issue_lists", "list_issues"), ("sessions", "user_of")} & writers
    services = functions_used(PACKAGE / "hosting/services/teams.py")
    assert {("teams", "delete_team"), ("members", "leave_team")} <= services & writers
