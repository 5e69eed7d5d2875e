"""Installation with and without a C compiler, and the core that is used."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from holdfast import __version__
from holdfast.web.bundles import BUNDLES
from tests.backup.wire.core import core_modules
from tests.conftest import ROOT
from tests.project.conftest import Distributions


def build_wheel(tmp_path: Path, folder: str = ".", **environ: str) -> Path:
    """Build the wheel of a folder from a copy of the sources."""
    source = tmp_path / "source"
    shutil.copytree(
        ROOT / "src",
        source / "src",
        ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info", "build"),
        dirs_exist_ok=True,
    )
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    wheels = tmp_path / folder.replace("/", "-")
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        wheels,
        source / folder,
    ]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environ})
    (wheel,) = wheels.glob("*.whl")
    return wheel


def install(tmp_path: Path, folder: str = ".", **environ: str) -> Path:
    """Build the wheel of a folder and unpack it."""
    wheel = build_wheel(tmp_path, folder, **environ)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    return tmp_path / "installed"


def required(folder: Path) -> set[str]:
    """Return the distributions that the installed package requires without extras."""
    (metadata,) = folder.glob("holdfast-*.dist-info/METADATA")
    lines = re.findall(r"^Requires-Dist: ([a-z0-9-]+)([^;\n]*)$", metadata.read_text(), re.MULTILINE)
    return {name for name, _versions in lines}


def run(folder: Path, program: str) -> str:
    """Run a program with the installed package, without the checkout, and return its output."""
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    # The environment has an editable install of this checkout.
    without_checkout = f"import sys; sys.path[:] = [path for path in sys.path if path != {str(ROOT / 'src')!r}]; "
    command = [sys.executable, "-c", without_checkout + program]
    completed = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, env=environ)
    return (completed.stdout + completed.stderr).strip()


def version(folder: Path) -> str:
    """Run the installed command."""
    return run(folder, "import sys; from holdfast.__main__ import main; sys.exit(main(['version']))")


def check_demo_is_separate(folder: Path) -> None:
    """Check that the runtime wheel has no demo content, and that commands name the extra that has."""
    assert {path.name for path in folder.iterdir() if path.name.startswith("holdfast")} == {
        "holdfast",
        f"holdfast-{__version__}.dist-info",
    }
    assert not (folder / "holdfast/cli/demo").exists()
    assert not (folder / "holdfast/backup/sample").exists()
    for arguments in (["backup", "sample", "x.binproto"], ["serve", "--demo", "--data", "x"]):
        output = run(folder, f"from holdfast.__main__ import main; sys.exit(main({arguments!r}))")
        assert "pip install 'holdfast[demo]'" in output
    assert not (folder / "x").exists()


@pytest.mark.long
@pytest.mark.timeout(300)
def test_links_of_the_package_page_are_absolute(tmp_path: Path) -> None:
    """The package index shows the README without its files: links and pictures lead to those of the version."""
    metadata = (install(tmp_path, HOLDFAST_PURE="1") / f"holdfast-{__version__}.dist-info/METADATA").read_text()
    links = re.findall(r"\]\(([^)]+)\)", metadata)
    sources = "https://holdfast.example/source"
    assert f"{sources}/raw/tag/v{__version__}/docs/images/repository.png" in links
    assert f"{sources}/src/tag/v{__version__}/docs/guides/website.md#snapshots-in-a-repository" in links
    assert [link for link in links if not link.startswith("https://")] == []
    relative = {link.partition(f"/v{__version__}/")[2] for link in links} - {""}
    assert relative == set(re.findall(r"\]\(((?!\w+:)[^)]+)\)", (ROOT / "README.md").read_text()))


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_demo_is_a_wheel_of_its_own(tmp_path: Path) -> None:
    """The wheel of the demo has exactly its own modules and requires this version of Holdfast."""
    folder = install(tmp_path, "src/holdfast_demo")
    source = ROOT / "src/holdfast_demo"
    modules = {path.relative_to(source) for path in source.rglob("*.py") if "build" not in path.parts}
    assert {path.relative_to(folder / "holdfast_demo") for path in folder.rglob("*.py")} == modules
    metadata = (folder / f"holdfast_demo-{__version__}.dist-info/METADATA").read_text()
    assert f"\nRequires-Dist: holdfast=={__version__}\n" in metadata


@pytest.mark.long
@pytest.mark.timeout(600)
def test_without_a_compiler_the_install_succeeds_and_runs_interpreted(tmp_path: Path) -> None:
    """The build succeeds without compiled modules, and `holdfast version` reports an interpreted core."""
    folder = install(tmp_path, CC="no-such-compiler")
    assert list(folder.rglob("*.so")) == []
    assert required(folder) >= {"cython", "cryptography"}
    check_demo_is_separate(folder)
    assert "core interpreted" in version(folder)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_with_a_compiler_the_core_is_compiled(distributions: Distributions, tmp_path: Path) -> None:
    """The wheel has all compiled core modules and the templates, styles and migrations of the service."""
    folder = tmp_path / "installed"
    with zipfile.ZipFile(distributions.compiled) as archive:
        archive.extractall(folder)
    compiled = {
        ".".join((path.parent / path.name.partition(".")[0]).relative_to(folder).parts)
        for path in folder.rglob("*.so")
    }
    assert compiled == {*core_modules(), "holdfast.backup._cyutility"}
    assert "cryptography" in required(folder)
    assert "cython" not in required(folder)
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
    if BUNDLES.address("editor"):
        bundles = folder / "holdfast/web/static/bundles"
        assert (bundles / "LICENSES.txt").is_file()
        assert [path.suffix for path in sorted(bundles.glob("editor-*"))] == [".gz"]
