"""Pointing the command line at a data folder."""

from pathlib import Path

import pytest

from holdfast.settings import Settings
from tests.cli.conftest import Run


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Point the command line at an empty data folder."""
    monkeypatch.setenv("HOLDFAST_DATA", str(tmp_path / "data"))
    return Settings(data=tmp_path / "data")


@pytest.fixture
def ada(run: Run, data: Settings) -> Settings:
    """Make a user."""
    assert run("admin", "user", "create", "ada", "--random-password", "--email", "ada@example.org").status == 0
    return data
