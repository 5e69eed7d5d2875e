"""Checks of what is on disk."""

from holdfast.hosting.app import App
from holdfast.hosting.doctor import disk


def test_rows_are_matched_with_folders(app: App) -> None:
    """Both have a row and a folder."""
    kept, found = disk.match_rows_and_folders(app)
    assert [item.full_name for item in kept] == ["admin/full", "admin/empty"]
    assert found == []


def test_a_folder_is_set_aside_under_a_name_of_its_own(app: App) -> None:
    """Also when one of the same number was set aside before."""
    first = disk.move_to_lost_and_found(app, app.folders.create(7))
    second = disk.move_to_lost_and_found(app, app.folders.create(7))
    assert first != second
    assert first.is_dir()
    assert second.is_dir()


def test_large_files_in_use_are_no_finding(app: App) -> None:
    """Neither are those just sent, whose commit is still to come."""
    path = app.settings.data / "lfs" / "ab" / "ab" / ("ab" * 32)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"large")
    assert list(disk.check_lfs_objects(app)) == []
