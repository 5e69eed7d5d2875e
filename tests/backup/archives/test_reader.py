"""Reading chats, people and messages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import Archive, Message, Position, reader
from holdfast.backup.archives.model import Page
from holdfast.backup.errors import NotInArchive
from tests.backup.archives.histories import copies, import_backups, items, write

# Above any number that SQLite can store.
TOO_LARGE = 1 << 70


@pytest.fixture(scope="module")
def changed_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import two backups, the second without a third of the messages and with some edited and deleted.

    One message has no time.
    """
    folder = tmp_path_factory.mktemp("changed")
    header, frames = copies()
    timeless = next(item for item in items(frames) if item.HasField("incoming") and not item.revisions)
    timeless.dateSent = timeless.incoming.dateReceived = 0
    first = write(folder / "one", header, frames)
    header.backupTimeMs += 1
    remaining = []
    for number, frame in enumerate(frames):
        content = frame.chatItem.standardMessage
        if frame.HasField("chatItem") and frame.chatItem is not timeless and number % 3 == 0:
            continue
        if content.text.body and number % 3 == 1:
            content.text.body = "in other words"
        elif content.text.body and not frame.chatItem.revisions and number % 2 == 0:
            frame.chatItem.remoteDeletedMessage.SetInParent()
        remaining.append(frame)
    import_backups(folder / "chats.db", first, write(folder / "two", header, remaining))
    return folder / "chats.db"


@pytest.fixture
def changed(changed_file: Path) -> Iterator[Archive]:
    """Open the archive of two backups."""
    with archives.open(changed_file) as archive:
        yield archive


def all_messages(archive: Archive) -> list[Message]:
    """List every message of an archive with its changes, the highest id first."""
    found = [archive.message(message.id) for chat in archive.chats() for message in archive.messages(chat.id)]
    return sorted(found, key=lambda message: message.id, reverse=True)


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
    assert len(page.messages) == 10


