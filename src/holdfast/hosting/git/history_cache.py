"""A persistent cache of last-commit results, in a SQLite file in the repository's folder.

It can be deleted at any time: missing, locked or damaged results are computed again.
"""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

__all__ = ["load", "save"]

PLACE: Final = Path("holdfast") / "last-commits.sqlite"
SECONDS: Final = 0.5
# Results per path are kept for the most recent commits, since the next one is usually a child of one of them.
KEPT_PER_PATH: Final = 4
KEPT: Final = 50_000
TIDY_EVERY: Final = 256
TABLE: Final = """
CREATE TABLE IF NOT EXISTS answers (
    number INTEGER PRIMARY KEY, path BLOB NOT NULL, start TEXT NOT NULL, answer BLOB NOT NULL, UNIQUE (path, start)
)"""
NEWEST: Final = "SELECT number FROM answers WHERE path = :path ORDER BY number DESC LIMIT :kept"


def load(folder: Path, path: bytes) -> dict[str, bytes]:
    """Return the cached results of a path, by commit."""
    file = folder / PLACE
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=SECONDS)) as connection:
            return dict(connection.execute("SELECT start, answer FROM answers WHERE path = ?", (path,)))
    except sqlite3.OperationalError:
        return {}
    except sqlite3.Error:
        forget(file)
        return {}


def save(folder: Path, path: bytes, start: str, answer: bytes) -> None:
    """Store a result, and evict older ones of the same path."""
    file = folder / PLACE
    try:
        file.parent.mkdir(mode=0o700, exist_ok=True)
        with closing(sqlite3.connect(file, timeout=SECONDS)) as connection, connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(TABLE)
            row = connection.execute(
                "INSERT OR REPLACE INTO answers VALUES (NULL, ?, ?, ?)", (path, start, answer)
            )
            number = row.lastrowid or 0
            newest = {"path": path, "kept": KEPT_PER_PATH}
            connection.execute(f"DELETE FROM answers WHERE path = :path AND number NOT IN ({NEWEST})", newest)  # noqa: S608  # a constant
            if number % TIDY_EVERY == 0:
                connection.execute("DELETE FROM answers WHERE number <= ?", (number - KEPT,))
    except sqlite3.OperationalError:
        # Busy, full or read-only: the result is returned without being cached.
        return
    except (sqlite3.Error, OSError):
        forget(file)


def forget(file: Path) -> None:
    """Delete a damaged cache file."""
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            file.with_name(file.name + suffix).unlink()
