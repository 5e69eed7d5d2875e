"""Only regular files inside the folder are opened."""

import os
from pathlib import Path

import pytest

from holdfast.backup.container.contained_files import open_contained
from holdfast.backup.errors import UnreadableBackup


def test_a_file_and_a_link_that_stays_inside_are_opened(tmp_path: Path) -> None:
    """A file is opened by its path and by a symlink that stays inside the folder."""
    (tmp_path / "real").write_bytes(b"content")
    (tmp_path / "link").symlink_to("real")
    for name in ("real", "link"):
        with open_contained(tmp_path, tmp_path / name) as source:
            assert source.read() == b"content"


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    """Absolute and relative symlinks, linked folders and `..` that lead out of the root are refused."""
    (tmp_path / "secret").write_text("x")
    root = tmp_path / "backup"
    root.mkdir()
    (root / "absolute").symlink_to(tmp_path / "secret")
    (root / "relative").symlink_to("../secret")
    (root / "folder").symlink_to("..")
    for path in (root / "absolute", root / "relative", root / "folder" / "secret", root / ".." / "secret"):
        with pytest.raises(UnreadableBackup, match="leads out"):
            open_contained(root, path)


def test_pipes_devices_and_folders_are_no_files(tmp_path: Path) -> None:
    """A named pipe, a folder and a device are refused without blocking."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(UnreadableBackup, match="is not a file"):
            open_contained(tmp_path, tmp_path / name)
    with pytest.raises(UnreadableBackup, match="is not a file"):
        open_contained(Path("/"), Path("/dev/zero"))


def test_a_missing_file_is_no_surprise(tmp_path: Path) -> None:
    """A missing file is a FileNotFoundError, which the caller handles."""
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "none", tmp_path / "file" / "below"):
        with pytest.raises(FileNotFoundError):
            open_contained(tmp_path, path)


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    """A loop of symlinks is an UnreadableBackup."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UnreadableBackup):
        open_contained(tmp_path, tmp_path / "a")
