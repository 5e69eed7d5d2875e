"""Files appear whole or not at all."""

import stat
from pathlib import Path

import pytest

from holdfast.backup.container.whole import write_whole
from holdfast.backup.errors import UnwritableBackup


def test_a_finished_file_is_there_and_private(tmp_path: Path) -> None:
    """Under its name, for its owner only, and nothing is left beside it."""
    path = tmp_path / "backup"
    with write_whole(path) as target:
        target.write(b"content")
        assert not path.exists()
    assert path.read_bytes() == b"content"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failed_one_leaves_what_was_there(tmp_path: Path, failure: type[BaseException]) -> None:
    """The old content stays, and the part is cleared away."""
    path = tmp_path / "backup"
    path.write_bytes(b"old")
    with pytest.raises(failure), write_whole(path) as target:
        target.write(b"half")
        raise failure
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_where_nothing_can_be_written_is_said_so(tmp_path: Path) -> None:
    """A missing folder, and a folder in the way."""
    with pytest.raises(UnwritableBackup, match="No such file"), write_whole(tmp_path / "none" / "x"):
        pass
    (tmp_path / "folder").mkdir()
    with pytest.raises(UnwritableBackup, match="cannot be written"), write_whole(tmp_path / "folder"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_full_disk_is_said_so(tmp_path: Path) -> None:
    """The error of the system is named, and nothing is left."""
    with pytest.raises(UnwritableBackup, match="No space left"), write_whole(tmp_path / "x"):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []
