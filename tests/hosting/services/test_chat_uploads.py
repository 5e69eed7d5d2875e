"""Uploads of chat backups: chunks, resumption, limits and expiry."""

import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    ChatStorageFull,
    InvalidField,
    InvalidValue,
    NoSuchChatBackup,
    StorageUnavailable,
    TooManyAtOnce,
    UploadIncomplete,
    UploadOffsetConflict,
    UploadOverrun,
)
from holdfast.hosting.services import chat_backups, chat_uploads, maintenance
from holdfast.hosting.services.chat_uploads import CHUNK_BYTES, IDLE_SECONDS, LEAST_BYTES, ChosenFile, ChosenFiles
from holdfast.hosting.store.chat_backups import ChatBackup
from holdfast.settings import Settings
from tests.hosting.repository_helpers import make_people
from tests.hosting.services.chat_backup_helpers import begun, send, uploaded
from tests.s3_server import S3Server, s3_server

MB = 2**20


@pytest.fixture
def ada(app: App) -> Actor:
    """Make a user."""
    (user,) = make_people(app.database, "ada")
    return Actor(user)


def read(app: App, actor: Actor, backup: ChatBackup, path: str) -> bytes:
    """Read a file of a backup."""
    content = chat_backups.content_of(app, actor, backup)
    with content.open(content.files[path]) as file:
        return file.read()


def received(app: App, actor: Actor, upload: ChatBackup) -> list[int]:
    """Return how much of each file has arrived."""
    return [file.received for file in chat_uploads.list_files(app, actor, upload.uuid)]


def test_an_interrupted_upload_is_resumed(app: App, ada: Actor) -> None:
    """An upload of the same files is resumed; other files, and the same files of another user, begin a new one."""
    content = os.urandom(3 * MB + 5)
    sizes = {"d/main": len(content), "d/empty": 0, "d/small": 3}
    first = begun(app, ada, "d", sizes, is_folder=True)
    assert send(app, ada, first, 0, 0, content[: 2 * MB]) == 2 * MB
    again = begun(app, ada, "d", sizes, is_folder=True)
    assert again == msgspec.structs.replace(first, updated_at=again.updated_at)
    assert received(app, ada, again) == [2 * MB, 0, 0]
    changed = [ChosenFile(path, size, modified=1) for path, size in sizes.items()]
    other = chat_uploads.begin(app, ada, ChosenFiles("d", changed, is_folder=True))
    assert other.uuid != first.uuid
    (bob,) = make_people(app.database, "bob")
    assert begun(app, Actor(bob), "d", sizes, is_folder=True).uuid != first.uuid
    with pytest.raises(UploadIncomplete):
        chat_uploads.require_complete(app, ada, first.uuid)
    with pytest.raises(UploadIncomplete):
        chat_uploads.complete(app, ada, first.uuid, kind="plain")
    send(app, ada, first, 0, 2 * MB, content[2 * MB :])
    send(app, ada, first, 2, 0, b"abc")
    chat_uploads.require_complete(app, ada, first.uuid)
    done = chat_uploads.complete(app, ada, first.uuid, kind="sealed")
    assert (done.state, done.kind, done.size, done.is_folder) == ("complete", "sealed", len(content) + 3, True)
    assert read(app, ada, done, "d/main") == content
    assert read(app, ada, done, "d/empty") == b""
    assert read(app, ada, done, "d/small") == b"abc"
    assert begun(app, ada, "d", sizes, is_folder=True).uuid != done.uuid
    for attempt in (
        lambda: send(app, ada, done, 2, 3, b""),
        lambda: chat_uploads.complete(app, ada, done.uuid, kind="plain"),
        lambda: send(app, Actor(bob), other, 0, 0, b"x"),
    ):
        with pytest.raises(NoSuchChatBackup):
            attempt()


