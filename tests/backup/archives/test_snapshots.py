"""The order of snapshots."""

from pathlib import Path

from holdfast.backup import archives
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, import_backups, items, write


def test_an_older_snapshot_does_not_overwrite(tmp_path: Path) -> None:
    """The texts of the later backup are kept when an older one is imported after it."""
    header, frames = copies()
    older = write(tmp_path / "older", header, frames)
    for item in items(frames):
        if item.standardMessage.text.body:
            item.standardMessage.text.body += " (later)"
    header.backupTimeMs += 5
    newer = write(tmp_path / "newer", header, frames)
    for name, order in (("a", (older, newer)), ("b", (newer, older))):
        import_backups(tmp_path / f"{name}.db", *order)
    assert dump(tmp_path / "a.db") == dump(tmp_path / "b.db")
    with archives.open(tmp_path / "b.db") as opened:
        query = "SELECT count(*) FROM message WHERE kind = 'message' AND text NOT LIKE '%(later)' AND text <> ''"
        assert opened.connection.execute(query).fetchone() == (0,)
