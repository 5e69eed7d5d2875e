"""Checks of LFS objects on disk."""

from holdfast.hosting.app import App
from holdfast.hosting.doctor import disk


def test_large_files_in_use_are_no_finding(app: App) -> None:
    """An LFS object that was just uploaded, and that no commit refers to yet, is no finding."""
    path = app.settings.data / "lfs" / "ab" / "ab" / ("ab" * 32)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"large")
    assert list(disk.check_lfs_objects(app)) == []
