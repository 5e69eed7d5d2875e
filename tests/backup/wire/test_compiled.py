"""The core is compiled where a compiler is installed."""

import shutil
import sysconfig
from importlib import import_module
from pathlib import Path

import pytest

from holdfast.backup.wire import COMPILED
from tests.backup.wire.core import Core, core_modules

HEADERS = Path(sysconfig.get_path("include"), "Python.h")
COMPILERS = [name for name in ("cc", "gcc", "clang") if shutil.which(name)]
needs_compiler = pytest.mark.skipif(
    not COMPILERS or not HEADERS.is_file(),
    reason="there is no C compiler on this machine, or Python has no headers",
)


@needs_compiler
@pytest.mark.parametrize("name", core_modules())
def test_every_module_of_the_core_is_compiled(name: str) -> None:
    """Every module is imported from a compiled file; the source beside it would hide a failed build."""
    assert Path(str(import_module(name).__file__)).suffix == ".so"


@needs_compiler
def test_the_package_knows_that_it_is_compiled() -> None:
    """COMPILED is true in a compiled package."""
    assert COMPILED


def test_the_same_source_runs_interpreted(core: Core) -> None:
    """The interpreted core is imported from source, and the installed one is compiled as COMPILED says."""
    if core.name == "interpreted":
        assert not core.frames.COMPILED
        assert str(core.tojson.__file__).endswith("tojson.py")
    else:
        assert core.frames.COMPILED == COMPILED
