"""Creation of a snapshot of a running service: the database in one transaction, then packs and other files."""

import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import msgspec
from sqlalchemy import Connection, select

from holdfast.hosting.data_folder import DATABASE, open_database, require_data
from holdfast.hosting.errors import DatabaseError, NoSuchStoredObject, SnapshotError, SnapshotRefused
from holdfast.hosting.lfs import store as lfs_store
from holdfast.hosting.snapshot import rows
from holdfast.hosting.snapshot.archive import Progress, SnapshotManifest, SnapshotWriter
from holdfast.hosting.storage import instance
from holdfast.hosting.storage.backup_lease import backup_lease
from holdfast.hosting.storage.instance import LEGACY_MARK, LEGACY_MARK_FILE
from holdfast.hosting.storage.object_store import (
    ATTACHMENTS,
    CHATS,
    INCOMING,
    PREFIXES,
    ObjectStore,
    open_object_store,
)
from holdfast.hosting.storage.pack_files import index_key
from holdfast.hosting.store import migrate
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.encryption import INSTANCE_FILE
from holdfast.hosting.store.repository_log import NOT_ADOPTED
from holdfast.hosting.store.tables import repositories
from holdfast.hosting.webhooks import process_lock
from holdfast.settings import Settings

__all__ = ["create_snapshot", "estimate"]

SUFFIXES: Final = (".tar", ".tar.gz", ".tgz")
# Top-level names of the data folder that are excluded: stored in another form, rebuildable, needed by running
# processes only, or identifying this instance.
LEFT_OUT: Final = frozenset(
    {
        "repositories",
        "cache",
        "tmp",
        ".restoring",
        process_lock.LOCK,
        LEGACY_MARK_FILE,
        INCOMING,
        INSTANCE_FILE,
        DATABASE,
        f"{DATABASE}-wal",
        f"{DATABASE}-shm",
    }
)
SQLITE: Final = b"SQLite format 3\0"


