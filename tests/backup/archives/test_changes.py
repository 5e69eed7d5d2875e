"""Changes between two versions of a message."""

from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives.changes import Change, differences
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


def message(text: str = "hello", *, is_read: bool | None = None) -> ChatItem:
    """Make a plain message; one that is read or not is incoming."""
    item = ChatItem()
    item.standardMessage.text.body = text
    if is_read is not None:
        item.incoming.read = is_read
    return item


def deleted(*, by_admin: bool = False) -> ChatItem:
    """Make a deleted message."""
    item = ChatItem()
    (item.adminDeletedMessage if by_admin else item.remoteDeletedMessage).SetInParent()
    return item


def poll(*options: tuple[str, tuple[int, ...]]) -> ChatItem:
    """Make a poll with the voters of each option."""
    item = ChatItem()
    item.poll.question = "when?"
    for option, voters in options:
        added = item.poll.options.add(option=option)
        for voter in voters:
            added.votes.add(voterId=voter)
    return item


def sent(*statuses: tuple[int, str]) -> ChatItem:
    """Make a sent message with delivery statuses; an empty one is not set."""
    item = message()
    for recipient, name in statuses:
        status = item.outgoing.sendStatus.add(recipientId=recipient)
        if name:
            getattr(status, name).SetInParent()
    return item


def reacted(*reactions: tuple[int, str, int, int]) -> ChatItem:
    """Make a message with reactions: who, what, their order and their time."""
    item = message()
    for author, emoji, order, time in reactions:
        item.standardMessage.reactions.add(authorId=author, emoji=emoji, sortOrder=order, sentTimestamp=time)
    return item


# The ids of the two backups for the same two people; nobody else is known.
EARLIER, LATER = {1: 11, 2: 12}, {5: 11, 6: 12}
DETAILS: Change = ("details", None, None, None)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (message(), message(), [DETAILS]),
        (message(), message("goodbye"), [("edited", None, "hello", "goodbye")]),
        (message(), deleted(), [("deleted", None, "hello", "deleted")]),
        (message(), deleted(by_admin=True), [("deleted", None, "hello", "deleted_by_admin")]),
        (message(), poll(), [("kind", None, "message", "poll")]),
        (ChatItem(), message(), [("kind", None, "", "message")]),
        (message(is_read=False), message(is_read=True), [("read", None, "false", "true")]),
        (message(is_read=True), message(is_read=False), [("read", None, "true", "false")]),
        (sent((1, "sent")), sent((5, "sent")), [DETAILS]),
        (sent((1, "sent")), sent((5, "viewed")), [("receipt", 11, "sent", "viewed")]),
        (sent((1, "")), sent((5, "pending")), [DETAILS]),
        (sent(), sent((6, ""), (5, "read")), [("receipt", 11, None, "read"), ("receipt", 12, None, "pending")]),
        # The furthest of several, whatever their order.
        (sent((1, "read"), (1, "sent")), sent((5, "sent"), (5, "read")), [DETAILS]),
        (sent((9, "read")), sent((9, "sent")), [("receipt", None, "read", "sent")]),
        (reacted((1, "a", 1, 1)), reacted((5, "a", 7, 9)), [DETAILS]),
        (reacted((1, "a", 1, 1)), reacted(), [("reaction", 11, "a", None)]),
        # The last one of several: by their order, then by their time.
        (
            reacted((1, "a", 2, 1), (1, "b", 1, 5)),
            reacted((5, "c", 1, 2), (5, "d", 1, 1)),
            [("reaction", 11, "a", "c")],
        ),
        (reacted((9, "a", 1, 1)), reacted((9, "b", 1, 1)), [("reaction", None, "a", "b")]),
        (poll(("x", (1,))), poll(("x", (5,))), [DETAILS]),
        (
            poll(("y", (1, 2)), ("x", (1,))),
            poll(("x", (6,)), ("y", ())),
            [("vote", 11, "x, y", None), ("vote", 12, "y", "x")],
        ),
        (poll(("x", (9,))), poll(("x", ())), [("vote", None, "x", None)]),
        (
            message(is_read=False),
            message("goodbye", is_read=True),
            [("edited", None, "hello", "goodbye"), ("read", None, "false", "true")],
        ),
    ],
)
def test_changes_are_listed_by_kind_and_person(before: ChatItem, after: ChatItem, expected: list[Change]) -> None:
    """People are compared by their id in the archive; without another change, details changed."""
    assert differences(before, EARLIER, after, LATER) == expected
