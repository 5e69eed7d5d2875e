"""A database and a data folder that belong together, and those that do not."""

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import delete, update

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.errors import WrongDataFolder
from holdfast.hosting.services import ref_changes
from holdfast.hosting.services import repositories as making
from holdfast.hosting.services.health import problems
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.storage import instance
from holdfast.hosting.store import accounts, pending_ref_updates, tables
from holdfast.hosting.store.encryption import KEY_FILE
from holdfast.hosting.store.pending_ref_updates import Move
from holdfast.hosting.store.repositories import Repository
from holdfast.secret import Secret
from holdfast.settings import Settings


def start(settings: Settings) -> None:
    """Start a service as far as it takes to know whether it may."""
    with open_database(settings) as database:
        prepare(database, settings)


def add_repository(settings: Settings) -> Repository:
    """Make a repository."""
    host = App.open(settings)
    try:
        admin = accounts.find_user(host.database, "admin")
        return making.create(host, admin, admin, NewRepository(name="boats"), {"a": b"a"})
    finally:
        host.close()


@pytest.fixture
def started(settings: Settings) -> Settings:
    """Start a service on an empty folder."""
    start(settings)
    return settings


def elsewhere(settings: Settings, name: str = "other") -> Settings:
    """Name another data folder; a database in a file comes along alone."""
    data = settings.data.with_name(name)
    data.mkdir()
    if settings.database_url is None:
        shutil.copy(settings.data / "holdfast.sqlite3", data)
    return msgspec.structs.replace(settings, data=data)


def test_the_first_start_gives_both_one_identity(started: Settings) -> None:
    """Which stays, and which nobody else can read."""
    with open_database(started) as database:
        row, file = instance.read_row(database), instance.read_file(started.data)
    assert row == file
    assert row is not None
    assert len(row.instance_id) == len(row.key_fingerprint) == 32
    assert stat.S_IMODE((started.data / instance.INSTANCE_FILE).stat().st_mode) == 0o600
    start(started)
    assert instance.read_file(started.data) == file


def test_an_empty_folder_is_refused_where_the_database_is_in_use(started: Settings) -> None:
    """Nothing is made there."""
    add_repository(started)
    other = elsewhere(started)
    with pytest.raises(WrongDataFolder, match=r"HOLDFAST_DATA or --data .* admin instance --adopt"):
        start(other)
    assert not (other.data / KEY_FILE).exists()
    assert not (other.data / instance.INSTANCE_FILE).exists()
    start(started)


@pytest.mark.parametrize("settings", ["postgres"], indirect=True)
def test_two_services_cannot_share_a_database_with_two_folders(started: Settings) -> None:
    """Not even before there is a repository; two that share both can."""
    other = elsewhere(started)
    with pytest.raises(WrongDataFolder, match="is not the one of"):
        start(other)
    start(started)


def test_the_folder_of_another_database_is_refused(started: Settings, tmp_path: Path) -> None:
    """Also when it has all that a folder has."""
    add_repository(started)
    other = Settings(data=tmp_path / "second")
    start(other)
    shutil.copy(other.data / instance.INSTANCE_FILE, started.data)
    with pytest.raises(WrongDataFolder, match="belongs to another database"):
        start(started)


def test_a_folder_in_use_is_refused_with_an_empty_database(started: Settings) -> None:
    """New repositories would get the ids, and the places, of old ones."""
    kept = add_repository(started)
    wrong = Settings(data=started.data)
    (started.data / "holdfast.sqlite3").unlink(missing_ok=True)
    with pytest.raises(WrongDataFolder, match="is empty, but the data folder"):
        start(wrong)
    assert App.open(started).folders.exists(kept.id)


def forget_identity(settings: Settings) -> None:
    """Make an installation as it was before there were identities."""
    with open_database(settings) as database, database.write() as connection:
        connection.execute(delete(tables.instance))
    (settings.data / instance.INSTANCE_FILE).unlink()


def test_an_installation_from_before_gets_an_identity(started: Settings) -> None:
    """When its repositories are there; else it is the wrong folder."""
    add_repository(started)
    forget_identity(started)
    aside = started.data / "aside"
    (started.data / "repositories").rename(aside)
    with pytest.raises(WrongDataFolder, match="none of them is in the data folder"):
        start(started)
    aside.rename(started.data / "repositories")
    start(started)
    assert instance.read_file(started.data) is not None


def test_the_key_must_be_the_one_that_sealed(started: Settings) -> None:
    """A lost key is not replaced without a word; one can be replaced by another, and adopted when it is lost."""
    (started.data / KEY_FILE).rename(started.data / "kept")
    with pytest.raises(WrongDataFolder, match="there is no key"):
        start(started)
    assert not (started.data / KEY_FILE).exists()
    (started.data / KEY_FILE).write_text("another key, long enough to be one at all\n")
    with pytest.raises(WrongDataFolder, match="encrypted with another key"):
        start(started)
    old = (started.data / "kept").read_text().strip()
    both = msgspec.structs.replace(started, secret_key=Secret(f"a new key that is long enough to be one,{old}"))
    start(both)
    new = msgspec.structs.replace(started, secret_key=Secret("a new key that is long enough to be one"))
    start(new)
    with pytest.raises(WrongDataFolder):
        start(started)
    with open_database(started) as database:
        instance.adopt(database, started)
    start(started)


def test_a_folder_that_is_exchanged_makes_a_service_unready(started: Settings) -> None:
    """Or taken away; it is ready once the right one is back."""
    host = App.open(started)
    assert problems(host) == {}
    aside = started.data.with_name("aside")
    started.data.rename(aside)
    assert "data" in problems(host) or "database" in problems(host)
    shutil.copytree(aside, started.data)
    (started.data / instance.INSTANCE_FILE).unlink()
    assert "data" in problems(host)
    shutil.rmtree(started.data)
    aside.rename(started.data)
    assert problems(host) == {}
    host.close()


@pytest.fixture
def app(started: Settings) -> Iterator[App]:
    """Open a service that was started."""
    opened = App.open(started)
    yield opened
    opened.close()


def test_recovery_forgets_nothing_while_a_folder_is_missing(app: App) -> None:
    """What was announced may have happened; it is settled once the folder is back."""
    kept = add_repository(app.settings)
    admin = accounts.find_user(app.database, "admin")
    zero, moved = "0" * 40, "1" * 40
    pending_ref_updates.announce(app.database, kept, admin.id, [Move("refs/heads/new", zero, moved)])
    place = app.folders.path(kept.id)
    place.rename(place.with_name("aside"))
    assert ref_changes.recover(app) == 0
    assert len(pending_ref_updates.pending_updates(app.database)) == 1
    place.with_name("aside").rename(place)
    assert ref_changes.recover(app) == 0
    assert pending_ref_updates.pending_updates(app.database) == []


def test_a_damaged_file_is_said_to_be_one(started: Settings) -> None:
    """With its name."""
    (started.data / instance.INSTANCE_FILE).write_text("{")
    with pytest.raises(WrongDataFolder, match=instance.INSTANCE_FILE):
        start(started)


def test_an_identity_that_is_unknown_is_completed(started: Settings) -> None:
    """As after a restore of a backup from before."""
    with open_database(started) as database, database.write() as connection:
        connection.execute(update(tables.instance).values(key_fingerprint=""))
    start(started)
    with open_database(started) as database:
        row = instance.read_row(database)
    assert row is not None
    assert row.key_fingerprint
