"""The object store: packs, LFS objects, attachments and chat backups by key, in the data folder or a bucket (S3).

Objects are immutable. A key is the hash of its content, or is generated for one object, so writing it a second
time writes the same bytes. In the folder a file and its directory entry are synced (`fsync`) before `put` returns,
and S3 acknowledges a PUT once it is stored: an object that can be listed is durable and complete.
"""

import os
import secrets
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import obstore
from anyio import to_thread
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, S3Store

from holdfast.hosting.errors import NoSuchStoredObject, StorageUnavailable
from holdfast.hosting.git.folders import fsync_path, make_folder_below
from holdfast.hosting.storage.multipart_uploads import MultipartUploads
from holdfast.hosting.store import faults
from holdfast.settings import Settings

if TYPE_CHECKING:
    from obstore.store import ObjectStore as AnyStore

__all__ = ["INCOMING", "PREFIXES", "ObjectStore", "StoredFile", "open_object_store"]

PART_BYTES: Final = 8 * 1024 * 1024
PARTS_AT_ONCE: Final = 4
CHUNK: Final = 256 * 1024
# Timeout and number of retries of one request to the bucket, which transfers one part at most.
REQUEST_SECONDS: Final = 30
CONNECT_SECONDS: Final = 5
RETRIES: Final = 3
PAGE: Final = 1000
PROBE: Final = "create-only-probe"
INCOMING: Final = "incoming"
# The prefixes this service uses; other objects of a bucket are left alone.
ATTACHMENTS: Final = "attachments/"
CHATS: Final = "chats/"
PREFIXES: Final = ("lfs/", "packs/", ATTACHMENTS, CHATS)


class StoredFile(msgspec.Struct, frozen=True):
    """An object of the store: its key, size and modification time."""

    key: str
    size: int
    written_at: float


