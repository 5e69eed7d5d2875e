"""The fixture of an archive to read from."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import Archive
from holdfast.backup.archives.encryption import encrypt_archive
from tests.backup.archives.histories import PASSPHRASE, copies, import_backups, write


@pytest.fixture(scope="session")
def archive_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an archive of a history with every kind of message, once."""
    folder = tmp_path_factory.mktemp("archive")
    import_backups(folder / "chats.db", write(folder / "one", *copies(400)))
    return folder / "chats.db"


@pytest.fixture(scope="session")
def encrypted_file(archive_file: Path) -> Path:
    """Encrypt a copy of it, once."""
    pytest.importorskip("sqlcipher3", reason="the extra `encryption` is not installed")
    copy = archive_file.with_name("encrypted.db")
    shutil.copy(archive_file, copy)
    encrypt_archive(copy, PASSPHRASE)
    return copy


@pytest.fixture(params=["archive_file", "encrypted_file"], ids=["plain", "encrypted"])
def opened(request: pytest.FixtureRequest) -> Iterator[Archive]:
    """Open it, in both forms."""
    with archives.open(request.getfixturevalue(request.param), passphrase=PASSPHRASE) as archive:
        yield archive


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Make an archive of one sample with every kind of record and message."""
    import_backups(tmp_path / "a.db", write(tmp_path / "one", *copies(400)))
    return tmp_path / "a.db"