def test_a_chunk_at_another_offset_is_refused_and_not_stored(app: App, ada: Actor) -> None:
    """The error has the expected offset; chunks that are too large or too small are refused as well."""
    upload = begun(app, ada, "x", {"x": 2 * MB})
    send(app, ada, upload, 0, 0, b"a" * MB)
    for offset in (0, 1, MB - 1, MB + 1, 2 * MB, 2**40):
        with pytest.raises(UploadOffsetConflict) as excinfo:
            send(app, ada, upload, 0, offset, b"b" * MB)
        assert excinfo.value.expected == MB
    with pytest.raises(UploadOverrun):
        send(app, ada, upload, 0, MB, b"b" * (MB + 1))
    with pytest.raises(InvalidValue):
        send(app, ada, upload, 0, MB, b"b" * (LEAST_BYTES - 1))
    with pytest.raises(InvalidValue):
        send(app, ada, upload, 0, MB, b"")
    for position in (-1, 1, 2**40):
        with pytest.raises(NoSuchChatBackup):
            send(app, ada, upload, position, 0, b"b")
    assert received(app, ada, upload) == [MB]
    assert len(list(chat_uploads.stored(app))) == 1
    send(app, ada, upload, 0, MB, b"b" * MB)
    done = chat_uploads.complete(app, ada, upload.uuid, kind="plain")
    assert read(app, ada, done, "x") == b"a" * MB + b"b" * MB


def test_of_two_that_send_the_same_chunk_one_is_refused(app: App, ada: Actor, tmp_path: Path) -> None:
    """Of four concurrent uploads of one chunk, one is stored, and the bytes of the others are deleted."""
    upload = begun(app, ada, "x", {"x": 3 * MB})
    (tmp_path / "chunk").write_bytes(b"c" * MB)
    start = threading.Barrier(4)
    results: list[object] = []

    def race() -> None:
        start.wait()
        try:
            path = tmp_path / "chunk"
            results.append(chat_uploads.add_chunk(app, ada, upload.uuid, 0, offset=0, path=path))
        except UploadOffsetConflict as error:
            results.append(f"expected {error.expected}")

    threads = [threading.Thread(target=race) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, results)) == [str(MB), *[f"expected {MB}"] * 3]
    assert len(list(chat_uploads.stored(app))) == 1


