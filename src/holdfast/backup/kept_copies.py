"""Verifies the copies of attachments beside an archive by their hashes: some in each run of `keep`, or all.

To read all of them takes about as long as to read the folder. A run reads a twentieth of that, and continues where
the last one has stopped, so that every copy is read again by one of about twenty runs.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from typing import Final

from holdfast.backup.archives import Archive
from holdfast.backup.folder_state import THREADS, CopiesState

__all__ = ["SHARE", "verify_copies"]

# A run verifies one in so many bytes that it hashes of the folder.
SHARE: Final = 20
COPIES: Final = "SELECT path, sha256, max(size) FROM media WHERE path <> '' GROUP BY path ORDER BY path"


def verify_copies(
    archive: Archive, state: CopiesState, most: int | None, progress: Callable[[int], None] | None = None
) -> tuple[int, int]:
    """Compare copies with their hashes, about `most` bytes of them or all; return their number, and that of all.

    Those that are damaged or missing are added to the state, and are read again by every run until they are not.
    """
    rows = archive.connection.execute(COPIES).fetchall()
    state.damaged &= {path for path, _digest, _size in rows}
    after = next((place for place, row in enumerate(rows) if row[0] > state.verified_to), 0)
    chosen = rows[after:] + rows[:after]
    if most is not None:
        before = accumulate((size for _path, _digest, size in chosen), initial=0)
        chosen = [row for row, start in zip(chosen, before, strict=False) if start < most]
    if chosen:
        state.verified_to = chosen[-1][0]
    read = {path for path, _digest, _size in chosen}
    chosen += [row for row in rows if row[0] in state.damaged - read]
    completed = 0
    with ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1)) as pool:
        digests = pool.map(lambda row: digest_of(archive, row[0]), chosen)
        for (path, expected, size), digest in zip(chosen, digests, strict=True):
            if digest == expected:
                state.damaged.discard(path)
            else:
                state.damaged.add(path)
            completed += size
            if progress is not None:
                progress(completed)
    return len(chosen), len(rows)


def digest_of(archive: Archive, path: str) -> str:
    """Return the SHA-256 of a copy, empty if it is missing or cannot be read."""
    file = archive.kept_file(path)
    digest = None if file is None else file.digest()
    return "" if digest is None else digest.hex()
