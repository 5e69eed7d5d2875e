"""Chat uploads in progress in the database."""

import time

import pytest

from holdfast.hosting.errors import (
    ChatStorageFull,
    GoneMeanwhile,
    NoSuchChatBackup,
    TooManyAtOnce,
    UploadIncomplete,
    UploadOffsetConflict,
)
from holdfast.hosting.store import account_administration, chat_backups, chat_uploads
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.chat_backups import ChatBackup
from holdfast.hosting.store.chat_uploads import NewUpload, NewUploadFile
from holdfast.hosting.store.database import Database
from tests.hosting.repository_helpers import make_people


@pytest.fixture
def ada(database: Database) -> Account:
    """Make a user."""
    (user,) = make_people(database, "ada")
    return user


def begin(
    database: Database, owner: Account, uuid: str, *, sizes: tuple[int, ...] = (10,), like: str = ""
) -> ChatBackup:
    """Begin an upload."""
    files = [NewUploadFile(f"{number}", size) for number, size in enumerate(sizes)]
    new = NewUpload(uuid, "name", False, like or uuid, files)
    return chat_uploads.add_upload(database, owner, new, most_bytes=30, most_backups=2)


def test_an_upload_is_found_by_its_fingerprint_until_it_is_complete(database: Database, ada: Account) -> None:
    """A second upload of the same files resumes the first one, even at the limit; other users get their own.

    When the first one is complete, the same files begin a new upload.
    """
    first = begin(database, ada, "one", sizes=(20, 10), like="same")
    assert first.size == 30
    assert begin(database, ada, "two", sizes=(20, 10), like="same") == first
    (bob,) = make_people(database, "bob")
    other = begin(database, bob, "three", like="same")
    assert other.uuid == "three"
    file = chat_uploads.find_file(database, other, 0)
    chat_uploads.add_part(database, other, file, start=0, size=10, uuid="a")
    chat_uploads.complete_upload(database, other, kind="plain")
    assert begin(database, bob, "five", like="same").uuid == "five"
    with pytest.raises(ChatStorageFull) as excinfo:
        begin(database, ada, "four", sizes=(1,))
    assert (excinfo.value.limit, excinfo.value.used) == (30, 30)


def test_there_is_a_limit_of_bytes_and_of_backups(database: Database, ada: Account) -> None:
    """An upload beyond the limit of backups or of bytes is refused."""
    begin(database, ada, "one")
    begin(database, ada, "two")
    with pytest.raises(TooManyAtOnce):
        begin(database, ada, "three")
    with pytest.raises(ChatStorageFull):
        begin(database, ada, "four", sizes=(11,))


def test_a_part_is_added_where_the_file_ends(database: Database, ada: Account) -> None:
    """A part is added only at the end of its file, and an upload is complete only with all its parts."""
    upload = begin(database, ada, "one", sizes=(10, 4))
    file = chat_uploads.find_file(database, upload, 0)
    assert chat_uploads.add_part(database, upload, file, start=0, size=6, uuid="a") == 6
    with pytest.raises(UploadOffsetConflict) as excinfo:
        chat_uploads.add_part(database, upload, file, start=0, size=6, uuid="b")
    assert excinfo.value.expected == 6
    assert chat_backups.existing_parts(database, ["a", "b"]) == {"a"}
    with pytest.raises(UploadIncomplete):
        chat_uploads.complete_upload(database, upload, kind="plain")
    assert chat_backups.find_backup(database, "one").state == "uploading"
    chat_uploads.add_part(database, upload, file, start=6, size=4, uuid="c")
    with pytest.raises(UploadIncomplete):
        chat_uploads.complete_upload(database, upload, kind="plain")
    other = chat_uploads.find_file(database, upload, 1)
    chat_uploads.add_part(database, upload, other, start=0, size=4, uuid="d")
    done = chat_uploads.complete_upload(database, upload, kind="plain")
    assert (done.state, done.kind) == ("complete", "plain")
    for attempt in (
        lambda: chat_uploads.complete_upload(database, upload, kind="sealed"),
        lambda: chat_uploads.add_part(database, upload, other, start=4, size=1, uuid="e"),
        lambda: chat_uploads.find_file(database, upload, 2),
    ):
        with pytest.raises(NoSuchChatBackup):
            attempt()


def test_uploads_without_a_part_for_long_are_found(database: Database, ada: Account) -> None:
    """Uploads without a new part since a given time are returned, and complete ones are not."""
    upload, done = begin(database, ada, "one"), begin(database, ada, "two", sizes=(0,))
    chat_uploads.complete_upload(database, done, kind="plain")
    now = int(time.time())
    assert chat_uploads.expired_uploads(database, before=now - 60) == []
    assert [chat_backup.uuid for chat_backup in chat_uploads.expired_uploads(database, before=now + 60)] == ["one"]
    chat_backups.delete_backup(database, upload)
    assert chat_uploads.expired_uploads(database, before=now + 60) == []


def test_a_deleted_user_cannot_begin_an_upload(database: Database, ada: Account) -> None:
    """A user who was deleted after logging in cannot start an upload."""
    account_administration.delete_user(database, ada, actor=ada)
    with pytest.raises(GoneMeanwhile):
        begin(database, ada, "one")
