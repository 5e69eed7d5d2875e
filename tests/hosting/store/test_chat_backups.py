"""Uploaded chat backups in the database."""

import pytest
from sqlalchemy import func, select

from holdfast.hosting.errors import GoneMeanwhile, NoSuchChatBackup, TooManyAtOnce
from holdfast.hosting.store import chat_backups as store
from holdfast.hosting.store import chat_uploads
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.chat_backups import ChatBackup
from holdfast.hosting.store.chat_uploads import NewUpload, NewUploadFile
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import chat_backup_files, chat_backup_parts, chat_backup_shares, chat_backups
from tests.hosting.repository_helpers import make_people

LIMITS = {"most_bytes": 10**9, "most_backups": 100}


@pytest.fixture
def people(database: Database) -> list[Account]:
    """Make three users."""
    return make_people(database, "ada", "bob", "eve")


def added(database: Database, owner: Account, uuid: str, *, done: bool = True) -> ChatBackup:
    """Add a backup with two files, the first in two parts, which are added in another order than they are read."""
    files = [NewUploadFile("d/b", 5), NewUploadFile("d/a", 1)]
    upload = chat_uploads.add_upload(database, owner, NewUpload(uuid, "d", True, uuid, files), **LIMITS)
    first, second = store.files_of(database, upload)
    chat_uploads.add_part(database, upload, second, start=0, size=1, uuid=f"{uuid}z")
    chat_uploads.add_part(database, upload, first, start=0, size=3, uuid=f"{uuid}y")
    chat_uploads.add_part(database, upload, first, start=3, size=2, uuid=f"{uuid}x")
    return chat_uploads.complete_upload(database, upload, kind="plain") if done else upload


def test_files_and_parts_come_in_their_order(database: Database, people: list[Account]) -> None:
    """Files are listed in the order of the upload, and parts by their offset."""
    backup = added(database, people[0], "u")
    assert store.find_backup(database, "u") == store.find_by_id(database, backup.id) == backup
    files = store.files_of(database, backup)
    assert [(file.position, file.path, file.size, file.received) for file in files] == [
        (0, "d/b", 5, 5),
        (1, "d/a", 1, 1),
    ]
    parts = store.parts_of(database, backup)
    assert [(part.start, part.size, part.uuid) for part in parts[files[0].id]] == [(0, 3, "uy"), (3, 2, "ux")]
    assert [part.uuid for part in parts[files[1].id]] == ["uz"]
    assert store.existing_parts(database, ["uy", "other", "uz"]) == {"uy", "uz"}
    with pytest.raises(NoSuchChatBackup):
        store.find_backup(database, "U")
    with pytest.raises(NoSuchChatBackup):
        store.find_by_id(database, 10**9)


def test_lists_have_what_belongs_in_them(database: Database, people: list[Account]) -> None:
    """Owned backups are listed newest first in any state, shared ones only when they are complete."""
    ada, bob, eve = people
    chat_backup, two = added(database, ada, "one"), added(database, ada, "two", done=False)
    assert [backup.id for backup in store.list_owned(database, ada)] == [two.id, chat_backup.id]
    assert store.list_owned(database, bob) == []
    for backup in (chat_backup, two):
        store.add_share(database, backup, bob, most=5)
    assert [(backup.id, owner.name) for backup, owner in store.list_shared(database, bob)] == [
        (chat_backup.id, "ada")
    ]
    assert store.list_shared(database, eve) == []
    assert store.list_shared(database, ada) == []
    with database.read() as connection:
        assert store.used_by(connection, ada) == (2, 12)
        assert store.used_by(connection, bob) == (0, 0)
    rows, count, size = store.list_all(database, skip=1, limit=5)
    assert ([backup.id for backup, _ in rows], count, size) == ([chat_backup.id], 2, 12)


def test_a_deleted_backup_takes_all_its_rows(database: Database, people: list[Account]) -> None:
    """Deleting a backup returns the ids of its parts and deletes its files, parts and shares."""
    ada, bob, eve = people
    backup, other = added(database, ada, "u"), added(database, ada, "v")
    store.add_share(database, backup, bob, most=5)
    store.add_share(database, other, bob, most=5)
    assert sorted(store.delete_backup(database, backup)) == ["ux", "uy", "uz"]
    assert store.delete_backup(database, backup) == []
    with database.read() as connection:
        counts = [
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (chat_backups, chat_backup_files, chat_backup_parts, chat_backup_shares)
        ]
    assert counts == [1, 2, 3, 1]
    with pytest.raises(NoSuchChatBackup):
        store.rename_backup(database, backup, "x")
    with pytest.raises(GoneMeanwhile):
        store.add_share(database, backup, eve, most=5)


def test_shares_are_counted_and_revoked(database: Database, people: list[Account]) -> None:
    """Sharing twice with a user counts once, and revoking a share leaves those of other users and backups."""
    ada, bob, eve = people
    backup, other = added(database, ada, "u"), added(database, ada, "v")
    for user in (eve, bob, bob):
        store.add_share(database, backup, user, most=2)
    assert [user.name for user in store.shares_of(database, backup)] == ["bob", "eve"]
    assert [store.is_shared_with(database, item, bob.id) for item in (backup, other)] == [True, False]
    with pytest.raises(TooManyAtOnce):
        store.add_share(database, backup, ada, most=2)
    store.add_share(database, other, bob, most=1)
    store.remove_share(database, backup, bob.id)
    store.remove_share(database, backup, bob.id)
    assert [user.name for user in store.shares_of(database, backup)] == ["eve"]
    assert store.is_shared_with(database, other, bob.id)
    renamed = store.rename_backup(database, backup, "new")
    assert (renamed.name, renamed.id) == ("new", backup.id)
    assert store.find_backup(database, "v").name == "d"
