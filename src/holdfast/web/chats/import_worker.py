"""The import process: imports one backup into an archive, with resource limits, outside of the web workers.

The task is read from standard input, including keys, which no other process can read there. If standard input is
closed early, the parent process is gone, and this process exits. It runs at low priority, with limits of memory,
CPU time and file size (setrlimit): the file may be crafted to exhaust resources.
"""

import errno
import os
import resource
import sqlite3
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import msgspec

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives import Archive, archive_file
from holdfast.backup.errors import ArchiveError, BackupError, KeyIncomplete, KeyRefused, WrongKey
from holdfast.web.chats.encryption import seal
from holdfast.web.chats.statistics_page import store_statistics
from holdfast.web.chats.validation_results import store_findings

__all__ = [
    "PROBLEM",
    "PROGRESS",
    "READY",
    "SEALED",
    "ImportLimits",
    "ImportProblem",
    "ImportProgress",
    "ImportTask",
    "apply_resource_limits",
    "exit_with_parent",
    "import_backup",
    "main",
    "write_atomically",
]

# The names of files in a cache entry.
READY: Final = "chats.db"
SEALED: Final = "sealed"
PROGRESS: Final = "progress"
PROBLEM: Final = "problem"
NEW: Final = "new.db"
EVERY_S: Final = 0.3
# The niceness of the process.
NICENESS: Final = 15
PAGE: Final = 4096
# Slack above the limit of the archive size: SQLite reaches its own limit first, and reports a clear error.
FILE_SLACK: Final = 16 << 20
# An encrypted archive is in memory twice while it is written, in addition to the memory of the import.
SEALED_SHARE: Final = 4


class ImportLimits(msgspec.Struct, frozen=True):
    """The resource limits of one import: bytes of memory, seconds, and bytes of output."""

    memory: int
    seconds: int
    output: int

    @property
    def sealed(self) -> int:
        """The size limit of an archive that is held in memory only."""
        return min(self.output, self.memory // SEALED_SHARE)

    @property
    def too_large(self) -> str:
        """The message for the output limit."""
        return "It is too large to be shown here; `holdfast archive import` has no such limit."

    @property
    def too_long(self) -> str:
        """The message for the time limit."""
        return (
            f"Reading it took longer than {self.seconds:,} seconds and was ended; "
            "`holdfast archive import` has no such limit."
        )

    @property
    def too_much_memory(self) -> str:
        """The message for the memory limit."""
        return (
            f"Reading it took more than {self.memory >> 20:,} MB of memory and was ended; "
            "`holdfast archive import` has no such limit."
        )


class ImportTask(msgspec.Struct, frozen=True):
    """An import to run: `keys` decrypt the backup, `key` encrypts the result, `name` is for messages."""

    source: str
    target: str
    name: str
    limits: ImportLimits
    keys: str = ""
    key: bytes = b""


class ImportProgress(msgspec.Struct, frozen=True):
    """The progress of an import."""

    done: int = 0
    total: int = 0
    messages: int = 0


class ImportProblem(msgspec.Struct, frozen=True):
    """Why an import failed; `key` is true when another key might help."""

    text: str
    key: bool = False


def write_atomically(path: Path, value: msgspec.Struct) -> None:
    """Write a small file atomically (write, then rename), readable by this account only."""
    beside = path.with_name(f"{path.name}.part")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(msgspec.json.encode(value))
    beside.rename(path)


def import_backup(task: ImportTask) -> None:
    """Run the import; an error is stored in the cache entry, and raised."""
    folder = Path(task.target)
    try:
        if task.key:
            import_encrypted(task, folder)
        else:
            import_plain(task, folder)
    except (KeyIncomplete, KeyRefused, WrongKey) as error:
        write_atomically(folder / PROBLEM, ImportProblem(error_message(task, error), key=True))
        raise
    except BackupError as error:
        write_atomically(
            folder / PROBLEM,
            ImportProblem(exceeded_limit(task.limits, error.__cause__) or error_message(task, error)),
        )
        raise
    except (MemoryError, OSError, sqlite3.Error) as error:
        write_atomically(
            folder / PROBLEM,
            ImportProblem(
                exceeded_limit(task.limits, error) or "There is no room for it, or the disk has a fault."
            ),
        )
        raise ArchiveError(f"{task.name} could not be imported") from error
    finally:
        for rest in folder.glob(f"{NEW}*"):
            rest.unlink(missing_ok=True)


def exceeded_limit(limits: ImportLimits, error: BaseException | None) -> str:
    """Return the message of the limit that was exceeded, if any."""
    code = error.sqlite_errorcode if isinstance(error, sqlite3.Error) else None
    if isinstance(error, MemoryError) or code == sqlite3.SQLITE_NOMEM:
        return limits.too_much_memory
    if code == sqlite3.SQLITE_FULL or (isinstance(error, OSError) and error.errno == errno.EFBIG):
        return limits.too_large
    return ""


def error_message(task: ImportTask, error: Exception) -> str:
    """Return the message of an error without local paths."""
    text = str(error).replace(task.source, task.name).replace(task.target, task.name)
    return f"{text[:1].upper()}{text[1:400]}."


def progress_writer(folder: Path) -> Callable[[int, int, int], None]:
    """Return a callback that writes the progress to a file from time to time."""
    last = 0.0

    def tell(done: int, total: int, messages: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= EVERY_S:
            last = now
            write_atomically(folder / PROGRESS, ImportProgress(done, total, messages))

    return tell


def import_plain(task: ImportTask, folder: Path) -> None:
    """Import a backup into an archive file, with its attachments."""
    new = folder / NEW
    new.unlink(missing_ok=True)
    with backup.open(task.source) as source_backup, archives.open(new, create=True) as archive:
        archive.connection.execute(f"PRAGMA max_page_count = {max(1, task.limits.output // PAGE)}")
        archive.add(source_backup, progress=progress_writer(folder))
        archive.connection.execute("UPDATE snapshot SET source = ?", (task.name,))
        if source_backup.media is not None:
            copy_attachments(task, archive, Archive(folder / READY, archive.connection), source_backup)
        store_findings(archive.connection, source_backup)
        store_statistics(archive)
    new.rename(folder / READY)


def copy_attachments(task: ImportTask, archive: Archive, target: Archive, source_backup: backup.Backup) -> None:
    """Copy the attachments up to the output limit."""
    remaining = task.limits.output - archive.path.stat().st_size
    for copied in target.copy_media(source_backup):
        remaining -= copied.size if copied.new else 0
        if remaining < 0:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))


