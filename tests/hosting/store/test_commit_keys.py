"""Idempotency keys of commits."""

from dataclasses import replace

import pytest

from holdfast.hosting.errors import RefMoved
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.commit_keys import (
    RETENTION_SECONDS,
    IdempotencyKey,
    UsedKey,
    add_keys,
    delete_old,
    find_key,
)
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from tests.hosting.repository_helpers import make_people, make_repository

UPDATE = RefUpdate("refs/heads/main", "1" * 40, "2" * 40)


@pytest.fixture
def key(database: Database, repository: Repository, ada: Account) -> IdempotencyKey:
    """Use a key for a commit."""
    idempotency_key = IdempotencyKey(ada.id, "k1", "f1")
    with database.quick_write() as link:
        add_keys(link, repository, [(idempotency_key, UPDATE)])
    return idempotency_key


def test_a_used_key_leads_to_its_commit(database: Database, repository: Repository, key: IdempotencyKey) -> None:
    """A used idempotency key returns its commit and the fingerprint of the first request."""
    again = replace(key, fingerprint="f2")
    assert find_key(database, repository, again) == UsedKey("f1", "refs/heads/main", "2" * 40)


def test_a_key_belongs_to_a_user_and_a_repository(
    database: Database, repository: Repository, ada: Account, key: IdempotencyKey
) -> None:
    """Another user, and the same user in another repository, can use a key of the same name."""
    (bob,) = make_people(database, "bob")
    other = make_repository(database, ada, "other")
    assert find_key(database, repository, replace(key, user_id=bob.id)) is None
    assert find_key(database, repository, replace(key, name="k2")) is None
    assert find_key(database, other, key) is None
    with database.quick_write() as link:
        add_keys(link, other, [(key, UPDATE)])
        add_keys(link, repository, [(replace(key, user_id=bob.id), UPDATE)])
    assert find_key(database, other, key) is not None


def test_a_key_that_another_request_has_used_is_refused(
    database: Database, repository: Repository, key: IdempotencyKey
) -> None:
    """Adding a used key is refused, and the transaction is rolled back with its other keys."""
    new = replace(key, name="k2")
    with pytest.raises(RefMoved, match="used by another request"), database.quick_write() as link:
        add_keys(link, repository, [(new, UPDATE), (key, UPDATE)])
    assert find_key(database, repository, new) is None


def test_keys_are_deleted_when_their_retention_is_over(
    database: Database, repository: Repository, key: IdempotencyKey
) -> None:
    """An idempotency key is deleted when its retention is over, and kept before."""
    with database.quick_write() as link:
        delete_old(link)
    assert find_key(database, repository, key) is not None
    with database.quick_write() as link:
        delete_old(link, now=2**33 + RETENTION_SECONDS)
    assert find_key(database, repository, key) is None
