"""The stores of large files: what is true of each of them."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast.hosting.errors import LfsMismatch, LfsUnavailable, NoSuchLfsObject
from holdfast.hosting.lfs.disk import DiskLfsStore
from holdfast.hosting.lfs.s3 import S3LfsStore
from holdfast.hosting.lfs.store import LfsStore
from holdfast.secret import Secret
from tests.hosting.lfs.bucket import ACCESS_KEY, serve_bucket
from tests.hosting.lfs.objects import name, pieces, whole


@dataclass(frozen=True)
class Kept:
    """A store and a way to count what lies in it, finished or not."""

    store: LfsStore
    count: Callable[[], int]


@pytest.fixture(params=["disk", "s3"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    """Open an empty store of each kind."""
    if request.param == "disk":
        root = tmp_path / "lfs"
        yield Kept(DiskLfsStore(root), lambda: sum(path.is_file() for path in root.rglob("*")))
        return
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    with serve_bucket() as bucket:
        store = S3LfsStore(
            "bucket",
            region="eu-central-1",
            access_key=Secret(ACCESS_KEY),
            secret_key=Secret("hunter2"),
            endpoint=bucket.url,
            incoming=incoming,
        )
        yield Kept(store, lambda: len(bucket.objects) + len(bucket.uploads) + len(list(incoming.iterdir())))


@pytest.mark.parametrize("length", [0, 1, 70_000, 3_000_001, 20_000_000])
def test_what_is_written_is_read(kept: Kept, length: int) -> None:
    """Objects of any size, an empty one too, come back as they were."""
    content = os.urandom(length)

    async def play() -> None:
        assert await kept.store.size(name(content)) is None
        await kept.store.write(name(content), length, pieces(content))
        assert await kept.store.size(name(content)) == length
        assert await whole(kept.store, name(content)) == content
        assert kept.count() == 1

    asyncio.run(play())


@pytest.mark.parametrize(
    ("start", "end"), [(0, 1), (5, 10), (999_999, None), (999_999, 5_000_000), (10, 10), (1_000_000, None)]
)
def test_a_range_is_read(kept: Kept, start: int, end: int | None) -> None:
    """The end does not belong to the range, and may lie behind the object's."""
    content = os.urandom(1_000_000)

    async def play() -> None:
        await kept.store.write(name(content), len(content), pieces(content))
        assert await whole(kept.store, name(content), start, end) == content[start:end]

    asyncio.run(play())


@pytest.mark.parametrize(("sent", "size"), [(b"hello", 4), (b"hello", 6), (b"hellp", 5), (b"", 5)])
def test_what_is_not_as_announced_is_not_kept(kept: Kept, sent: bytes, size: int) -> None:
    """More, less or other bytes are an error that says which object, and nothing is left."""

    async def play() -> None:
        with pytest.raises(LfsMismatch, match=name(b"hello")):
            await kept.store.write(name(b"hello"), size, pieces(sent))
        assert await kept.store.size(name(b"hello")) is None
        assert kept.count() == 0

    asyncio.run(play())


def test_an_upload_that_breaks_off_leaves_nothing(kept: Kept) -> None:
    """When the client goes away in the middle, its error passes and no bytes stay."""

    async def broken() -> AsyncIterator[bytes]:
        yield bytes(2_000_000)
        raise ConnectionResetError("gone")

    async def play() -> None:
        with pytest.raises((ConnectionResetError, LfsUnavailable)):
            await kept.store.write(name(b"hello"), 5_000_000, broken())
        assert kept.count() == 0

    asyncio.run(play())


def test_writing_it_twice_at_once_is_fine(kept: Kept) -> None:
    """Two who send the same object leave one."""
    content = os.urandom(500_000)

    async def play() -> None:
        await asyncio.gather(*(kept.store.write(name(content), len(content), pieces(content)) for _ in range(4)))
        assert await whole(kept.store, name(content)) == content
        assert kept.count() == 1

    asyncio.run(play())


def test_a_deleted_object_is_gone(kept: Kept) -> None:
    """It can be deleted twice; reading it is an error."""

    async def play() -> None:
        await kept.store.write(name(b"hello"), 5, pieces(b"hello"))
        await kept.store.delete(name(b"hello"))
        await kept.store.delete(name(b"hello"))
        assert kept.count() == 0
        with pytest.raises(NoSuchLfsObject):
            await whole(kept.store, name(b"hello"))

    asyncio.run(play())


@pytest.mark.parametrize("oid", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 65, "a" * 64 + "\n"])
def test_what_is_no_name_reaches_no_file(kept: Kept, oid: str) -> None:
    """Only 64 lowercase hexadecimal digits have a place."""

    async def play() -> None:
        for attempt in (kept.store.size(oid), kept.store.write(oid, 0, pieces(b"")), kept.store.delete(oid)):
            with pytest.raises(NoSuchLfsObject):
                await attempt
        with pytest.raises(NoSuchLfsObject):
            await whole(kept.store, oid)

    asyncio.run(play())
