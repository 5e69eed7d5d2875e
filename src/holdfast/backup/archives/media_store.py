"""Copies the attachments of a backup into a folder beside the archive, each content once under its hash."""

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

# How a file in the folder is named, but for its extension.
HASH: Final = re.compile(r"[0-9a-f]{64}")


@redacted
@dataclass(frozen=True, slots=True)
class CopiedAttachment:
    """What became of one attachment: where it lies, or the problem with it; `new` if it was written."""

    media_name: str
    path: str | None
    size: int
    new: bool
    problem: str


def copy_media(
    connection: sqlite3.Connection, backup: Backup, folder: MediaFolder, *, only: Set[str] | None = None
) -> Iterator[CopiedAttachment]:
    """Copy every attachment the backup keeps, or some of them by their names.

    One that is missing or damaged is reported and stops nothing. What was removed from the archive stays away,
    until a message refers to it again.
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
        if attachment.name in copied and is_whole(file, attachment.size):
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
        # The file is there before the archive says so.
        with transaction(connection):
            row = (attachment.name, digest, attachment.size, relative)
            connection.execute("INSERT OR REPLACE INTO media VALUES (?, ?, ?, ?)", row)
        yield CopiedAttachment(attachment.name, relative, attachment.size, new, "")


def is_whole(file: KeptFile | None, size: int) -> bool:
    """Return whether a file is there and not cut short."""
    try:
        return file is not None and file.size >= size
    except OSError:
        return False


def mark_removed(connection: sqlite3.Connection, used: Set[str]) -> tuple[int, int]:
    """Mark the attachments that nothing in the archive uses; return how many files are left over, and their size.

    Only the name stays, without a path, so that a backup that is known already does not bring the file back. The
    hash stays until the file is deleted, which is done after the transaction: an interrupted removal is completed
    when the archive is opened to be written to.
    """
    rows = connection.execute("SELECT media_name, sha256, size FROM media WHERE path <> ''").fetchall()
    gone = [row for row in rows if row[0] not in used]
    kept_hashes = {row[1] for row in rows if row[0] in used}
    connection.executemany("UPDATE media SET path = '' WHERE media_name = ?", [row[:1] for row in gone])
    files = {sha256: size for _name, sha256, size in gone if sha256 not in kept_hashes}
    return len(files), sum(files.values())


def delete_removed_files(connection: sqlite3.Connection, folder: MediaFolder) -> None:
    """Delete the files of attachments that were removed."""
    waiting = "SELECT DISTINCT sha256 FROM media WHERE path = '' AND sha256 <> ''"
    if connection.execute(waiting).fetchone() is None:
        return
    # Files are written before the archive says so, and deleted while nobody else writes to it.
    with transaction(connection):
        for (digest,) in connection.execute(waiting).fetchall():
            kept_elsewhere = connection.execute(
                "SELECT 1 FROM media WHERE path <> '' AND sha256 = ?", (digest,)
            ).fetchone()
            # The archive is a file that may come from anybody: nothing but a hash becomes part of a path.
            if kept_elsewhere is None and HASH.fullmatch(digest):
                name = folder.name_of(digest)
                for path in (folder.path / name[:2]).glob(f"{name}*"):
                    path.unlink(missing_ok=True)
        connection.execute("UPDATE media SET sha256 = '', size = 0 WHERE path = ''")