def check_target(target: Path, data: Path) -> None:
    """Raise `SnapshotRefused` for an existing target, one inside the data folder, or an unknown suffix."""
    if not target.name.endswith(SUFFIXES):
        raise SnapshotRefused(f"{target.name} must end with {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if target.exists():
        raise SnapshotRefused(f"{target} exists; backups are never overwritten")
    if not target.parent.is_dir():
        raise SnapshotRefused(f"the folder {target.parent} does not exist")
    if target.resolve().is_relative_to(data.resolve()):
        raise SnapshotRefused("a backup cannot be written into its own data folder")


def create_snapshot(settings: Settings, target: Path, progress: Progress = lambda done: done) -> SnapshotManifest:
    """Write a backup of everything except the settings to a new file; the service may be running.

    Everything acknowledged before the start is included; later changes may or may not be.
    """
    check_target(target, settings.data)
    require_data(settings)
    try:
        with (
            open_database(settings) as database,
            backup_lease(database) as renew,
            tempfile.TemporaryDirectory(prefix=".holdfast-", dir=target.parent) as spool,
        ):

            def show(done: int) -> None:
                renew()
                progress(done)

            return write_snapshot(settings, database, target, Path(spool), show)
    except OSError as error:
        raise SnapshotError(f"the backup cannot be written: {error.strerror or error}") from error


def write_snapshot(
    settings: Settings, database: Database, target: Path, spool: Path, progress: Progress
) -> SnapshotManifest:
    """Write the backup; the tables are dumped to temporary files first."""
    revision = migrate.revision(database)
    if revision is None:
        raise DatabaseError(f"{database.name} is empty; there is nothing to back up")
    migrate.require_known(database, revision)
    if revision != migrate.latest():
        raise DatabaseError(f"{database.name} is of an earlier version; start the service once, which upgrades it")
    instance.check(database, settings)
    with database.snapshot() as connection:
        check_adopted(connection)
        tables = rows.dump(connection, spool)
        sequences = rows.read_sequences(connection)
    store = open_object_store(settings)
    with SnapshotWriter(target, revision, progress) as writer:
        writer.add_bytes("sequences.json", msgspec.json.encode(sequences))
        for name in sorted(tables):
            path = spool / f"{name}.jsonl"
            with path.open("rb") as file:
                writer.add(f"tables/{name}.jsonl", file, path.stat().st_size)
        if store.folder is not None:
            check_packs(store, pack_keys(spool / "packs.jsonl"))
        for path in files_of(settings.data):
            add_file(writer, settings.data, path, spool)
        if store.folder is None:
            for key in bucket_keys(store, spool / "packs.jsonl"):
                add_object(writer, store, key, spool)
        return writer.finish(tables=tables, repositories=tables["repositories"])


def check_adopted(connection: Connection) -> None:
    """Raise an error if repositories are not in the repository log yet: a backup would not include them."""
    waiting = select(repositories.c.id).where(repositories.c.version == NOT_ADOPTED).limit(1)
    if connection.execute(waiting).first() is not None:
        raise SnapshotError(
            "repositories of an earlier version are not adopted yet; start the service once, which adopts them; "
            "`holdfast admin doctor` names those that are left"
        )


def check_packs(store: ObjectStore, keys: Iterable[str]) -> None:
    """Raise an error if packs are missing from the data folder."""
    missing = [key for key in keys if store.size(key) is None]
    if missing:
        shown = ", ".join(missing[:5]) + (" ..." if len(missing) > 5 else "")
        raise SnapshotError(
            f"{len(missing)} files of packs are missing from {store.name} ({shown}); "
            "`holdfast admin doctor` names their repositories; restore or delete them first"
        )


def pack_keys(packs: Path) -> Iterator[str]:
    """Yield the keys of all packs in a dumped table and their indexes, without duplicates: forks share packs."""
    yielded_keys: set[str] = set()
    with packs.open("rb") as file:
        position = msgspec.json.decode(file.readline(), type=list[str]).index("store_key")
        for line in file:
            key = msgspec.json.decode(line)[position]
            if key and key not in yielded_keys:
                yielded_keys.add(key)
                yield key
                yield index_key(key)


def bucket_keys(store: ObjectStore, packs: Path) -> Iterator[str]:
    """Yield the keys of a bucket to include: packs, LFS objects, attachments and chat backups."""
    yield from pack_keys(packs)
    for file in store.list(lfs_store.PREFIX):
        if file.key != LEGACY_MARK:
            yield file.key
    for prefix in (ATTACHMENTS, CHATS):
        for file in store.list(prefix):
            yield file.key


def add_object(writer: SnapshotWriter, store: ObjectStore, key: str, spool: Path) -> None:
    """Add an object of a bucket."""
    copied = spool / "object"
    try:
        store.fetch(key, copied)
        with copied.open("rb") as file:
            writer.add(f"files/{key}", file, copied.stat().st_size)
    except NoSuchStoredObject:
        # An unreferenced file may have been deleted meanwhile; a pack must not be missing.
        if not key.startswith((lfs_store.PREFIX, ATTACHMENTS, CHATS)):
            raise
    finally:
        copied.unlink(missing_ok=True)


def files_of(data: Path) -> Iterator[Path]:
    """Yield the files of a data folder that are copied unchanged, sorted; symbolic links are not followed."""
    for top in sorted(data.iterdir()):
        if top.name in LEFT_OUT:
            continue
        if top.is_file() and not top.is_symlink():
            yield top
        for folder, inside, names in os.walk(top):
            inside[:] = sorted(name for name in inside if name != ".incoming")
            for name in sorted(names):
                path = Path(folder, name)
                if path.is_file() and not path.is_symlink():
                    yield path


def add_file(writer: SnapshotWriter, data: Path, path: Path, spool: Path) -> None:
    """Add a file; a SQLite database as a consistent copy, unless it is an object: users upload any content."""
    key = path.relative_to(data).as_posix()
    name = f"files/{key}"
    try:
        with path.open("rb") as file:
            if key.startswith(PREFIXES) or file.read(len(SQLITE)) != SQLITE:
                file.seek(0)
                writer.add(name, file, os.fstat(file.fileno()).st_size)
                return
    except FileNotFoundError:
        return  # deleted since it was listed
    copied = spool / "copy"
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copied)) as copy:
        source.backup(copy)
    with copied.open("rb") as file:
        writer.add(name, file, copied.stat().st_size)
    copied.unlink()


def estimate(settings: Settings) -> int:
    """Estimate the size of a backup in bytes."""
    total = 0
    for folder, _, names in os.walk(settings.data):
        for name in names:
            path = Path(folder, name)
            with suppress(FileNotFoundError):
                total += path.lstat().st_size
    return total
