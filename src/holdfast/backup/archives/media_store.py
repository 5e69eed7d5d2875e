"""Copies the attachments of a backup to the media folder, each content once under its hash."""

import re
import shutil
import sqlite3
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Final

from holdfast.backup.archives.imports import transaction
from holdfast.backup.archives.media_files import KeptFile, MediaFolder
from holdfast.backup.backup_reader import Backup
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.errors import AttachmentError, UnreadableBackup
from holdfast.backup.media import kept
from holdfast.redacted_repr import redacted

__all__ = ["CopiedAttachment", "copy_media", "delete_removed_files", "mark_removed"]

# File names in the folder, without their extension.
HASH: Final = re.compile(r"[0-9a-f]{64}")


@redacted
@dataclass(frozen=True, slots=True)
class CopiedAttachment:
    """The result for one attachment: its path, or the problem; `new` if the file was written."""

    media_name: str
    path: str | None
    size: int
    new: bool
    problem: str


def copy_media(
    connection: sqlite3.Connection,
    backup: Backup,
    folder: MediaFolder,
    *,
    only: Set[str] | None = None,
    damaged: Set[str] = frozenset(),
) -> Iterator[CopiedAttachment]:
    """Copy every attachment of the backup, or those named in `only`; a path in `damaged` is known to be that.

    A missing or damaged one is reported and does not stop the others. What was removed from the archive is not
    copied again until a message refers to it.
    """
    media = backup.media
    if media is None:
        raise UnreadableBackup(f"{backup.name} is a {backup.form.value}, which has no attachments beside it")
    copied = {name for (name,) in connection.execute("SELECT media_name FROM media WHERE path <> ''")}
    removed = {
        name
        for (name,) in connection.execute(
            "SELECT media_name FROM media m WHERE path = '' "
            "AND NOT EXISTS (SELECT 1 FROM attachment a WHERE a.media_name = m.media_name)"
        )
    }
    for pointer, attachment in kept(backup):
        if (only is not None and attachment.name not in only) or attachment.name in removed:
            continue
        digest = attachment.plaintext_hash.hex()
        relative = folder.place_of(digest, pointer.content_type)
        file = folder.find(relative)
        if attachment.name in copied and relative not in damaged and is_whole(file, attachment.size):
            yield CopiedAttachment(attachment.name, relative, attachment.size, False, "")
            continue
        new = file is None or file.digest() != attachment.plaintext_hash
        try:
            if new:
                with media.open(attachment) as source, folder.write(relative) as out:
                    shutil.copyfileobj(source, out, CHUNK)
        except AttachmentError as error:
            yield CopiedAttachment(attachment.name, None, 0, False, str(error))
            continue
        # The file is written before the row that refers to it.
        with transaction(connection):
            row = (attachment.name, digest, attachment.size, relative)
            connection.execute("INSERT OR REPLACE INTO media VALUES (?, ?, ?, ?)", row)
        yield CopiedAttachment(attachment.name, relative, attachment.size, new, "")


def is_whole(file: KeptFile | None, size: int) -> bool:
    """Return whether a file exists and is not truncated."""
    try:
        return file is not None and file.size >= size
    except OSError:
        return False


def mark_removed(connection: sqlite3.Connection, used: Set[str]) -> tuple[int, int]:
    """Mark unreferenced attachments as removed; return how many files are left over, and their size.

    The name stays, without a path, so that importing the same backup again does not restore the file. The hash
    stays until the file is deleted, which is done after the transaction: an interrupted removal is completed when
    the archive is next opened for writing.
    """
    rows = connection.execute("SELECT media_name, sha256, size FROM media WHERE path <> ''").fetchall()
    removed = [row for row in rows if row[0] not in used]
    kept_hashes = {row[1] for row in rows if row[0] in used}
    connection.executemany("UPDATE media SET path = '' WHERE media_name = ?", [row[:1] for row in removed])
    files = {sha256: size for _name, sha256, size in removed if sha256 not in kept_hashes}
    return len(files), sum(files.values())


def delete_removed_files(connection: sqlite3.Connection, folder: MediaFolder) -> None:
    """Delete the files of removed attachments."""
    waiting = "SELECT DISTINCT sha256 FROM media WHERE path = '' AND sha256 <> ''"
    if connection.execute(waiting).fetchone() is None:
        return
    # Files are written before their row, and deleted while no other process writes.
    with transaction(connection):
        for (digest,) in connection.execute(waiting).fetchall():
            kept_elsewhere = connection.execute(
                "SELECT 1 FROM media WHERE path <> '' AND sha256 = ?", (digest,)
            ).fetchone()
            # Archives are untrusted: only a valid hash becomes part of a path.
            if kept_elsewhere is None and HASH.fullmatch(digest):
                name = folder.name_of(digest)
                for path in (folder.path / name[:2]).glob(f"{name}*"):
                    path.unlink(missing_ok=True)
        connection.execute("UPDATE media SET sha256 = '', size = 0 WHERE path = ''")
