"""Lazy import of commands, which are listed without being imported."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from holdfast.cli import app, main
from holdfast.cli.lazy_commands import LazyGroup
from tests.backup.streams import small_sample, stream_of

# Everything of Holdfast that `--version` loads; each module more makes every command slower.
FOR_VERSION = {
    "holdfast",
    "holdfast.__main__",
    "holdfast.cli",
    "holdfast.cli.exit_codes",
    "holdfast.cli.lazy_commands",
    "holdfast.cli.main",
    "holdfast.errors",
}
# What a command may not load that does not need it: each takes a tenth of a second and more.
HEAVY = {
    "aiohttp",
    "argon2",
    "cryptography",
    "google.protobuf",
    "msgspec",
    "pygit2",
    "rich",
    "sqlalchemy",
    "structlog",
}


def loaded_modules(*arguments: str) -> set[str]:
    """List the modules that are loaded when a command line has run."""
    program = (
        "import sys, runpy\n"
        f"sys.argv = ['holdfast', *{list(arguments)!r}]\n"
        "try:\n    runpy.run_module('holdfast', run_name='__main__')\n"
        "except SystemExit:\n    pass\n"
        "print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    return set(
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr.split()
    )


def groups(group: LazyGroup) -> list[LazyGroup]:
    """List a group and its subgroups."""
    return [child for _, child in walk_groups(group, ())]


def walk_groups(group: LazyGroup, arguments: tuple[str, ...]) -> list[tuple[tuple[str, ...], LazyGroup]]:
    """List a group and its subgroups, with the arguments of each."""
    below = [(name, group.load(name)) for name in group.table]
    subgroups = [walk_groups(child, (*arguments, name)) for name, child in below if isinstance(child, LazyGroup)]
    return [(arguments, group), *(entry for several in subgroups for entry in several)]


def root_command() -> LazyGroup:
    """Build the command."""
    command = typer.main.get_command(app)
    assert isinstance(command, LazyGroup)
    return command


def test_the_version_loads_next_to_nothing() -> None:
    """`--version` loads only a fixed list of modules."""
    modules = loaded_modules("--version")
    assert {name for name in modules if name.partition(".")[0] == "holdfast"} <= FOR_VERSION
    assert not modules & HEAVY


@pytest.mark.parametrize(
    "arguments", [["--help"], ["backup", "--help"], ["archive", "--help"], ["admin", "--help"]]
)
def test_help_loads_no_command(arguments: list[str]) -> None:
    """Help is printed without loading commands or their libraries."""
    modules = loaded_modules(*arguments)
    assert not modules & HEAVY
    assert not {name for name in modules if name.startswith(("holdfast.backup", "holdfast.hosting"))}


def test_a_plain_backup_is_read_without_what_other_forms_need(tmp_path: Path) -> None:
    """`info` of a plain stream loads nothing for keys, ciphers, attachments or archives, no JSON and no bars."""
    (tmp_path / "x").write_bytes(stream_of(small_sample()))
    modules = loaded_modules("backup", "info", str(tmp_path / "x"))
    assert "holdfast.backup.summary" in modules
    assert not modules & {"cryptography", "json5", "rich.console", "holdfast.backup.wire.fromjson"}
    assert not modules & {"hashlib", "json", "mimetypes", "msgspec", "random", "secrets", "tempfile", "zipfile"}
    assert not modules & {"gzip", "zlib_ng", "holdfast.backup.container.gunzip"}
    assert not modules & {f"holdfast.backup.container.{name}" for name in ("cipher", "folder", "keys", "takeout")}
    assert "holdfast.backup.media" not in modules


def test_the_interpreter_collects_no_garbage_at_exit() -> None:
    """When a command has run, its objects are exempt from the collection at exit; collection itself is enabled."""
    program = (
        "import gc\n"
        "from holdfast.__main__ import main\n"
        "main(['--version'])\n"
        "print(gc.isenabled(), gc.get_freeze_count() > 10_000, len(gc.get_objects()) < 100)"
    )
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert completed.stdout.splitlines()[-1] == "True True True"


def test_a_backup_is_read_without_the_host(tmp_path: Path) -> None:
    """`backup info` loads nothing of the server, and no other command."""
    (tmp_path / "x").write_bytes(b"")
    modules = loaded_modules("backup", "info", str(tmp_path / "x"))
    assert "holdfast.backup.summary" in modules
    others = {"sqlalchemy", "starlette", "uvicorn", "structlog", "aiohttp", "pygit2", "argon2", "jinja2"}
    assert not modules & others
    assert not {"holdfast.backup.rules", "holdfast.web"} & modules
    places = {
        where.partition(":")[0] for group in groups(root_command()) for _summary, where in group.table.values()
    }
    assert modules & places == {"holdfast.cli.backup", "holdfast.cli.info"}


@pytest.mark.parametrize("group", groups(root_command()), ids=lambda group: group.name)
def test_summaries_are_what_the_commands_say(group: LazyGroup) -> None:
    """The summary in each group is the first paragraph of the command's help."""
    for name, (summary, _where) in group.table.items():
        command = group.load(name)
        help_text = " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split())
        assert summary == help_text, f"{group.name} {name}"


def test_a_mistyped_command_is_told_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    """A mistyped command gets a suggestion although the commands are loaded lazily."""
    assert main(["backup", "inof"]) == 2
    assert "Did you mean 'info'?" in capsys.readouterr().err


def test_groups_list_all_their_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """The help of every group lists all of its commands."""
    for arguments, group in walk_groups(root_command(), ()):
        assert isinstance(group, TyperGroup)
        assert main([*arguments, "--help"]) == 0
        output = capsys.readouterr().out
        assert all(f"\n  {name} " in output for name in group.table)


@pytest.mark.parametrize("group", groups(root_command()), ids=lambda group: group.name)
def test_groups_have_no_options_of_their_own(group: LazyGroup) -> None:
    """Typer gives a group `--install-completion`, which would install a completion for a command of that name."""
    below = [command for name in group.table if isinstance(command := group.load(name), TyperGroup)]
    assert [parameter.name for command in below for parameter in command.params] == []
