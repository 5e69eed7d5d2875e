"""Messages with their related rows."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import Archive, Message, Position
from holdfast.backup.archives.sentence_templates import SENTENCES
from holdfast.backup.schema.backup_pb2 import ChatItem
from tests.backup.archives.histories import copies, imported, later, write


def test_a_message_is_the_same_alone_and_among_others(opened: Archive) -> None:
    """Read in a stretch, in a page, by its id, or with its receipts and changes left out."""
    chat = max(opened.chats(), key=lambda chat: chat.messages)
    whole = opened.build_messages(opened.rows_between(chat.id, Position(0, -1, 0)))
    assert whole == list(opened.messages(chat.id))
    assert whole == opened.by_ids([one.id for one in whole])
    for one in whole[:40]:
        alone = opened.message(one.id)
        assert (alone.text, alone.attachments, alone.reactions) == (one.text, one.attachments, one.reactions)
        assert (alone.quote, alone.ranges, alone.revisions, alone.poll) == (
            one.quote,
            one.ranges,
            one.revisions,
            one.poll,
        )
    assert opened.build_messages([]) == []


def test_a_stretch_ends_before_its_end(opened: Archive) -> None:
    """At a place, or at a time."""
    chat = max(opened.chats(), key=lambda chat: chat.messages)
    places = [one.position for one in opened.messages(chat.id)]
    found = opened.build_messages(opened.rows_between(chat.id, places[3], places[9]))
    assert [one.position for one in found] == places[3:9]
    timed = opened.build_messages(opened.rows_between(chat.id, places[3], None, places[9].ms))
    assert [one.position for one in timed] == [one for one in places[3:] if one.ms < places[9].ms]


def test_what_is_gone_is_told_with_the_first_backup_that_lacks_it(tmp_path: Path) -> None:
    """Whichever of several that is."""
    first = write(tmp_path / "one", *copies(60))
    second = later(tmp_path / "two", random.Random(1), days=1)
    third = later(tmp_path / "three", random.Random(1), days=9)
    imported(tmp_path / "chats.db", first, second, third)
    with archives.open(tmp_path / "chats.db") as opened:
        made = sorted(one.made_ms for one in opened.snapshots())
        every = [one for chat in opened.chats() for one in opened.messages(chat.id)]
    assert {one.vanished_ms for one in every} == {None, made[1]}


def test_the_names_that_were_read_are_tracked(opened: Archive) -> None:
    """Authors, those who reacted, and whoever is named in a sentence; only while somebody listens."""
    chat = max(opened.chats(), key=lambda chat: chat.messages)
    rows = opened.rows_between(chat.id, Position(0, -1, 0))
    with opened.names.track() as used:
        messages = opened.build_messages(rows)
    assert {one.author_id for one in messages} <= used
    assert {each.author_id for one in messages for each in one.reactions} <= used
    before = set(used)
    opened.names.name(-5)
    assert used == before
    assert opened.names.lookup(chat.account_id, -5) == (None, False)
    assert opened.names.lookup(chat.account_id, messages[0].author_id)[0] == messages[0].author


def test_what_is_a_text_and_nothing_else_is_told_from_its_row(opened: Archive) -> None:
    """Nothing but its state hangs on such a message; on every other something does, or it is no text."""
    plain = 0
    for chat in opened.chats():
        rows = opened.rows_between(chat.id, Position(0, -1, 0))
        found = opened.load_parts(rows)
        for row in rows:
            one = opened.build_message(row, found)
            bare = Message(
                *(one.id, one.chat_id, one.chat, one.author_id, one.author, one.direction, "message", one.text),
                *(None, one.sent_ms, one.received_ms, one.position, False, None, None, None),
                status=one.status,
            )
            assert found.is_plain(row) == (one == bare and bool(one.text))
            plain += found.is_plain(row)
    assert plain > 0


@pytest.fixture
def plain(archive_file: Path) -> Iterator[Archive]:
    """Open the archive that is not encrypted."""
    with archives.open(archive_file) as found:
        yield found


def records_of(opened: Archive) -> list[tuple[Message, ChatItem]]:
    """List every message of an archive with the record that it was read from."""
    found = [opened.message(one.id) for chat in opened.chats() for one in opened.messages(chat.id)]
    return [(one, ChatItem.FromString(opened.record(one.id))) for one in found]


def people_of(opened: Archive) -> dict[int, int]:
    """Lead from the ids of the only file of an archive to those of the archive."""
    return dict(opened.connection.execute("SELECT file_id, recipient_id FROM snapshot_recipient"))


def test_a_message_says_what_its_record_says(plain: Archive) -> None:
    """Who wrote it and when, who reacted, what it quotes, and earlier wordings in their order."""
    people, names = people_of(plain), plain.names
    seen = {"reactions": 0, "quote": 0, "revisions": 0, "links": 0, "receipts": 0}
    for one, item in records_of(plain):
        said = item.standardMessage
        assert (one.author_id, one.author) == (people[item.authorId], names.name(people[item.authorId]))
        assert (one.sent_ms, one.sms) == (item.dateSent, item.sms)
        if not item.HasField("standardMessage"):
            continue
        assert [(each.author_id, each.author, each.emoji, each.sent_ms) for each in one.reactions] == [
            (people[each.authorId], names.name(people[each.authorId]), each.emoji, each.sentTimestamp)
            for each in sorted(said.reactions, key=lambda each: each.sortOrder)
        ]
        assert [(link.url, link.title) for link in one.links] == [
            (link.url, link.title or None) for link in said.linkPreview
        ]
        assert (one.quote is not None) == said.HasField("quote")
        if one.quote is not None:
            who = people[said.quote.authorId]
            assert (one.quote.author_id, one.quote.author) == (who, names.name(who))
            assert one.quote.text == (said.quote.text.body or None)
        earlier = [each.standardMessage.text.body for each in item.revisions]
        assert [(each.n, each.text) for each in one.revisions] == [*enumerate(earlier, 1)]
        assert {each.recipient_id for each in one.receipts} == {
            people[each.recipientId] for each in item.outgoing.sendStatus
        }
        assert all(each.recipient == names.name(each.recipient_id) for each in one.receipts)
        for part in seen:
            seen[part] += bool(getattr(one, part))
    assert all(seen.values()), seen


def test_styles_and_mentions_are_those_of_their_text(plain: Archive) -> None:
    """Of the message or of what it quotes; a style names nobody."""
    seen = set()
    for one, item in records_of(plain):
        for found, record in (
            (one.ranges, item.standardMessage.text.bodyRanges),
            (one.quote_ranges, item.standardMessage.quote.text.bodyRanges),
        ):
            assert [(each.start, each.length) for each in found] == [(each.start, each.length) for each in record]
            for each, raw in zip(found, record, strict=True):
                seen.add(bool(raw.mentionAci))
                assert (each.style is None) == bool(raw.mentionAci)
                assert each.mention == (plain.names.name(each.mention_id) if each.mention_id else None)
                assert raw.mentionAci or (each.mention_id, each.mention) == (None, None)
    assert seen == {True, False}


def test_polls_and_cards_are_read_with_all_their_lines(plain: Archive) -> None:
    """Who voted for what by name; phone numbers before email addresses before places."""
    people, kinds = people_of(plain), set()
    for one, item in records_of(plain):
        assert (one.poll is not None) == item.HasField("poll")
        assert (one.card is not None) == item.HasField("contactMessage")
        if one.poll is not None:
            kinds.add("poll")
            assert (one.poll.question, one.poll.allow_multiple) == (item.poll.question, item.poll.allowMultiple)
            assert one.poll.has_ended == item.poll.hasEnded
            assert [(option.text, sorted(option.voters)) for option in one.poll.options] == [
                (option.option, sorted(plain.names.name(people[vote.voterId]) for vote in option.votes))
                for option in item.poll.options
            ]
        if one.card is not None:
            kinds.add("card")
            order = [("phone", "email", "address").index(line.field) for line in one.card.fields]
            assert order == sorted(order)
            record = item.contactMessage.contact
            assert len(order) == len(record.number) + len(record.email) + len(record.address)
    assert kinds == {"poll", "card"}


def test_what_is_no_text_is_said_in_a_sentence(plain: Archive) -> None:
    """By the author, or to the owner as "you"."""
    names, people, seen = plain.names, people_of(plain), set()
    for one, item in records_of(plain):
        own = names.is_owner(one.author_id)
        if one.kind == "message":
            assert one.sentence is None
        elif one.kind == "view_once":
            assert one.sentence == SENTENCES["viewOnce"]
        elif one.kind == "deleted":
            assert one.sentence == SENTENCES["deleted.you" if own else "deleted"].format(who=one.author)
        elif one.kind == "deleted_by_admin":
            admin = people[item.adminDeletedMessage.adminId]
            called = "You" if names.is_owner(admin) else names.name(admin)
            key = "deletedByAdmin.you" if own else "deletedByAdmin"
            assert one.sentence == SENTENCES[key].format(who=one.author, admin=called)
        elif one.kind == "sticker":
            assert one.sentence == f"Sticker {item.stickerMessage.sticker.emoji}".strip()
        elif one.kind == "contact":
            assert one.card is not None
            assert one.sentence == f"Contact: {one.card.name or one.card.organization or 'somebody'}"
        elif one.kind == "gift_badge":
            state = item.giftBadge.State.Name(item.giftBadge.state)
            key = f"giftBadge.{state}.you" if own else f"giftBadge.{state}"
            assert one.sentence == SENTENCES[key].format(who=one.author, other=names.name(one.chat_id))
        elif one.kind == "payment":
            assert one.sentence is not None
            assert one.sentence.startswith("You " if own else f"{one.author} ")
            assert one.sentence.endswith(f" {item.paymentNotification.amountCoin or 'a payment'}.")
        seen.add(one.kind)
    assert seen >= {"message", "view_once", "deleted", "sticker", "contact", "gift_badge", "payment"}


def test_the_chat_with_oneself_is_called_so(plain: Archive) -> None:
    """Every other chat by its name."""
    for chat in plain.chats():
        for one in plain.messages(chat.id):
            expected = "Note to Self" if plain.names.is_owner(chat.id) else plain.names.name(chat.id)
            assert one.chat == expected
