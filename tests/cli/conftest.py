"""Fixtures that run the command line."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast.backup.archives import passphrases
from holdfast.cli import main
from tests.backup.container.vectors import SET_A, SET_B
from tests.backup.streams import KEY_FILE


@dataclass(frozen=True)
class CommandResult:
    """The exit status and the output of a command."""

    status: int
    out: str
    err: str


Run = Callable[..., CommandResult]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `holdfast` in this process."""

    def call(*arguments: str) -> CommandResult:
        capsys.readouterr()
        status = main(arguments)
        captured = capsys.readouterr()
        return CommandResult(status, captured.out, captured.err)

    return call


@pytest.fixture
def quick_passphrases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Derive the keys of archives at little cost, in this process: a test may need dozens."""
    monkeypatch.setattr(passphrases, "ITERATIONS", 1000)


@pytest.fixture
def spawn(tmp_path: Path) -> Run:
    """Run `holdfast` as a subprocess."""

    def call(*arguments: str, data: bytes = b"", **environ: str) -> CommandResult:
        completed = subprocess.run(
            [sys.executable, "-m", "holdfast", *arguments],
            input=data,
            capture_output=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, **environ},
        )
        return CommandResult(completed.returncode, completed.stdout.decode(), completed.stderr.decode())

    return call


@pytest.fixture
def strong_key_file(tmp_path: Path) -> str:
    """Write a key file with keys strong enough to encrypt new backups."""
    path = tmp_path / "strong.txt"
    path.write_text(f"recovery-key = {SET_A.pool}\naccount-id = {SET_B.aci}\n")
    return str(path)


@pytest.fixture
def key_file(tmp_path: Path) -> str:
    """Write a key file."""
    path = tmp_path / "keys.txt"
    path.write_text(KEY_FILE)
    return str(path)
