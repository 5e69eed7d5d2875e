"""Atomic writes: a file appears completely or not at all."""

import errno
import os
import stat
from pathlib import Path

import pytest

from holdfast.backup.container.atomic_write import write_atomically
from holdfast.backup.errors import TargetRefused, UnwritableBackup


def test_a_finished_file_is_there_and_private(tmp_path: Path) -> None:
    """The file appears when the block ends, with mode 0600, and no temporary file is left beside it."""
    path = tmp_path / "backup"
    with write_atomically(path) as target:
        target.write(b"content")
        assert not path.exists()
    assert path.read_bytes() == b"content"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failed_one_leaves_what_was_there(tmp_path: Path, failure: type[BaseException]) -> None:
    """After a failure the old content is kept, and the temporary file is removed."""
    path = tmp_path / "backup"
    path.write_bytes(b"old")
    with pytest.raises(failure), write_atomically(path, replace=True) as target:
        target.write(b"half")
        raise failure
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_where_nothing_can_be_written_is_said_so(tmp_path: Path) -> None:
    """A missing parent folder and a folder at the target path are errors."""
    with pytest.raises(UnwritableBackup, match="No such file"), write_atomically(tmp_path / "none" / "x"):
        pass
    (tmp_path / "folder").mkdir()
    with (
        pytest.raises(UnwritableBackup, match="cannot be written"),
        write_atomically(tmp_path / "folder", replace=True),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_full_disk_is_said_so(tmp_path: Path) -> None:
    """The message of the operating system is in the error, and no file is left."""
    with pytest.raises(UnwritableBackup, match="No space left"), write_atomically(tmp_path / "x"):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_stays_unless_it_may_be_replaced(tmp_path: Path) -> None:
    """An existing file, or a dangling symlink of its name, is refused unless `replace` is set."""
    path = tmp_path / "backup"
    path.write_bytes(b"old")
    with pytest.raises(TargetRefused, match="exists already"), write_atomically(path):
        pytest.fail("it is refused before anything is done")
    with write_atomically(path, replace=True) as target:
        target.write(b"new")
    assert path.read_bytes() == b"new"
    link = tmp_path / "link"
    link.symlink_to("nowhere")
    with pytest.raises(TargetRefused), write_atomically(link):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "link"]


@pytest.mark.parametrize("links", [True, False])
def test_a_name_that_is_taken_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool
) -> None:
    """A file created by another program during the write is kept, also on disks without hard links."""

    def none(*_words: object, **_options: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", none)
    path = tmp_path / "backup"
    with pytest.raises(TargetRefused), write_atomically(path) as target:
        target.write(b"new")
        path.write_bytes(b"theirs")
    assert path.read_bytes() == b"theirs"
    path.unlink()
    with write_atomically(path) as target:
        target.write(b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    """A name of 255 characters can be written, although a temporary file is needed beside it."""
    path = tmp_path / ("n" * 255)
    with write_atomically(path) as target:
        target.write(b"content")
    assert path.read_bytes() == b"content"
