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
        """Return how large an object is, or None when it is not there."""

    async def write(self, oid: str, size: int, chunks: AsyncIterator[bytes]) -> None:
        """Keep an object that is what it was announced to be; otherwise keep nothing of it."""

    def read(self, oid: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Go through an object's bytes, from `start` up to but not including `end`."""

    async def delete(self, oid: str) -> None:
        """Remove an object; one that is not there is no error."""

    def stored(self) -> AsyncIterator[StoredLfsObject]:
        """Go through all objects, in no order; what comes or goes meanwhile may be among them or not."""

    async def may_be_cleared(self, before: float) -> bool:
        """Tell whether what nobody here has may be removed: since before a moment the store is ours alone."""

    async def drop_unfinished(self, before: float) -> int:
        """Remove what is left of writing that began before a moment and never ended; return how much there was."""

    async def signed_url(self, oid: str, seconds: int) -> str | None:
        """Return an address a client can fetch the object from for a while, if the store has such a thing."""


def object_path(oid: str) -> str:
    """Return where an object lies below the store's root; what is no name of one has no place."""
    if not is_oid(oid):
        raise NoSuchLfsObject("the name of an object is 64 lowercase hexadecimal digits")
    return f"{oid[:2]}/{oid[2:4]}/{oid}"


async def write_verified(path: Path, oid: str, size: int, chunks: AsyncIterator[bytes]) -> None:
    """Write an object to a new file and make it durable, unless its size or hash is not what was announced."""
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
            # Hashing and writing take their time; in a thread, and for many pieces at once, nobody waits for them.
            if waiting >= CHUNK:
                await asyncio.to_thread(put)
                held.clear()
                waiting = 0
        await asyncio.to_thread(put)
        if arrived != size:
            raise LfsMismatch(f"object {oid} was announced with {size} bytes, but {arrived} were sent")
        if digest.hexdigest() != oid:
            raise LfsMismatch(f"object {oid} was announced, but the bytes sent are those of another")
        await asyncio.to_thread(os.fsync, file.fileno())
