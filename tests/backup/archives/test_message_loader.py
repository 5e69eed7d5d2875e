"""Messages with all that hangs on them."""

import random
from pathlib import Path

from holdfast.backup import archives
from holdfast.backup.archives import Archive, Message, Position
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
