"""Files and folders with permissions for their owner only."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.backup.container.private import create_private_file, make_private_folder, restrict


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o277])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Set a umask for a while."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode_of(path: Path) -> int:
    """Return the permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("umask")
def test_the_umask_decides_nothing(tmp_path: Path) -> None:
    """New files and folders are private under any umask, and existing ones keep their content and mode."""
    create_private_file(tmp_path / "file")
    make_private_folder(tmp_path / "one" / "two")
    assert [mode_of(tmp_path / name) for name in ("file", "one", "one/two")] == [0o600, 0o700, 0o700]
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "one").chmod(0o755)
    create_private_file(tmp_path / "file")
    make_private_folder(tmp_path / "one" / "three")
    assert (tmp_path / "file").read_bytes() == b"content"
    assert mode_of(tmp_path / "one") == 0o755


def test_a_folder_cannot_lie_in_a_file(tmp_path: Path) -> None:
    """A folder below a file is an OSError."""
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        make_private_folder(tmp_path / "file" / "folder")


def test_what_others_could_read_is_taken_from_them(tmp_path: Path) -> None:
    """`restrict` returns the paths whose mode it changed, and ignores paths that do not exist."""
    (tmp_path / "open").touch(0o644)
    (tmp_path / "closed").touch(0o600)
    (tmp_path / "folder").mkdir(0o755)
    names = ("open", "closed", "folder", "none")
    for name, mode in (("open", 0o664), ("folder", 0o755)):
        (tmp_path / name).chmod(mode)
    assert restrict(tmp_path / name for name in names) == [tmp_path / "open", tmp_path / "folder"]
    assert [mode_of(tmp_path / name) for name in names[:3]] == [0o600, 0o600, 0o700]
    assert restrict(tmp_path / name for name in names) == []
