"""The list of repositories to check, and the lost-and-found folder."""

from holdfast.hosting.app import App
from holdfast.hosting.doctor.repositories import list_records, move_to_lost_and_found
from holdfast.hosting.storage.local_copies import create_repository


def test_every_repository_is_checked(app: App) -> None:
    """The list of repositories to check has their full names."""
    assert [item.full_name for item in list_records(app)] == ["admin/full", "admin/empty"]


def test_a_folder_is_set_aside_under_a_name_of_its_own(app: App) -> None:
    """Two folders of the same repository id that are moved to lost-and-found get different names."""
    folder = app.folders.path(7)
    folder.parent.mkdir(mode=0o700, parents=True)
    moved = set()
    for _ in range(2):
        create_repository(folder, "main")
        moved.add(move_to_lost_and_found(app, folder))
    assert len(moved) == 2
    assert all(path.is_dir() for path in moved)
