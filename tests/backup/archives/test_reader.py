"""Reading chats, people and messages."""

import pytest

from holdfast.backup.archives import Archive, Position
from holdfast.backup.errors import NotInArchive
from tests.backup.archives.histories import copies


def test_pages_there_and_back_are_the_whole_chat(opened: Archive) -> None:
    """Pages backward from the end and forward from the start have every message of a chat once."""
    for chat in opened.chats()[:6]:
        ids = [message.id for message in opened.messages(chat.id)]
        assert len(ids) == chat.messages
        back: list[int] = []
        page = opened.page(chat.id, limit=7)
        while page.messages:
            back = [*(message.id for message in page.messages), *back]
            if page.older is None:
                break
            page = opened.page(chat.id, before=page.older, limit=7)
        assert back == ids
        ahead: list[int] = []
        position: Position | None = Position(0, -1, 0)
        while position is not None:
            page = opened.page(chat.id, after=position, limit=5)
            ahead += [message.id for message in page.messages]
            position = page.newer
        assert ahead == ids


def test_a_page_around_a_date_has_both_sides(opened: Archive) -> None:
    """The message at the date is in the middle of the page."""
    chat = max(opened.chats(), key=lambda row: row.messages)
    middle = list(opened.messages(chat.id))[chat.messages // 2]
    page = opened.page(chat.id, around_ms=middle.position.ms, limit=10)
    assert page.messages[5].position.ms == middle.position.ms


def test_messages_between_two_dates(opened: Archive) -> None:
    """The messages of a period include its start and not its end."""
    chat = max(opened.chats(), key=lambda row: row.messages)
    times = [message.position.ms for message in opened.messages(chat.id)]
    since, until = times[3], times[-3]
    actual = [message.position.ms for message in opened.messages(chat.id, since, until)]
    assert actual == [ms for ms in times if since <= ms < until]


def test_chats_are_found_by_name_beginning_and_number(opened: Archive) -> None:
    """A chat is found by id, name or beginning of its name; an ambiguous name is refused."""
    chat = opened.chats()[0]
    assert opened.chat(chat.id) == opened.chat(str(chat.id)) == opened.chat(chat.name) == chat
    assert opened.chat(chat.name[:8].lower()).id == chat.id
    with pytest.raises(NotInArchive, match="there is no chat"):
        opened.chat("nobody at all")
    with pytest.raises(NotInArchive, match="chats match"):
        opened.chat("e")
    with pytest.raises(NotInArchive):
        opened.chat("9" * 40)


def test_a_message_has_everything_on_it(opened: Archive) -> None:
    """Messages have their quotes, votes, earlier texts, attachments, reactions, mentions and receipts."""
    messages = [message for chat in opened.chats() for message in opened.messages(chat.id)]
    assert any(message.quote and message.quote.target_id for message in messages)
    assert any(message.poll and any(option.voters for option in message.poll.options) for message in messages)
    assert any(message.revisions for message in messages)
    assert any(part.role == "attachment" for message in messages for part in message.attachments)
    assert any(message.reactions for message in messages)
    assert any(part.mention for message in messages for part in message.ranges)
    sent = next(message for message in messages if message.direction == "outgoing" and message.kind == "message")
    assert opened.message(sent.id).receipts


def test_the_record_is_kept_as_it_was(opened: Archive) -> None:
    """The original protobuf record of every message can be read, with fields that no table has."""
    _header, frames = copies(400)
    originals = [frame.chatItem.SerializeToString() for frame in frames if frame.HasField("chatItem")]
    ids = [message.id for chat in opened.chats() for message in opened.messages(chat.id)]
    assert sorted(map(opened.record, ids)) == sorted(originals)
    with pytest.raises(NotInArchive):
        opened.record(1 << 70)


def test_whatever_is_not_text_has_a_sentence(opened: Archive) -> None:
    """Every message has a sentence but texts, polls and story replies."""
    kinds = set()
    for chat in opened.chats():
        for message in opened.messages(chat.id):
            kinds.add(message.kind)
            if message.kind not in {"message", "poll", "story_reply"}:
                assert message.sentence, message
    assert kinds >= {"update", "sticker", "contact", "payment", "gift_badge", "view_once", "deleted"}


def test_contact_cards_have_all_their_lines(opened: Archive) -> None:
    """A card lists phone numbers, then email addresses, then postal addresses, as many as are stored."""
    messages = [
        entry
        for chat in opened.chats()
        for entry in opened.messages(chat.id)
        if entry.card or entry.kind == "contact"
    ]
    assert messages
    for entry in messages:
        assert entry.kind == "contact"
        assert entry.card is not None
        fields = [line.field for line in entry.card.fields]
        assert fields == sorted(fields, key=["phone", "email", "address"].index)
        (stored,) = opened.connection.execute(
            "SELECT count(*) FROM contact_card_field WHERE message_id = ?", (entry.id,)
        ).fetchone()
        assert len(fields) == stored


def test_the_status_of_a_message_is_how_far_it_got_with_anybody(opened: Archive) -> None:
    """The status is the furthest of all receipts, or failed if one failed; only sent messages have one."""
    ranks = ("skipped", "pending", "sent", "delivered", "read", "viewed", "failed")
    seen = set()
    for chat in opened.chats():
        for message in opened.messages(chat.id):
            states = [receipt.status for receipt in opened.message(message.id).receipts]
            expected = max(states, key=ranks.index, default=None) if message.direction == "outgoing" else None
            assert message.status == expected
            seen.add(message.status)
    assert len(seen) > 3
