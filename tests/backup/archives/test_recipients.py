"""People, groups and chats of several backups."""

from pathlib import Path

from tests.backup.archives.histories import copies, imported, renumber, write


def test_other_ids_are_the_same_people(tmp_path: Path) -> None:
    """A snapshot of another device adds nothing when it says the same."""
    header, frames = copies()
    one = write(tmp_path / "one", header, frames)
    for frame in frames:
        renumber(frame, lambda number: number * 3 + 100, lambda number: number + 5000)
    header.backupTimeMs += 1
    other = write(tmp_path / "other", header, frames)
    first, second = imported(tmp_path / "a.db", one, other)
    assert (first.new, second.new, second.changed, second.vanished) == (60, 0, 0, 0)
