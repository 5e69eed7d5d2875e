"""The LFS stores on disk and in S3."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from holdfast.hosting.errors import LfsMismatch, LfsUnavailable, NoSuchLfsObject
from holdfast.hosting.lfs.store import LfsStore, object_key
from holdfast.hosting.storage.object_store import ObjectStore, open_object_store
from holdfast.settings import Settings
from tests.hosting.lfs.objects import name, pieces, whole
from tests.s3_server import S3Server, s3_server


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    """Run an S3 server."""
    with s3_server() as server:
        yield server


@pytest.fixture(params=["folder", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    """Open an object store of each kind."""
    settings = Settings(data=tmp_path)
    if request.param == "s3":
        settings = request.getfixturevalue("s3").settings(settings)
    store = open_object_store(settings)
    for stored_file in store.list("lfs/"):
        store.delete(stored_file.key)
    return store


@pytest.fixture
def store(objects: ObjectStore) -> LfsStore:
    """Open an empty LFS store of each kind."""
    return LfsStore(objects)


def count(objects: ObjectStore) -> int:
    """Count objects, and files that are not complete."""
    return len(list(objects.list("lfs/"))) + len(list(objects.incoming.glob("*")))


@pytest.mark.parametrize("length", [0, 1, 70_000, 3_000_001, 20_000_000])
def test_a_written_object_can_be_read(store: LfsStore, objects: ObjectStore, length: int) -> None:
    """Objects of zero bytes up to 20 MB are read as they were written."""
    content = os.urandom(length)

    async def play() -> None:
        assert await store.size(name(content)) is None
        await store.write(name(content), length, pieces(content))
        assert await store.size(name(content)) == length
        assert await whole(store, name(content)) == content
        assert count(objects) == 1

    asyncio.run(play())


@pytest.mark.parametrize(
    ("start", "end"), [(0, 1), (5, 10), (999_999, None), (999_999, 5_000_000), (10, 10), (1_000_000, None)]
)
def test_a_range_is_read(store: LfsStore, objects: ObjectStore, start: int, end: int | None) -> None:
    """The end of a range is exclusive and may be beyond the end of the object."""
    content = os.urandom(1_000_000)

    async def play() -> None:
        await store.write(name(content), len(content), pieces(content))
        assert await whole(store, name(content), start, end) == content[start:end]

    asyncio.run(play())


@pytest.mark.parametrize(("sent", "size"), [(b"hello", 4), (b"hello", 6), (b"hellp", 5), (b"", 5)])
def test_an_object_of_another_hash_or_size_is_not_stored(
    store: LfsStore, objects: ObjectStore, sent: bytes, size: int
) -> None:
    """The error for too many, too few or wrong bytes names the object, and nothing is stored."""

    async def play() -> None:
        with pytest.raises(LfsMismatch, match=name(b"hello")):
            await store.write(name(b"hello"), size, pieces(sent))
        assert await store.size(name(b"hello")) is None
        assert count(objects) == 0

    asyncio.run(play())


def test_an_interrupted_upload_leaves_no_file(store: LfsStore, objects: ObjectStore) -> None:
    """A client that disconnects during an upload causes an error, and no bytes stay."""

    async def broken() -> AsyncIterator[bytes]:
        yield bytes(2_000_000)
        raise ConnectionResetError("gone")

    async def play() -> None:
        with pytest.raises((ConnectionResetError, LfsUnavailable)):
            await store.write(name(b"hello"), 5_000_000, broken())
        assert count(objects) == 0

    asyncio.run(play())


def test_an_object_can_be_written_twice_concurrently(store: LfsStore, objects: ObjectStore) -> None:
    """Four concurrent uploads of the same object store it once."""
    content = os.urandom(500_000)

    async def play() -> None:
        await asyncio.gather(*(store.write(name(content), len(content), pieces(content)) for _ in range(4)))
        assert await whole(store, name(content)) == content
        assert count(objects) == 1

    asyncio.run(play())


def test_a_deleted_object_is_not_found(store: LfsStore, objects: ObjectStore) -> None:
    """Deleting an object twice is no error, and reading it afterwards is one."""

    async def play() -> None:
        await store.write(name(b"hello"), 5, pieces(b"hello"))
        await store.delete(name(b"hello"))
        await store.delete(name(b"hello"))
        assert count(objects) == 0
        with pytest.raises(NoSuchLfsObject):
            await whole(store, name(b"hello"))

    asyncio.run(play())


@pytest.mark.parametrize("oid", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 65, "a" * 64 + "\n"])
def test_an_invalid_id_opens_no_file(store: LfsStore, objects: ObjectStore, oid: str) -> None:
    """An id that is not 64 lowercase hexadecimal digits is reported as not found."""

    async def play() -> None:
        for attempt in (store.size(oid), store.write(oid, 0, pieces(b"")), store.delete(oid)):
            with pytest.raises(NoSuchLfsObject):
                await attempt
        with pytest.raises(NoSuchLfsObject):
            await whole(store, oid)

    asyncio.run(play())
    assert count(objects) == 0


@pytest.mark.parametrize("damaged", [b"hel", b"hellp"])
def test_a_damaged_object_is_replaced(store: LfsStore, objects: ObjectStore, damaged: bytes) -> None:
    """A stored object of the wrong size or content, as after a disk error, is replaced by a verified upload."""
    objects.put(object_key(name(b"hello")), damaged)

    async def play() -> None:
        await store.write(name(b"hello"), 5, pieces(b"hello"))
        assert await whole(store, name(b"hello")) == b"hello"
        assert count(objects) == 1

    asyncio.run(play())


def test_a_damaged_object_stays_if_the_upload_does_not_match(store: LfsStore, objects: ObjectStore) -> None:
    """What is stored is replaced only by bytes with the hash of the object."""
    objects.put(object_key(name(b"hello")), b"hel")

    async def play() -> None:
        with pytest.raises(LfsMismatch):
            await store.write(name(b"hello"), 5, pieces(b"hellp"))
        assert await whole(store, name(b"hello")) == b"hel"

    asyncio.run(play())
