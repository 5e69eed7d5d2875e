"""Pointing the command line at a data folder."""

from pathlib import Path

import pytest

from holdfast.hosting.data_folder import open_database
from holdfast.hosting.storage.instance import establish
from holdfast.settings import Settings
from tests.cli.conftest import Run


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Point the command line at a data folder that was set up, with nobody in it yet."""
    monkeypatch.setenv("HOLDFAST_DATA", str(tmp_path / "data"))
    settings = Settings(data=tmp_path / "data")
    with open_database(settings) as database:
        establish(database, settings)
    return settings


@pytest.fixture
def ada(run: Run, data: Settings) -> Settings:
    """Make a user."""
    assert run("admin", "user", "create", "ada", "--random-password", "--email", "ada@example.org").status == 0
    return data
