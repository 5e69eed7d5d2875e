"""The lease of a backup, which prevents the deletion of objects."""

import pytest

from holdfast.hosting.storage import backup_lease as module
from holdfast.hosting.storage.backup_lease import backup_lease, is_backup_running
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.leases import take_lease


def test_a_backup_is_running_until_the_last_one_ends(database: Database) -> None:
    """Nested backups count until the last one ends, and leases of other kinds do not count."""
    take_lease(database, "compaction 1", "me", seconds=60)
    assert not is_backup_running(database)
    with backup_lease(database):
        with backup_lease(database):
            assert is_backup_running(database)
        assert is_backup_running(database)
    assert not is_backup_running(database)


def test_a_backup_that_was_killed_blocks_until_its_lease_expires(database: Database) -> None:
    """A lease that was not released counts until it expires."""
    take_lease(database, f"{module.PREFIX}dead", "dead", seconds=0)
    assert not is_backup_running(database)
    take_lease(database, f"{module.PREFIX}dead", "dead", seconds=60)
    assert is_backup_running(database)


def test_a_long_backup_renews_its_lease(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The function that the context yields renews the lease."""
    monkeypatch.setattr(module, "LEASE_SECONDS", 0)
    monkeypatch.setattr(module, "RENEW_SECONDS", -1)
    with backup_lease(database) as renew:
        assert not is_backup_running(database)
        monkeypatch.setattr(module, "LEASE_SECONDS", 60)
        renew()
        assert is_backup_running(database)
