"""The table of an encrypted archive with the key of its media files.

The key is random and does not change with the passphrase, so that the files need not be written again. An
unencrypted archive has the table only while files of the encrypted form are written or remain to be deleted.
"""

import os
import sqlite3
from pathlib import Path
from typing import Final

from holdfast.backup.archives.imports import transaction
from holdfast.backup.archives.media_cipher import MAGIC, MediaKey
from holdfast.backup.archives.media_files import MediaFolder
from holdfast.backup.errors import ArchiveError

__all__ = ["create", "delete_superseded_files", "mark_superseded", "overwrite", "overwrite_and_delete", "read"]

TABLE: Final = "CREATE TABLE encryption (media_key BLOB NOT NULL, superseded INTEGER NOT NULL) STRICT"
KEY: Final = 32
ZEROS: Final = bytes(1 << 20)


def create(connection: sqlite3.Connection, key: MediaKey | None = None) -> MediaKey:
    """Create the table with a key, inside the open transaction."""
    media_key = key or MediaKey.generate()
    connection.execute(TABLE)
    connection.execute("INSERT INTO encryption VALUES (?, 0)", (media_key.key,))
    return media_key


def is_there(connection: sqlite3.Connection) -> bool:
    """Return whether the archive has the table, with the exact schema."""
    row = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'encryption'").fetchone()
    return row is not None and row[0] == TABLE


def read(connection: sqlite3.Connection) -> MediaKey:
    """Read the key."""
    row = connection.execute("SELECT media_key FROM encryption").fetchone() if is_there(connection) else None
    if row is None or not isinstance(row[0], bytes) or len(row[0]) != KEY:
        raise ArchiveError("the archive is damaged: it has no key for its media")
    return MediaKey(row[0])


def mark_superseded(connection: sqlite3.Connection) -> None:
    """Mark files of the archive's former form for deletion, inside the open transaction."""
    connection.execute("UPDATE encryption SET superseded = 1")


def mark_unfinished(connection: sqlite3.Connection, *, encrypted: bool) -> None:
    """Mark an archive whose files are about to be written in the other form, before the first of them."""
    with transaction(connection):
        if not encrypted and not is_there(connection):
            create(connection)
        mark_superseded(connection)


def has_superseded_files(connection: sqlite3.Connection) -> bool:
    """Return whether there may be files of another form than the archive's."""
    return is_there(connection) and connection.execute("SELECT superseded FROM encryption").fetchone() == (1,)


def delete_superseded_files(connection: sqlite3.Connection, folder: MediaFolder) -> None:
    """Delete the media files in another form than the archive's: an earlier one, or that of an unfinished change.

    They are recognised by their first bytes, unless the archive refers to them: somebody may have sent an
    encrypted file. No other process encrypts or decrypts meanwhile, as that writes such files with the same lock;
    an import writes files of the archive's form.
    """
    if not has_superseded_files(connection):
        return
    with transaction(connection):
        # Another process may have encrypted or decrypted the archive since it was opened.
        if not has_superseded_files(connection):
            return
        used = {place for (place,) in connection.execute("SELECT path FROM media")}
        try:
            for path in folder.files():
                if path.relative_to(folder.path).as_posix() not in used and not has_form(
                    path, encrypted=folder.key is not None
                ):
                    overwrite_and_delete(path)
        except OSError:
            # Retried when the archive is next opened for writing.
            return
        if folder.key is None:
            connection.execute("DROP TABLE encryption")
        else:
            connection.execute("UPDATE encryption SET superseded = 0")


def has_form(path: Path, *, encrypted: bool) -> bool:
    """Return whether a media file is encrypted or not, by its first bytes; an empty one may become either."""
    with path.open("rb") as file:
        head = file.read(len(MAGIC))
    return not head or (head == MAGIC) == encrypted


def overwrite_and_delete(path: Path) -> None:
    """Overwrite a file with zeros, unless it has other hard links, and delete it."""
    with path.open("r+b") as file:
        overwrite(file.fileno())
    path.unlink()


def overwrite(handle: int) -> None:
    """Overwrite a file with zeros; one with other hard links, as an export may have, is left as it is."""
    state = os.fstat(handle)
    if state.st_nlink > 1:
        return
    os.lseek(handle, 0, os.SEEK_SET)
    remaining = state.st_size
    while remaining > 0:
        remaining -= os.write(handle, ZEROS[: min(remaining, len(ZEROS))])
    os.fsync(handle)
