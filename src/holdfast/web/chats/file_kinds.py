"""Detects the kind of a file or folder: archive, plaintext backup, encrypted backup, or none."""

import io
from enum import Enum
from pathlib import Path
from typing import Final

from holdfast.backup.archives.passphrases import is_encrypted
from holdfast.backup.archives.schema import APPLICATION_ID
from holdfast.backup.archives.shared_file import read_head
from holdfast.backup.container.cipher import find_layout
from holdfast.backup.container.folder import find_snapshots
from holdfast.backup.container.sealed import Span
from holdfast.backup.container.takeout import find_export
from holdfast.backup.errors import BackupError
from holdfast.backup.file_types import CONTAINER_MAGIC, is_random
from holdfast.backup.form_detection import Form, begins_like_a_stream, recognise

__all__ = [
    "LOOK",
    "FileKind",
    "is_archive",
    "is_plain_backup",
    "kind_of_file",
    "kind_of_path",
    "looks_like_backup",
]

# The number of bytes at the start of a file that detection needs.
LOOK: Final = 1 << 16
SQLITE: Final = b"SQLite format 3\x00"
# The `application_id` in the header of an SQLite database.
MARK: Final = slice(68, 72)
SEALED_NAMES: Final = (".backup", ".sealed")
FIELDS: Final = (b'"backupTimeMs"', b"backupTimeMs:")
INSIDE_ZIP: Final = b"main.jsonl"


class FileKind(Enum):
    """The kinds of files that can be shown as a conversation."""

    ARCHIVE = "archive"
    PLAIN = "plain"
    SEALED = "sealed"


def is_archive(head: bytes) -> bool:
    """Return whether a file is an archive."""
    return head.startswith(SQLITE) and head[MARK] == APPLICATION_ID.to_bytes(4, "big")


def kind_of_file(head: bytes, size: int) -> FileKind | None:
    """Return the kind of a chat file."""
    if is_encrypted(head):
        return FileKind.ARCHIVE
    if head.startswith(SQLITE):
        return FileKind.ARCHIVE if is_archive(head) else None
    try:
        form = recognise(head, size)
    except BackupError:
        return None
    if form is not Form.CONTAINER:
        return FileKind.PLAIN
    return FileKind.SEALED if can_be_encrypted(head, size) else None


def kind_of_path(path: Path) -> FileKind | None:
    """Return the kind of a file by its content, and of a folder by the names in it; None if it is no backup."""
    try:
        if path.is_dir():
            return FileKind.SEALED if find_snapshots(path) else FileKind.PLAIN if find_export(path) else None
        return kind_of_file(read_head(path, LOOK), path.stat().st_size)
    except (OSError, BackupError):
        return None


def can_be_encrypted(head: bytes, size: int) -> bool:
    """Return whether a file can be an encrypted backup: its size fits, and its bytes look random."""
    try:
        start = find_layout(io.BytesIO(head), on_fault=lambda _: None).span.start
    except BackupError:
        return False
    return Span(start, size).problem() is None and is_random(head[start:])


def is_plain_backup(head: bytes, name: str, size: int) -> bool:
    """Return whether a file is an unencrypted backup."""
    return looks_like_backup(head, name) and (is_archive(head) or kind_of_file(head, size) is FileKind.PLAIN)


def looks_like_backup(head: bytes, name: str) -> bool:
    """Return whether to link a file to its chats; conservative, since any bytes may be an encrypted backup.

    `head` is the first kilobytes of the file; for a Git LFS pointer, of the object that it refers to.
    """
    if is_archive(head) or head.startswith(CONTAINER_MAGIC):
        return True
    lower = name.lower()
    if head and lower.endswith(SEALED_NAMES) and not head.isascii() and is_random(head):
        # Before the other checks: random bytes may start with any magic number.
        return True
    if head.startswith(b"PK\x03\x04"):
        return lower.endswith(".zip") and INSIDE_ZIP in head[:4096]
    if head[:1] in {b"{", b"["} or head.startswith(b"\xef\xbb\xbf"):
        return any(field in head[:4096] for field in FIELDS)
    if head.startswith(b"\x1f\x8b"):
        return lower.endswith((".binproto.gz", ".jsonl.gz", ".backup"))
    if not head or head.startswith(SQLITE):
        return False
    if lower.endswith(SEALED_NAMES) and not head.isascii():
        return True
    # Hardly any other format starts with a record that has both a version and a time.
    return begins_like_a_stream(head, strict=True)
