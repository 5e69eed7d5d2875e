"""Large files in a folder."""

import asyncio
from pathlib import Path

import pytest

from holdfast.hosting.errors import LfsUnavailable
from holdfast.hosting.lfs.disk import DiskLfsStore
from tests.hosting.lfs.objects import name, pieces


def test_objects_are_spread_over_folders(tmp_path: Path) -> None:
    """Two levels by the first digits of the name; a folder has no addresses to give."""

    async def play() -> None:
        store = DiskLfsStore(tmp_path)
        await store.write(name(b"hello"), 5, pieces(b"hello"))
        assert (tmp_path / "2c" / "f2" / name(b"hello")).read_bytes() == b"hello"
        assert await store.signed_url(name(b"hello"), 60) is None

    asyncio.run(play())


def test_a_full_disk_is_said_clearly(tmp_path: Path) -> None:
    """A folder that cannot be written to is an error of the store, not a traceback."""
    (tmp_path / "lfs").write_text("in the way")

    async def play() -> None:
        with pytest.raises(LfsUnavailable, match="cannot be stored"):
            await DiskLfsStore(tmp_path / "lfs").write(name(b"hello"), 5, pieces(b"hello"))
        assert await DiskLfsStore(tmp_path / "lfs").size(name(b"hello")) is None

    asyncio.run(play())
