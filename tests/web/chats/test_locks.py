"""Locks on the folders of conversations."""

import shutil
from pathlib import Path

from holdfast.web.chats.locks import LOCK, is_locked, open_private, private_folder, try_lock_entry


def test_a_lock_is_exclusive_and_released_by_closing(tmp_path: Path) -> None:
    """A second lock of the same folder is refused, and `make=False` does not create the folder."""
    entry = tmp_path / "entry"
    assert try_lock_entry(entry, make=False) is None
    assert not entry.exists()
    lock = try_lock_entry(entry)
    assert lock is not None
    assert is_locked(entry)
    assert try_lock_entry(entry) is None
    lock.close()
    assert not is_locked(entry)
    assert not is_locked(tmp_path / "none")


def test_the_lock_of_a_deleted_folder_does_not_lock_a_new_one(tmp_path: Path) -> None:
    """A folder that was deleted while locked can be created and locked again."""
    entry = tmp_path / "entry"
    first = try_lock_entry(entry)
    assert first is not None
    shutil.rmtree(entry)
    second = try_lock_entry(entry)
    assert second is not None
    assert is_locked(entry)
    first.close()
    assert is_locked(entry)
    second.close()


def test_permissions_of_readable_folders_are_restricted(tmp_path: Path) -> None:
    """The folder and the two above it get mode 700, and a new file in it has mode 600."""
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    for path in (folder, folder.parent, folder.parent.parent):
        path.chmod(0o755)
    private_folder(folder)
    open_private(folder / LOCK).close()
    assert {path.stat().st_mode & 0o777 for path in (folder, folder.parent, folder.parent.parent)} == {0o700}
    assert (folder / LOCK).stat().st_mode & 0o777 == 0o600
