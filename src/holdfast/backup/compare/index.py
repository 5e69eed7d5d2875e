"""On-disk index that matches the messages of two backups.

Each message has a row with its chat, author, time and a fingerprint of its bytes. `match` is a merge join of both
sides in sorted order; memory holds a few bytes per message.
"""

import sqlite3
from array import array
from collections.abc import Iterable, Iterator
from itertools import groupby
from types import TracebackType
from typing import Final, Literal, NamedTuple, Self

from holdfast.backup.wire.renumber import Numbered
from holdfast.redacted_repr import redacted

__all__ = ["UNMATCHED", "MessageGroup", "MessageIndex", "Side"]

Side = Literal["before", "after"]
CACHE_KB: Final = 32 * 1024
UNMATCHED: Final = -1
# SQLite's largest integer. A later time is invalid and wraps to a negative number, distinct from all others.
LARGEST: Final = (1 << 63) - 1
WRAP: Final = 1 << 64
SCHEMA: Final = """
CREATE TABLE before (n INTEGER PRIMARY KEY, chat INT, author INT, origin INT, fingerprint INT);
CREATE TABLE after (n INTEGER PRIMARY KEY, chat INT, author INT, origin INT, fingerprint INT);
CREATE TABLE change (chat INT, origin INT, before INT, after INT);
CREATE TABLE postponed (group_number INT, chat INT, author INT, origin INT, side INT, n INT);
CREATE TABLE stored (side INT, n INT, raw BLOB, PRIMARY KEY (side, n)) WITHOUT ROWID;
"""
INSERT: Final = {side: f"INSERT INTO {side} VALUES (?, ?, ?, ?, ?)" for side in ("before", "after")}  # noqa: S608  # our own names
SORTED: Final = "SELECT chat, author, origin, fingerprint, n FROM {} ORDER BY chat, author, origin, fingerprint, n"
COUNTED: Final = "SELECT chat, count(*) FROM {} GROUP BY chat"


@redacted
class MessageGroup(NamedTuple):
    """Unmatched messages of one chat, author and time, by their positions in the two backups."""

    chat: int
    author: int
    origin: int
    before: tuple[int, ...]
    after: tuple[int, ...]


class MessageIndex:
    """Fingerprints of the messages of two backups, in a temporary database that is deleted on close."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect("", isolation_level=None)
        self._connection.executescript(
            f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-{CACHE_KB}; {SCHEMA}"
        )
        self._connection.execute("BEGIN")
        self.before = array("i")
        self.after = array("i")
        self._postponed = 0

    def add(self, side: Side, blocks: Iterable[list[Numbered]]) -> None:
        """Add the messages of one backup."""
        matches = self.before if side == "before" else self.after
        for block in blocks:
            start = len(matches)
            matches.extend([UNMATCHED] * len(block))
            # Python's hash of bytes differs between processes; it is only compared within this one.
            self._connection.executemany(
                INSERT[side],
                (
                    (n, chat, author, origin if origin <= LARGEST else origin - WRAP, hash(raw))
                    for n, (_frame, chat, author, _sent, origin, _received, raw) in enumerate(block, start)
                ),
            )

    def match(self) -> Iterator[MessageGroup]:
        """Record equal messages in `before` and `after`, and yield the unmatched ones in groups, chat by chat.

        A merge join: both sides are sorted by chat, author, time and fingerprint.
        """
        first, second = (iter(self._connection.execute(SORTED.format(side))) for side in ("before", "after"))
        before, after = self.before, self.after
        key: tuple[int, int, int] | None = None
        left: list[int] = []
        right: list[int] = []
        old, new = next(first, None), next(second, None)
        while old is not None or new is not None:
            if old is not None and new is not None and old[:4] == new[:4]:
                before[old[4]] = new[4]
                after[new[4]] = old[4]
                old, new = next(first, None), next(second, None)
                continue
            earlier = new is None or (old is not None and old < new)
            row = old if earlier else new
            assert row is not None  # noqa: S101  # one of the two is there
            if row[:3] != key:
                if key is not None:
                    yield MessageGroup(*key, tuple(sorted(left)), tuple(sorted(right)))
                key, left, right = row[:3], [], []
            if earlier:
                left.append(row[4])
                old = next(first, None)
            else:
                right.append(row[4])
                new = next(second, None)
        if key is not None:
            yield MessageGroup(*key, tuple(sorted(left)), tuple(sorted(right)))

    def join(self, before: int, after: int) -> None:
        """Record that two messages match."""
        self.before[before] = after
        self.after[after] = before

    def keep(self, side: Side, selected: bytes | bytearray, blocks: Iterable[list[Numbered]]) -> None:
        """Store the bytes of the messages whose positions are marked in `selected`."""
        number = int(side == "after")
        n = 0
        for block in blocks:
            rows = [(number, n + at, item[-1]) for at, item in enumerate(block) if selected[n + at]]
            self._connection.executemany("INSERT INTO stored VALUES (?, ?, ?)", rows)
            n += len(block)

    def postpone(self, group: MessageGroup) -> None:
        """Queue a group until the bytes of its messages are stored."""
        self._postponed += 1
        head = (self._postponed, group.chat, group.author, group.origin)
        rows = [*((*head, 0, n) for n in group.before), *((*head, 1, n) for n in group.after)]
        self._connection.executemany("INSERT INTO postponed VALUES (?, ?, ?, ?, ?, ?)", rows)

    def postponed(self) -> Iterator[MessageGroup]:
        """Yield the queued groups in the order of `postpone`."""
        rows = self._connection.execute(
            "SELECT group_number, chat, author, origin, side, n FROM postponed ORDER BY rowid"
        )
        for (_group_number, chat, author, origin), members in groupby(rows, key=lambda row: row[:4]):
            sides: tuple[list[int], list[int]] = ([], [])
            for *_head, side, n in members:
                sides[side].append(n)
            yield MessageGroup(chat, author, origin, tuple(sides[0]), tuple(sides[1]))

    def add_change(self, group: MessageGroup, before: int | None, after: int | None) -> None:
        """Record a message that is added, removed or changed."""
        self._connection.execute(
            "INSERT INTO change VALUES (?, ?, ?, ?)", (group.chat, group.origin, before, after)
        )

    def changes(self) -> Iterator[tuple[int, int | None, int | None]]:
        """Yield the recorded changes by chat and time: the chat, and the positions on both sides."""
        return self._connection.execute(
            "SELECT chat, before, after FROM change ORDER BY chat, origin, before, after"
        )

    def raw(self, side: Side, n: int) -> bytes:
        """Return the bytes of a stored message."""
        row = self._connection.execute(
            "SELECT raw FROM stored WHERE side = ? AND n = ?", (int(side == "after"), n)
        ).fetchone()
        raw: bytes = row[0]
        return raw

    def replace(self, n: int, raw: bytes) -> None:
        """Replace the bytes of a stored message of the later side."""
        self._connection.execute("UPDATE stored SET raw = ? WHERE side = 1 AND n = ?", (raw, n))

    def counts(self, side: Side) -> dict[int, int]:
        """Count the messages of each chat."""
        return dict(self._connection.execute(COUNTED.format(side)))

    def close(self) -> None:
        """Close and delete the database."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
