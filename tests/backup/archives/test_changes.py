"""Changes between two versions of a message."""

from pathlib import Path

from holdfast.backup import archives
from holdfast.backup.schema.backup_pb2 import ChatItem
from tests.backup.archives.histories import copies, imported, items, write


def test_what_changed_is_recorded(tmp_path: Path) -> None:
    """An edit, a reaction, a receipt; and what has vanished stays readable and is marked."""
    header, frames = copies()
    one = write(tmp_path / "one", header, frames)
    every = list(items(frames))
    plain = [item for item in every if item.standardMessage.text.body and not item.revisions]
    sent = next(item for item in plain if item.HasField("outgoing"))
    edited = next(item for item in plain if item is not sent)
    gone = next(item for item in reversed(plain) if item not in (sent, edited))
    before, gone_text = edited.standardMessage.text.body, gone.standardMessage.text.body
    wording = ChatItem.FromString(edited.SerializeToString())
    edited.revisions.append(wording)
    edited.standardMessage.text.body = "what was really meant"
    edited.dateSent += 60_000
    sent.standardMessage.reactions.add(emoji="🎉", authorId=sent.authorId, sentTimestamp=1, sortOrder=7)
    for status in sent.outgoing.sendStatus:
        status.viewed.sealedSender = False
    kept = [frame for frame in frames if not (frame.HasField("chatItem") and frame.chatItem == gone)]
    header.backupTimeMs += 86_400_000
    two = write(tmp_path / "two", header, kept)
    _, second = imported(tmp_path / "a.db", one, two)
    assert (second.new, second.changed, second.vanished) == (0, 2, 1)
    with archives.open(tmp_path / "a.db") as opened:
        changes = opened.connection.execute("SELECT what, before, after FROM message_change").fetchall()
        (hit,) = opened.search("really meant").hits
        assert [revision.text for revision in hit.message.revisions] == [before]
        assert {what for what, _, _ in changes} == {"edited", "reaction", "receipt"}
        assert ("edited", before, "what was really meant") in changes
        assert ("reaction", None, "🎉") in changes
        rows = opened.connection.execute(
            "SELECT text, vanished FROM messages WHERE vanished IS NOT NULL"
        ).fetchall()
        assert [text for text, _ in rows] == [gone_text]
