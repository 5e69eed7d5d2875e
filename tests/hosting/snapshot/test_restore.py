"""What is restored is what was there, in either database, or nothing at all."""

import io
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import MetaData, select, text

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.doctor.checks import examine
from holdfast.hosting.errors import SnapshotDamaged, SnapshotError, SnapshotRefused
from holdfast.hosting.git.gc import fsck
from holdfast.hosting.services import repositories
from holdfast.hosting.snapshot.archive import SnapshotWriter
from holdfast.hosting.snapshot.create import create_snapshot
from holdfast.hosting.snapshot.folders import FileSink, copy_repository
from holdfast.hosting.snapshot.restore import restore
from holdfast.hosting.storage import instance
from holdfast.hosting.store import accounts
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.encryption import KEY_FILE
from holdfast.hosting.store.repositories import repository_by_id
from holdfast.hosting.store.tables import deliveries
from holdfast.secret import Secret
from holdfast.settings import Settings


@pytest.fixture(params=["sqlite", "postgres"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Give settings for a second, empty place to restore to, in both kinds of database."""
    url = request.getfixturevalue("second_postgres") if request.param == "postgres" else None
    return Settings(data=tmp_path / "other", database_url=url)


def contents(database: Database) -> dict[str, set[tuple[object, ...]]]:
    """Return all rows of all tables."""
    metadata = MetaData()
    with database.read() as connection:
        metadata.reflect(connection)
        return {
            str(name): {tuple(row) for row in connection.execute(select(table))}
            for name, table in metadata.tables.items()
            if name != "leases"
        }


def normal(settings: Settings) -> dict[str, set[tuple[object, ...]]]:
    """Return all rows of a database by its settings."""
    with open_database(settings) as database:
        return contents(database)


def test_everything_is_there_again(app: App, backup: Path, other: Settings) -> None:
    """Every row, every repository, every file; the doctor finds nothing, and everybody can log in."""
    restore(other, backup)
    restored = App.open(other)
    before, after = normal(app.settings), contents(restored.database)
    # The size is measured anew, and the rest is the same to the last column.
    assert {name: len(rows) for name, rows in before.items()} == {name: len(rows) for name, rows in after.items()}
    for name in before.keys() - {"repositories", "instance"}:
        assert before[name] == after[name], name
    assert list(examine(restored, deep=True)) == []
    for number in app.folders.all_ids():
        old, new = app.folders.path(number), restored.folders.existing(number)
        assert fsck(new).whole
        assert (old / "HEAD").read_bytes() == (new / "HEAD").read_bytes()
        assert (old / "config").read_bytes() == (new / "config").read_bytes()
    large = Path("lfs", "ab", "cd", "abcd" + "0" * 60)
    for path in (large, Path("backups", "chat.binproto")):
        assert (app.settings.data / path).read_bytes() == (other.data / path).read_bytes()
    assert accounts.check_password(restored.database, "ada", Secret("a-password-for-tests")) is not None
    assert not (other.data / ".restoring").exists()
    restored.close()


def test_no_number_is_given_twice(app: App, backup: Path, other: Settings) -> None:
    """The repository that was deleted before the backup had the highest number; a new one gets a higher one."""
    restore(other, backup)
    restored = App.open(other)
    ada = accounts.find_user(restored.database, "ada")
    made = repositories.create(restored, ada, ada, repositories.NewRepository(name="new"))
    assert made.id == 4
    restored.close()


def test_nothing_is_restored_over_something(app: App, backup: Path, other: Settings) -> None:
    """Neither over a folder that has something in it, nor over a database that has."""
    other.data.mkdir()
    (other.data / "precious").write_text("mine")
    with pytest.raises(SnapshotRefused, match="not empty"):
        restore(other, backup)
    assert [path.name for path in other.data.iterdir()] == ["precious"]
    if other.database_url is not None:
        with open_database(other) as database, database.write() as connection:
            connection.execute(text("CREATE TABLE precious (id integer)"))
        (other.data / "precious").unlink()
        with pytest.raises(SnapshotRefused, match="not empty"):
            restore(other, backup)


def test_a_restore_that_was_killed_can_be_done_again(app: App, backup: Path, other: Settings) -> None:
    """What it left is in a folder of its own."""
    other.data.mkdir(mode=0o700)
    (other.data / ".restoring" / "repositories").mkdir(parents=True)
    restore(other, backup)
    restored = App.open(other)
    assert list(examine(restored)) == []
    restored.close()


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
@pytest.mark.parametrize("suffix", [".tar", ".tar.gz"])
def test_a_backup_that_is_cut_off_touches_nothing(app: App, tmp_path: Path, suffix: str) -> None:
    """It is found out before anything is written."""
    other = Settings(data=tmp_path / "other")
    whole = tmp_path / f"whole{suffix}"
    create_snapshot(app.settings, whole)
    # A tar file ends with blocks of zeros that say nothing.
    content = whole.read_bytes().rstrip(b"\0")
    cut = tmp_path / f"cut{suffix}"
    for keep in (0.0, 0.2, 0.5, 0.9, 0.95):
        cut.write_bytes(content[: int(len(content) * keep)])
        with pytest.raises(SnapshotDamaged):
            restore(other, cut)
        assert not other.data.exists()


def hostile(backup: Path, target: Path, change: Callable[[tarfile.TarFile], None]) -> Path:
    """Copy a backup and add something to it."""
    shutil.copy(backup, target)
    with tarfile.open(target, "a") as tar:
        change(tar)
    return target


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> Callable[[tarfile.TarFile], None]:
    """Make what adds one member."""

    def add(tar: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        content = b"boo" if kind == tarfile.REGTYPE else b""
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))

    return add


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "add",
    [
        member("../escaped"),
        member("/etc/escaped"),
        member("files/../../escaped"),
        member("files/x/../../../escaped"),
        member("files/link", tarfile.SYMTYPE, "/etc/passwd"),
        member("files/hard", tarfile.LNKTYPE, "manifest.json"),
        member("files/device", tarfile.CHRTYPE),
        member("files/fifo", tarfile.FIFOTYPE),
        member("files/folder", tarfile.DIRTYPE),
        member("files/late"),
        member("surprise"),
    ],
)
def test_an_archive_with_something_foreign_is_refused(
    app: App, backup: Path, tmp_path: Path, add: Callable[[tarfile.TarFile], None]
) -> None:
    """Before anything is written, and nothing is written anywhere else."""
    other = Settings(data=tmp_path / "other")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(SnapshotDamaged):
        restore(other, hostile(backup, tmp_path / "hostile.tar", add))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*before, "hostile.tar"])


@pytest.mark.parametrize(
    "name",
    [
        "repositories/1/config",
        "repositories/1/hooks/post-receive",
        "repositories/1/objects/info/alternates",
        "repositories/0/HEAD",
        "repositories/x/HEAD",
        "repositories/99999999999999999999/HEAD",
        "files/holdfast.sqlite3",
        "files/repositories/01/1.git/hooks/update",
        "files/.tables/users.jsonl",
        "tables/no_such_table.jsonl",
    ],
)
def test_an_archive_whose_checksums_fit_is_not_believed_either(tmp_path: Path, name: str) -> None:
    """Whoever can write the file can write its checksums; what it brings must be ours all the same."""
    target = tmp_path / "hostile.tar"
    with SnapshotWriter(target, "0002", lambda done: done) as writer:
        writer.add_bytes("sequences.json", b"{}")
        writer.add_bytes(name, b'["id"]\n')
        writer.finish(tables={}, repositories=0, deleted=())
    other = Settings(data=tmp_path / "other")
    with pytest.raises(SnapshotError):
        restore(other, target)
    assert list(other.data.iterdir()) == []


@pytest.mark.parametrize(
    ("table", "content"),
    [
        ("users", b"no json\n"),
        ("users", b'["id", "no_such_column"]\n'),
        ("users", b'["id", "name"]\n[1]\n'),
        ("users", b'["id", "name"]\n[{"a": 1}, 2]\n'),
    ],
)
def test_a_table_that_makes_no_sense_leaves_nothing_behind(other: Settings, table: str, content: bytes) -> None:
    """Neither in the folder nor in the database."""
    target = other.data.with_name("odd.tar")
    with SnapshotWriter(target, "0002", lambda done: done) as writer:
        writer.add_bytes("sequences.json", b"{}")
        writer.add_bytes(f"tables/{table}.jsonl", content)
        writer.finish(tables={}, repositories=0, deleted=())
    with pytest.raises(SnapshotDamaged):
        restore(other, target)
    assert list(other.data.iterdir()) == []
    assert other.database_url is None or normal(other) == {}


def test_a_backup_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    """It says what to do."""
    target = tmp_path / "new.tar"
    with SnapshotWriter(target, "9999", lambda done: done) as writer:
        writer.finish(tables={}, repositories=0, deleted=())
    with pytest.raises(SnapshotRefused, match="upgrade this one first"):
        restore(Settings(data=tmp_path / "other"), target)


def test_repositories_that_were_deleted_meanwhile_are_not_restored(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither their rows nor what had been copied of them."""

    def deleted_first(sink: FileSink, folder: Path, number: int) -> bool:
        if number == 1:
            kept = repository_by_id(app.database, 1)
            repositories.remove(app, kept, kept.owner)
        return copy_repository(sink, folder, number)

    monkeypatch.setattr("holdfast.hosting.snapshot.create.copy_repository", deleted_first)
    target = tmp_path / "backup.tar"
    assert create_snapshot(app.settings, target).deleted == (1,)
    other = Settings(data=tmp_path / "other")
    restore(other, target)
    restored = App.open(other)
    assert sorted(restored.folders.all_ids()) == [2]
    assert list(examine(restored)) == []
    restored.close()


def test_a_repository_pushed_to_after_the_snapshot_is_consistent(app: App, backup: Path, tmp_path: Path) -> None:
    """The row is brought into line with git, which is a little newer than the tables."""
    with app.database.write() as connection:
        connection.execute(text("UPDATE repositories SET is_empty = true, branch_count = 0 WHERE id = 1"))
    target = tmp_path / "later.tar"
    create_snapshot(app.settings, target)
    other = msgspec.structs.replace(app.settings, data=tmp_path / "other", database_url=None)
    restore(other, target)
    restored = App.open(other)
    assert list(examine(restored)) == []
    restored.close()


def test_a_restored_copy_has_an_identity_of_its_own(app: App, backup: Path, other: Settings) -> None:
    """Its database and folder belong together and it can be started; neither fits what it is a copy of."""
    restore(other, backup)
    with open_database(other) as database:
        assert instance.mismatch(database, other) == ""
        prepare(database, other)
        made = instance.read_row(database)
    was = instance.read_row(app.database)
    assert made is not None
    assert was is not None
    assert made.instance_id != was.instance_id
    assert made.key_fingerprint == was.key_fingerprint
    assert made == instance.read_file(other.data)


def test_the_key_is_restored_with_what_it_sealed(app: App, backup: Path, other: Settings) -> None:
    """Webhooks go on signing with their secrets, and nobody else can read the key."""
    restore(other, backup)
    restored = App.open(other)
    with restored.database.read() as connection:
        (sealed,) = connection.execute(text("SELECT secret FROM hooks")).scalars()
        answers = set(connection.execute(select(deliveries.c.answer)).scalars())
    assert restored.cipher.decrypt(sealed) == "hunter2"
    assert answers == {b"\x00\xff no text"}
    assert (other.data / KEY_FILE).stat().st_mode & 0o777 == 0o600
    restored.close()
