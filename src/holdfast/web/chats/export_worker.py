"""The export process: writes a conversation as a ZIP archive to standard output, with the limits of an import.

The task is read from standard input, including the key of an encrypted cache entry. If standard input is closed
early, the parent process is gone, and this process exits. The attachments of an encrypted conversation are read
through the parent process, and decrypted here.
"""

import socket
import sqlite3
import sys
import threading
import traceback
from pathlib import Path
from typing import BinaryIO, Final, Literal

import msgspec

from holdfast.backup import archives
from holdfast.backup.archives import Archive
from holdfast.backup.errors import BackupError
from holdfast.backup.exports.dispatcher import export_zip
from holdfast.web.chats.attachment_channel import RemoteAttachments
from holdfast.web.chats.encrypted_media import EncryptedMedia
from holdfast.web.chats.encrypted_media_folder import attach_media
from holdfast.web.chats.encryption import open_sealed
from holdfast.web.chats.import_worker import READY, ImportLimits, apply_resource_limits, exit_with_parent

__all__ = ["ExportForm", "ExportTask", "export_conversation", "main"]

ExportForm = Literal["html", "json"]
# An encrypted archive is in memory, and so is the search index of its pages: above this share of the memory limit,
# the pages have no search.
SEARCH_SHARE: Final = 8


class ExportTask(msgspec.Struct, frozen=True):
    """An export to run: the archive of a cache entry, and the key that decrypts it if it is encrypted.

    `attachments` is the file descriptor of an attachment channel, -1 if there is none.
    """

    source: str
    form: ExportForm
    limits: ImportLimits
    key: bytes = b""
    attachments: int = -1


def export_conversation(task: ExportTask, stream: BinaryIO) -> None:
    """Write a conversation to a stream; nothing of an encrypted one is written to disk."""
    source = Path(task.source)
    if task.key:
        with Archive(source.with_name(READY), open_sealed(source, task.key)) as archive:
            problems: list[str] = []
            if task.attachments >= 0:
                channel = socket.socket(fileno=task.attachments)
                problems = attach_media(archive, EncryptedMedia(RemoteAttachments(channel))).problems
            search = source.stat().st_size <= task.limits.memory // SEARCH_SHARE
            export_zip(archive, stream, task.form, search=search, in_memory=True, problems=problems)
        return
    with archives.open(source) as archive:
        export_zip(archive, stream, task.form)


def main() -> int:
    """Read the task from standard input and run it."""
    task = msgspec.json.decode(sys.stdin.buffer.readline(), type=ExportTask)
    apply_resource_limits(task.limits)
    threading.Thread(target=exit_with_parent, daemon=True).start()
    try:
        export_conversation(task, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        return 1
    except (BackupError, OSError, MemoryError, sqlite3.Error, ValueError) as error:
        # The text of an error may quote messages.
        place = traceback.extract_tb(error.__traceback__)[-1]
        sys.stderr.write(f"export failed: {type(error).__name__} in {Path(place.filename).name}:{place.lineno}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
