"""Messages with their related rows."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import Archive, Message, Position
from holdfast.backup.archives.sentence_templates import SENTENCES
from holdfast.backup.schema.backup_pb2 import ChatItem
from tests.backup.archives.histories import copies, import_backups, write, write_later


def test_a_message_is_the_same_alone_and_among_others(opened: Archive) -> None:
    """A message read by its id equals the one read in a range or with the whole chat."""
    chat = max(opened.chats(), key=lambda chat: chat.messages)
    messages = opened.build_messages(opened.rows_between(chat.id, Position(0, -1, 0)))
    assert messages == list(opened.messages(chat.id))
    assert messages == opened.by_ids([message.id for message in messages])
    for message in messages[:40]:
        alone = opened.message(message.id)
        assert (alone.text, alone.attachments) == (message.text, message.attachments)
        assert alone.reactions == message.reactions
        assert (alone.quote, alone.ranges, alone.revisions, alone.poll) == (
            message.quote,
            message.ranges,
            message.revisions,
            message.poll,
        )
    assert opened.build_messages([]) == []


def test_a_stretch_ends_before_its_end(opened: Archive) -> None:
    """The end of a range, a position or a time, is not included."""
    chat = max(opened.chats(), key=lambda chat: chat.messages)
    positions = [message.position for message in opened.messages(chat.id)]
    messages = opened.build_messages(opened.rows_between(chat.id, positions[3], positions[9]))
    assert [message.position for message in messages] == positions[3:9]
    timed = opened.build_messages(opened.rows_between(chat.id, positions[3], None, positions[9].ms))
    expected = [position for position in positions[3:] if position.ms < positions[9].ms]
    assert [message.position for message in timed] == expected


def test_what_is_gone_is_told_with_the_first_backup_that_lacks_it(tmp_path: Path) -> None:
    """A vanished message has the time of the first of several backups that do not have it."""
    first = write(tmp_path / "one", *copies(60))
    second = write_later(tmp_path / "two", random.Random(1), days=1)
    third = write_later(tmp_path / "three", random.Random(1), days=9)
    import_backups(tmp_path / "chats.db", first, second, third)
    with archives.open(tmp_path / "chats.db") as opened:
        made_times = sorted(entry.made_ms for entry in opened.snapshots())
        messages = [entry for chat in opened.chats() for entry in opened.messages(chat.id)]
    assert {entry.vanished_ms for entry in messages} == {None, made_times[1]}


def test_the_names_that_were_read_are_tracked(opened: Archive) -> None:
    """Authors and people who reacted are tracked while messages are built, and no lookups after that."""
    chat = max(opened.chats(), key=lambda chat: chat.messages)
    rows = opened.rows_between(chat.id, Position(0, -1, 0))
    with opened.names.track() as used:
        messages = opened.build_messages(rows)
    assert {message.author_id for message in messages} <= used
    assert {reaction.author_id for message in messages for reaction in message.reactions} <= used
    before = set(used)
    opened.names.name(-5)
    assert used == before
    assert opened.names.lookup(chat.account_id, -5) == (None, False)
    assert opened.names.lookup(chat.account_id, messages[0].author_id)[0] == messages[0].author


def test_what_is_a_text_and_nothing_else_is_told_from_its_row(opened: Archive) -> None:
    """A message is plain if and only if it has a text and nothing else but its status."""
    plain = 0
    for chat in opened.chats():
        rows = opened.rows_between(chat.id, Position(0, -1, 0))
        parts = opened.load_parts(rows)
        for row in rows:
            message = opened.build_message(row, parts)
            author = (message.author_id, message.author, message.direction)
            bare = Message(
                *(message.id, message.chat_id, message.chat, *author, "message", message.text),
                *(None, message.sent_ms, message.received_ms, message.position, False, None, None, None),
                status=message.status,
            )
            assert parts.is_plain(row) == (message == bare and bool(message.text))
            plain += parts.is_plain(row)
    assert plain > 0


@pytest.fixture
def plain(archive_file: Path) -> Iterator[Archive]:
    """Open the archive that is not encrypted."""
    with archives.open(archive_file) as archive:
        yield archive


def records_of(opened: Archive) -> list[tuple[Message, ChatItem]]:
    """List every message of an archive with the record that it was read from."""
    messages = [opened.message(message.id) for chat in opened.chats() for message in opened.messages(chat.id)]
    return [(message, ChatItem.FromString(opened.record(message.id))) for message in messages]


def people_of(opened: Archive) -> dict[int, int]:
    """Map the recipient ids of the only snapshot of an archive to those of the archive."""
    return dict(opened.connection.execute("SELECT file_id, recipient_id FROM snapshot_recipient"))


def test_a_message_says_what_its_record_says(plain: Archive) -> None:
    """Author, times, reactions, links, quote, receipts and earlier texts equal those of the original record."""
    people, names = people_of(plain), plain.names
    seen = {"reactions": 0, "quote": 0, "revisions": 0, "links": 0, "receipts": 0}
    for message, item in records_of(plain):
        content = item.standardMessage
        assert (message.author_id, message.author) == (people[item.authorId], names.name(people[item.authorId]))
        assert (message.sent_ms, message.sms) == (item.dateSent, item.sms)
        if not item.HasField("standardMessage"):
            continue
        reactions = sorted(content.reactions, key=lambda reaction: reaction.sortOrder)
        assert [(each.author_id, each.author, each.emoji, each.sent_ms) for each in message.reactions] == [
            (people[each.authorId], names.name(people[each.authorId]), each.emoji, each.sentTimestamp)
            for each in reactions
        ]
        assert [(link.url, link.title) for link in message.links] == [
            (link.url, link.title or None) for link in content.linkPreview
        ]
        assert (message.quote is not None) == content.HasField("quote")
        if message.quote is not None:
            author = people[content.quote.authorId]
            assert (message.quote.author_id, message.quote.author) == (author, names.name(author))
            assert message.quote.text == (content.quote.text.body or None)
        earlier = [reaction.standardMessage.text.body for reaction in item.revisions]
        assert [(reaction.n, reaction.text) for reaction in message.revisions] == [*enumerate(earlier, 1)]
        assert {reaction.recipient_id for reaction in message.receipts} == {
            people[reaction.recipientId] for reaction in item.outgoing.sendStatus
        }
        assert all(reaction.recipient == names.name(reaction.recipient_id) for reaction in message.receipts)
        for part in seen:
            seen[part] += bool(getattr(message, part))
    assert all(seen.values()), seen


def test_styles_and_mentions_are_those_of_their_text(plain: Archive) -> None:
    """The ranges of a text and of a quoted text equal those of the record, and a style has no mention."""
    seen = set()
    for message, item in records_of(plain):
        for ranges, record in (
            (message.ranges, item.standardMessage.text.bodyRanges),
            (message.quote_ranges, item.standardMessage.quote.text.bodyRanges),
        ):
            spans = [(raw.start, raw.length) for raw in record]
            assert [(style.start, style.length) for style in ranges] == spans
            for style, raw in zip(ranges, record, strict=True):
                seen.add(bool(raw.mentionAci))
                assert (style.style is None) == bool(raw.mentionAci)
                assert style.mention == (plain.names.name(style.mention_id) if style.mention_id else None)
                assert raw.mentionAci or (style.mention_id, style.mention) == (None, None)
    assert seen == {True, False}


def test_polls_and_cards_are_read_with_all_their_lines(plain: Archive) -> None:
    """A poll has the names of its voters; a card lists phone numbers, then email addresses, then places."""
    people, kinds = people_of(plain), set()
    for message, item in records_of(plain):
        assert (message.poll is not None) == item.HasField("poll")
        assert (message.card is not None) == item.HasField("contactMessage")
        if message.poll is not None:
            kinds.add("poll")
            assert message.poll.question == item.poll.question
            assert message.poll.allow_multiple == item.poll.allowMultiple
            assert message.poll.has_ended == item.poll.hasEnded
            assert [(option.text, sorted(option.voters)) for option in message.poll.options] == [
                (option.option, sorted(plain.names.name(people[vote.voterId]) for vote in option.votes))
                for option in item.poll.options
            ]
        if message.card is not None:
            kinds.add("card")
            order = [("phone", "email", "address").index(line.field) for line in message.card.fields]
            assert order == sorted(order)
            record = item.contactMessage.contact
            assert len(order) == len(record.number) + len(record.email) + len(record.address)
    assert kinds == {"poll", "card"}


def test_what_is_no_text_is_said_in_a_sentence(plain: Archive) -> None:
    """The sentence names the author of the message, or addresses the owner as "you"."""
    names, people, seen = plain.names, people_of(plain), set()
    for message, item in records_of(plain):
        own = names.is_owner(message.author_id)
        if message.kind == "message":
            assert message.sentence is None
        elif message.kind == "view_once":
            assert message.sentence == SENTENCES["viewOnce"]
        elif message.kind == "deleted":
            assert message.sentence == SENTENCES["deleted.you" if own else "deleted"].format(who=message.author)
        elif message.kind == "deleted_by_admin":
            admin = people[item.adminDeletedMessage.adminId]
            called = "You" if names.is_owner(admin) else names.name(admin)
            key = "deletedByAdmin.you" if own else "deletedByAdmin"
            assert message.sentence == SENTENCES[key].format(who=message.author, admin=called)
        elif message.kind == "sticker":
            assert message.sentence == f"Sticker {item.stickerMessage.sticker.emoji}".strip()
        elif message.kind == "contact":
            assert message.card is not None
            assert message.sentence == f"Contact: {message.card.name or message.card.organization or 'somebody'}"
        elif message.kind == "gift_badge":
            state = item.giftBadge.State.Name(item.giftBadge.state)
            key = f"giftBadge.{state}.you" if own else f"giftBadge.{state}"
            assert message.sentence == SENTENCES[key].format(who=message.author, other=names.name(message.chat_id))
        elif message.kind == "payment":
            assert message.sentence is not None
            assert message.sentence.startswith("You " if own else f"{message.author} ")
            assert message.sentence.endswith(f" {item.paymentNotification.amountCoin or 'a payment'}.")
        seen.add(message.kind)
    assert seen >= {"message", "view_once", "deleted", "sticker", "contact", "gift_badge", "payment"}


def test_the_chat_with_oneself_is_called_so(plain: Archive) -> None:
    """The chat with the owner is called "Note to Self", and every other chat has its own name."""
    for chat in plain.chats():
        for message in plain.messages(chat.id):
            expected = "Note to Self" if plain.names.is_owner(chat.id) else plain.names.name(chat.id)
            assert message.chat == expected
