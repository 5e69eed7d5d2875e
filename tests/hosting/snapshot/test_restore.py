"""Restoring backups to SQLite and PostgreSQL."""

import io
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import MetaData, select, text

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.doctor.checks import examine
from holdfast.hosting.errors import SnapshotDamaged, SnapshotError, SnapshotRefused
from holdfast.hosting.git.fsck import fsck
from holdfast.hosting.services import (
    avatars,
    chat_uploads,
    issue_attachments,
    issues,
    maintenance,
    release_assets,
    releases,
    repositories,
)
from holdfast.hosting.services.chat_uploads import ChosenFile, ChosenFiles
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.snapshot import create, rows
from holdfast.hosting.snapshot.archive import SnapshotWriter
from holdfast.hosting.snapshot.create import create_snapshot
from holdfast.hosting.snapshot.folders import is_member
from holdfast.hosting.snapshot.restore import restore
from holdfast.hosting.storage import instance
from holdfast.hosting.storage.object_store import ATTACHMENTS, CHATS
from holdfast.hosting.store import accounts
from holdfast.hosting.store.avatars import Avatar
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.encryption import KEY_FILE
from holdfast.hosting.store.full_text import SEARCH_TABLES
from holdfast.hosting.store.releases import ReleaseFields
from holdfast.hosting.store.repositories import repository_by_id
from holdfast.hosting.store.tables import deliveries
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.hosting.old_data_folder import (
    EMPTY,
    LOOSE,
    PACKED,
    REVISION,
    OldDataFolder,
    make_old_data_folder,
    refs_of,
)
from tests.s3_server import s3_server

AVATAR = b"\x89PNG\r\n\x1a\n\x00\xff"