def test_a_page_has_at_least_one_message_and_at_most_the_maximum(
    opened: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit below one is read as one, and one above the maximum as that."""
    chat = max(opened.chats(), key=lambda row: row.messages)
    monkeypatch.setattr(reader, "MAX_LIMIT", 3)
    assert [len(opened.page(chat.id, limit=limit).messages) for limit in (-1, 0, 1, 2, 3, 4)] == [1, 1, 1, 2, 3, 3]


def test_a_chat_without_messages_has_an_empty_page(opened: Archive) -> None:
    """The page of a chat that has no messages leads nowhere, in any direction."""
    empty = Page((), None, None)
    assert opened.page(1) == opened.page(1, after=Position(0, -1, 0)) == opened.page(1, around_ms=0) == empty


@pytest.mark.parametrize("limit", [1, 4, 13, 26])
def test_a_chat_of_several_batches_is_read_whole(
    opened: Archive, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    """Every message is yielded once and in its order, also where the last batch is full or has one message."""
    chat = next(chat for chat in opened.chats() if chat.messages == 26)
    expected = list(opened.messages(chat.id))
    monkeypatch.setattr(reader, "MAX_LIMIT", limit)
    assert list(opened.messages(chat.id)) == expected
    assert len(expected) == 26


def test_messages_between_two_dates(opened: Archive) -> None:
    """The messages of a period include its start and not its end."""
    chat = max(opened.chats(), key=lambda row: row.messages)
    times = [message.position.ms for message in opened.messages(chat.id)]
    since, until = times[3], times[-3]
    actual = [message.position.ms for message in opened.messages(chat.id, since, until)]
    assert actual == [ms for ms in times if since <= ms < until]


def test_a_message_without_a_time_is_the_first_of_its_chat(changed: Archive) -> None:
    """A message at the millisecond 0 is read with the whole chat, and not with a period that begins later."""
    (message,) = (message for message in all_messages(changed) if message.position.ms == 0)
    times = [each.position.ms for each in changed.messages(message.chat_id)]
    assert times[0] == 0
    assert [each.position.ms for each in changed.messages(message.chat_id, 1)] == times[1:]
    assert changed.page(message.chat_id, around_ms=0, limit=1).messages[0].id == message.id


def test_a_chat_says_whether_it_is_archived_and_where_it_is_pinned(opened: Archive) -> None:
    """Both are those of the row of the chat; pinned chats are first, in the order of their pins."""
    chats = opened.chats()
    rows = opened.connection.execute("SELECT id, archived, pinned_order FROM chat")
    stored = {number: (bool(archived), pinned) for number, archived, pinned in rows}
    assert {chat.id: (chat.archived, chat.pinned_order) for chat in chats} == stored
    assert {chat.archived for chat in chats} == {True, False}
    assert [chat.pinned_order for chat in chats[:5]] == [1, 2, 3, 4, None]


def test_people_are_said_to_be_blocked(opened: Archive) -> None:
    """Only a person whose row says so is blocked."""
    blocked = {number for (number,) in opened.connection.execute("SELECT id FROM people WHERE blocked")}
    assert {person.id for person in opened.people() if person.blocked} == blocked
    assert len(blocked) == 1


def test_chats_are_found_by_name_beginning_and_number(opened: Archive) -> None:
    """A chat is found by id, name or beginning of its name; an ambiguous name is refused with five examples."""
    chat = opened.chats()[0]
    assert opened.chat(chat.id) == opened.chat(str(chat.id)) == opened.chat(chat.name) == chat
    assert opened.chat(chat.name[:8].lower()).id == chat.id
    with pytest.raises(NotInArchive, match="there is no chat"):
        opened.chat("nobody at all")
    with pytest.raises(NotInArchive, match="2 chats match e: "):
        opened.chat("e")
    matching = [chat for chat in opened.chats() if " " in chat.name]
    with pytest.raises(NotInArchive, match=f"{len(matching)} chats match") as ambiguous:
        opened.chat(" ")
    named = [chat for chat in matching if f"{chat.name} ({chat.id})" in str(ambiguous.value)]
    assert len(named) == 5 < len(matching)
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


@pytest.mark.parametrize("number", [1, (1 << 63) - 1, 1 << 63, TOO_LARGE])
def test_an_unknown_message_is_not_in_the_archive(opened: Archive, number: int) -> None:
    """An unknown number is refused, also one that SQLite cannot store."""
    with pytest.raises(NotInArchive, match=f"there is no message {number}"):
        opened.message(number)


@pytest.mark.parametrize("what", ["vanished", "edited", "deleted"])
def test_altered_messages_are_listed_with_their_changes(
    changed: Archive, what: Literal["vanished", "edited", "deleted"]
) -> None:
    """The list has every message that vanished, was edited or was deleted, whole, and the latest first."""
    everything = all_messages(changed)
    changes = {message.id: {change.what for change in message.changes} for message in everything}
    expected = {
        "vanished": [message for message in everything if message.vanished_ms is not None],
        "edited": [message for message in everything if message.revisions or "edited" in changes[message.id]],
        "deleted": [message for message in everything if message.kind == "deleted"],
    }[what]
    assert len(expected) > 2
    assert changed.altered(what) == expected
    assert what == "vanished" or any(message.changes for message in expected)


def test_altered_messages_are_filtered_by_chat_author_and_time(changed: Archive) -> None:
    """Each filter selects by its own field, a period includes its start and not its end, and all can be joined."""
    messages = changed.altered("vanished")
    one = messages[len(messages) // 2]
    assert changed.altered("vanished", chat=one.chat_id) == [
        message for message in messages if message.chat_id == one.chat_id
    ]
    authors = {messages[0].author_id, messages[-1].author_id}
    assert changed.altered("vanished", authors=[*authors]) == [
        message for message in messages if message.author_id in authors
    ]
    assert changed.altered("vanished", authors=()) == []
    times = sorted(message.sent_ms for message in messages)
    assert changed.altered("vanished", since_ms=times[2], until_ms=times[-2]) == [
        message for message in messages if times[2] <= message.sent_ms < times[-2]
    ]
    assert changed.altered("vanished", since_ms=times[-1] + 1) == changed.altered("vanished", until_ms=0) == []
    assert changed.altered(
        "vanished", chat=one.chat_id, authors=[one.author_id], since_ms=one.sent_ms, until_ms=one.sent_ms + 1
    ) == [one]


def test_altered_messages_are_paged(changed: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next page is below an id; a limit below one is read as one, and one beyond the maximum as one more."""
    messages = changed.altered("vanished")
    assert changed.altered("vanished", limit=2) == messages[:2]
    assert changed.altered("vanished", below=messages[1].id) == messages[2:]
    assert changed.altered("vanished", below=TOO_LARGE) == messages
    assert changed.altered("vanished", below=0) == []
    assert changed.altered("vanished", limit=1) == changed.altered("vanished", limit=0) == messages[:1]
    monkeypatch.setattr(reader, "MAX_LIMIT", 2)
    assert changed.altered("vanished", limit=9) == messages[:3]


def test_what_imports_skipped_is_listed_by_import(opened: Archive) -> None:
    """The list has every note in the order of the frames, or only those of one import."""
    rows = opened.connection.execute("SELECT frame, what, times FROM skipped ORDER BY frame, what").fetchall()
    (snapshot,) = opened.snapshots()
    notes = list(opened.skipped())
    assert [(note.frame, note.what, note.times) for note in notes] == rows != []
    assert {(note.snapshot, note.source) for note in notes} == {(snapshot.id, snapshot.source)}
    assert list(opened.skipped(snapshot.id)) == notes
    assert list(opened.skipped(snapshot.id + 1)) == []


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
