"""Git LFS in the database: objects of repositories, leases of uploads, and locks."""

import time

import msgspec
import pytest

from holdfast.hosting.errors import GoneMeanwhile, LockTaken, NoSuchLock
from holdfast.hosting.store import lfs
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from tests.hosting.repository_helpers import make_people, make_repository

ONE, TWO, THREE = "1" * 64, "2" * 64, "3" * 64


def test_objects_are_linked_to_a_repository_once(database: Database, repository: Repository, ada: Account) -> None:
    """Linking an object twice to a repository links it once, and to no other repository."""
    assert not lfs.has_links(database, repository)
    lfs.link(database, repository, ONE, 10)
    lfs.link(database, repository, ONE, 10)
    lfs.link(database, repository, TWO, 0)
    assert lfs.linked_sizes(database, repository, [ONE, TWO, THREE]) == {ONE: 10, TWO: 0}
    assert lfs.has_links(database, repository)
    linked_at = lfs.linked_at(database, repository, ONE)
    assert linked_at is not None
    assert abs(linked_at - time.time()) < 60
    other = make_repository(database, ada, "other")
    assert lfs.linked_sizes(database, other, [ONE]) == {}
    assert lfs.linked_at(database, other, ONE) is None
    with database.write() as connection:
        lfs.remove_links(connection, other, [ONE])
        lfs.remove_links(connection, repository, [TWO])
    assert lfs.linked_sizes(database, repository, [ONE, TWO]) == {ONE: 10}


def test_no_object_is_linked_to_a_deleted_repository(database: Database, repository: Repository) -> None:
    """Linking an object to a repository that was deleted during the upload raises GoneMeanwhile."""
    gone = msgspec.structs.replace(repository, id=999_999)
    with pytest.raises(GoneMeanwhile, match="was deleted in the meantime"):
        lfs.link(database, gone, ONE, 1)


def test_only_objects_that_nobody_has_or_uploads_can_be_removed(
    database: Database, repository: Repository
) -> None:
    """An object that is being removed cannot be uploaded until the removal is over."""
    lfs.link(database, repository, ONE, 1)
    assert lfs.claim_upload(database, TWO, seconds=60)
    assert lfs.claim_upload(database, TWO, seconds=60)
    now = time.time()
    assert lfs.claim_unlinked(database, [ONE, TWO, THREE], seconds=60, now=now) == [THREE]
    assert not lfs.claim_upload(database, THREE, seconds=60)
    # An object that turned out to be linked is not held.
    assert lfs.claim_upload(database, ONE, seconds=60)
    lfs.release_unlinked(database, [TWO, THREE])
    assert lfs.claim_upload(database, THREE, seconds=60)
    assert lfs.claim_unlinked(database, [TWO], seconds=60, now=now) == []


def test_objects_of_another_repository_are_kept_while_they_are_about_to_be_linked(
    database: Database, repository: Repository
) -> None:
    """Objects that it has not, and those that are being removed, are not claimed."""
    four = "4" * 64
    for oid in (TWO, ONE):
        lfs.link(database, repository, oid, int(oid[0]))
    assert lfs.claim_unlinked(database, [THREE, four], seconds=60) == [THREE, four]
    lfs.link(database, repository, four, 4)
    assert lfs.claim_linked(database, repository, [ONE, TWO, THREE, four], seconds=60) == {ONE: 1, TWO: 2}
    assert lfs.claim_linked(database, repository, [ONE], seconds=60) == {ONE: 1}
    with database.write() as connection:
        lfs.remove_links(connection, repository, [ONE, TWO])
    assert lfs.claim_unlinked(database, [ONE, TWO], seconds=60) == []
    assert lfs.claim_linked(database, repository, [ONE], seconds=60) == {}
    assert lfs.claim_unlinked(database, [ONE, TWO], seconds=60, now=time.time() + 61) == [ONE, TWO]


def test_leases_end_by_themselves(database: Database) -> None:
    """The lease of a process that was killed expires, and is then taken again or deleted."""
    assert lfs.claim_unlinked(database, [ONE], seconds=60, now=1000) == [ONE]
    assert lfs.claim_unlinked(database, [ONE], seconds=60, now=1059) == []
    assert lfs.claim_unlinked(database, [ONE], seconds=60, now=1060) == [ONE]
    for now, expected in ((1119, []), (1120, [ONE])):
        with database.write() as connection:
            lfs.delete_expired_leases(database, connection, now=now)
        assert lfs.claim_unlinked(database, [ONE], seconds=60, now=1090) == expected


def test_a_path_is_locked_once(database: Database, repository: Repository, ada: Account) -> None:
    """A path can be locked once in each repository until its lock is removed."""
    (bob,) = make_people(database, "bob")
    first = lfs.add_lock(database, repository, "a.bin", ada)
    assert (first.path, first.owner_id, first.owner) == ("a.bin", ada.id, ada.name)
    with pytest.raises(LockTaken, match="already created lock"):
        lfs.add_lock(database, repository, "a.bin", bob)
    lfs.add_lock(database, make_repository(database, ada, "other"), "a.bin", bob)
    lfs.remove_lock(database, first)
    assert lfs.add_lock(database, repository, "a.bin", bob).owner == "bob"


def test_locks_are_listed_in_pages(database: Database, repository: Repository, ada: Account) -> None:
    """Locks are listed oldest first in pages, and found by path or by id in their repository only."""
    locks = [lfs.add_lock(database, repository, f"{number}.bin", ada) for number in range(3)]
    assert lfs.locks_of(database, repository, limit=2) == locks[:2]
    assert lfs.locks_of(database, repository, after=locks[1].id, limit=2) == locks[2:]
    assert lfs.locks_of(database, repository, path="1.bin", limit=9) == locks[1:2]
    assert lfs.find_lock(database, repository, locks[2].id) == locks[2]
    other = make_repository(database, ada, "other")
    assert lfs.locks_of(database, other, limit=9) == []
    with pytest.raises(NoSuchLock):
        lfs.find_lock(database, other, locks[0].id)
