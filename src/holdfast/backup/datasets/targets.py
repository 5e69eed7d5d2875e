"""Storage of a dataset: a folder, or a prefix of an S3 bucket.

    messages/backup=alice.binproto/data.parquet   one file per table and backup
    _backups/alice.binproto.json                  written when all files of the backup are of one build
    _manifest.json                                written last: the schema version, all backups, the failed ones

Each file is replaced atomically. The record of a backup is deleted before its files are replaced and written
after, so that a backup without a record is incomplete, and the next build writes it again. Names with a leading
underscore are ignored by programs that read a folder of Parquet files.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from holdfast.backup.container.atomic_write import write_atomically
from holdfast.backup.container.private import make_private_folder
from holdfast.backup.datasets.schema import check_extra
from holdfast.backup.errors import TargetRefused, UnreadableBackup, UnwritableBackup
from holdfast.backup.path_text import path_text
from holdfast.redacted_repr import redacted

__all__ = [
    "MANIFEST",
    "BackupRecord",
    "DatasetManifest",
    "DatasetTarget",
    "FailedBackup",
    "FolderTarget",
    "S3Target",
    "data_path",
    "open_target",
]

MANIFEST: Final = "_manifest.json"
RECORDS: Final = "_backups"
STAGING: Final = "_building"
S3_SCHEME: Final = "s3://"
# Concurrent requests while reading the records of a bucket.
S3_READERS: Final = 16


@redacted
class FailedBackup(msgspec.Struct, frozen=True):
    """A backup that is missing from a dataset or outdated in it, and why."""

    name: str
    path: str
    reason: str


@redacted
class BackupRecord(msgspec.Struct, frozen=True):
    """The record of a backup in a dataset: the state of its files, and rows and bytes by table."""

    name: str
    path: str
    schema: int
    stamp: str
    rows: dict[str, int]
    sizes: dict[str, int]
    findings: dict[str, int]

    @property
    def messages(self) -> int:
        """The number of messages."""
        return self.rows.get("messages", 0)


@redacted
class DatasetManifest(msgspec.Struct, frozen=True):
    """The content of a dataset after a build."""

    schema: int
    backups: list[BackupRecord]
    failed: list[FailedBackup]


class DatasetTarget(Protocol):
    """Storage for a dataset; it can be pickled and used by several processes concurrently."""

    @property
    def location(self) -> str:
        """The path of the folder or the URL."""

    def staging(self, name: str) -> "Any":
        """Return a context manager with a temporary folder for the files of a backup."""

    def publish(self, record: BackupRecord, files: Mapping[str, Path]) -> None:
        """Replace the files of a backup, given by table, and its record."""

    def records(self) -> dict[str, BackupRecord]:
        """Return the records of all complete backups: every file exists in its recorded size."""

    def write_manifest(self, manifest: DatasetManifest) -> None:
        """Write the manifest."""

    def read_manifest(self) -> DatasetManifest:
        """Read the manifest; raise `UnreadableBackup` if there is none."""


def data_path(table: str, name: str) -> str:
    """Return the relative path of the rows of a backup in a table."""
    return f"{table}/backup={name}/data.parquet"


def open_target(target: str | os.PathLike[str]) -> "DatasetTarget":
    """Return the target for a path or an `s3://` URL."""
    text = os.fspath(target)
    if text.startswith(S3_SCHEME):
        check_extra("obstore")
        return S3Target(text.rstrip("/"))
    readable = path_text(text)
    if readable != text:
        raise TargetRefused(f"{readable} is not UTF-8: programs that read Parquet cannot open such a path")
    return FolderTarget(text)


@redacted
class FolderTarget(msgspec.Struct, frozen=True):
    """A dataset in a folder."""

    location: str

    @property
    def folder(self) -> Path:
        """The folder."""
        return Path(self.location)

    @contextmanager
    def staging(self, name: str) -> Iterator[Path]:
        """Create a temporary folder on the same file system, so that files can be renamed into place."""
        staging_folder = self.folder / STAGING
        try:
            make_private_folder(staging_folder)
            folder = Path(tempfile.mkdtemp(prefix=f"{name[:50]}-", dir=staging_folder))
        except OSError as error:
            raise UnwritableBackup(f"{self.location} cannot be written: {error.strerror}") from error
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def publish(self, record: BackupRecord, files: Mapping[str, Path]) -> None:
        """Replace the files of a backup by renames, and then its record."""
        record_path = self.folder / RECORDS / f"{record.name}.json"
        try:
            make_private_folder(record_path.parent)
            record_path.unlink(missing_ok=True)
            sync_folder(record_path.parent)
            for table, file in files.items():
                path = self.folder / data_path(table, record.name)
                make_private_folder(path.parent)
                sync_file(file)
                file.replace(path)
                sync_folder(path.parent)
            write_file(record_path, msgspec.json.encode(record))
        except OSError as error:
            raise UnwritableBackup(
                f"{error.filename or self.location} cannot be written: {error.strerror}"
            ) from error

    def records(self) -> dict[str, BackupRecord]:
        """Return the records of all complete backups: every file exists in its recorded size."""
        records: dict[str, BackupRecord] = {}
        for path in sorted((self.folder / RECORDS).glob("*.json")):
            with suppress(OSError, msgspec.DecodeError):
                record = msgspec.json.decode(path.read_bytes(), type=BackupRecord)
                paths = {table: self.folder / data_path(table, record.name) for table in record.sizes}
                if all(paths[table].stat().st_size == size for table, size in record.sizes.items()):
                    records[record.name] = record
        return records

    def write_manifest(self, manifest: DatasetManifest) -> None:
        """Write the manifest, and remove the staging folders of killed builds."""
        try:
            make_private_folder(self.folder)
            write_file(self.folder / MANIFEST, msgspec.json.encode(manifest))
            shutil.rmtree(self.folder / STAGING, ignore_errors=True)
        except OSError as error:
            raise UnwritableBackup(f"{self.location} cannot be written: {error.strerror}") from error

    def read_manifest(self) -> DatasetManifest:
        """Read the manifest."""
        try:
            return msgspec.json.decode((self.folder / MANIFEST).read_bytes(), type=DatasetManifest)
        except OSError:
            raise no_dataset(self.location) from None
        except msgspec.DecodeError as error:
            raise UnreadableBackup(f"the manifest of {self.location} cannot be read: {error}") from error


@redacted
class S3Target(msgspec.Struct, frozen=True):
    """A dataset below a prefix of an S3 bucket; obstore reads credentials and endpoint from `AWS_` variables."""

    location: str

    def store(self) -> Any:  # obstore is an extra
        """Return the object store."""
        from obstore.store import S3Store  # noqa: PLC0415  # an extra, imported on first use

        options: dict[str, Any] = {}
        if os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"):
            options["client_options"] = {"allow_http": True}
        try:
            return S3Store.from_url(self.location, **options)
        except Exception as error:  # obstore raises a different error for each fault for each fault
            raise UnwritableBackup(f"{self.location} cannot be used: {first_line(error)}") from error

    @contextmanager
    def staging(self, name: str) -> Iterator[Path]:
        """Create a temporary folder on this machine."""
        with tempfile.TemporaryDirectory(prefix=f"holdfast-{name[:50]}-") as folder:
            yield Path(folder)

    def publish(self, record: BackupRecord, files: Mapping[str, Path]) -> None:
        """Upload the files of a backup, then its record."""
        store = self.store()
        record_path = f"{RECORDS}/{record.name}.json"
        try:
            with suppress(FileNotFoundError):
                store.delete(record_path)
            for table, file in files.items():
                store.put(data_path(table, record.name), file)
            store.put(record_path, msgspec.json.encode(record))
        except Exception as error:  # obstore raises a different error for each fault for each fault
            raise UnwritableBackup(f"{self.location} cannot be written: {first_line(error)}") from error

    def records(self) -> dict[str, BackupRecord]:
        """Return the records of all complete backups: every object exists in its recorded size."""
        store = self.store()
        try:
            sizes = {entry["path"]: entry["size"] for page in store.list() for entry in page}
            record_paths = [path for path in sizes if path.startswith(f"{RECORDS}/")]
            with ThreadPoolExecutor(S3_READERS) as pool:
                documents = list(pool.map(lambda path: bytes(store.get(path).bytes()), record_paths))
        except Exception as error:  # obstore raises a different error for each fault for each fault
            raise UnreadableBackup(f"{self.location} cannot be read: {first_line(error)}") from error
        records: dict[str, BackupRecord] = {}
        for document in documents:
            with suppress(msgspec.DecodeError):
                record = msgspec.json.decode(document, type=BackupRecord)
                if all(sizes.get(data_path(table, record.name)) == size for table, size in record.sizes.items()):
                    records[record.name] = record
        return records

    def write_manifest(self, manifest: DatasetManifest) -> None:
        """Write the manifest."""
        try:
            self.store().put(MANIFEST, msgspec.json.encode(manifest))
        except Exception as error:  # obstore raises a different error for each fault for each fault
            raise UnwritableBackup(f"{self.location} cannot be written: {first_line(error)}") from error

    def read_manifest(self) -> DatasetManifest:
        """Read the manifest."""
        try:
            document = bytes(self.store().get(MANIFEST).bytes())
        except FileNotFoundError:
            raise no_dataset(self.location) from None
        except Exception as error:  # obstore raises a different error for each fault for each fault
            raise UnreadableBackup(f"{self.location} cannot be read: {first_line(error)}") from error
        try:
            return msgspec.json.decode(document, type=DatasetManifest)
        except msgspec.DecodeError as error:
            raise UnreadableBackup(f"the manifest of {self.location} cannot be read: {error}") from error


def write_file(path: Path, data: bytes) -> None:
    """Write a small file atomically and durably."""
    with write_atomically(path, replace=True) as file:
        file.write(data)


def no_dataset(location: str) -> UnreadableBackup:
    """Return the error for a location without a dataset."""
    return UnreadableBackup(f"{location} is no dataset; `holdfast dataset build` makes one")


def first_line(error: Exception) -> str:
    """Return the first line of an error's message; obstore appends its debug output."""
    return str(error).partition("\n")[0]


def sync_file(path: Path) -> None:
    """Flush a file to disk with fsync."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Flush the entries of a folder to disk with fsync, where the system supports it."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
