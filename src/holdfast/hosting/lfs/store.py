"""The interface of LFS object stores, and verification of uploads by size and SHA-256."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from holdfast.hosting.errors import LfsMismatch, NoSuchLfsObject
from holdfast.hosting.lfs.pointer import is_oid

__all__ = ["LfsStore", "StoredLfsObject", "object_path", "write_verified"]

CHUNK: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class StoredLfsObject:
    """A stored object: its size and modification time."""

    oid: str
    size: int
    written_at: float


class LfsStore(Protocol):
    """A content-addressed object store, by SHA-256."""

    async def size(self, oid: str) -> int | None:
        """Return the size of an object, or None."""

    async def write(self, oid: str, size: int, chunks: AsyncIterator[bytes]) -> None:
        """Store an object if its size and hash match; otherwise nothing."""

    def read(self, oid: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield an object's bytes from `start` up to `end`."""

    async def delete(self, oid: str) -> None:
        """Delete an object; a missing one is no error."""

    def stored(self) -> AsyncIterator[StoredLfsObject]:
        """Yield all objects in no order; concurrent changes may be included or not."""

    async def may_be_cleared(self, before: float) -> bool:
        """Return whether unlinked objects may be deleted: the store has been ours alone since before a time."""

    async def drop_unfinished(self, before: float) -> int:
        """Delete incomplete writes that began before a time; return their number."""

    async def signed_url(self, oid: str, seconds: int) -> str | None:
        """Return a presigned URL for an object, if the store supports it."""


def object_path(oid: str) -> str:
    """Return the path of an object below the store's root; raise for an invalid id."""
    if not is_oid(oid):
        raise NoSuchLfsObject("an object id is 64 lowercase hexadecimal digits")
    return f"{oid[:2]}/{oid[2:4]}/{oid}"


async def write_verified(path: Path, oid: str, size: int, chunks: AsyncIterator[bytes]) -> None:
    """Write an object to a new file and sync it; raise `LfsMismatch` if its size or hash differ."""
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
                await asyncio.to_thread(put)
                held.clear()
                waiting = 0
        await asyncio.to_thread(put)
        if arrived != size:
            raise LfsMismatch(f"object {oid} was announced with {size} bytes, but {arrived} were sent")
        if digest.hexdigest() != oid:
            raise LfsMismatch(f"object {oid} was announced, but the bytes sent have another hash")
        await asyncio.to_thread(os.fsync, file.fileno())
