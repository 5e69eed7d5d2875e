"""The stored form of a written file: a blob, or an LFS pointer.

`.gitattributes` of the parent tree decides, as for clients that push.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pygit2
from pygit2.enums import AttrCheck

from holdfast.hosting.app import App
from holdfast.hosting.errors import FileRefused, FileTooLarge, GitError, LfsError
from holdfast.hosting.git import trees
from holdfast.hosting.git.encoding import raw
from holdfast.hosting.git.packs import object_id
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.special_files import MAX_MATCHING_COST, matching_cost
from holdfast.hosting.git.tree_entries import Folder
from holdfast.hosting.git.tree_writer import Draft
from holdfast.hosting.lfs.pointer import MOST_BYTES, LfsPointer
from holdfast.hosting.services.lfs_objects import add_object
from holdfast.hosting.store import lfs
from holdfast.hosting.store.repositories import Repository

__all__ = ["FileContent", "inflated", "is_large"]

CHUNK: Final = 1024 * 1024
SMALL: Final = 64 * 1024
ATTRIBUTES: Final = b".gitattributes"
FILTER: Final = b"filter"
FROM_COMMIT: Final = AttrCheck.NO_SYSTEM | AttrCheck.INDEX_ONLY | AttrCheck.INCLUDE_COMMIT


class FileContent:
    """The content of a file, in memory or in a temporary file; as a blob or LFS object it is written once."""

    def __init__(self, source: bytes | Path) -> None:
        self._source = source
        self._blob: str | None = None
        self._blob_id: str | None = None
        self._pointer: LfsPointer | None = None

    def add_to_copy(self, repo: Repo) -> str:
        """Write the content as a blob to the local copy, and return its id."""
        if self._blob is None:
            source = self._source
            self._blob = repo.write("blob", source) if isinstance(source, bytes) else repo.write_file(source)
        return self._blob

    def pointer(self, app: App) -> LfsPointer:
        """Store the content as an LFS object, and return its pointer."""
        if self._pointer is None:
            pointer = self.described()
            asyncio.run(add_object(app, pointer.oid, pointer.size, self._chunks()))
            self._pointer = pointer
        return self._pointer

    @property
    def blob_id(self) -> str:
        """The blob id, whether the blob is written or not."""
        if self._blob_id is None:
            source = self._source
            self._blob_id = object_id("blob", source) if isinstance(source, bytes) else hash_file(source)
        return self._blob_id

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self._source) if isinstance(self._source, bytes) else self._source.stat().st_size

    @property
    def small(self) -> bytes | None:
        """The bytes, if small enough to be written within a batch; else None."""
        return self._source if isinstance(self._source, bytes) and len(self._source) <= SMALL else None

    def whole(self) -> bytes:
        """Return all bytes, whatever the size."""
        return self._source if isinstance(self._source, bytes) else self._source.read_bytes()

    def beginning(self, most: int) -> bytes:
        """Return at most `most` bytes from the start."""
        if isinstance(self._source, bytes):
            return self._source[:most]
        with self._source.open("rb") as file:
            return file.read(most)

    def is_pointer(self) -> bool:
        """Return whether the content is already an LFS pointer, as clients with LFS support send."""
        return LfsPointer.parse(self.beginning(MOST_BYTES + 1)) is not None

    def described(self) -> LfsPointer:
        """Return the LFS pointer of the content, without storing it."""
        if isinstance(self._source, bytes):
            return LfsPointer(hashlib.sha256(self._source).hexdigest(), len(self._source))
        with self._source.open("rb") as file:
            return LfsPointer(hashlib.file_digest(file, "sha256").hexdigest(), self._source.stat().st_size)

    async def _chunks(self) -> AsyncIterator[bytes]:
        if isinstance(self._source, bytes):
            yield self._source
            return
        with self._source.open("rb") as file:
            while chunk := await asyncio.to_thread(file.read, CHUNK):
                yield chunk


def hash_file(source: Path) -> str:
    """Return the blob id of a file."""
    digest = hashlib.sha1(b"blob %d\0" % source.stat().st_size, usedforsecurity=False)
    with source.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def is_large(draft: Draft, commit: str | None, root: Folder, path: str) -> bool:
    """Return whether the `.gitattributes` of a commit's tree store a file in LFS."""
    blobs = [] if commit is None else attributes_above(draft, root, path)
    if commit is None or not blobs:
        return False
    try:
        contents = [draft.read(blob, "blob") for blob in blobs]
    except GitError:
        return False
    if not any(FILTER in content for content in contents):
        return False
    if sum(matching_cost(content, raw(path)) for content in contents) > MAX_MATCHING_COST:
        # A client error: the patterns come from the repository.
        if raw(path).rpartition(b"/")[2] == ATTRIBUTES:
            return False
        raise FileRefused(f"the patterns of .gitattributes would take too long to match [path: {path}]")
    draft.add_to_copy()
    try:
        return draft.repo.git.get_attr(raw(path), "filter", FROM_COMMIT, pygit2.Oid(hex=commit)) == "lfs"
    except (pygit2.GitError, KeyError, ValueError, OSError):
        return False


def attributes_above(draft: Draft, root: Folder, path: str) -> list[str]:
    """Return the `.gitattributes` blobs of the directories above a path."""
    entries = [folder.get(ATTRIBUTES) for folder in draft.walk_path(root, path).folders]
    return [
        entry[1].hex()
        for entry in entries
        if entry is not None and isinstance(entry[1], bytes) and trees.type_of(entry[0]) == "file"
    ]


def inflated(app: App, repository: Repository, repo: Repo, blob: str) -> FileContent | None:
    """Return the content of the LFS object a blob points to; None if not a pointer or the object is missing."""
    header = repo.header(blob)
    if header is None or header[1] > MOST_BYTES:
        return None
    pointer = LfsPointer.parse(trees.read_blob(repo, blob))
    if pointer is None:
        return None
    # The size in the pointer may be another one.
    size = lfs.linked_sizes(app.database, repository, [pointer.oid]).get(pointer.oid)
    if size is None:
        return None
    if size > app.settings.max_file_mb * 2**20:
        raise FileTooLarge(f"a file may have {app.settings.max_file_mb} MiB, not {size} bytes")

    async def read() -> bytes:
        return b"".join([chunk async for chunk in app.lfs.read(pointer.oid)])

    try:
        return FileContent(asyncio.run(read()))
    except LfsError:
        return None
