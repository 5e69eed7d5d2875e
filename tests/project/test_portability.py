"""Portability of the library and its commands to Windows: no imports that only POSIX has."""

import subprocess
import sys
from pathlib import Path

from tests.backup.streams import lines_of, sample, stream_of

# What Windows does not have, taken away before anything is imported. The lock stands for the one of Windows, whose
# file exists while it is held.
WITHOUT_POSIX = """
import importlib, os, pkgutil, sys
import platformdirs  # chooses what it needs by the system it is on
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "uvloop"):
    sys.modules[name] = None
for name in (
    "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "chown", "fchmod", "fchown", "geteuid", "getgid", "getuid", "killpg",
    "mkfifo", "sched_getaffinity", "setsid",
):
    delattr(os, name)
link = os.link
os.supports_follow_symlinks.discard(link)
def link_to_file(source, target):
    link(source, target)
os.link = link_to_file
import filelock
filelock.FileLock = lambda path, mode, **options: filelock.SoftFileLock(path, **options)
"""
IMPORT_ALL = """
import holdfast.backup, holdfast.cli.main
for package in (holdfast.backup, holdfast.cli):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        # A package that is installed apart, and the commands of the server.
        if not module.name.startswith(("holdfast.cli.admin", "holdfast.cli.serve")):
            importlib.import_module(module.name)
"""
RUN_ALL = """
from holdfast.cli.main import main
for words in (
    "backup info chats.binproto",
    "backup convert chats.binproto chats.jsonl",
    "backup info takeout",
    "backup export chats.binproto pages",
    "backup export chats.binproto pages",
    "archive import all.db chats.binproto",
    "archive export all.db notes --to markdown",
    "backup redact chats.binproto redacted.binproto",
):
    status = main(words.split())
    assert status == 0, (words, status)
"""


def run_without_posix(program: str, folder: Path) -> None:
    """Run a program in a process of its own that has only what Windows has too."""
    completed = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX + program], check=False, capture_output=True, text=True, cwd=folder
    )
    assert completed.returncode == 0, completed.stderr


def test_every_module_is_imported_without_posix(tmp_path: Path) -> None:
    """All modules of the library and its commands can be imported without the POSIX modules."""
    run_without_posix(IMPORT_ALL, tmp_path)


def test_the_commands_for_backups_run_without_posix(tmp_path: Path) -> None:
    """Commands that read, convert, export, archive and redact backups run without the POSIX modules."""
    (tmp_path / "chats.binproto").write_bytes(stream_of(sample()))
    (tmp_path / "takeout").mkdir()
    (tmp_path / "takeout" / "main.jsonl").write_bytes(lines_of(sample()))
    run_without_posix(RUN_ALL, tmp_path)
    assert (tmp_path / "pages" / "index.html").is_file()
    assert not list(tmp_path.rglob("*.lock"))
