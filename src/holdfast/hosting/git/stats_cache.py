"""A persistent cache of line counts between two trees, in a SQLite file in the repository's folder.

The counts never change, and those of a large commit take seconds. The file can be deleted at any time: missing,
locked or damaged counts are computed again.
"""

import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from holdfast.hosting.git.history_cache import SECONDS, forget

__all__ = ["Counts", "Pair", "load", "save"]

Pair = tuple[str, str]
"""The ids of two trees."""
Counts = tuple[int, int, int]
"""Added lines, deleted lines, and changed files."""

PLACE: Final = Path("holdfast") / "line-counts.sqlite"
KEPT: Final = 200_000
TABLE: Final = """
CREATE TABLE IF NOT EXISTS counts (
    number INTEGER PRIMARY KEY, old TEXT NOT NULL, new TEXT NOT NULL,
    additions INTEGER NOT NULL, deletions INTEGER NOT NULL, files INTEGER NOT NULL, UNIQUE (old, new)
)"""
FIND: Final = "SELECT additions, deletions, files FROM counts WHERE old = ? AND new = ?"
KEEP: Final = "INSERT OR REPLACE INTO counts (old, new, additions, deletions, files) VALUES (?, ?, ?, ?, ?)"


def load(folder: Path, pairs: Collection[Pair]) -> dict[Pair, Counts]:
    """Return the cached counts."""
    file = folder / PLACE
    counts_by_pair: dict[Pair, Counts] = {}
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=SECONDS)) as connection:
            for pair in pairs:
                row = connection.execute(FIND, pair).fetchone()
                if row is not None:
                    counts_by_pair[pair] = row
    except sqlite3.OperationalError:
        return {}
    except sqlite3.Error:
        forget(file)
        return {}
    return counts_by_pair


def save(folder: Path, counted: Mapping[Pair, Counts]) -> None:
    """Store counts, and evict the oldest beyond the limit."""
    file = folder / PLACE
    try:
        file.parent.mkdir(mode=0o700, exist_ok=True)
        with closing(sqlite3.connect(file, timeout=SECONDS)) as connection, connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(TABLE)
            connection.executemany(KEEP, [(*pair, *counts) for pair, counts in counted.items()])
            connection.execute("DELETE FROM counts WHERE number <= (SELECT max(number) FROM counts) - ?", (KEPT,))
    except sqlite3.OperationalError:
        # Busy, full or read-only: the counts are returned without being cached.
        return
    except (sqlite3.Error, OSError):
        forget(file)
