"""The fixture of an archive for the commands."""

from pathlib import Path

import pytest

from tests.backup.archives.histories import copies, import_backups, write


@pytest.fixture(scope="session")
def chats_db(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make an archive of a history with every kind of message, once."""
    folder = tmp_path_factory.mktemp("archive")
    import_backups(folder / "chats.db", write(folder / "one", *copies(400)))
    return str(folder / "chats.db")


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Write a backup."""
    return str(write(tmp_path / "one.binproto", *copies()))
