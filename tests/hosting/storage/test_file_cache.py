"""The cache of archives: concurrent requests, cancellation and eviction."""

import asyncio
import os
import shutil
import stat
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from holdfast.hosting.storage import file_cache
from holdfast.hosting.storage.file_cache import FileCache

MEGABYTE = 2**20


class Maker:
    """Makes an archive of three pieces, and waits after the first until it may go on."""

    def __init__(self, *, error: Exception | None = None) -> None:
        self.made = 0
        self.closed = 0
        self.go_on = asyncio.Event()
        self._error = error

    async def __call__(self) -> AsyncGenerator[bytes, None]:
        """Yield the content in three pieces, with a pause after the first."""
        self.made += 1
        try:
            yield b"one "
            await self.go_on.wait()
            if self._error is not None:
                raise self._error
            yield b"two "
            yield b"three"
        finally:
            self.closed += 1


async def read(pieces: AsyncGenerator[bytes, None]) -> bytes:
    """Return all pieces joined."""
    return b"".join([piece async for piece in pieces])


def mode(path: Path) -> int:
    """Return the permissions of a folder."""
    return stat.S_IMODE(path.stat().st_mode)


def run(test: Callable[[], object]) -> None:
    """Run an asynchronous test, which must not hang."""

    async def limited() -> None:
        with anyio.fail_after(60):
            await test()  # type: ignore[misc]  # a coroutine

    anyio.run(limited)


def test_concurrent_requests_share_one_archive(tmp_path: Path) -> None:
    """All clients read the file while it is created once, and it is a cached file afterwards."""

    async def test() -> None:
        cache, maker = FileCache(tmp_path / "a", MEGABYTE), Maker()
        first = cache.stream("key", maker)
        assert await anext(first) == b"one "
        others = [asyncio.create_task(read(cache.stream("key", maker))) for _ in range(5)]
        await asyncio.sleep(0)
        assert cache.find("key") is None
        maker.go_on.set()
        assert await read(first) == b"two three"
        assert {await other for other in others} == {b"one two three"}
        assert (maker.made, maker.closed) == (1, 1)
        result = cache.find("key")
        assert result is not None
        assert result.read_bytes() == b"one two three"

    run(test)


def test_another_process_waits_for_the_one_that_makes_it(tmp_path: Path) -> None:
    """A second process reads the file that the first one creates instead of creating it."""

    async def test() -> None:
        one, other = (FileCache(tmp_path, MEGABYTE) for _ in range(2))
        maker, second = Maker(), Maker()
        first = one.stream("key", maker)
        await anext(first)
        waiting = asyncio.create_task(read(other.stream("key", second)))
        await asyncio.sleep(2 * file_cache.LOCK_SECONDS)
        maker.go_on.set()
        await read(first)
        assert await waiting == b"one two three"
        assert (maker.made, second.made) == (1, 0)

    run(test)


def test_the_last_client_to_disconnect_cancels_the_archive(tmp_path: Path) -> None:
    """The file is cancelled when its last client leaves, and the next request creates it again."""

    async def test() -> None:
        cache, maker = FileCache(tmp_path, MEGABYTE), Maker()
        one, other = cache.stream("key", maker), cache.stream("key", maker)
        await anext(one)
        await anext(other)
        await one.aclose()
        await other.aclose()
        again = asyncio.create_task(read(cache.stream("key", maker)))
        maker.go_on.set()
        assert await again == b"one two three"
        assert (maker.made, maker.closed) == (2, 2)

    run(test)


def test_a_disconnected_client_does_not_affect_the_others(tmp_path: Path) -> None:
    """A file is completed as long as one client reads it."""

    async def test() -> None:
        cache, maker = FileCache(tmp_path / "a", MEGABYTE), Maker()
        first, second = cache.stream("key", maker), cache.stream("key", maker)
        assert (await anext(first), await anext(second)) == (b"one ", b"one ")
        await first.aclose()
        maker.go_on.set()
        assert await read(second) == b"two three"
        assert maker.made == 1

    run(test)


def test_the_archives_of_a_repository_are_deleted(tmp_path: Path) -> None:
    """Only files of that repository id are deleted, and not those of ids that begin with its digits."""
    for key in ("1-a", "1-b", "12-a", "2-1-a"):
        (tmp_path / key).touch()
    FileCache(tmp_path, MEGABYTE).discard(1)
    assert {path.name for path in tmp_path.iterdir()} == {"12-a", "2-1-a"}
    FileCache(tmp_path / "missing", MEGABYTE).discard(1)


