"""Changes between two versions of a message."""

from pathlib import Path

from holdfast.backup import archives
from holdfast.backup.schema.backup_pb2 import ChatItem
from tests.backup.archives.histories import copies, import_backups, items, write


def test_what_changed_is_recorded(tmp_path: Path) -> None:
    """An edit, a reaction and a receipt are recorded, and a vanished message is kept and marked."""
    header, frames = copies()
    source = write(tmp_path / "one", header, frames)
    all_items = list(items(frames))
    plain = [item for item in all_items if item.standardMessage.text.body and not item.revisions]
    sent = next(item for item in plain if item.HasField("outgoing"))
    edited = next(item for item in plain if item is not sent)
    removed = next(item for item in reversed(plain) if item not in (sent, edited))
    before, gone_text = edited.standardMessage.text.body, removed.standardMessage.text.body
    old_version = ChatItem.FromString(edited.SerializeToString())
    edited.revisions.append(old_version)
    edited.standardMessage.text.body = "what was really meant"
    edited.dateSent += 60_000
    sent.standardMessage.reactions.add(emoji="🎉", authorId=sent.authorId, sentTimestamp=1, sortOrder=7)
    for status in sent.outgoing.sendStatus:
        status.viewed.sealedSender = False
    remaining = [frame for frame in frames if not (frame.HasField("chatItem") and frame.chatItem == removed)]
    header.backupTimeMs += 86_400_000
    two = write(tmp_path / "two", header, remaining)
    _, second = import_backups(tmp_path / "a.db", source, two)
    assert (second.new, second.changed, second.vanished) == (0, 2, 1)
    with archives.open(tmp_path / "a.db") as opened:
        changes = opened.connection.execute("SELECT what, before, after FROM message_change").fetchall()
        (hit,) = opened.search("really meant").hits
        assert [revision.text for revision in hit.message.revisions] == [before]
        assert {kind for kind, _, _ in changes} == {"edited", "reaction", "receipt"}
        assert ("edited", before, "what was really meant") in changes
        assert ("reaction", None, "🎉") in changes
        rows = opened.connection.execute(
            "SELECT text, vanished FROM messages WHERE vanished IS NOT NULL"
        ).fetchall()
        assert [text for text, _ in rows] == [gone_text]
