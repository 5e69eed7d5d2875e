"""The fixture of an archive to export."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import Archive
from tests.backup.archives.conftest import archive_file
from tests.backup.archives.histories import copies, import_backups, write, write_later
from tests.backup.exports.hostile import hostile_archive

__all__ = ["archive_file", "hostile", "opened", "two_snapshots"]


@pytest.fixture
def opened(archive_file: Path) -> Iterator[Archive]:
    """Open an archive with every kind of message."""
    with archives.open(archive_file) as archive:
        yield archive


@pytest.fixture(scope="session")
def hostile_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an archive of hostile texts, once."""
    return hostile_archive(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def hostile(hostile_file: Path) -> Iterator[Archive]:
    """Open an archive in which every text is hostile."""
    with archives.open(hostile_file) as archive:
        yield archive


@pytest.fixture(scope="session")
def two_snapshots_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an archive of two snapshots between which things have happened, once."""
    folder = tmp_path_factory.mktemp("snapshots")
    first = write(folder / "one", *copies(300))
    second = write_later(folder / "two", random.Random(4), days=30, messages=300)
    import_backups(folder / "chats.db", first, second)
    return folder / "chats.db"


@pytest.fixture
def two_snapshots(two_snapshots_file: Path) -> Iterator[Archive]:
    """Open an archive in which messages have changed and vanished."""
    with archives.open(two_snapshots_file) as archive:
        yield archive