@pytest.fixture(params=["sqlite", "postgres"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Return the settings of a second, empty installation, with each kind of database."""
    url = request.getfixturevalue("second_postgres") if request.param == "postgres" else None
    return Settings(data=tmp_path / "other", database_url=url)


def contents(database: Database) -> dict[str, set[tuple[object, ...]]]:
    """Return all rows of all tables."""
    metadata = MetaData()
    with database.read() as connection:
        metadata.reflect(connection, only=lambda name, _: not name.startswith(SEARCH_TABLES))
        return {
            str(name): {tuple(row) for row in connection.execute(select(table))}
            for name, table in metadata.tables.items()
            if name != "leases"
        }


def normal(settings: Settings) -> dict[str, set[tuple[object, ...]]]:
    """Return all rows of a database by its settings."""
    with open_database(settings) as database:
        return contents(database)


def test_a_backup_is_restored_completely(app: App, backup: Path, other: Settings) -> None:
    """All rows, repositories and files are restored.

    The doctor finds nothing afterwards, and a user can log in.
    """
    restore(other, backup)
    restored = App.open(other)
    before, after = normal(app.settings), contents(restored.database)
    assert before.keys() == after.keys()
    for name in before.keys() - {"instance"}:
        assert before[name] == after[name], name
    assert list(examine(restored, deep=True)) == []
    for number in (1, 2):
        old, new = app.copies.update(number).folder, restored.copies.update(number).folder
        assert fsck(new).whole
        assert refs_of(new) == refs_of(old)
        assert (old / "HEAD").read_bytes() == (new / "HEAD").read_bytes()
    large = Path("lfs", "ab", "cd", "abcd" + "0" * 60)
    for path in (large, Path("backups", "chat.binproto")):
        assert (app.settings.data / path).read_bytes() == (other.data / path).read_bytes()
    assert accounts.check_password(restored.database, "ada", Secret("a-password-for-tests")) is not None
    assert not (other.data / ".restoring").exists()
    restored.close()


def test_ids_are_not_reused_after_a_restore(app: App, backup: Path, other: Settings) -> None:
    """A new repository gets a higher id than one that was deleted before the backup."""
    restore(other, backup)
    restored = App.open(other)
    ada = accounts.find_user(restored.database, "ada")
    repository = repositories.create(restored, ada, ada, repositories.NewRepository(name="new"))
    assert repository.id == 4
    restored.close()


def test_a_restore_requires_an_empty_target(app: App, backup: Path, other: Settings) -> None:
    """A restore into a data folder with files or into a database with tables is refused."""
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


@pytest.mark.long
def test_a_restore_that_was_killed_can_be_done_again(app: App, backup: Path, other: Settings) -> None:
    """A `.restoring` folder that an interrupted restore left does not prevent another one."""
    other.data.mkdir(mode=0o700)
    (other.data / ".restoring" / "repositories").mkdir(parents=True)
    restore(other, backup)
    restored = App.open(other)
    assert list(examine(restored)) == []
    restored.close()


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
@pytest.mark.parametrize("suffix", [".tar", ".tar.gz"])
def test_a_truncated_backup_changes_nothing(app: App, tmp_path: Path, suffix: str) -> None:
    """A truncated backup is refused before the data folder is created."""
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
    """Copy a backup, and add members to its archive."""
    shutil.copy(backup, target)
    with tarfile.open(target, "a") as tar:
        change(tar)
    return target


@pytest.fixture(scope="module")
def backup_of_any() -> list[bytes]:
    """Keep the backup of an installation, once there is one."""
    return []


@pytest.fixture
def any_backup(backup_of_any: list[bytes], request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Write the backup of an installation, the same for all tests that do not compare it with theirs."""
    if not backup_of_any:
        backup: Path = request.getfixturevalue("backup")
        backup_of_any.append(backup.read_bytes())
    target = tmp_path / "any.tar"
    target.write_bytes(backup_of_any[0])
    return target


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> Callable[[tarfile.TarFile], None]:
    """Return a function that adds one member to an archive."""

    def add(tar: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        content = b"boo" if kind == tarfile.REGTYPE else b""
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))

    return add


@pytest.mark.usefixtures("settings")
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
        member("surprise"),
    ],
)
def test_an_archive_with_unknown_members_is_refused(
    any_backup: Path, tmp_path: Path, add: Callable[[tarfile.TarFile], None]
) -> None:
    """Paths outside the target, links, devices and unknown members are refused before anything is written."""
    other = Settings(data=tmp_path / "other")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(SnapshotDamaged, match="which a backup never contains"):
        restore(other, hostile(any_backup, tmp_path / "hostile.tar", add))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*before, "hostile.tar"])


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_member_after_the_last_one_is_refused(any_backup: Path, tmp_path: Path) -> None:
    """Nothing that a backup might contain may follow its manifest."""
    with pytest.raises(SnapshotDamaged, match="is damaged, or not a backup"):
        restore(
            Settings(data=tmp_path / "other"), hostile(any_backup, tmp_path / "hostile.tar", member("files/late"))
        )


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
def test_an_invalid_archive_with_valid_checksums_is_refused(tmp_path: Path, name: str) -> None:
    """Names that no backup has are refused even if the checksums are right, since anybody can compute those."""
    target = tmp_path / "hostile.tar"
    with SnapshotWriter(target, "0002", lambda done: done) as writer:
        writer.add_bytes("sequences.json", b"{}")
        writer.add_bytes(name, b'["id"]\n')
        writer.finish(tables={}, repositories=0)
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
def test_an_invalid_table_is_rolled_back(other: Settings, table: str, content: bytes) -> None:
    """Invalid rows leave neither files in the data folder nor tables in the database."""
    target = other.data.with_name("odd.tar")
    with SnapshotWriter(target, "0002", lambda done: done) as writer:
        writer.add_bytes("sequences.json", b"{}")
        writer.add_bytes(f"tables/{table}.jsonl", content)
        writer.finish(tables={}, repositories=0)
    with pytest.raises(SnapshotDamaged):
        restore(other, target)
    assert list(other.data.iterdir()) == []
    assert other.database_url is None or normal(other) == {}


def test_a_backup_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    """The error for a backup of a newer version says to upgrade this one first."""
    target = tmp_path / "new.tar"
    with SnapshotWriter(target, "9999", lambda done: done) as writer:
        writer.finish(tables={}, repositories=0)
    with pytest.raises(SnapshotRefused, match="upgrade this one first"):
        restore(Settings(data=tmp_path / "other"), target)