def test_the_bytes_of_a_chunk_whose_upload_was_cancelled_are_deleted(
    app: App, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk leaves no bytes if its upload is deleted after the bytes were stored and before the row was."""
    upload = begun(app, ada, "x", {"x": 3})
    put_file = app.store.put_file

    def cancel_after(key: str, source: Path) -> None:
        put_file(key, source)
        chat_backups.delete(app, ada, upload.uuid)

    monkeypatch.setattr(app.store, "put_file", cancel_after)
    with pytest.raises(NoSuchChatBackup):
        send(app, ada, upload, 0, 0, b"abc")
    assert list(chat_uploads.stored(app)) == []


def test_an_upload_beyond_the_limit_is_refused_before_it_begins(app: App, ada: Actor) -> None:
    """Uploads in progress and complete backups count towards the limit, and deleting one makes room."""
    app.settings = msgspec.structs.replace(app.settings, chat_storage_mb=3)
    uploaded(app, ada, "one", b"x" * MB)
    half = begun(app, ada, "half", {"half": MB})
    with pytest.raises(ChatStorageFull) as excinfo:
        begun(app, ada, "more", {"more": MB + 1})
    assert (excinfo.value.limit, excinfo.value.used) == (3 * MB, 2 * MB)
    last = begun(app, ada, "more", {"more": MB})
    with pytest.raises(ChatStorageFull):
        begun(app, ada, "drop", {"drop": 1})
    chat_backups.delete(app, ada, half.uuid)
    assert begun(app, ada, "drop", {"drop": 1}).uuid != last.uuid
    listed = chat_backups.list_visible(app, ada)
    assert (listed.used, listed.limit) == (2 * MB + 1, 3 * MB)
    app.settings = msgspec.structs.replace(app.settings, chat_storage_mb=0)
    with pytest.raises(ChatStorageFull):
        begun(app, ada, "none", {"none": 1})


def test_uploads_side_by_side_do_not_exceed_the_limit(app: App, ada: Actor) -> None:
    """Of six concurrent uploads of one user, only the two that fit into the limit begin."""
    app.settings = msgspec.structs.replace(app.settings, chat_storage_mb=2)
    start = threading.Barrier(6)
    results: list[str] = []

    def race(number: int) -> None:
        start.wait()
        try:
            begun(app, ada, f"n{number}", {f"n{number}": MB})
            results.append("begun")
        except ChatStorageFull:
            results.append("full")

    threads = [threading.Thread(target=race, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["begun"] * 2 + ["full"] * 4


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\\b", "a\0", "a\nb", "\ud800"),
        *("a/" * 20 + "a", "x" * 256, "é" * 128, "x/" * 5 + "y" * 1000),
    ],
)
def test_paths_outside_the_backup_are_refused(app: App, ada: Actor, path: str) -> None:
    """Absolute, relative, overlong and malformed paths are refused for single files and for folders."""
    for is_folder in (True, False):
        with pytest.raises(InvalidValue):
            begun(app, ada, "x", {path: 1}, is_folder=is_folder)


def test_invalid_lists_of_files_are_refused(app: App, ada: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty lists, duplicate or conflicting paths and invalid sizes are refused.

    The number of files and of backups is limited.
    """
    for files, is_folder in (
        ([], True),
        ([ChosenFile("a", 1), ChosenFile("b", 1)], False),
        ([ChosenFile("a/b", 1)], False),
        ([ChosenFile("a", 1), ChosenFile("a", 1)], True),
        ([ChosenFile("a", 1), ChosenFile("a/b", 1)], True),
        ([ChosenFile("d/a", 1), ChosenFile("d/a/b/c", 1)], True),
        ([ChosenFile("a", -1), ChosenFile("b", 2)], True),
        ([ChosenFile("a", 2**60)], True),
        ([ChosenFile("a", 0), ChosenFile("b", 0)], True),
    ):
        with pytest.raises(InvalidValue):
            chat_uploads.begin(app, ada, ChosenFiles("x", files, is_folder))
    with pytest.raises(InvalidField):
        begun(app, ada, " ", {"a": 1})
    monkeypatch.setattr(chat_uploads, "MOST_FILES", 2)
    begun(app, ada, "x", {"a": 1, "b": 1}, is_folder=True)
    with pytest.raises(InvalidField):
        begun(app, ada, "x", {"a": 1, "b": 1, "c": 1}, is_folder=True)
    monkeypatch.setattr(chat_uploads, "MOST_BACKUPS", 1)
    with pytest.raises(TooManyAtOnce):
        begun(app, ada, "y", {"a": 1})


def test_a_file_that_comes_as_a_whole_is_one_part(app: App, ada: Actor, tmp_path: Path) -> None:
    """A file that is sent in one request is stored as one part, even if it is larger than a chunk.

    It begins a new upload each time, and a file of another size is refused.
    """
    path = tmp_path / "file"
    path.write_bytes(os.urandom(CHUNK_BYTES + 7))
    chosen = ChosenFiles("x", [ChosenFile("x", CHUNK_BYTES + 7)])
    first, second = (chat_uploads.begin(app, ada, chosen, resume=False) for _ in range(2))
    assert first.uuid != second.uuid
    chat_uploads.add_file(app, ada, first.uuid, path)
    done = chat_uploads.complete(app, ada, first.uuid, kind="plain")
    assert read(app, ada, done, "x") == path.read_bytes()
    assert len(list(chat_uploads.stored(app))) == 1
    path.write_bytes(b"shorter")
    with pytest.raises(UploadOverrun):
        chat_uploads.add_file(app, ada, second.uuid, path)


def test_uploads_expire_a_week_after_their_last_chunk(app: App, ada: Actor) -> None:
    """An expired upload is deleted with its bytes, and a backup that is complete stays."""
    chat_backup = uploaded(app, ada, "kept", b"x")
    old = begun(app, ada, "old", {"old": 3 * MB})
    send(app, ada, old, 0, 0, b"x" * MB)
    with app.database.write() as connection:
        connection.exec_driver_sql("UPDATE chat_backups SET updated_at = 1")
    send(app, ada, old, 0, MB, b"x" * MB)
    now = time.time()
    chat_uploads.expire(app, now=now + IDLE_SECONDS - 60)
    assert chat_uploads.find(app, ada, old.uuid).uuid == old.uuid
    maintenance.clean(app, now=now + IDLE_SECONDS + 60)
    with pytest.raises(NoSuchChatBackup):
        chat_uploads.find(app, ada, old.uuid)
    with pytest.raises(NoSuchChatBackup):
        send(app, ada, old, 0, 2 * MB, b"x" * MB)
    assert len(list(chat_uploads.stored(app))) == 1
    assert read(app, ada, chat_backup, "kept") == b"x"


def test_an_upload_that_is_continued_while_others_expire_is_kept(
    app: App, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of expired uploads may be old when the last of them is deleted."""
    first, continued, completed = (begun(app, ada, name, {name: 2 * MB}) for name in ("a", "b", "c"))
    for upload in (first, continued, completed):
        send(app, ada, upload, 0, 0, b"x" * MB)
    with app.database.write() as connection:
        connection.exec_driver_sql("UPDATE chat_backups SET updated_at = 1")
    delete_parts = chat_backups.delete_parts

    def delete_slowly(app: App, uuids: Iterable[str]) -> None:
        monkeypatch.setattr(chat_backups, "delete_parts", delete_parts)
        delete_parts(app, uuids)
        for upload in (continued, completed):
            send(app, ada, upload, 0, MB, b"y" * MB)
        chat_uploads.complete(app, ada, completed.uuid, kind="plain")

    monkeypatch.setattr(chat_backups, "delete_parts", delete_slowly)
    chat_uploads.expire(app)
    with pytest.raises(NoSuchChatBackup):
        chat_uploads.find(app, ada, first.uuid)
    assert received(app, ada, continued) == [2 * MB]
    done = chat_backups.find(app, ada, completed.uuid)
    assert read(app, ada, done, "c") == b"x" * MB + b"y" * MB


def test_a_failing_store_loses_no_chunk(app: App, ada: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk that the store refuses is not recorded and can be sent again."""
    upload = begun(app, ada, "x", {"x": 3})

    def fail(*_: object) -> None:
        raise StorageUnavailable("the bucket is away")

    with monkeypatch.context() as patch:
        patch.setattr(app.store, "put_file", fail)
        with pytest.raises(StorageUnavailable):
            send(app, ada, upload, 0, 0, b"abc")
        patch.setattr(app.store, "list", fail)
        assert chat_uploads.collect_garbage(app, now=time.time()) == 0
    assert received(app, ada, upload) == [0]
    assert send(app, ada, upload, 0, 0, b"abc") == 3
    done = chat_uploads.complete(app, ada, upload.uuid, kind="plain")
    assert read(app, ada, done, "x") == b"abc"


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    """Run an S3 server."""
    with s3_server() as server:
        yield server


def test_another_node_goes_on_with_an_upload_and_reads_it(
    settings: Settings, app: App, ada: Actor, s3: S3Server, tmp_path: Path
) -> None:
    """Two nodes share the database and the bucket, and neither stores chunks in its data folder."""
    s3.use_new_bucket()
    first = s3.settings(settings)
    if settings.database_url is None:
        # SQLite is in the data folder: the nodes are two processes of one machine, with the bucket for the rest.
        second = first
    else:
        second = msgspec.structs.replace(first, data=tmp_path / "elsewhere")
        second.data.mkdir()
    del app
    content = os.urandom(CHUNK_BYTES + MB)
    with closing(App.open(first)) as one, closing(App.open(second)) as two:
        upload = begun(one, ada, "x", {"x": len(content)})
        send(one, ada, upload, 0, 0, content[:CHUNK_BYTES])
        assert begun(two, ada, "x", {"x": len(content)}).uuid == upload.uuid
        send(two, ada, upload, 0, CHUNK_BYTES, content[CHUNK_BYTES:])
        done = chat_uploads.complete(two, ada, upload.uuid, kind="plain")
        assert read(one, ada, done, "x") == content
        assert read(two, ada, done, "x") == content
        assert not (first.data / "chats").exists()
        assert not (second.data / "chats").exists()
        chat_backups.delete(one, ada, done.uuid)
        assert list(chat_uploads.stored(two)) == []
