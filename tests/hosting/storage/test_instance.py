"""The identity shared by a database and its data folder or bucket, and their encryption key."""

import shutil
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import delete, insert, update

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.errors import StorageUnavailable, WrongDataFolder
from holdfast.hosting.git.folders import Folders, make_private_folder
from holdfast.hosting.services import repositories as making
from holdfast.hosting.services.health import problems
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.services.storage_setup import prepare_storage
from holdfast.hosting.storage import instance
from holdfast.hosting.storage.object_store import open_object_store
from holdfast.hosting.store import accounts, migrate, tables
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.encryption import KEY_FILE
from holdfast.hosting.store.repositories import Repository
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.hosting.storage.fake_bucket import bucket_settings, serve_bucket
from tests.s3_server import S3Server, s3_server


def start(settings: Settings) -> None:
    """Run the checks and preparations of a start, without serving requests."""
    with open_database(settings) as database:
        prepare(database, settings)
    with closing(App.open(settings)) as opened:
        prepare_storage(opened, lambda _done, _total: None)


def add_repository(settings: Settings) -> Repository:
    """Make a repository."""
    host = App.open(settings)
    try:
        admin = accounts.find_user(host.database, "admin")
        repository = making.create(host, admin, admin, NewRepository(name="boats"), {"a": b"a"})
        host.copies.open(repository)
        return repository
    finally:
        host.close()


@pytest.fixture
def started(settings: Settings, database: Database) -> Settings:
    """Copy the folder and the database of a service that was started once."""
    database.close()
    return settings


def other_data_folder(settings: Settings, name: str = "other") -> Settings:
    """Return settings with another data folder, which has at most a copy of the SQLite database."""
    data = settings.data.with_name(name)
    data.mkdir()
    if settings.database_url is None:
        shutil.copy(settings.data / "holdfast.sqlite3", data)
    return msgspec.structs.replace(settings, data=data)


def test_the_first_start_gives_both_one_identity(settings: Settings) -> None:
    """Database and folder get the same id, which a second start keeps, in a file with mode 0600."""
    start(settings)
    with open_database(settings) as database:
        row, file = instance.read_row(database), instance.read_file(settings.data)
    assert row == file
    assert row is not None
    assert len(row.instance_id) == len(row.key_fingerprint) == 32
    assert stat.S_IMODE((settings.data / instance.INSTANCE_FILE).stat().st_mode) == 0o600
    start(settings)
    assert instance.read_file(settings.data) == file


def test_an_empty_folder_is_refused_where_the_database_is_in_use(started: Settings) -> None:
    """An empty data folder is refused with advice, and no key or identity is written to it."""
    add_repository(started)
    other = other_data_folder(started)
    with pytest.raises(WrongDataFolder, match=r"HOLDFAST_DATA or --data .* admin instance --adopt"):
        start(other)
    assert not (other.data / KEY_FILE).exists()
    assert not (other.data / instance.INSTANCE_FILE).exists()
    start(started)


@pytest.mark.parametrize("settings", ["postgres"], indirect=True)
def test_two_services_cannot_share_a_database_with_two_folders(started: Settings) -> None:
    """A second data folder is refused even without repositories, and the first one still works."""
    other = other_data_folder(started)
    with pytest.raises(WrongDataFolder, match="is not the one of"):
        start(other)
    start(started)


def test_the_folder_of_another_database_is_refused(started: Settings, tmp_path: Path) -> None:
    """A data folder with the identity file of another installation is refused despite its other files."""
    add_repository(started)
    other = Settings(data=tmp_path / "second")
    start(other)
    shutil.copy(other.data / instance.INSTANCE_FILE, started.data)
    with pytest.raises(WrongDataFolder, match="belongs to another database"):
        start(started)


def test_a_folder_in_use_is_refused_with_an_empty_database(started: Settings) -> None:
    """An empty database is refused, because new repositories would get the ids and folders of old ones."""
    repository = add_repository(started)
    wrong = Settings(data=started.data)
    (started.data / "holdfast.sqlite3").unlink(missing_ok=True)
    with pytest.raises(WrongDataFolder, match="is empty, but the data folder"):
        start(wrong)
    assert App.open(started).folders.exists(repository.id)


def forget_identity(settings: Settings) -> None:
    """Delete the id from database and folder, as in versions that had none."""
    with open_database(settings) as database, database.write() as connection:
        connection.execute(delete(tables.instance))
    (settings.data / instance.INSTANCE_FILE).unlink()


def test_an_installation_from_before_gets_an_identity(started: Settings) -> None:
    """An installation without an id gets one if its repositories are in the data folder, else it is refused."""
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
    """A missing or different key is refused; a key can be rotated, and a lost one adopted."""
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
    """A missing or replaced data folder is a readiness problem until the right one is back."""
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


