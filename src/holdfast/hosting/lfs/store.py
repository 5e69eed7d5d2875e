"""LFS objects in the object store, by their SHA-256."""

import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from anyio import to_thread

from holdfast.hosting.errors import LfsMismatch, LfsUnavailable, NoSuchLfsObject, NoSuchStoredObject, StorageError
from holdfast.hosting.lfs.pointer import is_oid
from holdfast.hosting.storage.object_store import ObjectStore

__all__ = ["PREFIX", "LfsStore", "StoredLfsObject", "object_key", "write_verified"]

CHUNK: Final = 1024 * 1024
PREFIX: Final = "lfs/"


@dataclass(frozen=True, slots=True)
class StoredLfsObject:
    """A stored object: its size and modification time."""

    oid: str
    size: int
    written_at: float


class LfsStore:
    """The LFS objects of all repositories; an upload is verified on the local disk before it is stored."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    async def size(self, oid: str) -> int | None:
        """Return the size of an object, or None."""
        with lfs_errors(oid):
            return await to_thread.run_sync(self._store.size, object_key(oid))

    async def write(self, oid: str, size: int, chunks: AsyncIterator[bytes]) -> None:
        """Store an object if its size and hash match, in place of a stored one; otherwise store nothing."""
        key = object_key(oid)
        with lfs_errors(oid), self._store.incoming_path() as path:
            await write_verified(path, oid, size, chunks)
            # Replaced if it exists: what is stored may be damaged, and these bytes are verified.
            await to_thread.run_sync(self._store.replace_file, key, path)

    async def read(self, oid: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield an object's bytes from `start` up to `end`."""
        with lfs_errors(oid):
            async for chunk in self._store.read(object_key(oid), start, end):
                yield chunk

    async def delete(self, oid: str) -> None:
        """Delete an object; a missing one is no error."""
        with lfs_errors(oid):
            await to_thread.run_sync(self._store.delete, object_key(oid))

    def stored(self) -> Iterator[StoredLfsObject]:
        """Yield all objects in no order; concurrent changes may be included or not."""
        with lfs_errors("of all names"):
            for file in self._store.list(PREFIX):
                oid = file.key.rpartition("/")[2]
                if is_oid(oid) and file.key == object_key(oid):
                    yield StoredLfsObject(oid, file.size, file.written_at)

    async def signed_url(self, oid: str, seconds: int) -> str | None:
        """Return a presigned URL for an object, if the store supports it."""
        with lfs_errors(oid):
            return await self._store.signed_url(object_key(oid), seconds)


@contextmanager
def lfs_errors(oid: str) -> Iterator[None]:
    """Translate errors of the object store to LFS errors."""
    try:
        yield
    except NoSuchStoredObject as error:
        raise NoSuchLfsObject(f"object {oid} is not in the store") from error
    except StorageError as error:
        raise LfsUnavailable(f"object {oid}: {error}") from None
    except OSError as error:
        raise LfsUnavailable(f"object {oid} cannot be stored: {error.strerror}") from error


def object_key(oid: str) -> str:
    """Return the key of an object in the object store; raise an error for an invalid id."""
    if not is_oid(oid):
        raise NoSuchLfsObject("an object id is 64 lowercase hexadecimal digits")
    return f"{PREFIX}{oid[:2]}/{oid[2:4]}/{oid}"


async def write_verified(path: Path, oid: str, size: int, chunks: AsyncIterator[bytes]) -> None:
    """Write an object to a new file; raise `LfsMismatch` if its size or hash differ."""
    digest = hashlib.sha256()
    arrived = 0
    held: list[bytes] = []
    waiting = 0

    def put() -> None:
        for piece in held:
            digest.update(piece)
            file.write(piece)

    with path.open("xb", buffering=0) as file:
        async for chunk in chunks:
            arrived += len(chunk)
            waiting += len(chunk)
            if arrived > size:
                raise LfsMismatch(f"object {oid} was announced with {size} bytes, but more were sent")
            held.append(chunk)
            # Hashing and writing run in a thread, for many chunks at once.
            if waiting >= CHUNK:
                await to_thread.run_sync(put)
                held.clear()
                waiting = 0
        await to_thread.run_sync(put)
        if arrived != size:
            raise LfsMismatch(f"object {oid} was announced with {size} bytes, but {arrived} were sent")
        if digest.hexdigest() != oid:
            raise LfsMismatch(f"object {oid} was announced, but the bytes sent have another hash")
