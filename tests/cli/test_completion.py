"""`holdfast completion`."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(spawn: Run, shell: str) -> None:
    """The script sets the variable that selects the shell."""
    result = spawn("completion", shell)
    assert result.status == 0
    assert f"_HOLDFAST_COMPLETE=complete_{shell}" in result.out


def test_an_unknown_shell_is_wrong_usage(run: Run) -> None:
    """The error about an unknown shell lists the known ones."""
    result = run("completion", "tcsh")
    assert result.status == 2
    assert all(shell in result.err for shell in ("bash", "zsh", "fish"))


def test_bash_really_completes(spawn: Run, tmp_path: Path) -> None:
    """A bash with the script completes `ba` to `backup`."""
    bash = shutil.which("bash")
    assert bash is not None
    holdfast = tmp_path / "holdfast"
    holdfast.write_text(f'#!/bin/sh\nexec {sys.executable} -m holdfast "$@"\n')
    holdfast.chmod(0o755)
    script = f"""
        PATH={tmp_path}:$PATH
        eval "$(holdfast completion bash)"
        COMP_WORDS=(holdfast ba) COMP_CWORD=1
        _holdfast_completion holdfast
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    completed = subprocess.run([bash, "-c", script], capture_output=True, check=True)
    assert completed.stdout.decode().split() == ["backup"]
