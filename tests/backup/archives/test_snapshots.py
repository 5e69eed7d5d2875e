"""The order of snapshots."""

from pathlib import Path

from holdfast.backup import archives
from holdfast.backup.archives.snapshots import Snapshots
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


def test_snapshots_are_ordered_by_their_time_and_then_by_their_digest() -> None:
    """The order does not depend on the numbers, which are those of the imports."""
    snapshots = Snapshots(1, current=1, newest=3, order={1: (20, "b"), 2: (10, "z"), 3: (20, "a")})
    for first, second in ((2, 3), (3, 1), (2, 1)):
        for pair in ((first, second), (second, first)):
            assert (snapshots.earlier(*pair), snapshots.later(*pair)) == (first, second)
    assert (snapshots.earlier(2, 2), snapshots.later(2, 2)) == (2, 2)
    assert (snapshots.is_newest, snapshots.is_only, snapshots.latest) == (True, False, 1)
    assert [snapshots.last_seen_value(number) for number in (1, 2, 3)] == [None, 2, 3]


def test_the_latest_snapshot_may_be_an_earlier_import() -> None:
    """An older backup is imported after a newer one, and the same backup again."""
    older = Snapshots(1, current=2, newest=1, order={1: (20, "a"), 2: (10, "b")})
    assert (older.is_newest, older.is_only, older.latest) == (False, False, 1)
    assert (older.last_seen_value(1), older.last_seen_value(2)) == (None, 2)
    equal = Snapshots(1, current=2, newest=1, order={1: (20, "a"), 2: (20, "a")})
    assert (equal.is_newest, equal.latest) == (False, 1)
    only = Snapshots(1, current=5, order={5: (20, "a")})
    assert (only.is_newest, only.is_only, only.latest, only.last_seen_value(5)) == (True, True, 5, None)


def test_the_stored_snapshots_of_one_account_are_read(tmp_path: Path) -> None:
    """The one that is imported is current, also before its row has its time; those of others are left out."""
    header, frames = copies(20)
    made = header.backupTimeMs
    paths = [write(tmp_path / "0", header, frames)]
    header.backupTimeMs += 10
    paths.append(write(tmp_path / "1", header, frames))
    import_backups(tmp_path / "a.db", *paths)
    with archives.open(tmp_path / "a.db") as opened:
        rows = opened.connection.execute(
            "SELECT id, account_id, made_ms, digest FROM snapshot ORDER BY id"
        ).fetchall()
        (first, account, _, digest), (second, *_) = rows
        read = Snapshots.read(opened.connection, account, second, made - 5, "x")
        assert (read.current, read.newest, read.order) == (
            second,
            first,
            {first: (made, digest), second: (made - 5, "x")},
        )
        assert Snapshots.read(opened.connection, account + 1, 9, 1, "x").order == {9: (1, "x")}
        stored = Snapshots.of(opened.connection, account)
        assert (stored.current, stored.newest) == (second, None)
        assert stored.order == {number: (time, content) for number, _, time, content in rows}
