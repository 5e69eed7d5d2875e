"""A process of its own that brings one backup into an archive, so that nobody's request waits for it.

What to do comes on standard input, keys included: nobody else on the machine can read it there. When that closes
early, whoever asked is gone, and so is this process.
"""

import os
import shutil
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from holdfast import backup
from holdfast.backup import archive
from holdfast.backup.archive import Archive, opening, schema
from holdfast.backup.errors import (
    ArchiveError,
    BackupError,
    KeyIncomplete,
    KeyRefused,
    NotAnArchive,
    UnreadableBackup,
    WrongKey,
)
from holdfast.web.chats.figures import keep_statistics
from holdfast.web.chats.findings import keep_findings
from holdfast.web.chats.sealing import MOST_BYTES, seal

__all__ = ["PROBLEM", "PROGRESS", "READY", "SEALED", "Problem", "Progress", "Task", "bring", "main"]

# The names of files in the folder of a conversation.
READY: Final = "chats.db"
SEALED: Final = "sealed"
PROGRESS: Final = "progress"
PROBLEM: Final = "problem"
NEW: Final = "new.db"
EVERY_S: Final = 0.3
POLITE: Final = 5
PAGE: Final = 4096


class Task(msgspec.Struct, frozen=True):
    """What to bring where; `key` seals it, `keys` open the backup, `name` is what people call it."""

    source: str
    target: str
    name: str
    is_archive: bool = False
    keys: str = ""
    key: bytes = b""


class Progress(msgspec.Struct, frozen=True):
    """How far it is."""

    done: int = 0
    total: int = 0
    messages: int = 0


class Problem(msgspec.Struct, frozen=True):
    """Why it did not work; `key` when another key might help."""

    text: str
    key: bool = False


def put(path: Path, value: msgspec.Struct) -> None:
    """Write a small file so that readers see the old one or the new one."""
    beside = path.with_name(f"{path.name}.part")
    beside.write_bytes(msgspec.json.encode(value))
    beside.rename(path)


def bring(task: Task) -> None:
    """Do it; what goes wrong is written down in the folder, and raised."""
    folder = Path(task.target)
    try:
        if task.is_archive:
            take_archive(task, folder)
        elif task.key:
            take_sealed(task, folder)
        else:
            take_plain(task, folder)
    except (KeyIncomplete, KeyRefused, WrongKey) as error:
        put(folder / PROBLEM, Problem(told(task, error), key=True))
        raise
    except BackupError as error:
        put(folder / PROBLEM, Problem(told(task, error)))
        raise
    except (OSError, sqlite3.Error) as error:
        put(folder / PROBLEM, Problem("There is no room for it, or the disk has a fault."))
        raise ArchiveError(f"{task.name} could not be brought in") from error
    finally:
        for rest in folder.glob(f"{NEW}*"):
            rest.unlink(missing_ok=True)


def told(task: Task, error: Exception) -> str:
    """Say what is wrong without saying where things lie on this machine."""
    text = str(error).replace(task.source, task.name).replace(task.target, task.name)
    return f"{text[:1].upper()}{text[1:400]}."


def reporter(folder: Path) -> Callable[[int, int, int], None]:
    """Write down now and then how far it is."""
    last = 0.0

    def tell(done: int, total: int, messages: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= EVERY_S:
            last = now
            put(folder / PROGRESS, Progress(done, total, messages))

    return tell


def take_plain(task: Task, folder: Path) -> None:
    """Import a backup into an archive in a file, with its attachments where it has some."""
    new = folder / NEW
    new.unlink(missing_ok=True)
    with backup.open(task.source) as found, archive.open(new, create=True) as made:
        made.add(found, progress=reporter(folder))
        made.connection.execute("UPDATE snapshot SET source = ?", (task.name,))
        if found.media is not None:
            media = Archive(folder / READY, made.connection)
            for _ in media.copy_media(found):
                pass
        keep_findings(made.connection, found)
        keep_statistics(made)
    new.rename(folder / READY)


def take_sealed(task: Task, folder: Path) -> None:
    """Import an encrypted backup into memory, and keep that sealed: on the disk nothing lies in the clear."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA max_page_count = {MOST_BYTES // PAGE}")
    opening.prepare(connection, 0, empty=True)
    made = Archive(folder / READY, connection)
    keys = backup.read_keys(task.keys)
    try:
        with backup.open(task.source, keys) as found:
            made.add(found, progress=reporter(folder))
            connection.execute("UPDATE snapshot SET source = ?", (task.name,))
            keep_findings(connection, found)
            keep_statistics(made)
    except sqlite3.OperationalError as error:
        if "full" in str(error):
            raise ArchiveError(
                f"{task.name} is too large to be shown here; `holdfast archive import` has no such limit"
            ) from None
        raise
    seal(connection, folder / SEALED, task.key)
    connection.close()


def take_archive(task: Task, folder: Path) -> None:
    """Take a copy of an archive that came from anybody, once it is known to be nothing else."""
    new = folder / NEW
    shutil.copyfile(task.source, new)
    with archive.open(new, create=True) as made:
        connection = made.connection
        connection.execute("PRAGMA trusted_schema = OFF")
        if shape(connection) != own_shape():
            raise NotAnArchive(f"{task.name} has tables that are not those of an archive")
        (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise UnreadableBackup(f"{task.name} is damaged")
    new.rename(folder / READY)


def shape(connection: sqlite3.Connection) -> set[tuple[str, ...]]:
    """Return what a database is made of: its tables by their columns, and whatever runs by itself by its text."""
    found: set[tuple[str, ...]] = set()
    for kind, name, sql in connection.execute(
        "SELECT type, name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
    ).fetchall():
        text = " ".join(sql.split())
        if kind == "table" and not text.upper().startswith("CREATE VIRTUAL"):
            # A later version may have added columns, so that the text differs from that of a new archive.
            columns = connection.execute("SELECT name, hidden FROM pragma_table_xinfo(?)", (name,))
            text = ", ".join(sorted(f"{column} {hidden}" for column, hidden in columns))
        found.add((kind, name, "" if kind == "index" else text))
    return found


def own_shape() -> set[tuple[str, ...]]:
    """Return those of a new archive."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.create(connection)
    found = shape(connection)
    connection.close()
    return found


def main() -> int:
    """Do what standard input says."""
    os.nice(POLITE)
    task = msgspec.json.decode(sys.stdin.buffer.readline(), type=Task)
    threading.Thread(target=watch, daemon=True).start()
    try:
        bring(task)
    except BackupError:
        return 1
    return 0


def watch() -> None:
    """End when whoever asked is gone."""
    # Not through the buffered file, whose lock would be held when the interpreter ends.
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(3)


if __name__ == "__main__":
    sys.exit(main())
