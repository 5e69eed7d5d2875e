"""The object store: in a folder, in a bucket of a real S3 server, and in a bucket that fails."""

import asyncio
import errno
import os
import socketserver
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest

from holdfast.hosting.errors import NoSuchStoredObject, StorageUnavailable
from holdfast.hosting.git.folders import fsync_path
from holdfast.hosting.storage import object_store
from holdfast.hosting.storage.object_store import PART_BYTES, ObjectStore, open_object_store
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.hosting.storage.fake_bucket import ACCESS_KEY, Bucket, bucket_settings, serve_bucket
from tests.s3_server import S3Server, s3_server


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    """Run an S3 server."""
    with s3_server() as server:
        yield server


@pytest.fixture(params=["folder", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    """Open a store of each kind."""
    settings = Settings(data=tmp_path)
    if request.param == "s3":
        settings = request.getfixturevalue("s3").settings(settings)
    return open_object_store(settings)


def read(store: ObjectStore, key: str, start: int = 0, end: int | None = None) -> bytes:
    """Read an object or a range of it."""
    chunks: list[bytes] = []

    async def gather() -> None:
        # Nothing is returned: `asyncio.run` makes the repr of the task, with its result of megabytes.
        chunks.extend([chunk async for chunk in store.read(key, start, end)])

    asyncio.run(gather())
    return b"".join(chunks)


@pytest.mark.parametrize("size", [0, 1, 300_000, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES + 12_345])
def test_a_file_is_read_as_it_was_written(store: ObjectStore, tmp_path: Path, size: int) -> None:
    """A file of one or several parts is read unchanged as a stream, as a range and as a local file."""
    content = os.urandom(size)
    source = tmp_path / "source"
    source.write_bytes(content)
    key = f"packs/aa/{size}.pack"
    assert store.size(key) is None
    store.put_file(key, source)
    assert store.size(key) == size
    assert read(store, key) == content
    assert read(store, key, size // 3, size // 2) == content[size // 3 : size // 2]
    assert read(store, key, size // 2, size + 10) == content[size // 2 :]
    assert read(store, key, 0, min(size, 1)) == content[:1]
    assert store.read_range(key, size // 3, size // 2) == content[size // 3 : size // 2]
    assert store.read_range(key, 0, size) == content
    store.fetch(key, tmp_path / "fetched")
    assert (tmp_path / "fetched").read_bytes() == content
    assert source.exists()


def test_many_objects_are_deleted_at_once(store: ObjectStore) -> None:
    """Only the given keys are deleted; a missing key and an empty list are no errors."""
    keys = [f"chats/many/{number}" for number in range(5)]
    for key in keys:
        store.put(key, b"x")
    store.delete_many([])
    store.delete_many([*keys[:2], "chats/many/gone", *keys[3:]])
    assert [stored_file.key for stored_file in store.list("chats/many/")] == [keys[2]]
    store.delete_many(keys[:3])
    assert list(store.list("chats/many/")) == []


def test_a_key_keeps_its_first_content(store: ObjectStore, tmp_path: Path) -> None:
    """A second PUT of a key does not overwrite it; `replace` and `replace_file` do."""
    (tmp_path / "second").write_bytes(b"second")
    store.put("packs/bb/one", b"first")
    store.put("packs/bb/one", b"second")
    store.put_file("packs/bb/one", tmp_path / "second")
    assert store.read_bytes("packs/bb/one") == b"first"
    store.replace("packs/bb/one", b"third")
    assert store.read_bytes("packs/bb/one") == b"third"


@pytest.mark.parametrize("size", [5, PART_BYTES + 1])
def test_an_object_is_replaced_by_a_file(store: ObjectStore, size: int) -> None:
    """A file of one or several parts replaces an object, more than once."""
    key, content = f"lfs/replaced/{size}", os.urandom(size)
    store.put(key, b"damaged")
    for _ in range(2):
        with store.incoming_path() as path:
            path.write_bytes(content)
            store.replace_file(key, path)
        assert store.read_bytes(key) == content
    assert list(store.incoming.iterdir()) == []
    assert [stored_file.size for stored_file in store.list("lfs/replaced/") if stored_file.key == key] == [size]


def test_a_failed_replacement_keeps_the_object(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """An instance without its id in the store would refuse to start."""
    store.put("instance", b"first")

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        for name in ("put", "put_file", "replace_file"):
            patch.setattr(store, name, fail)
        with pytest.raises(OSError, match="No space left"):
            store.replace("instance", b"second")
    assert store.read_bytes("instance") == b"first"
    store.replace("instance", b"second")
    assert store.read_bytes("instance") == b"second"
    store.delete("instance")


def test_a_list_has_what_begins_with_the_prefix(store: ObjectStore) -> None:
    """A list has the size and time of each object below the prefix and no others."""
    store.put("lfs/list/a", b"1")
    store.put("lfs/list/b", b"22")
    store.put("packs/list/c", b"333")
    results = {stored_file.key: stored_file for stored_file in store.list("lfs/list/")}
    assert {key: item.size for key, item in results.items()} == {"lfs/list/a": 1, "lfs/list/b": 2}
    assert all(abs(value.written_at - time.time()) < 60 for value in results.values())


def test_a_deleted_object_is_missing(store: ObjectStore, tmp_path: Path) -> None:
    """A second deletion is no error, and each way to read the object raises `NoSuchStoredObject`."""
    store.put("lfs/gone", b"x")
    store.delete("lfs/gone")
    store.delete("lfs/gone")
    assert store.size("lfs/gone") is None
    for attempt in (store.read_bytes, lambda key: store.fetch(key, tmp_path / "x"), lambda key: read(store, key)):
        with pytest.raises(NoSuchStoredObject, match="lfs/gone is missing in"):
            attempt("lfs/gone")


def test_a_bucket_signs_urls(s3: S3Server, tmp_path: Path) -> None:
    """A signed URL works without credentials and does not contain the secret; a folder has no URLs."""
    store = open_object_store(s3.settings(Settings(data=tmp_path)))
    store.put("lfs/signed", b"hello")
    url = asyncio.run(store.signed_url("lfs/signed", 60))
    assert url is not None
    assert "hunter2" not in url
    assert httpx.get(url).content == b"hello"
    assert asyncio.run(open_object_store(Settings(data=tmp_path)).signed_url("lfs/signed", 60)) is None


def test_a_bucket_without_an_endpoint_is_at_amazon(tmp_path: Path) -> None:
    """Its URLs name the bucket's region, and are encrypted."""
    of_user = Settings(data=tmp_path, s3_access_key=Secret("x"), s3_secret_key=Secret("hunter2"))
    store = open_object_store(msgspec.structs.replace(of_user, s3_bucket="bucket", s3_region="eu-north-1"))
    url = asyncio.run(store.signed_url("lfs/signed", 60))
    assert url is not None
    assert httpx.URL(url).copy_with(query=None) == "https://s3.eu-north-1.amazonaws.com/bucket/lfs/signed"


def test_a_real_server_has_create_only_put(s3: S3Server, tmp_path: Path) -> None:
    """The check for conditional PUT passes, also when it is repeated."""
    store = open_object_store(s3.settings(Settings(data=tmp_path)))
    store.check()
    store.check()


def test_a_bucket_that_overwrites_is_refused(tmp_path: Path) -> None:
    """A bucket without conditional PUT is refused, because one writer could overwrite another."""
    with serve_bucket() as bucket:
        bucket.overwrites = True
        with pytest.raises(StorageUnavailable, match="needs a store with conditional PUT"):
            open_object_store(bucket_settings(tmp_path, bucket)).check()


def test_errors_of_a_bucket_name_no_secret(tmp_path: Path) -> None:
    """The error of a full bucket or of a wrong key has the name of the bucket and not the secret."""
    with serve_bucket() as bucket:
        stores = [open_object_store(bucket_settings(tmp_path, bucket, key)) for key in ("STRANGER", ACCESS_KEY)]
        bucket.full = True
        for store in stores:
            with pytest.raises(StorageUnavailable, match="the bucket bucket cannot be used") as excinfo:
                store.put("lfs/x", b"hello")
            assert "hunter2" not in repr(excinfo.value)
        assert not bucket.objects


def test_a_bucket_needs_both_keys(tmp_path: Path) -> None:
    """An access key without a secret key is refused."""
    with pytest.raises(StorageUnavailable, match="s3_access_key and s3_secret_key"):
        open_object_store(Settings(data=tmp_path, s3_bucket="bucket", s3_access_key=Secret("x")))


def test_unfinished_files_and_uploads_are_deleted(tmp_path: Path) -> None:
    """Incoming files and uploads from before the given time are deleted, except other prefixes."""
    with serve_bucket() as bucket:
        store = open_object_store(bucket_settings(tmp_path, bucket))
        for name, key, begun in (
            ("old", "lfs/1", 100.0),
            ("new", "packs/2", 500.0),
            ("foreign", "other/3", 100.0),
        ):
            bucket.uploads[name] = {}
            bucket.begun[name] = (key, begun)
        with store.incoming_path() as stored, store.incoming_path() as old:
            stored.write_bytes(b"")
            old.write_bytes(b"")
            os.utime(old, (100, 100))
            os.utime(stored, (500, 500))
            assert store.delete_unfinished(500.0) == 2
            assert stored.exists()
            assert not old.exists()
        assert set(bucket.uploads) == {"new", "foreign"}


def test_an_incoming_file_is_deleted_whatever_happens(tmp_path: Path) -> None:
    """An incoming file is deleted after an error, and one that was never written is no error."""
    store = open_object_store(Settings(data=tmp_path))
    with pytest.raises(ZeroDivisionError), store.incoming_path() as path:
        path.write_bytes(b"half")
        raise ZeroDivisionError
    with store.incoming_path():
        pass
    assert list(store.incoming.iterdir()) == []


def test_a_missing_folder_is_not_created_again(tmp_path: Path) -> None:
    """A missing data folder is an error, so that an unmounted disk does not fill the root disk."""
    data = tmp_path / "gone"
    with pytest.raises(StorageUnavailable, match="is not there"):
        open_object_store(Settings(data=data))
    data.mkdir()
    store = open_object_store(Settings(data=data))
    data.rmdir()
    with pytest.raises(StorageUnavailable, match="is not there"):
        store.put("lfs/x", b"hello")
    assert not (tmp_path / "gone").exists()


def test_folders_of_objects_are_open_to_their_owner_only(tmp_path: Path) -> None:
    """Folders of stored objects have no permissions for group and others, who so cannot open the files."""
    store = open_object_store(Settings(data=tmp_path))
    store.put("lfs/aa/x", b"hello")
    assert (tmp_path / "lfs").stat().st_mode & 0o077 == 0
    assert (tmp_path / "lfs" / "aa").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"], ids=["silent", "cut"]
)
def test_a_bucket_that_does_not_answer_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    """A silent bucket and a truncated response raise an error within seconds."""
    monkeypatch.setattr(object_store, "REQUEST_SECONDS", 1)
    monkeypatch.setattr(object_store, "RETRIES", 1)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.rfile.readline()
            self.wfile.write(answer)
            if not answer:
                time.sleep(3)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        bucket = Bucket(url=f"http://127.0.0.1:{server.server_address[1]}")
        store = open_object_store(bucket_settings(tmp_path, bucket))
        began = time.monotonic()
        with pytest.raises(StorageUnavailable, match="the bucket bucket cannot be used"):
            store.read_bytes("packs/aa/x")
        assert time.monotonic() - began < 15
        server.shutdown()


def test_a_file_is_synced_before_it_has_its_key_and_its_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The content is synced before the link and the folders after it, so that no power failure loses it.

    The folders are synced for an existing key too: the process that linked it may have been killed before that.
    """
    store = open_object_store(Settings(data=tmp_path))
    steps: list[tuple[str, str]] = []
    link = os.link

    def note_sync(path: Path) -> None:
        steps.append(("sync", path.name))
        fsync_path(path)

    def note_link(source: Path, target: Path) -> None:
        steps.append(("link", target.name))
        link(source, target)

    monkeypatch.setattr(object_store, "fsync_path", note_sync)
    monkeypatch.setattr(os, "link", note_link)
    (tmp_path / "source").write_bytes(b"content")
    store.put_file("packs/ab/key", tmp_path / "source")
    named = [("sync", "ab"), ("sync", "packs"), ("sync", tmp_path.name)]
    assert steps == [("sync", "source"), ("link", "key"), *named]
    steps.clear()
    store.put_file("packs/ab/key", tmp_path / "source")
    assert steps == [("sync", "source"), ("link", "key"), *named]
    steps.clear()
    monkeypatch.setattr(os, "replace", lambda _, target: steps.append(("move", target.name)))
    store.replace_file("packs/ab/key", tmp_path / "source")
    assert steps == [("sync", "source"), ("move", "key"), *named]


def test_a_file_of_another_file_system_is_copied_and_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No link is possible there, so a synced copy gets the key, and an object that is fetched is copied too."""
    (tmp_path / "data").mkdir()
    store = open_object_store(Settings(data=tmp_path / "data"))
    synced: list[bytes] = []
    link = os.link

    def link_within(source: Path, target: Path) -> None:
        if not (source.is_relative_to(tmp_path / "data") and target.is_relative_to(tmp_path / "data")):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        assert source.read_bytes() in synced
        link(source, target)

    def note_sync(path: Path) -> None:
        if path.parent == store.incoming:
            synced.append(path.read_bytes())
        fsync_path(path)

    monkeypatch.setattr(object_store, "fsync_path", note_sync)
    monkeypatch.setattr(os, "link", link_within)
    (tmp_path / "source").write_bytes(b"content")
    store.put_file("packs/ab/key", tmp_path / "source")
    store.fetch("packs/ab/key", tmp_path / "fetched")
    assert (tmp_path / "fetched").read_bytes() == b"content"
    assert list(store.incoming.iterdir()) == []


def test_an_object_is_as_old_as_its_key(tmp_path: Path) -> None:
    """An old file that is stored is a new object, so that it is not deleted as an orphan of long ago."""
    store = open_object_store(Settings(data=tmp_path))
    (tmp_path / "old").write_bytes(b"content")
    os.utime(tmp_path / "old", (1, 1))
    store.put_file("packs/ab/key", tmp_path / "old")
    (stored_file,) = store.list("packs/")
    assert abs(stored_file.written_at - time.time()) < 60
