"""Checksum verification (scrubbing) of local copies, so that a corrupt copy is rebuilt before it is read.

For a clone git sends objects of packs as they are, without reading their content, and only the client notices a
flipped bit. Packs, their indexes, multi-pack-indexes, bitmaps and commit-graphs all end with the SHA-1 of the
content before it; a loose object is named after its SHA-1. Each copy is verified once a day, a bounded number of
bytes at a time, by one process of a machine.
"""

import fcntl
import hashlib
import os
import time
import zlib
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from holdfast.hosting.git.folders import make_folder_below
from holdfast.hosting.git.packs import CHECKSUM_BYTES
from holdfast.hosting.storage.local_copies import STATE_FILE, LocalCopies

__all__ = ["CopyVerifier"]

# A file in a copy; its time is that of the last verification. A copy that is rebuilt has none.
VERIFIED_FILE: Final = "holdfast-verified"
# A file beside the copies, locked by the process that verifies them.
LOCK_FILE: Final = ".verification.lock"
VERIFIED_SECONDS: Final = 86_400.0
CHUNK: Final = 1024 * 1024
# Files that end with their checksum.
CHECKSUMMED: Final = (
    "objects/pack/*.pack",
    "objects/pack/*.idx",
    "objects/pack/*.rev",
    "objects/pack/*.bitmap",
    "objects/pack/multi-pack-index",
    "objects/info/commit-graph",
    "objects/info/commit-graphs/*.graph",
)
LOOSE: Final = "objects/[0-9a-f][0-9a-f]/" + "[0-9a-f]" * 38
log = structlog.get_logger(__name__)


class CopyVerifier:
    """Verifies the local copies on this machine, a part of them at a time."""

    def __init__(self, copies: LocalCopies) -> None:
        self._copies = copies
        self._lock: int | None = None
        self._sizes: Iterator[int] = iter(())

    def run(self, most_bytes: int) -> int:
        """Continue the verification for about so many bytes; return how many were read.

        A large pack is continued by the next run. Does nothing while another process of the machine verifies.
        """
        if not self._is_owner():
            return 0
        total = 0
        is_new = False
        while total < most_bytes:
            size = next(self._sizes, None)
            if size is not None:
                total += size
            elif is_new:
                break
            else:
                self._sizes = self._verify_all()
                is_new = True
        return total

    def close(self) -> None:
        """Leave the verification to another process."""
        self._sizes = iter(())
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _is_owner(self) -> bool:
        """Take the lock, which this process then holds until it ends."""
        if self._lock is not None:
            return True
        root = self._copies.folders.root
        make_folder_below(root, root.parent)
        descriptor = os.open(root / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._lock = descriptor
        return True

    def _verify_all(self) -> Iterator[int]:
        """Verify every copy whose last verification is too long ago; yields the sizes of what was read."""
        latest = time.time() - VERIFIED_SECONDS
        due = []
        for number in self._copies.folders.all_ids():
            folder = self._copies.folders.path(number)
            # Without the state file it is not a copy, and may be the only data.
            if (folder / STATE_FILE).exists() and (verified := verified_at(folder)) < latest:
                due.append((verified, number))
        for _, number in sorted(due):
            yield from self._verify(number)

    def _verify(self, repository_id: int) -> Iterator[int]:
        """Verify a copy, and delete it if it is corrupt."""
        folder = self._copies.folders.path(repository_id)
        is_damaged = False
        for pattern, is_intact in (*((pattern, has_checksum) for pattern in CHECKSUMMED), (LOOSE, has_content)):
            for path in folder.glob(pattern):
                # A file is deleted while it is read when a copy is compacted, evicted or rebuilt.
                with suppress(FileNotFoundError):
                    if (yield from is_intact(path)):
                        continue
                    if path.stat().st_nlink == 1:
                        is_damaged = True
                    else:
                        # A hard link of the object store, from which the same copy would be built again.
                        log.error("pack corrupt in the object store", repository_id=repository_id, pack=path.name)
        if is_damaged:
            self._copies.discard_damaged(repository_id)
        else:
            with suppress(FileNotFoundError):
                (folder / VERIFIED_FILE).touch(mode=0o600)


def verified_at(folder: Path) -> float:
    """Return when a copy was last verified."""
    try:
        return (folder / VERIFIED_FILE).stat().st_mtime
    except FileNotFoundError:
        return 0.0


def has_checksum(path: Path) -> Generator[int, None, bool]:
    """Return whether a file ends with the SHA-1 of the content before it; yields the sizes of what was read."""
    digest = hashlib.sha1(usedforsecurity=False)
    with path.open("rb", buffering=0) as file:
        rest = max(os.fstat(file.fileno()).st_size - CHECKSUM_BYTES, 0)
        while rest and (piece := file.read(min(CHUNK, rest))):
            digest.update(piece)
            rest -= len(piece)
            yield len(piece)
        return file.read(CHECKSUM_BYTES) == digest.digest()


def has_content(path: Path) -> Generator[int, None, bool]:
    """Return whether a loose object has the content it is named after; yields the sizes of what was read."""
    digest = hashlib.sha1(usedforsecurity=False)
    inflate = zlib.decompressobj()
    with path.open("rb", buffering=0) as file:
        while packed := file.read(CHUNK):
            size = len(packed)
            try:
                while packed:
                    digest.update(inflate.decompress(packed, CHUNK))
                    packed = inflate.unconsumed_tail
            except zlib.error:
                return False
            yield size
    return inflate.eof and digest.hexdigest() == path.parent.name + path.name