class ObjectStore:
    """Objects by key.

    `folder` is the folder of the objects if the store is on this machine, otherwise None. `incoming` is a folder
    of this machine, on the same file system as `folder`, for incomplete files.
    """

    def __init__(
        self,
        store: "AnyStore",
        name: str,
        incoming: Path,
        *,
        folder: Path | None = None,
        uploads: MultipartUploads | None = None,
    ) -> None:
        self._store = store
        self.name = name
        self.incoming = incoming
        self.folder = folder
        self._uploads = uploads

    @contextmanager
    def incoming_path(self) -> Iterator[Path]:
        """Yield a path for a file that will become an object; it is deleted afterwards."""
        make_folder_below(self.incoming, self.incoming.parent)
        path = self.incoming / secrets.token_hex(16)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def put(self, key: str, content: bytes) -> None:
        """Store a few bytes under a key; a key that exists keeps its content."""
        if self.folder is None:
            with self._errors(key), suppress(AlreadyExistsError):
                obstore.put(self._store, key, content, mode="create")
            return
        with self.incoming_path() as path:
            path.write_bytes(content)
            self._link(path, key)

    def put_file(self, key: str, source: Path) -> None:
        """Store a file under a key; a key that exists keeps its content."""
        if self.folder is not None:
            self._link(source, key)
            return
        with self._errors(key), suppress(AlreadyExistsError):
            if source.stat().st_size <= PART_BYTES:
                obstore.put(self._store, key, source, mode="create")
            else:
                # A multipart upload with a few parts in memory. It has no create-only mode and needs none: the
                # content of a key is always the same.
                obstore.put(self._store, key, source, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)

    def replace_file(self, key: str, source: Path) -> None:
        """Store a file, which is an `incoming_path` and may be moved, atomically in place of an object.

        The object may be damaged, and the file has the content that the key is the hash of.
        """
        if self.folder is not None:
            self._link(source, key, replaces=True)
            return
        with self._errors(key):
            obstore.put(self._store, key, source, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)

    def fetch(self, key: str, target: Path) -> None:
        """Write an object to a new file; on the same file system, the file is a hard link."""
        if self.folder is not None:
            try:
                os.link(self.folder / key, target)
            except FileNotFoundError as error:
                raise self._missing(key) from error
            except OSError:
                shutil.copyfile(self.folder / key, target)
            return
        with self._errors(key), target.open("xb", buffering=0) as file:
            for start, end in ranges(0, obstore.head(self._store, key)["size"]):
                file.write(obstore.get_range(self._store, key, start=start, end=end))

    def read_bytes(self, key: str) -> bytes:
        """Return the content of a small object."""
        with self._errors(key):
            return bytes(obstore.get(self._store, key).bytes())

    def read_range(self, key: str, start: int, end: int) -> bytes:
        """Return the bytes of an object from `start` up to `end`, which must not exceed its size."""
        if self.folder is not None:
            with self._errors(key), (self.folder / key).open("rb", buffering=0) as file:
                file.seek(start)
                return file.read(end - start)
        with self._errors(key):
            pieces = [obstore.get_range(self._store, key, start=a, end=b) for a, b in ranges(start, end)]
            return b"".join(bytes(piece) for piece in pieces)

    async def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes of an object from `start` up to `end`."""
        if self.folder is not None:
            async for chunk in self._read_file(key, self.folder / key, start, end):
                yield chunk
            return
        with self._errors(key):
            size = (await obstore.head_async(self._store, key))["size"]
            for first, last in ranges(start, size if end is None else min(end, size)):
                yield bytes(await obstore.get_range_async(self._store, key, start=first, end=last))

    async def _read_file(self, key: str, path: Path, start: int, end: int | None) -> AsyncIterator[bytes]:
        try:
            file = await to_thread.run_sync(lambda: path.open("rb", buffering=0))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise self._missing(key) from error
        with file:
            file.seek(start)
            left = CHUNK if end is None else end - start
            while left > 0 and (chunk := await to_thread.run_sync(file.read, min(CHUNK, left))):
                if end is not None:
                    left -= len(chunk)
                yield chunk

    def size(self, key: str) -> int | None:
        """Return the size of an object in bytes; None if there is no such object."""
        if self.folder is not None:
            try:
                return (self.folder / key).stat().st_size
            except (FileNotFoundError, NotADirectoryError):
                return None
        with self._errors(key):
            try:
                return obstore.head(self._store, key)["size"]
            except FileNotFoundError:
                return None

    async def signed_url(self, key: str, seconds: int) -> str | None:
        """Return a presigned URL of an object; None if the store is a folder."""
        if not isinstance(self._store, S3Store):
            return None
        with self._errors(key):
            return await obstore.sign_async(self._store, "GET", key, timedelta(seconds=seconds))

    def delete(self, key: str) -> None:
        """Delete an object; a missing one is no error."""
        with self._errors(key), suppress(FileNotFoundError):
            obstore.delete(self._store, key)

    def delete_many(self, keys: Sequence[str]) -> None:
        """Delete objects, in a bucket a thousand per request; missing ones are no error."""
        if self.folder is not None:
            for key in keys:
                self.delete(key)
            return
        for start in range(0, len(keys), PAGE):
            with self._errors(keys[start]):
                obstore.delete(self._store, keys[start : start + PAGE])

    def replace(self, key: str, content: bytes) -> None:
        """Overwrite a key with a few bytes atomically: only for the id of the instance."""
        with self.incoming_path() as path:
            path.write_bytes(content)
            self.replace_file(key, path)

    def delete_incoming(self, before: float) -> int:
        """Delete incomplete files of this machine that began before a time; return their number."""
        deleted = 0
        for path in self.incoming.glob("*"):
            with suppress(FileNotFoundError):
                if path.is_file() and path.stat().st_mtime < before:
                    path.unlink()
                    deleted += 1
        return deleted

    def delete_unfinished(self, before: float) -> int:
        """Delete incomplete files and uploads that began before a time; return their number."""
        deleted = self.delete_incoming(before)
        if self._uploads is not None:
            for upload in list(self._uploads.unfinished("")):
                if upload.begun_at < before and upload.key.startswith(PREFIXES):
                    self._uploads.abort(upload)
                    deleted += 1
        return deleted

    def list(self, prefix: str) -> Iterator[StoredFile]:
        """Yield the objects whose keys begin with a prefix, in no order."""
        with self._errors(prefix):
            for page in obstore.list(self._store, prefix, chunk_size=PAGE):
                for entry in page:
                    modified: datetime = entry["last_modified"]
                    yield StoredFile(entry["path"], entry["size"], modified.timestamp())

    def check(self) -> None:
        """Raise an error for a bucket that ignores create-only PUT: two concurrent writers could lose a file."""
        if self.folder is not None:
            return
        with self._errors(PROBE):
            for _ in range(2):
                try:
                    obstore.put(self._store, PROBE, b"", mode="create")
                except AlreadyExistsError:
                    return
        raise StorageUnavailable(
            f"{self.name} overwrites objects that were to be created (no If-None-Match on PUT); "
            "Holdfast needs a store with conditional PUT"
        )

    def _link(self, source: Path, key: str, *, replaces: bool = False) -> None:
        """Link a file under its key, or move it there, durably: fsync its content, then its directory."""
        assert self.folder is not None  # noqa: S101  # checked by every caller
        target = self.folder / key
        make_folder_below(target.parent, self.folder)
        try:
            fsync_path(source)
            try:
                # A pack may be old when it is stored: that of an adopted folder, or one that is pushed again. With
                # its old time it would be deleted as an orphan before its transaction commits.
                os.utime(source)
                (os.replace if replaces else os.link)(source, target)
            except FileExistsError:
                # Its directory entry need not be durable yet: whoever linked it may still run, or was killed.
                pass
            except OSError:  # another file system
                with self.incoming_path() as copy:
                    shutil.copyfile(source, copy)
                    fsync_path(copy)
                    os.link(copy, target)
            for folder in (target.parent, *target.parent.parents):
                fsync_path(folder)
                if folder == self.folder:
                    break
        except OSError as error:
            problem = f"{key} cannot be stored: {error.strerror}"
            raise faults.translate(error) or StorageUnavailable(problem) from error

    def _missing(self, key: str) -> NoSuchStoredObject:
        return NoSuchStoredObject(f"{key} is missing in {self.name}")

    @contextmanager
    def _errors(self, key: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise self._missing(key) from error
        except (BaseError, OSError) as error:
            # The library's message may quote the request, signature included.
            raise StorageUnavailable(f"{self.name} cannot be used: {type(error).__name__}") from None


def ranges(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a range into parts, so that no request takes long, whatever the size of the object."""
    for first in range(start, end, PART_BYTES):
        yield first, min(first + PART_BYTES, end)


