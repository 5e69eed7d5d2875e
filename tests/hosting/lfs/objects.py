"""Helpers that name, send and read LFS objects."""

import hashlib
from collections.abc import AsyncIterator

from holdfast.hosting.lfs.store import LfsStore

__all__ = ["name", "pieces", "whole"]


def name(content: bytes) -> str:
    """Return the id of an object."""
    return hashlib.sha256(content).hexdigest()


async def pieces(content: bytes, size: int = 70_000) -> AsyncIterator[bytes]:
    """Yield bytes in chunks."""
    for start in range(0, len(content), size):
        yield content[start : start + size]


async def whole(store: LfsStore, oid: str, start: int = 0, end: int | None = None) -> bytes:
    """Read an object or a range of it."""
    return b"".join([chunk async for chunk in store.read(oid, start, end)])
