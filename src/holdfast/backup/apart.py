"""Keeps what is made from a backup apart from the backup itself, which may be the only one somebody has."""

from pathlib import Path

from holdfast.backup.container.folder import MAIN, MANIFEST, METADATA
from holdfast.backup.errors import UnwritableBackup
from holdfast.backup.opening import Backup

__all__ = ["keep_apart"]


def keep_apart(source: Backup, target: Path) -> None:
    """Refuse to write to the file, or to one of the files, that a backup is read from."""
    files = [Path(source.name)]
    if source.snapshot is not None:
        files += [source.snapshot.path / name for name in (MAIN, METADATA, MANIFEST)]
    for file in files:
        try:
            same = target.samefile(file)
        except (OSError, ValueError):
            continue
        if same:
            raise UnwritableBackup(f"{target} is the backup itself; give another name to write to")
