"""The core under both its lives: compiled as installed, and the same source interpreted."""

import importlib.util
import shutil
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

import holdfast.backup.wire
from holdfast.backup.wire import frames


def interpreted(name: str) -> ModuleType:
    """Load a core module from its source, whether or not it is compiled."""
    path = Path(holdfast.backup.wire.__file__).with_name(f"{name}.py")
    loader = SourceFileLoader(f"interpreted_{name}", str(path))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="session", params=["installed", "interpreted"])
def core(request: pytest.FixtureRequest) -> ModuleType:
    """Give the core as it is installed, and as plain Python."""
    return frames if request.param == "installed" else interpreted("frames")


@pytest.fixture(scope="session")
def compiler() -> str:
    """Find the C compiler an install would use."""
    found = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if found is None:
        pytest.skip("no C compiler: the core is interpreted here, as it should be")
    return found
