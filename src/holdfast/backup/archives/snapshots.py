"""The snapshots of an account and their order.

All conflicts are resolved by the time a backup was made, never by the order of imports; backups of the same time
are ordered by their digest.
"""

import sqlite3
from dataclasses import dataclass, field

from holdfast.redacted_repr import redacted

__all__ = ["Snapshots"]


@redacted
@dataclass(slots=True)
class Snapshots:
    """The snapshots of an account; `current` is being imported, `newest` is the newest of the others."""

    account: int
    current: int
    newest: int | None = None
    order: dict[int, tuple[int, str]] = field(default_factory=dict)

    @classmethod
    def read(
        cls, connection: sqlite3.Connection, account: int, current: int, made_ms: int, digest: str
    ) -> "Snapshots":
        """Load the stored snapshots and add the one being imported."""
        rows = connection.execute("SELECT id, made_ms, digest FROM snapshot WHERE account_id = ?", (account,))
        order = {number: (made_at, content) for number, made_at, content in rows if number != current}
        newest = max(order, key=order.__getitem__, default=None)
        order[current] = (made_ms, digest)
        return cls(account, current, newest, order)

    @classmethod
    def of(cls, connection: sqlite3.Connection, account: int) -> "Snapshots":
        """Load the stored snapshots while none is imported; the latest is the current one."""
        rows = connection.execute("SELECT id, made_ms, digest FROM snapshot WHERE account_id = ?", (account,))
        order = {number: (made_at, content) for number, made_at, content in rows}
        return cls(account, max(order, key=order.__getitem__), None, order)

    @property
    def is_only(self) -> bool:
        """Whether the account has no other snapshot."""
        return self.newest is None

    @property
    def is_newest(self) -> bool:
        """Whether the current snapshot is the latest."""
        return self.newest is None or self.order[self.current] > self.order[self.newest]

    @property
    def latest(self) -> int:
        """The latest snapshot, including the current one."""
        return self.current if self.is_newest or self.newest is None else self.newest

    def earlier(self, first: int, second: int) -> int:
        """Return the earlier of two snapshots."""
        return first if self.order[first] <= self.order[second] else second

    def later(self, first: int, second: int) -> int:
        """Return the later of two snapshots."""
        return second if self.order[first] <= self.order[second] else first

    def last_seen_value(self, last: int) -> int | None:
        """Return the value of a `last_seen` column: NULL for the latest snapshot."""
        return None if last == self.latest else last
