"""Display names of people and chats."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from holdfast.redacted_repr import redacted

__all__ = ["Names"]


@redacted
@dataclass(slots=True)
class Names:
    """The names of all recipients of an archive, cached in memory: there are thousands, not millions."""

    connection: sqlite3.Connection
    names: dict[int, str] = field(default_factory=dict)
    owners: set[int] = field(default_factory=set)
    by_service: dict[tuple[int, str], int] = field(default_factory=dict)
    accounts: dict[int, int] = field(default_factory=dict)
    # The ids and service ids that were looked up, while tracking is on.
    used: set[int | str] | None = None

    def __post_init__(self) -> None:
        owner_names = dict(self.connection.execute("SELECT id, name FROM account"))
        for number, account, kind, name in self.connection.execute(
            "SELECT id, account_id, kind, name FROM recipient"
        ):
            self.accounts[number] = account
            self.names[number] = owner_names[account] or "You" if kind == "self" else name
            if kind == "self":
                self.owners.add(number)
        for account, kind, value, number in self.connection.execute(
            "SELECT account_id, kind, value, recipient_id FROM identity WHERE kind IN ('aci', 'pni')"
        ):
            self.by_service[account, f"PNI:{value}" if kind == "pni" else value] = number
        for account, own in self.connection.execute("SELECT id, self_aci FROM account WHERE self_aci IS NOT NULL"):
            owner = next(
                (owner_id for owner_id in sorted(self.owners) if self.accounts[owner_id] == account), None
            )
            if owner is not None:
                self.by_service.setdefault((account, own), owner)

    def name(self, number: int) -> str:
        """Return the name of a recipient."""
        if self.used is not None:
            self.used.add(number)
        return self.names.get(number, "Unknown")

    def is_owner(self, number: int) -> bool:
        """Return whether a recipient is the owner of an account."""
        if self.used is not None:
            self.used.add(number)
        return number in self.owners

    def name_in_account(self, account: int, person: object) -> str | None:
        """Return a name by id or service id for sentences: empty for the owner, None if unknown."""
        key = person if isinstance(person, int) else str(person)
        if self.used is not None:
            self.used.add(key)
        number = key if isinstance(key, int) else self.by_service.get((account, key))
        if number is None or number not in self.names:
            return None
        return "" if number in self.owners else self.names[number]

    @contextmanager
    def track(self) -> Iterator[set[int | str]]:
        """Collect the ids that are looked up within a `with` block."""
        self.used = used = set[int | str]()
        try:
            yield used
        finally:
            self.used = None

    def lookup(self, account: int, person: int | str) -> tuple[str | None, bool]:
        """Return the name of a recipient and whether it is the owner, which is all that this class reveals."""
        number = person if isinstance(person, int) else self.by_service.get((account, person), -1)
        return self.names.get(number), number in self.owners