def test_a_repository_that_is_deleted_meanwhile_is_whole_in_the_backup(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows were read before the deletion, and packs are not deleted until the backup is done."""
    monkeypatch.setattr("holdfast.hosting.storage.pack_files.INLINE_LIMIT", 0)
    app.compactor.collect_garbage(1, retention_seconds=0)
    real = create.files_of

    def deleted_first(data: Path) -> Iterator[Path]:
        repository = repository_by_id(app.database, 1)
        repositories.remove(app, repository, repository.owner)
        for path in (app.settings.data / "packs").rglob("*-*.*"):
            os.utime(path, (1, 1))
        maintenance.delete_packs(app)
        return real(data)

    monkeypatch.setattr(create, "files_of", deleted_first)
    target = tmp_path / "backup.tar"
    create_snapshot(app.settings, target)
    other = Settings(data=tmp_path / "other")
    restore(other, target)
    restored = App.open(other)
    assert repository_by_id(restored.database, 1).name == "one"
    assert list(examine(restored, deep=True)) == []
    restored.close()
    maintenance.delete_packs(app)
    assert not list((app.settings.data / "packs").rglob("*.pack"))


@pytest.fixture
def old(tmp_path: Path) -> Iterator[OldDataFolder]:
    """Make a data folder of the last version before the repository log."""
    settings = Settings(data=tmp_path / "old")
    with open_database(settings) as database:
        yield make_old_data_folder(settings, database)


def old_backup(old: OldDataFolder, folder: Path, deleted: tuple[int, ...] = ()) -> Path:
    """Write a backup as the last version before the repository log did."""
    tables = folder / "tables"
    tables.mkdir()
    with old.database.snapshot() as connection:
        counts = rows.dump(connection, tables)
        sequences = rows.read_sequences(connection)
    target = folder / "old.tar"
    with SnapshotWriter(target, REVISION, lambda done: done) as writer:
        writer.add_bytes("sequences.json", msgspec.json.encode(sequences))
        for path in sorted(tables.iterdir()):
            writer.add_bytes(f"tables/{path.name}", path.read_bytes())
        for number, repository in ((LOOSE, old.loose), (PACKED, old.packed), (EMPTY, old.empty)):
            target_path = f"repositories/{number}"
            lines = [target + b" " + name + b"\n" for name, target in sorted(refs_of(repository).items())]
            writer.add_bytes(f"{target_path}/HEAD", (repository / "HEAD").read_bytes())
            writer.add_bytes(f"{target_path}/packed-refs", b"# pack-refs with: sorted \n" + b"".join(lines))
            for path in sorted(repository.rglob("objects/**/*")):
                name = path.relative_to(repository).as_posix()
                if is_member(name):
                    writer.add_bytes(f"{target_path}/{name}", path.read_bytes())
        large = b"large"
        writer.add_bytes(f"files/lfs/ab/cd/abcd{'0' * 60}", large)
        writer.finish(tables=counts, repositories=3)
    return with_deleted(target, deleted) if deleted else target


def with_deleted(source: Path, deleted: tuple[int, ...]) -> Path:
    """Copy a backup and say in its manifest that repositories were deleted while it was made."""
    target = source.with_name("deleted.tar")
    with tarfile.open(source) as given, tarfile.open(target, "w") as written:
        for info in given:
            file = given.extractfile(info)
            assert file is not None
            content = file.read()
            if info.name == "manifest.json":
                content = msgspec.json.encode({**msgspec.json.decode(content), "deleted": deleted})
                info.size = len(content)
            written.addfile(info, io.BytesIO(content))
    return target


@pytest.mark.long
def test_a_backup_of_an_earlier_version_is_adopted(old: OldDataFolder, tmp_path: Path, other: Settings) -> None:
    """The refs are those of the folders in the backup, and the doctor finds nothing after the restore."""
    before = {number: refs_of(folder) for number, folder in ((1, old.loose), (2, old.packed), (3, old.empty))}
    restore(other, old_backup(old, tmp_path))
    restored = App.open(other)
    for number, refs in before.items():
        restored.copies.discard(number)
        assert refs_of(restored.copies.update(number).folder) == refs
    assert [finding.kind.value for finding in examine(restored, deep=True)] == []
    restored.close()


@pytest.mark.long
def test_repositories_that_were_deleted_while_an_earlier_version_made_it_are_not_restored(
    old: OldDataFolder, tmp_path: Path
) -> None:
    """Repositories that the manifest names as deleted are not restored, and the doctor finds nothing."""
    other = Settings(data=tmp_path / "other")
    restore(other, old_backup(old, tmp_path, deleted=(LOOSE,)))
    restored = App.open(other)
    assert sorted(restored.folders.all_ids()) == [PACKED, EMPTY]
    assert list(examine(restored)) == []
    restored.close()


def attach_files(app: App, folder: Path) -> None:
    """Add a file to an issue and to a release, a chat backup and an avatar to a user."""
    repository = repository_by_id(app.database, 1)
    actor = Actor(repository.owner)
    target = RepositoryAccess(repository, repositories.permissions_in(app, actor, repository))
    issues.create(app, actor, target, IssueDraft(title="Leak"))
    release = releases.create(app, actor, target, ReleaseFields(tag_name="v1", is_draft=True))
    for name in ("issue.bin", "release.bin"):
        (folder / name).write_bytes(name.encode() * 1000)
    owner = issue_attachments.of_issue(app, target, 1)
    issue_attachments.add(app, actor, target, owner, name="issue.bin", path=folder / "issue.bin")
    release_assets.add(app, actor, target, release, name="release.bin", path=folder / "release.bin")
    avatars.set_own_avatar(app, actor, AVATAR)
    begun = chat_uploads.begin(app, actor, ChosenFiles("chats", [ChosenFile("chats", 9000)]))
    chat_uploads.add_file(app, actor, begun.uuid, folder / "issue.bin")


def attached(app: App) -> list[bytes]:
    """Return the bytes of all attached files in the object store."""
    keys = [stored_file.key for prefix in (ATTACHMENTS, CHATS) for stored_file in app.store.list(prefix)]
    return sorted(app.store.read_bytes(key) for key in keys)


@pytest.mark.long
@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_backup_goes_from_a_folder_to_a_bucket_and_back(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packs, LFS objects, attachments and avatars survive both restores, and the doctor finds nothing."""
    attach_files(app, tmp_path)
    files = [b"issue.bin" * 1000, b"issue.bin" * 1000, b"release.bin" * 1000]
    assert attached(app) == files
    monkeypatch.setattr("holdfast.hosting.storage.pack_files.INLINE_LIMIT", 0)
    app.compactor.collect_garbage(1, retention_seconds=0)
    before = refs_of(app.copies.update(1).folder)
    large = "lfs/ab/cd/abcd" + "0" * 60
    with s3_server() as s3:
        in_bucket = s3.settings(Settings(data=tmp_path / "bucket"))
        create_snapshot(app.settings, tmp_path / "first.tar")
        restore(in_bucket, tmp_path / "first.tar")
        with open_database(in_bucket) as database:
            prepare(database, in_bucket)
        assert not (in_bucket.data / "packs").exists()
        assert not (in_bucket.data / "lfs").exists()
        with closing(App.open(in_bucket)) as opened:
            assert list(examine(opened, deep=True)) == []
            assert opened.store.read_bytes(large) == b"large"
            assert attached(opened) == files
            assert refs_of(opened.copies.update(1).folder) == before
        create_snapshot(in_bucket, tmp_path / "second.tar")
    back = Settings(data=tmp_path / "back")
    restore(back, tmp_path / "second.tar")
    with closing(App.open(back)) as opened:
        assert list(examine(opened, deep=True)) == []
        assert (back.data / large).read_bytes() == b"large"
        assert attached(opened) == files
        ada = accounts.find_user(opened.database, "ada")
        assert avatars.show_account_avatar(opened, ada.id) == Avatar("image/png", AVATAR)
        assert refs_of(opened.copies.update(1).folder) == before


def test_a_restored_copy_has_an_identity_of_its_own(app: App, backup: Path, other: Settings) -> None:
    """The restored database and folder share a new instance id, and the fingerprint of the key is the same."""
    restore(other, backup)
    with open_database(other) as database:
        assert instance.mismatch(database, other) == ""
        prepare(database, other)
        instance_identity = instance.read_row(database)
    was = instance.read_row(app.database)
    assert instance_identity is not None
    assert was is not None
    assert instance_identity.instance_id != was.instance_id
    assert instance_identity.key_fingerprint == was.key_fingerprint
    assert instance_identity == instance.read_file(other.data)


def test_the_key_is_restored_with_the_secrets(app: App, backup: Path, other: Settings) -> None:
    """The secret of a webhook can be decrypted after a restore, and only the owner can read the key file."""
    restore(other, backup)
    restored = App.open(other)
    with restored.database.read() as connection:
        (sealed,) = connection.execute(text("SELECT secret FROM hooks")).scalars()
        responses = set(connection.execute(select(deliveries.c.answer)).scalars())
    assert restored.cipher.decrypt(sealed) == "hunter2"
    assert responses == {b"\x00\xff no text"}
    assert (other.data / KEY_FILE).stat().st_mode & 0o777 == 0o600
    restored.close()