def import_encrypted(task: ImportTask, folder: Path) -> None:
    """Import an encrypted backup into memory, and write the archive encrypted: no plaintext is written to disk."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA max_page_count = {max(1, task.limits.sealed // PAGE)}")
        archive_file.prepare(connection, 0, empty=True)
        archive = Archive(folder / READY, connection)
        keys = backup.read_keys(task.keys)
        with backup.open(task.source, keys) as source_backup:
            archive.add(source_backup, progress=progress_writer(folder))
            connection.execute("UPDATE snapshot SET source = ?", (task.name,))
            store_findings(connection, source_backup)
            store_statistics(archive)
        seal(connection, folder / SEALED, task.key)


def apply_resource_limits(limits: ImportLimits) -> None:
    """Lower the priority of this process, and set its resource limits (setrlimit)."""
    os.umask(0o077)
    os.nice(NICENESS)
    # Decrypted content must not end up in a core dump.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.output + FILE_SLACK, limits.output + FILE_SLACK))
    # If memory runs out all the same, the OOM killer selects this process before the web workers.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def main() -> int:
    """Read the task from standard input and run it."""
    task = msgspec.json.decode(sys.stdin.buffer.readline(), type=ImportTask)
    apply_resource_limits(task.limits)
    threading.Thread(target=exit_with_parent, daemon=True).start()
    try:
        import_backup(task)
    except BackupError:
        return 1
    except Exception as error:  # noqa: BLE001  # the text of an unexpected error may quote messages
        place = traceback.extract_tb(error.__traceback__)[-1]
        sys.stderr.write(f"import failed: {type(error).__name__} in {Path(place.filename).name}:{place.lineno}\n")
        return 2
    return 0


def exit_with_parent() -> None:
    """Exit when the parent process exits."""
    # Not through the buffered file: its lock would be held when the interpreter exits.
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(3)


if __name__ == "__main__":
    sys.exit(main())
