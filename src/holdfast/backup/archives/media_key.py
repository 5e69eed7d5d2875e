"""The table of an encrypted archive that has the key of the files beside it.

The key is random and stays when the passphrase is changed, so that the files need not be written again. An archive
that is not encrypted has the table only while files of the encrypted form are still to be deleted.
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
    """Make the table with a key, inside the transaction that is open."""
    media_key = key or MediaKey.generate()
    connection.execute(TABLE)
    connection.execute("INSERT INTO encryption VALUES (?, 0)", (media_key.key,))
    return media_key


def is_there(connection: sqlite3.Connection) -> bool:
    """Return whether the archive has the table, as it is made here."""
    row = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'encryption'").fetchone()
    return row is not None and row[0] == TABLE


def read(connection: sqlite3.Connection) -> MediaKey:
    """Read the key."""
    row = connection.execute("SELECT media_key FROM encryption").fetchone() if is_there(connection) else None
    if row is None or not isinstance(row[0], bytes) or len(row[0]) != KEY:
        raise ArchiveError("the archive is damaged: it has no key for its media")
    return MediaKey(row[0])


def mark_superseded(connection: sqlite3.Connection) -> None:
    """Note that files of the form the archive had before are to be deleted, in the transaction that is open."""
    connection.execute("UPDATE encryption SET superseded = 1")


def delete_superseded_files(connection: sqlite3.Connection, folder: MediaFolder) -> None:
    """Delete the files beside the archive that have the form it had before it was encrypted or decrypted.

    They are told by how they begin. Whoever imports at the same time writes files of the form it has now.
    """
    if not is_there(connection) or connection.execute("SELECT superseded FROM encryption").fetchone() != (1,):
        return
    try:
        for path in folder.files():
            with path.open("rb") as file:
                head = file.read(len(MAGIC))
            if head and (head == MAGIC) != (folder.key is not None):
                overwrite_and_delete(path)
    except OSError:
        # It is tried again when the archive is next written to.
        return
    with transaction(connection):
        if folder.key is None:
            connection.execute("DROP TABLE encryption")
        else:
            connection.execute("UPDATE encryption SET superseded = 0")


def overwrite_and_delete(path: Path) -> None:
    """Overwrite a file with zeros, unless it has another name elsewhere, and delete it."""
    with path.open("r+b") as file:
        overwrite(file.fileno())
    path.unlink()


def overwrite(handle: int) -> None:
    """Overwrite a file with zeros; one that an export shares by a hard link is left as it is."""
    state = os.fstat(handle)
    if state.st_nlink > 1:
        return
    os.lseek(handle, 0, os.SEEK_SET)
    left = state.st_size
    while left > 0:
        left -= os.write(handle, ZEROS[: min(left, len(ZEROS))])
    os.fsync(handle)
