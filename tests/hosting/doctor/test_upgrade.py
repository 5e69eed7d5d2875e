"""The upgrade check: schema version, migrations on a copy, disk space and permissions."""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import text

from holdfast.hosting.app import App
from holdfast.hosting.doctor.upgrade import examine_upgrade
from holdfast.hosting.store import migrate
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings
from tests.hosting.old_data_folder import REVISION, OldDataFolder, make_old_data_folder


@pytest.fixture
def old(settings: Settings, empty_database: Database) -> OldDataFolder:
    """Make a data folder of an earlier version."""
    return make_old_data_folder(settings, empty_database)


@pytest.fixture
def old_app(settings: Settings, old: OldDataFolder) -> Iterator[App]:
    """Open the old data folder without migrating it."""
    opened = App.open(settings)
    settings.data.chmod(0o700)
    yield opened
    opened.close()


def kinds(app: App) -> list[str]:
    """Return the ids of the findings."""
    return [finding.kind.value for finding in examine_upgrade(app)]


def content(folder: Path) -> dict[str, str]:
    """Return the names and digests of the files of a data folder, but for SQLite's shared memory."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith("-shm")
    }


def test_data_of_an_earlier_version_can_be_taken_over(old_app: App) -> None:
    """The check of an earlier version finds nothing and changes neither the database nor the data folder."""
    before = content(old_app.settings.data)
    assert kinds(old_app) == []
    assert migrate.revision(old_app.database) == REVISION
    assert content(old_app.settings.data) == before


def test_data_of_this_version_has_nothing_to_migrate(app: App) -> None:
    """The check of an installation of this version has no findings."""
    assert kinds(app) == []


def test_a_database_of_a_newer_version_is_reported(app: App) -> None:
    """The only finding names the revision of the database and the latest one of this version."""
    with app.database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    (finding,) = examine_upgrade(app)
    assert finding.kind.value == "database-newer"
    assert "revision 9999, which a newer Holdfast wrote" in finding.what
    assert migrate.latest() in finding.what


def test_a_migration_that_would_fail_is_found_on_a_copy(old_app: App) -> None:
    """The migration is tried on a copy of a SQLite database; for PostgreSQL it is not tried."""
    with old_app.database.write() as connection:
        connection.execute(text("CREATE TABLE ref_log (id INTEGER PRIMARY KEY)"))
    before = content(old_app.settings.data)
    assert kinds(old_app) == (["migration-fails"] if old_app.database.is_sqlite else [])
    assert content(old_app.settings.data) == before
    assert migrate.revision(old_app.database) == REVISION


class Disk(NamedTuple):
    """What `shutil.disk_usage` returns."""

    total: int
    used: int
    free: int


def test_a_full_disk_is_reported(old_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Free space of twice the size of a SQLite database is too little, and four times is enough."""
    size = (old_app.settings.data / "holdfast.sqlite3").stat().st_size if old_app.database.is_sqlite else 0
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(10**9, 10**9 - 2 * size, 2 * size))
    assert kinds(old_app) == (["disk-space"] if old_app.database.is_sqlite else [])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(10**9, 0, 4 * size))
    assert kinds(old_app) == []


def test_a_folder_that_others_can_read_is_reported(old_app: App) -> None:
    """The check before an upgrade includes the check of permissions."""
    old_app.settings.data.chmod(0o755)
    assert kinds(old_app) == ["permissions"]
