"""Pending ref updates of versions before the repository log."""

import pytest
from sqlalchemy import insert

from holdfast.hosting.store import events
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.commit_keys import IdempotencyKey, add_keys, find_key
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.pending_ref_updates import (
    PendingUpdate,
    delete_key_of,
    delete_pending,
    pending_updates,
    recorded_since,
)
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.repository_log import stored_name
from holdfast.hosting.store.tables import ref_updates
from tests.hosting.repository_helpers import make_repository

ONE, TWO = "1" * 40, "2" * 40
NOT_TEXT = b"refs/heads/caf\xe9".decode(errors="surrogateescape")


@pytest.fixture
def pending(database: Database, repository: Repository, ada: Account) -> list[PendingUpdate]:
    """Insert pending updates of two repositories, those of the second one first."""
    other = make_repository(database, ada, "other")
    rows = [
        {
            "repository_id": number,
            "actor_id": actor,
            "ref": stored_name(ref),
            "old": ONE,
            "new": TWO,
            "created_at": 9,
        }
        for number, actor, ref in (
            (other.id, None, "refs/heads/b"),
            (repository.id, ada.id, NOT_TEXT),
            (repository.id, ada.id, "refs/heads/a"),
        )
    ]
    with database.write() as connection:
        connection.execute(insert(ref_updates), rows)
    return pending_updates(database)


def test_pending_updates_are_listed_by_repository_and_oldest_first(
    pending: list[PendingUpdate], repository: Repository, ada: Account
) -> None:
    """A listed update has its actor, its time and the name of the ref, which need not be valid UTF-8."""
    assert [item.update.ref for item in pending] == [NOT_TEXT, "refs/heads/a", "refs/heads/b"]
    assert pending[0].update == RefUpdate(NOT_TEXT, ONE, TWO)
    assert (pending[0].repository_id, pending[0].actor_id, pending[0].created_at) == (repository.id, ada.id, 9)
    assert pending[2].actor_id is None


def test_only_those_given_are_deleted(database: Database, pending: list[PendingUpdate]) -> None:
    """Deleting some pending updates keeps the others."""
    with database.write() as connection:
        delete_pending(connection, pending[:2])
    assert pending_updates(database) == pending[2:]


def test_updates_with_an_event_since_a_time_are_known(database: Database, repository: Repository) -> None:
    """Updates with a push or delete event in the repository since a time are returned, and no others."""
    about = {"owner_id": repository.owner.id, "actor_id": None}

    def record(kind: str, ref: str, *, now: int, number: int = repository.id) -> None:
        with database.quick_write() as link:
            details = {"ref": ref, "before": ONE, "after": TWO}
            events.record(link, kind, repository_id=number, **about, details=details, now=now)

    record("push", "refs/heads/early", now=99)
    record("push", "refs/heads/a", now=100)
    record("delete", "refs/heads/b", now=101)
    record("create", "refs/heads/c", now=101)
    found_ref_updates = recorded_since(database, repository.id, 100)
    assert found_ref_updates == {RefUpdate("refs/heads/a", ONE, TWO), RefUpdate("refs/heads/b", ONE, TWO)}
    assert recorded_since(database, repository.id + 1, 0) == set()


def test_the_key_of_an_update_that_did_not_happen_is_free_again(
    database: Database, repository: Repository, ada: Account, pending: list[PendingUpdate]
) -> None:
    """The idempotency key of that ref and commit is deleted, and other keys are kept."""
    lost, stored, other = (IdempotencyKey(ada.id, name, "f") for name in ("lost", "kept", "other"))
    created = [
        (lost, RefUpdate("refs/heads/a", ONE, TWO)),
        (stored, RefUpdate("refs/heads/a", ONE, "3" * 40)),
        (other, RefUpdate("refs/heads/z", ONE, TWO)),
    ]
    with database.quick_write() as link:
        add_keys(link, repository, created)
    with database.write() as connection:
        delete_key_of(connection, pending[1])
    assert [find_key(database, repository, key) is None for key in (lost, stored, other)] == [True, False, False]