def test_a_damaged_file_is_reported(started: Settings) -> None:
    """An identity file with invalid JSON is an error that has the name of the file."""
    (started.data / instance.INSTANCE_FILE).write_text("{")
    with pytest.raises(WrongDataFolder, match=instance.INSTANCE_FILE):
        start(started)


def test_an_identity_that_is_unknown_is_completed(started: Settings) -> None:
    """A missing key fingerprint, as after the restore of an old backup, is added at the start."""
    with open_database(started) as database, database.write() as connection:
        connection.execute(update(tables.instance).values(key_fingerprint=""))
    start(started)
    with open_database(started) as database:
        row = instance.read_row(database)
    assert row is not None
    assert row.key_fingerprint


def test_a_restored_copy_gets_an_id_of_its_own_and_keeps_its_key(started: Settings) -> None:
    """A renewed id is in the database and in the folder, which still match, and the key stays the same."""
    before = instance.read_file(started.data)
    assert before is not None
    with open_database(started) as database:
        instance.renew(database, started)
        after = instance.read_row(database)
        instance.check(database, started)
    assert after is not None
    assert after == instance.read_file(started.data)
    assert len(after.instance_id) == 32
    assert after.instance_id != before.instance_id
    assert after.key_fingerprint == before.key_fingerprint


def test_a_folder_is_checked_without_a_change(started: Settings) -> None:
    """The check writes nothing, so that commands can run it, and it passes before the first start."""
    with open_database(started) as database:
        instance.check(database, started)
        instance.write_file(started.data, instance.InstanceIdentity("another"))
        with pytest.raises(WrongDataFolder, match="belongs to another database"):
            instance.check(database, started)
        assert instance.read_file(started.data) == instance.InstanceIdentity("another")
        (started.data / instance.INSTANCE_FILE).unlink()
        with pytest.raises(WrongDataFolder, match="it has no instance"):
            instance.check(database, started)
        with database.write() as connection:
            connection.execute(delete(tables.instance))
        assert instance.mismatch(database, started) == ""
        instance.check(database, started)
        assert (instance.read_row(database), instance.read_file(started.data)) == (None, None)


def test_adoption_returns_the_identity_that_both_have_then(started: Settings) -> None:
    """The folder gets the id of the database, or both get a new id, with the same key fingerprint."""
    before = instance.read_file(started.data)
    assert before is not None
    (started.data / instance.INSTANCE_FILE).unlink()
    with open_database(started) as database:
        assert instance.adopt(database, started) == before
        assert instance.read_row(database) == instance.read_file(started.data) == before
        with database.write() as connection:
            connection.execute(delete(tables.instance))
        adopted = instance.adopt(database, started)
    assert adopted.instance_id != before.instance_id
    assert len(adopted.instance_id) == 32
    assert adopted.key_fingerprint == before.key_fingerprint


def test_adoption_makes_the_key_that_is_missing(started: Settings) -> None:
    """A missing key file is created by an adoption unless the settings have a key."""
    (started.data / KEY_FILE).unlink()
    given = msgspec.structs.replace(started, secret_key=Secret("a new key that is long enough to be one"))
    with open_database(started) as database:
        instance.adopt(database, given)
        assert not (started.data / KEY_FILE).exists()
        adopted = instance.adopt(database, started)
        assert instance.read_row(database) == adopted
    assert (started.data / KEY_FILE).exists()
    start(started)


@pytest.mark.parametrize("column", ["secret", "authorization"])
def test_a_lost_key_is_replaced_only_if_it_encrypted_nothing(started: Settings, column: str) -> None:
    """A lost key without a known fingerprint is replaced only if no webhook has an encrypted value."""
    (started.data / KEY_FILE).unlink()
    row = {"scope": "system", "type": "gitea", "url": "https://x.org/h", "content_type": "json", "events": "push"}
    with open_database(started) as database, database.write() as connection:
        connection.execute(update(tables.instance).values(key_fingerprint=""))
        connection.execute(insert(tables.hooks), {**row, "is_active": True, column: "encrypted"})
    with pytest.raises(WrongDataFolder, match="there is no key"):
        start(started)
    with open_database(started) as database, database.write() as connection:
        connection.execute(delete(tables.hooks))
    start(started)
    assert (started.data / KEY_FILE).exists()


def test_a_folder_with_an_identity_alone_is_in_use(tmp_path: Path) -> None:
    """An empty database is refused for a folder that has only an identity file or only repositories."""
    settings = Settings(data=tmp_path)
    instance.write_file(tmp_path, instance.InstanceIdentity("one"))
    with (
        open_database(settings) as database,
        pytest.raises(WrongDataFolder, match="is empty, but the data folder"),
    ):
        instance.establish(database, settings)
    (tmp_path / instance.INSTANCE_FILE).unlink()
    make_private_folder(Folders(tmp_path / "repositories").path(1))
    with (
        open_database(settings) as database,
        pytest.raises(WrongDataFolder, match="is empty, but the data folder"),
    ):
        instance.establish(database, settings)


