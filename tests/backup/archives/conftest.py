"""An archive to read from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import Archive
from tests.backup.archives.histories import copies, imported, write


@pytest.fixture(scope="session")
def archive_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an archive of a history with every kind of message, once."""
    home = tmp_path_factory.mktemp("archive")
    imported(home / "chats.db", write(home / "one", *copies(400)))
    return home / "chats.db"


@pytest.fixture
def opened(archive_file: Path) -> Iterator[Archive]:
    """Open it."""
    with archives.open(archive_file) as found:
        yield found


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Make an archive of one sample with every kind of record and message."""
    imported(tmp_path / "a.db", write(tmp_path / "one", *copies(400)))
    return tmp_path / "a.db"
