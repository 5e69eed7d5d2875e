"""The package installs with and without a C compiler, and says which core it runs."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.backup.wire.core import core_modules
from tests.conftest import ROOT


def install(tmp_path: Path, **environ: str) -> Path:
    """Build a wheel from a copy of the sources and unpack it."""
    source = tmp_path / "source"
    shutil.copytree(
        ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")
    )
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        tmp_path,
        source,
    ]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environ})
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    return tmp_path / "installed"


def run(folder: Path, program: str) -> str:
    """Run a line with what is installed, away from the sources, and return what it says."""
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, env=environ)
    return done.stdout.strip()


def version(folder: Path) -> str:
    """Run the installed command."""
    return run(folder, "import sys; from holdfast.__main__ import main; sys.exit(main(['version']))")


@pytest.mark.long
@pytest.mark.timeout(600)
def test_without_a_compiler_the_install_succeeds_and_runs_interpreted(tmp_path: Path) -> None:
    """The build goes on without the core, and `holdfast version` says so."""
    folder = install(tmp_path, CC="no-such-compiler")
    assert list(folder.rglob("*.so")) == []
    assert "core interpreted" in version(folder)
    assert run(folder, "from holdfast.hosting.git import atomic_write as w; print(w.lay.__module__)") == (
        "holdfast.hosting.git.syscalls"
    )


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
@pytest.mark.long
@pytest.mark.timeout(600)
def test_with_a_compiler_the_core_is_compiled(tmp_path: Path) -> None:
    """And everything the service needs is in the wheel."""
    folder = install(tmp_path)
    compiled = {
        ".".join((path.parent / path.name.partition(".")[0]).relative_to(folder).parts)
        for path in folder.rglob("*.so")
    }
    assert compiled == {*core_modules(), "holdfast.backup._cyutility", "holdfast.hosting.git.kernel"}
    assert "core compiled" in version(folder)
    for needed in (
        "web/templates/home.html",
        "web/style/base.css",
        "backup/exports/html/static/chat.css",
        "backup/schema/backup.proto",
        "hosting/store/migrations/env.py",
        "hosting/store/migrations/versions/r0001_accounts.py",
        "py.typed",
    ):
        assert (folder / "holdfast" / needed).is_file(), needed
