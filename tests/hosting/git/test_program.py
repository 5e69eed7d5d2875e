"""Running the git program: its environment, errors, timeouts and version."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.hosting.errors import GitFailed, GitMissing, GitTimedOut
from holdfast.hosting.git import program
from tests.conftest import wait_for


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Make an empty bare repository."""
    folder = tmp_path / "repository.git"
    program.run(None, "init", "--quiet", "--bare", str(folder))
    return folder


@pytest.fixture
def find_git_again() -> Iterator[None]:
    """Clear the cached path of git before and after the test."""
    program.find_git.cache_clear()
    yield
    program.find_git.cache_clear()


def test_the_output_of_git_is_returned(bare: Path) -> None:
    """The given bytes are the standard input of git, and its standard output is returned."""
    oid = program.run(bare, "hash-object", "-w", "--stdin", input=b"hello\n").decode().strip()
    assert oid == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert program.run(bare, "cat-file", "blob", oid) == b"hello\n"


def test_no_environment_variable_is_inherited(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Environment variables and the home folder of the service do not reach git."""
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Mallory\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'user.name=Mallory'")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    assert b"Mallory" not in program.run(bare, "config", "--list")
    shown = program.run(bare, "-c", "alias.reveal=!env", "reveal").decode()
    names = {line.partition("=")[0] for line in shown.splitlines()}
    assert f"GIT_DIR={bare}" in shown
    assert names.isdisjoint({"USER", "LOGNAME", "PYTHONPATH", "VIRTUAL_ENV", "PYTEST_CURRENT_TEST"})


def test_an_error_has_the_command_and_its_stderr(bare: Path) -> None:
    """The message is safe to log; the stderr of git, which may quote a client, is an attribute."""
    with pytest.raises(GitFailed) as excinfo:
        program.run(bare, "cat-file", "blob", "0" * 40)
    assert str(excinfo.value) == "git cat-file failed with exit code 128"
    assert excinfo.value.code == 128
    assert "0" * 40 in excinfo.value.stderr


def test_a_command_that_takes_too_long_is_ended_with_all_it_started(bare: Path, tmp_path: Path) -> None:
    """The timeout also applies to a child process that keeps the output pipe open, and ends it."""
    pid = tmp_path / "pid"
    with pytest.raises(GitTimedOut, match=r"timed out after 0\.2 seconds"):
        program.run(bare, "-c", f"alias.nap=!sleep 600 & echo $! > {pid}; wait; true", "nap", timeout=0.2)
    child = Path("/proc", pid.read_text().strip())
    wait_for(lambda: not child.exists())


def test_a_missing_git_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, find_git_again: None) -> None:
    """A search for git without the program on the PATH raises an error that says so."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitMissing, match="not installed"):
        program.find_git()


@pytest.mark.parametrize(
    ("said", "problem"),
    [("git version 2.35.9", "is git 2.35; version 2.36 or newer"), ("hello", "is not the git program")],
)
def test_an_unsupported_version_of_git_is_refused(
    said: str, problem: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, find_git_again: None
) -> None:
    """An old git, or another program of that name, is an error that states the required version."""
    fake = tmp_path / "git"
    fake.write_text(f"#!/bin/sh\necho {said}\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitMissing, match=problem):
        program.find_git()


def test_a_newer_version_of_git_is_accepted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, find_git_again: None
) -> None:
    """Versions are compared as numbers: 3.1 and 2.100 are newer than 2.36."""
    fake = tmp_path / "git"
    fake.write_text("#!/bin/sh\necho git version 2.100.0.rc1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.defpath}")
    assert program.find_git() == str(fake)
