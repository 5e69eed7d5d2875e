"""Creates a snapshot of a running service: the database in one transaction, then repositories and files."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import msgspec
from sqlalchemy import select

from holdfast.hosting.app import BUCKET_OWNER
from holdfast.hosting.data_folder import DATABASE, open_database, require_data
from holdfast.hosting.errors import DatabaseError, SnapshotError, SnapshotRefused
from holdfast.hosting.git.folders import Folders
from holdfast.hosting.snapshot import rows
from holdfast.hosting.snapshot.archive import Progress, SnapshotManifest, SnapshotWriter
from holdfast.hosting.snapshot.folders import copy_repository
from holdfast.hosting.storage import instance
from holdfast.hosting.storage.backup_lock import LOCK, shared_backup_lock
from holdfast.hosting.store import migrate
from holdfast.hosting.store.encryption import INSTANCE_FILE
from holdfast.hosting.store.tables import repositories
from holdfast.hosting.webhooks import process_lock
from holdfast.settings import Settings

__all__ = ["create_snapshot", "estimate"]

SUFFIXES: Final = (".tar", ".tar.gz", ".tgz")
# Top-level names of the data folder that are left out: stored in another form, rebuildable, needed by running
# processes only, or identifying this instance.
LEFT_OUT: Final = frozenset(
    {
        "repositories",
        "cache",
        "tmp",
        ".restoring",
        LOCK,
        process_lock.LOCK,
        BUCKET_OWNER,
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
    """Write a backup of everything but the settings to a new file, while the service may be running.

    Everything acknowledged before the start is included; of later changes, some are.
    """
    check_target(target, settings.data)
    require_data(settings)
    try:
        with (
            shared_backup_lock(settings.data),
            tempfile.TemporaryDirectory(prefix=".holdfast-", dir=target.parent) as spool,
        ):
            return write_snapshot(settings, target, Path(spool), progress)
    except OSError as error:
        raise SnapshotError(f"the backup cannot be written: {error.strerror or error}") from error


def write_snapshot(settings: Settings, target: Path, spool: Path, progress: Progress) -> SnapshotManifest:
    """Write the backup; the tables are spooled to temporary files."""
    with open_database(settings) as database:
        revision = migrate.revision(database)
        if revision is None:
            raise DatabaseError(f"{database.name} is empty; there is nothing to back up")
        if revision == migrate.latest():
            instance.check(database, settings)
        with database.snapshot() as connection:
            tables = rows.dump(connection, spool)
            sequences = rows.read_sequences(connection)
    folders = Folders(settings.data / "repositories")
    with SnapshotWriter(target, revision, progress) as writer:
        writer.add_bytes("sequences.json", msgspec.json.encode(sequences))
        for name in sorted(tables):
            path = spool / f"{name}.jsonl"
            with path.open("rb") as file:
                writer.add(f"tables/{name}.jsonl", file, path.stat().st_size)
        numbers = repository_ids(spool / "repositories.jsonl")
        deleted = [number for number in numbers if not copy_repository(writer, folders.path(number), number)]
        check_deleted(settings, deleted)
        for path in files_of(settings.data):
            add_file(writer, settings.data, path, spool)
        return writer.finish(tables=tables, repositories=len(numbers) - len(deleted), deleted=tuple(deleted))


def check_deleted(settings: Settings, numbers: Sequence[int]) -> None:
    """Raise an error if folders of repositories that were not deleted are missing."""
    if not numbers:
        return
    with open_database(settings) as database, database.read() as connection:
        found = connection.execute(select(repositories.c.id).where(repositories.c.id.in_(numbers))).scalars()
        missing = sorted(found)
    if missing:
        shown = ", ".join(map(str, missing[:5])) + (" ..." if len(missing) > 5 else "")
        raise SnapshotError(
            f"the folders of {len(missing)} repositories are missing from {settings.data} (id {shown}); "
            "`holdfast admin doctor` names them; restore or delete them first"
        )


def repository_ids(path: Path) -> list[int]:
    """Read the repository ids from the dumped table; later ones are not in the backup."""
    with path.open("rb") as file:
        position = msgspec.json.decode(file.readline(), type=list[str]).index("id")
        return [msgspec.json.decode(line)[position] for line in file]


def files_of(data: Path) -> Iterator[Path]:
    """Yield the files of a data folder that are copied unchanged, sorted; links are not followed."""
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
    """Add a file; of a SQLite database, a consistent copy."""
    name = f"files/{path.relative_to(data).as_posix()}"
    try:
        with path.open("rb") as file:
            if file.read(len(SQLITE)) != SQLITE:
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
