"""Lists the chat backups of the data folder."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from holdfast import backup
from holdfast.backup.archives.shared_file import read_head
from holdfast.backup.path_text import path_text
from holdfast.web.chats.file_kinds import LOOK, is_archive

__all__ = ["BackupFile", "list_backup_files"]

# Files that SQLite keeps beside an open archive.
BESIDE_ARCHIVES: Final = ("-journal", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A backup file: its information, or why it cannot be read."""

    name: str
    size: int
    info: backup.Info | None
    problem: str
    is_archive: bool = False
    """Whether it is a Holdfast archive, as opposed to a backup."""


def list_backup_files(folder: Path) -> list[BackupFile]:
    """List the backups of a folder by name; a file that cannot be read is listed with its problem."""
    if not folder.is_dir():
        return []
    files = (
        path
        for path in sorted(folder.iterdir())
        if path.is_file() and not path.name.startswith(".") and not path.name.endswith(BESIDE_ARCHIVES)
    )
    return [inspect_file(path, (status := path.stat()).st_size, status.st_mtime_ns) for path in files]


@lru_cache(maxsize=256)
def inspect_file(path: Path, size: int, _changed: int) -> BackupFile:
    """Read one file; the result is cached until its size or modification time changes."""
    try:
        if is_archive(read_head(path, LOOK)):
            return BackupFile(path_text(path.name), size, None, "", is_archive=True)
        return BackupFile(path_text(path.name), size, backup.info(path), "")
    except OSError as error:
        return BackupFile(path_text(path.name), size, None, f"it cannot be read: {error.strerror}")
    except backup.BackupError as error:
        return BackupFile(path_text(path.name), size, None, path_text(str(error)))
