"""Recipients and chats of several backups."""

from pathlib import Path

from holdfast.backup import archives
from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import Chat, ChatItem, Recipient
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, import_backups, renumber, write


def test_other_ids_are_the_same_people(tmp_path: Path) -> None:
    """A backup that numbers people and chats differently adds no people and chats, and changes no messages."""
    header, frames = copies()
    source = write(tmp_path / "one", header, frames)
    for frame in frames:
        renumber(frame, lambda number: number * 3 + 100, lambda number: number + 5000)
    header.backupTimeMs += 1
    other = write(tmp_path / "other", header, frames)
    first, second = import_backups(tmp_path / "a.db", source, other)
    assert (first.new, second.new, second.changed, second.vanished) == (60, 0, 0, 0)
    with archives.open(tmp_path / "a.db") as opened:
        for kind in ("recipient", "chat"):
            (count,) = opened.connection.execute(f"SELECT count(*) FROM {kind}").fetchone()
            assert count == sum(frame.HasField(kind) for frame in frames), kind


def test_what_cannot_be_taken_in_is_skipped_and_named(tmp_path: Path) -> None:
    """Empty records and second records of the same recipient or chat are skipped with a note."""
    header, frames = copies()
    person = next(frame.recipient for frame in frames if frame.recipient.HasField("contact"))
    chat = next(frame.chat for frame in frames if frame.HasField("chat"))
    person_copy = Recipient.FromString(person.SerializeToString())
    chat_copy = Chat.FromString(chat.SerializeToString())
    person_copy.id, chat_copy.id = 9001, 9002
    empty_list = Recipient(id=9004)
    empty_list.distributionList.distributionId = bytes(16)
    invalid = [Frame(recipient=Recipient(id=9003)), Frame(recipient=empty_list), Frame(recipient=person_copy)]
    first = len(frames) + 1
    source = write(tmp_path / "odd", header, [*frames, *invalid, Frame(chat=chat_copy)])
    (added,) = import_backups(tmp_path / "a.db", source)
    import_backups(tmp_path / "b.db", write(tmp_path / "plain", header, frames))
    with archives.open(tmp_path / "a.db") as opened, archives.open(tmp_path / "b.db") as plain:
        notes = [(note.frame - first, note.action, note.what) for note in opened.skipped() if note.frame >= first]
        for table in ("recipient", "chat", "recipient_version", "chat_version", "identity"):
            count = f"SELECT count(*) FROM {table}"
            assert opened.connection.execute(count).fetchone() == plain.connection.execute(count).fetchone()
    assert notes == [
        (0, "skipped", "Recipient.destination not set"),
        (1, "skipped", "DistributionListItem.item not set"),
        (2, "skipped", "a second record of the same recipient"),
        (3, "skipped", "a second chat with the same recipient"),
    ]
    assert added.new == 60


def test_everybody_a_file_does_not_have_is_one_unknown_person(tmp_path: Path) -> None:
    """Messages of recipients that the file lacks are found in one chat called "Unknown".

    A later backup without such messages marks the unknown person and the chat as last seen before.
    """
    header, frames = copies()
    strays = [Frame(chat=Chat(id=9001, recipientId=8001)), Frame(chat=Chat(id=9002, recipientId=8002))]
    for number, chat_id in enumerate((9001, 9002, 9999)):
        item = ChatItem(chatId=chat_id, authorId=8003 + number, dateSent=1000 + number)
        item.incoming.read = True
        item.standardMessage.text.body = f"stray {number}"
        strays.append(Frame(chatItem=item))
    source = write(tmp_path / "one", header, [*frames, *strays])
    header.backupTimeMs += 1000
    two = write(tmp_path / "two", header, frames)
    header.backupTimeMs += 1000
    three = write(tmp_path / "three", header, [*frames, *strays])
    for name, order in (("a", (source, two, three)), ("b", (three, source, two))):
        import_backups(tmp_path / f"{name}.db", *order)
    assert dump(tmp_path / "a.db") == dump(tmp_path / "b.db")
    import_backups(tmp_path / "c.db", source)
    with archives.open(tmp_path / "c.db") as opened:
        run = opened.connection.execute
        ((number, name, last),) = run("SELECT id, name, last_seen FROM recipient WHERE kind = 'unknown'")
        assert (name, last) == ("Unknown", None)
        assert run("SELECT count(*), max(last_seen) FROM chat WHERE id = ?", (number,)).fetchone() == (1, None)
        assert run("SELECT value, recipient_id FROM identity WHERE kind = 'unknown'").fetchone()[1] == number
        assert run("SELECT count(*) FROM recipient_version WHERE recipient_id = ?", (number,)).fetchone() == (1,)
        assert run("SELECT count(*) FROM chat_version WHERE chat_id = ?", (number,)).fetchone() == (1,)
        hits = opened.search("stray").hits
        assert {(hit.message.chat, hit.message.author) for hit in hits} == {("Unknown", "Unknown")}
        assert len(hits) == 3
    import_backups(tmp_path / "c.db", two)
    with archives.open(tmp_path / "c.db") as opened:
        run = opened.connection.execute
        for table in ("recipient", "chat"):
            (last,) = run(f"SELECT last_seen FROM {table} WHERE id = ?", (number,)).fetchone()
            assert last is not None, "the later backup does not have them"
