"""The library and its commands need neither the server's packages nor a POSIX system."""

import subprocess
import sys

import pytest

# What only the host needs; `holdfast.backup` and the commands for backups and archives do without.
SERVER = (
    "aiohttp",
    "alembic",
    "argon2",
    "httptools",
    "prometheus_client",
    "pygit2",
    "sqlalchemy",
    "starlette",
    "structlog",
    "uvicorn",
    "uvloop",
)
# Modules of Python that Windows does not have.
POSIX = ("fcntl", "grp", "pwd", "resource", "termios")
# Exports lock their folder with `fcntl`.
LOCKING = ("holdfast.backup.exports",)
COMMANDS = ("check", "compare", "convert", "extract", "info", "redact", "repair", "sample", "validate")


def run_without(blocked: tuple[str, ...], program: str) -> None:
    """Run a program in a process in which some modules cannot be imported."""
    code = f"import sys\nfor name in {blocked!r}:\n    sys.modules[name] = None\n{program}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_library_is_imported_without_the_server() -> None:
    """Every public name can be loaded."""
    run_without(SERVER, "import holdfast.backup as hb\nfor name in hb.__all__: getattr(hb, name)")


@pytest.mark.parametrize(("blocked", "skipped"), [(SERVER, ()), (POSIX, LOCKING)], ids=["server", "posix"])
def test_modules_of_the_library_are_imported_without(blocked: tuple[str, ...], skipped: tuple[str, ...]) -> None:
    """Those that no public name leads to as well."""
    run_without(
        blocked,
        "import importlib, pkgutil, holdfast.backup as hb\n"
        f"wanted = lambda name: not name.startswith({skipped!r})\n"
        "def walk(path, prefix):\n"
        "    for module in pkgutil.iter_modules(path, prefix):\n"
        "        if wanted(module.name):\n"
        "            found = importlib.import_module(module.name)\n"
        "            if module.ispkg: walk(found.__path__, module.name + '.')\n"
        "walk(hb.__path__, 'holdfast.backup.')",
    )


@pytest.mark.parametrize("blocked", [SERVER, POSIX], ids=["server", "posix"])
def test_commands_for_backups_are_imported_without(blocked: tuple[str, ...]) -> None:
    """And one of them runs, from the command line to its output."""
    modules = [f"holdfast.cli.{name}" for name in COMMANDS]
    run_without(
        blocked,
        f"import importlib\nfor name in {modules!r}: importlib.import_module(name)\n"
        "from holdfast.cli import main\n"
        "assert main(['backup', 'rules', '--json']) == 0",
    )
