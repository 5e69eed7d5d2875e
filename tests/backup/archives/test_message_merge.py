"""Imported messages merged with stored ones."""

from pathlib import Path

from holdfast.backup import archives
from holdfast.backup.archives.item_rows import message_id
from holdfast.backup.schema import Frame
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, import_backups, items, write


def test_one_of_two_twins_that_is_left_is_not_the_other(tmp_path: Path) -> None:
    """Of two messages of one moment, the one a later backup lacks is marked as vanished, in either order."""
    header, frames = copies()
    original = next(frame for frame in frames if frame.chatItem.standardMessage.text.body)
    original.chatItem.ClearField("revisions")
    duplicate = Frame.FromString(original.SerializeToString())
    original.chatItem.standardMessage.text.body, duplicate.chatItem.standardMessage.text.body = "left", "gone"
    both = write(tmp_path / "both", header, [*frames, duplicate])
    header.backupTimeMs += 1000
    alone = write(tmp_path / "alone", header, frames)
    for name, order in (("a", (both, alone)), ("b", (alone, both))):
        import_backups(tmp_path / f"{name}.db", *order)
        with archives.open(tmp_path / f"{name}.db") as opened:
            rows = opened.connection.execute(
                "SELECT text, vanished IS NOT NULL FROM messages WHERE text IN ('left', 'gone') ORDER BY text"
            ).fetchall()
            changes = opened.connection.execute("SELECT count(*) FROM message_change").fetchone()
        assert (rows, changes) == ([("gone", 1), ("left", 0)], (0,))
    assert dump(tmp_path / "a.db") == dump(tmp_path / "b.db")


def test_two_messages_that_want_one_id_get_theirs_in_any_order(tmp_path: Path) -> None:
    """Two messages of one second whose ids collide are both kept, with the same ids in either order."""
    header, frames = copies()
    item = next(item for item in items(frames) if item.standardMessage.text.body and not item.revisions)
    (first,) = import_backups(tmp_path / "ids.db", write(tmp_path / "ids", header, frames))
    assert first.new == 60
    with archives.open(tmp_path / "ids.db") as opened:
        chat, author = opened.connection.execute(
            "SELECT chat_id, author_id FROM message WHERE text = ? AND sent_ms = ?",
            (item.standardMessage.text.body, item.dateSent),
        ).fetchone()
    ids: dict[int, int] = {}
    pair: tuple[int, int] | None = None
    for second in range(1_500_000_000, 1_500_100_000):
        ids.clear()
        for sent in range(second * 1000, second * 1000 + 1000):
            number = message_id(chat, author, sent, 0, 0)
            if number in ids:
                pair = (ids[number], sent)
            ids[number] = sent
        if pair:
            break
    assert pair is not None
    sources = []
    for sent in pair:
        rival = Frame()
        rival.chatItem.CopyFrom(item)
        rival.chatItem.dateSent = sent
        rival.chatItem.standardMessage.text.body = f"sent at {sent}"
        header.backupTimeMs += 1
        sources.append(write(tmp_path / str(sent), header, [*frames, rival]))
    import_backups(tmp_path / "a.db", *sources)
    import_backups(tmp_path / "b.db", *reversed(sources))
    assert dump(tmp_path / "a.db") == dump(tmp_path / "b.db")
    with archives.open(tmp_path / "a.db") as opened:
        assert {hit.message.text for hit in opened.search("sent").hits} >= {f"sent at {sent}" for sent in pair}