def test_an_error_is_raised_for_every_waiting_client(tmp_path: Path) -> None:
    """An error is raised to all clients, no file is kept, and the next request works."""

    async def test() -> None:
        cache, maker = FileCache(tmp_path, MEGABYTE), Maker(error=ValueError("broken"))
        readers = [asyncio.create_task(read(cache.stream("key", maker))) for _ in range(2)]
        maker.go_on.set()
        for reader in readers:
            with pytest.raises(ValueError, match="broken"):
                await reader
        assert cache.find("key") is None
        whole = Maker()
        whole.go_on.set()
        async with aclosing(cache.stream("key", whole)) as pieces:
            assert await read(pieces) == b"one two three"

    run(test)


def test_those_used_least_recently_are_evicted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest files are evicted down to the limits of size and number; files unused for long are too."""
    cache = FileCache(tmp_path, 250)
    for number in range(4):
        (tmp_path / f"key{number}").write_bytes(b"x" * 100)
        os.utime(tmp_path / f"key{number}", (2_000_000_000 + number,) * 2)
    assert cache.evict() == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["key2", "key3"]
    monkeypatch.setattr(file_cache, "MOST_FILES", 1)
    assert cache.evict() == 1
    assert [path.name for path in tmp_path.iterdir()] == ["key3"]
    os.utime(tmp_path / "key3", (1, 1))
    assert cache.evict() == 1
    assert FileCache(tmp_path / "nowhere", 250).evict() == 0


def test_a_requested_archive_counts_as_used(tmp_path: Path) -> None:
    """A lookup updates the access time, so that the file is evicted later than unused ones."""
    cache = FileCache(tmp_path, 150)
    for name in ("old", "new"):
        (tmp_path / name).write_bytes(b"x" * 100)
    os.utime(tmp_path / "old", (1_000, 1_000))
    os.utime(tmp_path / "new", (2_000, 2_000))
    assert cache.find("old") == tmp_path / "old"
    assert (tmp_path / "old").stat().st_mtime == 1_000
    cache.evict()
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_new_file_evicts_older_ones(tmp_path: Path) -> None:
    """A complete new file evicts older ones only if the cache is above its limit."""

    async def test() -> None:
        whole = Maker()
        whole.go_on.set()
        for limit, left in ((33, {"new", "old"}), (32, {"new"})):
            cache = FileCache(tmp_path / "deep" / str(limit), limit)
            assert cache.free_bytes() > 0
            (cache.folder / "old").write_bytes(b"x" * 20)
            os.utime(cache.folder / "old", (time.time() - 100,) * 2)
            assert await read(cache.stream("new", whole)) == b"one two three"
            # The task that made it goes on with the eviction.
            await asyncio.gather(*(task for task in asyncio.all_tasks() if task is not asyncio.current_task()))
            assert {path.name for path in cache.folder.iterdir()} == left

    run(test)


def test_the_folder_is_created_on_demand(tmp_path: Path) -> None:
    """The folder and its parents are created with mode 0700 at the first use; a limit of 0 disables the cache.

    `holdfast admin doctor` reports a folder that other users can read.
    """
    cache = FileCache(tmp_path / "a" / "b", 0)
    assert not cache.enabled
    assert FileCache(tmp_path, 1).enabled
    for _ in range(2):
        assert cache.free_bytes() == pytest.approx(shutil.disk_usage(tmp_path).free, rel=0.2)
        assert mode(cache.folder) == mode(cache.folder.parent) == 0o700

    async def test() -> None:
        whole = Maker()
        whole.go_on.set()
        deeper = FileCache(tmp_path / "c" / "d", MEGABYTE)
        assert await read(deeper.stream("key", whole)) == b"one two three"
        assert mode(deeper.folder) == mode(deeper.folder.parent) == 0o700

    run(test)


def test_an_unfinished_archive_is_not_evicted(tmp_path: Path) -> None:
    """A partial file is not evicted, because clients wait for it."""
    (tmp_path / f"key{file_cache.PART}").write_bytes(b"x" * 100)
    (tmp_path / "old").write_bytes(b"x" * 100)
    assert FileCache(tmp_path, 50).evict() == 1
    assert [path.name for path in tmp_path.iterdir()] == [f"key{file_cache.PART}"]
