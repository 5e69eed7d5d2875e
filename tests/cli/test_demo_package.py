"""Errors of commands that need the demo package where it is not installed."""

import sys
from pathlib import Path

import pytest

from holdfast.cli.exit_codes import ExitCode
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    "arguments", [["backup", "sample", "x.binproto"], ["serve", "--demo", "--data", "x", "--port", "0"]]
)
def test_a_missing_package_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    """Without the package `holdfast_demo` the error names the extra to install, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "holdfast_demo", None)
    result = run(*arguments)
    assert result.status == ExitCode.NO
    assert "pip install 'holdfast[demo]'" in result.err
    assert list(tmp_path.iterdir()) == []
