"""Fixtures: the distributions of a release, built once, and empty environments to install them into."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tools.distributions import build

from tests.conftest import ROOT

__all__ = ["Distributions", "make_environment", "uv"]


@dataclass(frozen=True, slots=True)
class Distributions:
    """The distributions of a release, as `make packages` builds them."""

    sdist: Path
    compiled: Path
    pure: Path
    demo: Path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep what uses the distributions in one process where tests run in several: each would build its own."""
    for item in items:
        if isinstance(item, pytest.Function) and "distributions" in item.fixturenames:
            item.add_marker(pytest.mark.xdist_group("distributions"))


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """Build the sdist and the wheels; the core takes minutes to compile."""
    files = build(ROOT, tmp_path_factory.mktemp("distributions"))
    (sdist,) = [path for path in files if path.suffix == ".gz"]
    (demo,) = [path for path in files if path.name.startswith("holdfast_demo-")]
    (pure,) = [path for path in files if path.name.endswith("-none-any.whl") and path != demo]
    (compiled,) = set(files) - {sdist, demo, pure}
    return Distributions(sdist, compiled, pure, demo)


def uv(arguments: list[str | Path]) -> str:
    """Run uv, and return its output."""
    command: list[str | Path] = [sys.executable, "-m", "uv", "--quiet", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def make_environment(folder: Path, locks: list[str], *files: Path) -> None:
    """Create an empty environment and install the locked packages, then these files."""
    uv(["venv", "--python", sys.executable, folder])
    into: list[str | Path] = ["--python", folder]
    locked = [part for name in locks for part in ("-r", ROOT / "requirements" / f"{name}.txt")]
    uv(["pip", "install", *into, "--require-hashes", *locked])
    uv(["pip", "install", *into, "--no-deps", *files])
