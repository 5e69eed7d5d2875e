"""The LFS object store in a folder, with two levels of subfolders by object id."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from holdfast.hosting.errors import LfsUnavailable, NoSuchLfsObject
from holdfast.hosting.git.folders import fsync_path, make_folder_below
from holdfast.hosting.lfs.pointer import is_oid
from holdfast.hosting.lfs.store import StoredLfsObject, object_path, write_verified

__all__ = ["DiskLfsStore"]

CHUNK: Final = 256 * 1024
INCOMING: Final = ".incoming"


class DiskLfsStore:
    """An LFS store in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    async def size(self, oid: str) -> int | None:
        """Return the size of an object, or None."""
        try:
            return (await asyncio.to_thread((self.root / object_path(oid)).stat)).st_size
        except (FileNotFoundError, NotADirectoryError):
            return None

    async def write(self, oid: str, size: int, chunks: AsyncIterator[bytes]) -> None:
        """Store an object atomically, after verifying its size and hash."""
        target = self.root / object_path(oid)
        incoming = self.root / INCOMING / secrets.token_hex(16)
        try:
            make_folder_below(incoming.parent, self.root.parent)
            try:
                await write_verified(incoming, oid, size, chunks)
                await asyncio.to_thread(move_into_place, incoming, target)
            finally:
                incoming.unlink(missing_ok=True)
        except OSError as error:
            raise LfsUnavailable(f"object {oid} cannot be stored: {error.strerror}") from error

    async def read(self, oid: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield an object's bytes from `start` up to `end`."""
        try:
            file = await asyncio.to_thread((self.root / object_path(oid)).open, "rb", buffering=0)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoSuchLfsObject(f"object {oid} is not in the store") from error
        with file:
            file.seek(start)
            left = None if end is None else end - start
            while left is None or left > 0:
                size = CHUNK if left is None else min(CHUNK, left)
                chunk = await asyncio.to_thread(file.read, size)
                if not chunk:
                    break
                if left is not None:
                    left -= len(chunk)
                yield chunk

    async def delete(self, oid: str) -> None:
        """Delete an object; a missing one is no error."""
        await asyncio.to_thread((self.root / object_path(oid)).unlink, missing_ok=True)

    async def stored(self) -> AsyncIterator[StoredLfsObject]:
        """Yield all objects."""
        for folder in await asyncio.to_thread(lambda: sorted(self.root.glob("[0-9a-f][0-9a-f]"))):
            for one in await asyncio.to_thread(list_objects, folder):
                yield one

    async def may_be_cleared(self, before: float) -> bool:  # noqa: ARG002  # other stores look at it
        """Return True: the data folder is not shared."""
        return True

    async def drop_unfinished(self, before: float) -> int:
        """Delete incomplete writes that began before a time; return their number."""
        return await asyncio.to_thread(delete_old_files, self.root / INCOMING, before)

    async def signed_url(self, oid: str, seconds: int) -> str | None:  # noqa: ARG002  # other stores look at it
        """Return None: a folder has no URLs."""
        return None


def move_into_place(incoming: Path, target: Path) -> None:
    """Rename a finished file to its path, and sync the folders."""
    make_folder_below(target.parent, target.parent.parent.parent)
    incoming.rename(target)
    for folder in (target.parent, target.parent.parent, target.parent.parent.parent):
        fsync_path(folder)


def list_objects(folder: Path) -> list[StoredLfsObject]:
    """List the objects in one of the first-level folders."""
    found = []
    for path in folder.glob("[0-9a-f][0-9a-f]/*"):
        if is_oid(path.name):
            with suppress(FileNotFoundError):
                known = path.stat()
                found.append(StoredLfsObject(path.name, known.st_size, known.st_mtime))
    return found


def delete_old_files(folder: Path, before: float) -> int:
    """Delete the files of a folder that were not modified since a time."""
    dropped = 0
    for path in folder.glob("*"):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < before:
                path.unlink()
                dropped += 1
    return dropped
