"""Fixtures of the administration commands: a data folder and a user."""

import shutil
from pathlib import Path

import pytest

from holdfast.hosting.data_folder import open_database
from holdfast.hosting.storage.instance import establish
from holdfast.settings import Settings
from tests.cli.conftest import Run


@pytest.fixture(scope="session")
def established_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Set up one data folder, to be copied instead of being made again for every test."""
    settings = Settings(data=tmp_path_factory.mktemp("established"))
    with open_database(settings) as database:
        establish(database, settings)
    return settings.data


@pytest.fixture
def data(tmp_path: Path, established_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Set HOLDFAST_DATA to an initialized data folder without users."""
    monkeypatch.setenv("HOLDFAST_DATA", str(tmp_path / "data"))
    shutil.copytree(established_folder, tmp_path / "data")
    return Settings(data=tmp_path / "data")


@pytest.fixture
def ada(run: Run, data: Settings) -> Settings:
    """Make a user."""
    assert run("admin", "user", "create", "ada", "--random-password", "--email", "ada@example.org").status == 0
    return data