def test_a_failed_write_leaves_no_file(tmp_path: Path) -> None:
    """An identity file that cannot be written leaves no partial or temporary file."""
    (tmp_path / instance.INSTANCE_FILE).mkdir()
    with pytest.raises(OSError, match=instance.INSTANCE_FILE):
        instance.write_file(tmp_path, instance.InstanceIdentity("one"))
    assert [path.name for path in tmp_path.iterdir()] == [instance.INSTANCE_FILE]


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    """Run an S3 server."""
    with s3_server() as server:
        yield server


@pytest.fixture
def in_bucket(settings: Settings, s3: S3Server) -> Settings:
    """Return settings of an empty bucket, and of a database beside it."""
    s3.use_new_bucket()
    return msgspec.structs.replace(s3.settings(settings), secret_key=Secret("c2VjcmV0" * 6))


def test_a_bucket_gets_the_id_of_the_installation(in_bucket: Settings, s3: S3Server) -> None:
    """The first start writes the id to the bucket, and a second start accepts it."""
    start(in_bucket)
    start(in_bucket)
    identity = instance.read_file(in_bucket.data)
    assert identity is not None
    assert (s3.bucket / "instance").read_text() == identity.instance_id


def test_a_bucket_is_owned_by_the_installation_whose_id_it_has(in_bucket: Settings, settings: Settings) -> None:
    """A bucket is owned if it has the id of the installation; a folder is always owned."""
    store = open_object_store(in_bucket)
    with open_database(in_bucket) as database:
        migrate.upgrade(database)
        assert instance.owns_store(database, open_object_store(settings))
        assert not instance.owns_store(database, store), "neither has an identity"
    start(in_bucket)
    with open_database(in_bucket) as database:
        assert instance.owns_store(database, store)
        store.replace("instance", b"another")
        assert not instance.owns_store(database, store)
        store.delete("instance")
        assert not instance.owns_store(database, store)


def test_a_bucket_that_overwrites_is_not_claimed(tmp_path: Path) -> None:
    """A bucket without conditional PUT is refused, because two installations could both claim it."""
    with serve_bucket() as bucket:
        settings = bucket_settings(tmp_path, bucket)
        bucket.overwrites = True
        with pytest.raises(StorageUnavailable, match="conditional PUT"):
            instance.claim_bucket(open_object_store(settings), settings, "one")
        assert "instance" not in bucket.objects


def test_the_bucket_of_another_installation_is_refused(in_bucket: Settings) -> None:
    """A bucket with another id is refused, since its objects would look unused, until it is adopted."""
    open_object_store(in_bucket).put("instance", b"another")
    with pytest.raises(WrongDataFolder, match="belongs to another installation"):
        start(in_bucket)
    with open_database(in_bucket) as database:
        migrate.upgrade(database)
        instance.adopt(database, in_bucket)
    start(in_bucket)


def test_a_bucket_with_the_mark_of_an_earlier_version_is_known_by_it(in_bucket: Settings, s3: S3Server) -> None:
    """An old owner mark is accepted only if the data folder has the same mark."""
    (s3.bucket / "lfs").mkdir()
    (s3.bucket / "lfs" / "owner").write_text("holdfast 1234\n")
    with pytest.raises(WrongDataFolder, match="belongs to another installation"):
        start(in_bucket)
    (in_bucket.data / "bucket-owner").write_text("holdfast 1234\n")
    start(in_bucket)


def test_a_new_machine_begins_with_an_empty_folder(in_bucket: Settings) -> None:
    """With a bucket, an empty folder gets the id of the database, and a folder with another id is refused."""
    start(in_bucket)
    add_repository(in_bucket)
    second = other_data_folder(in_bucket)
    start(second)
    assert instance.read_file(second.data) == instance.read_file(in_bucket.data)
    with open_database(second) as database:
        assert instance.mismatch(database, second) == ""
        instance.write_file(second.data, instance.InstanceIdentity("another"))
        assert "belongs to another database" in instance.mismatch(database, second)
    with pytest.raises(WrongDataFolder, match="belongs to another database"):
        start(second)


def test_machines_without_a_folder_of_their_own_need_a_key_in_the_settings(in_bucket: Settings) -> None:
    """With PostgreSQL and a bucket, `secret_key` is required; with SQLite, a key file is enough."""
    without = msgspec.structs.replace(in_bucket, secret_key=None)
    if without.database_url is None:
        start(without)
        return
    with pytest.raises(WrongDataFolder, match="secret_key is not set"):
        start(without)
    start(in_bucket)
    with pytest.raises(WrongDataFolder, match="set secret_key to that of the other machines"):
        start(without)