def open_object_store(settings: Settings) -> ObjectStore:
    """Open the object store of the settings: a bucket if configured, otherwise the data folder."""
    incoming = settings.data / INCOMING
    if settings.s3_bucket is None:
        try:
            store = LocalStore(settings.data, mkdir=False)
        except BaseError as error:
            raise StorageUnavailable(f"the data folder {settings.data} is not there") from error
        return ObjectStore(store, "the data folder", incoming, folder=settings.data)
    if settings.s3_access_key is None or settings.s3_secret_key is None:
        raise StorageUnavailable("a bucket needs s3_access_key and s3_secret_key")
    endpoint = settings.s3_endpoint
    bucket = S3Store(
        settings.s3_bucket,
        region=settings.s3_region,
        access_key_id=settings.s3_access_key.reveal(),
        secret_access_key=settings.s3_secret_key.reveal(),
        client_options={
            "allow_http": bool(endpoint and endpoint.startswith("http://")),
            "timeout": timedelta(seconds=REQUEST_SECONDS),
            "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
        },
        retry_config={"max_retries": RETRIES, "retry_timeout": timedelta(seconds=REQUEST_SECONDS)},
        **({"endpoint": endpoint} if endpoint else {}),  # type: ignore[arg-type]  # keyword configuration
    )
    uploads = MultipartUploads(
        settings.s3_bucket,
        region=settings.s3_region,
        access_key=settings.s3_access_key,
        secret_key=settings.s3_secret_key,
        endpoint=endpoint,
    )
    return ObjectStore(bucket, f"the bucket {settings.s3_bucket}", incoming, uploads=uploads)
