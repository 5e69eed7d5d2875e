"""Which snapshots an archive has of an account, and which of two is the later one.

Everything that changes is decided by the time a backup was made, never by the order of imports; backups made at
the same time are ordered by their content.
"""

import sqlite3
from dataclasses import dataclass, field

from holdfast.redacted_repr import redacted

__all__ = ["Snapshots"]


@redacted
@dataclass(slots=True)
class Snapshots:
    """The snapshots of one account, and `current`, which is being imported; `newest` is the one before that."""

    account: int
    current: int
    newest: int | None = None
    order: dict[int, tuple[int, str]] = field(default_factory=dict)

    @classmethod
    def read(
        cls, connection: sqlite3.Connection, account: int, current: int, made_ms: int, digest: str
    ) -> "Snapshots":
        """Read those that are there and add the one that is coming."""
        rows = connection.execute("SELECT id, made_ms, digest FROM snapshot WHERE account_id = ?", (account,))
        order = {number: (made_at, content) for number, made_at, content in rows if number != current}
        newest = max(order, key=order.__getitem__, default=None)
        order[current] = (made_ms, digest)
        return cls(account, current, newest, order)

    @classmethod
    def of(cls, connection: sqlite3.Connection, account: int) -> "Snapshots":
        """Read those that are there, while none is imported; the latest stands for the current one."""
        rows = connection.execute("SELECT id, made_ms, digest FROM snapshot WHERE account_id = ?", (account,))
        order = {number: (made_at, content) for number, made_at, content in rows}
        return cls(account, max(order, key=order.__getitem__), None, order)

    @property
    def is_only(self) -> bool:
        """Whether the account has no other snapshot."""
        return self.newest is None

    @property
    def is_newest(self) -> bool:
        """Whether the current one is the latest of all."""
        return self.newest is None or self.order[self.current] > self.order[self.newest]

    @property
    def latest(self) -> int:
        """The latest of all, the current one included."""
        return self.current if self.is_newest or self.newest is None else self.newest

    def earlier(self, first: int, second: int) -> int:
        """Return the earlier of two."""
        return first if self.order[first] <= self.order[second] else second

    def later(self, first: int, second: int) -> int:
        """Return the later of two."""
        return second if self.order[first] <= self.order[second] else first

    def last_seen_value(self, last: int) -> int | None:
        """Write a last appearance as the tables do: empty while the latest snapshot has the thing."""
        return None if last == self.latest else last
