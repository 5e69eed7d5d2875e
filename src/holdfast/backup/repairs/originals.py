"""Copies of the original file of a damaged backup, from which it is restored byte for byte."""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from holdfast.backup.backup_reader import Backup
from holdfast.backup.container.atomic_write import write_atomically
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.errors import LogRefused, UnreadableBackup
from holdfast.backup.repairs.log import KeptOriginal

__all__ = ["default_original_path", "file_digest", "open_source_file", "original_path", "restore_file"]


def default_original_path(log: Path) -> Path:
    """Return the default path of the original: next to the change log."""
    return log.with_name(f"{log.name.removesuffix('.changes.json')}.original")


@contextmanager
def open_source_file(source: Backup, file: BinaryIO | None) -> Iterator[BinaryIO]:
    """Open the file of a backup again; an open file is rewound."""
    if file is not None:
        file.seek(0)
        yield file
        return
    try:
        snapshot = source.snapshot
        main = Path(source.name).open("rb") if snapshot is None else snapshot.open_main()  # noqa: SIM115  # closed below
    except OSError as error:
        raise UnreadableBackup(f"{source.name} cannot be read: {error.strerror}") from error
    with main:
        yield main


def file_digest(file: BinaryIO, path: Path) -> KeptOriginal:
    """Return name, size and hash of a file."""
    digest = hashlib.sha256()
    size = 0
    while chunk := file.read(CHUNK):
        digest.update(chunk)
        size += len(chunk)
    return KeptOriginal(path.name, size, digest.hexdigest())


def original_path(original: KeptOriginal, folder: Path) -> Path:
    """Return the path of an original: always in the folder of its change log."""
    return folder / Path(original.name).name


def restore_file(original: KeptOriginal, folder: Path, target: Path, *, replace: bool = False) -> None:
    """Copy the original to the target; raise `LogRefused` if it was modified."""
    path = original_path(original, folder)
    try:
        with path.open("rb") as file:
            if file_digest(file, path) != original:
                raise LogRefused(f"{path} was changed since the repair, and is no longer the original")
            file.seek(0)
            with write_atomically(target, replace=replace) as out:
                shutil.copyfileobj(file, out, CHUNK)
    except OSError as error:
        raise LogRefused(
            f"the original was kept as {path}, which cannot be read: {error.strerror or error}"
        ) from error
