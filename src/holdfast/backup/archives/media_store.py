"""Copies the attachments of a backup into a folder beside the archive, each content once under its hash."""

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from holdfast.backup.archives.imports import writing
from holdfast.backup.backup_reader import Backup
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.container.whole import write_whole
from holdfast.backup.errors import AttachmentError, UnreadableBackup
from holdfast.backup.media import extension_of, kept, make_folder
from holdfast.redacted_repr import redacted

__all__ = ["Copied", "copy_media"]


@redacted
@dataclass(frozen=True, slots=True)
class Copied:
    """What became of one attachment: where it lies, or the problem with it; `new` if it was written."""

    media_name: str
    path: str | None
    size: int
    new: bool
    problem: str


def copy_media(
    connection: sqlite3.Connection, backup: Backup, folder: Path, *, only: Set[str] | None = None
) -> Iterator[Copied]:
    """Copy every attachment the backup keeps, or some of them by their names.

    One that is missing or damaged is reported and stops nothing.
    """
    media = backup.media
    if media is None:
        raise UnreadableBackup(f"{backup.name} is a {backup.form.value}, which has no attachments beside it")
    there = {name for (name,) in connection.execute("SELECT media_name FROM media")}
    for pointer, attachment in kept(backup):
        if only is not None and attachment.name not in only:
            continue
        digest = attachment.plaintext_hash.hex()
        # Named by content, so that nothing somebody else chose becomes a path.
        relative = f"{digest[:2]}/{digest}{extension_of(pointer.content_type)}"
        target = folder / relative
        if attachment.name in there and is_whole(target, attachment.size):
            yield Copied(attachment.name, relative, attachment.size, False, "")
            continue
        new = not same(target, attachment.plaintext_hash)
        try:
            if new:
                with media.open(attachment) as source:
                    make_folder(target.parent)
                    with write_whole(target, replace=True) as out:
                        shutil.copyfileobj(source, out, CHUNK)
        except AttachmentError as error:
            yield Copied(attachment.name, None, 0, False, str(error))
            continue
        # The file is there before the archive says so.
        with writing(connection):
            row = (attachment.name, digest, attachment.size, relative)
            connection.execute("INSERT OR REPLACE INTO media VALUES (?, ?, ?, ?)", row)
        yield Copied(attachment.name, relative, attachment.size, new, "")


def is_whole(path: Path, size: int) -> bool:
    """Tell whether a file is there and not cut short."""
    try:
        return path.is_file() and path.stat().st_size >= size
    except OSError:
        return False


def same(path: Path, digest: bytes) -> bool:
    """Tell whether a file is there and has the content it should."""
    if not path.is_file():
        return False
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").digest() == digest
