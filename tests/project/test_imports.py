"""Import contracts between packages, and the check of them."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the import rules of pyproject.toml over a copy of the package."""
    script = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [script, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False, env={"PYTHONPATH": "src"}
    )


@pytest.fixture
def package_copy(tmp_path: Path) -> Path:
    """Copy the package, to break it."""
    shutil.copytree(
        ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_import_contracts_hold(package_copy: Path) -> None:
    """The import linter finds no broken contract in the package."""
    completed = lint_imports(package_copy)
    assert completed.returncode == 0, completed.stdout


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("backup/summary.py", "import holdfast.hosting.errors"),
        ("hosting/data_folder.py", "import holdfast.backup.summary"),
        ("backup/summary.py", "import holdfast.cli.output"),
        ("hosting/data_folder.py", "import holdfast.web.pages"),
        ("web/home.py", "import holdfast.server.app"),
        ("web/home.py", "import holdfast.hosting.api.teams"),
        ("server/app.py", "import holdfast.cli.exit_codes"),
        ("backup/schema/__init__.py", "import holdfast.backup.wire.frames"),
        ("hosting/store/tables/columns.py", "import holdfast.hosting.http.responses"),
        ("hosting/http/context.py", "import holdfast.hosting.errors"),
    ],
)
def test_a_forbidden_import_is_reported(package_copy: Path, module: str, line: str) -> None:
    """Each forbidden import breaks a contract."""
    path = package_copy / "src/holdfast" / module
    path.write_text(path.read_text() + f"\n{line}\n")
    completed = lint_imports(package_copy)
    assert completed.returncode == 1, completed.stdout
    assert "BROKEN" in completed.stdout


def test_the_http_layer_may_import_nothing_else_of_hosting() -> None:
    """The contract of the HTTP layer forbids every other part of hosting, new ones included."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (entry for entry in contracts if entry.get("source_modules") == ["holdfast.hosting.http"])
    hosting = ROOT / "src/holdfast/hosting"
    parts = {path.stem for path in hosting.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    expected = {f"holdfast.hosting.{name}" for name in parts - {"__init__", "http"}}
    assert set(contract["forbidden_modules"]) == expected


@pytest.mark.long
@pytest.mark.parametrize("module", ["new", "backup/new", "hosting/new", "web/new", "cli/new", "server/new"])
def test_a_module_outside_of_every_contract_is_found(package_copy: Path, module: str) -> None:
    """The import linter fails for a new module that has no layer."""
    (package_copy / f"src/holdfast/{module}.py").write_text('"""A module that no layer lists."""\n')
    completed = lint_imports(package_copy)
    assert completed.returncode == 1, completed.stdout
