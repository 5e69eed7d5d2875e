"""How the file of an archive is recognised, and which files beside it belong to it.

Worker processes of dataset builds import this module: it needs no database driver.
"""

import os
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Final, TypeGuard

from holdfast.backup.archives.passphrases import is_encrypted
from holdfast.backup.archives.shared_file import read_head

__all__ = ["KEEP_STATE", "MAGIC", "MEDIA_SUFFIX", "archive_paths", "beside", "is_archive", "places_beside"]

MAGIC: Final = b"SQLite format 3\x00"
# Suffix of the folder with the media.
MEDIA_SUFFIX: Final = "-media"
# Suffix of the file in which `keep` stores what it has verified; it contains names of chats and people.
KEEP_STATE: Final = "-keep.json"


def is_archive(source: object) -> TypeGuard[str | PathLike[str]]:
    """Return whether a path is a SQLite file or an encrypted archive, neither of which is a form of backup."""
    if not isinstance(source, str | PathLike):
        return False
    try:
        head = read_head(Path(source), len(MAGIC))
    except OSError:
        return False
    return head == MAGIC or is_encrypted(head)


def places_beside(path: Path, suffix: str) -> list[Path]:
    """Return the paths with an archive's name and a suffix: beside the file, and beside a symbolic link to it."""
    named = path.with_name(f"{path.name}{suffix}")
    if not path.is_symlink():
        return [named]
    file = Path(os.path.realpath(path))
    return [file.with_name(f"{file.name}{suffix}"), named]


def beside(path: Path, suffix: str) -> Path:
    """Return the file or folder of an archive with a suffix, the same by every symbolic link to the archive.

    It is beside the archive's file, as the files of SQLite are, unless an earlier version has created it beside
    the link.
    """
    places = places_beside(path, suffix)
    return next((place for place in places if place.exists()), places[0])


def archive_paths(path: Path) -> Iterator[Path]:
    """Yield the paths with content of an archive: its file, the files that SQLite creates beside it, its media."""
    yield path
    # SQLite creates these with the mode of the archive, but an older version may have left them.
    for ending in ("-wal", "-shm", "-journal"):
        yield places_beside(path, ending)[0]
    media = beside(path, MEDIA_SUFFIX)
    if media.is_dir():
        yield media
        yield from (folder for folder in media.iterdir() if folder.is_dir() and not folder.is_symlink())
