"""The page of a chat and its pagination."""

import re
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from holdfast.backup.archives import Chat
from holdfast.web.chats.conversation_routes import respond
from holdfast.web.chats.open_archive import OpenArchive
from holdfast.web.chats.view import PageNotFound, RedirectResult, TemplateResult, format_position
from tests.backup.archives.histories import copies, import_backups, items, write
from tests.web.chats.conftest import EVIL, OpenFile, drawn_in, shown_in


def largest(opened: OpenArchive) -> Chat:
    """Return the chat with most messages."""
    with opened.reading() as archive:
        return max(archive.chats(), key=lambda chat: chat.messages)


def ids(template_result: TemplateResult) -> list[int]:
    """Return the messages of a page."""
    return [
        int(item) for item in re.findall(r'<li class="m [^"]*" id="m(\d+)"', str(template_result.values["inside"]))
    ]


def follow(opened: OpenArchive, address: object) -> TemplateResult:
    """Follow a link of a page."""
    parts = urlsplit(str(address))
    return shown_in(opened, parts.path, **dict(parse_qsl(parts.query)))


def whole(opened: OpenArchive, chat: Chat) -> list[int]:
    """Return all messages of a chat in their order."""
    with opened.reading() as archive:
        return [message.id for message in archive.messages(chat.id)]


def test_older_and_newer_lead_through_the_whole_chat(opened: OpenArchive) -> None:
    """The links show every message once in both directions, beginning with the newest or the oldest."""
    chat = largest(opened)
    every = whole(opened, chat)
    assert len(every) > 100
    page = shown_in(opened, f"chat/{chat.id}")
    assert page.values["newer"] == ""
    back = ids(page)
    while page.values["older"]:
        page = follow(opened, page.values["older"])
        back = ids(page) + back
    assert back == every
    page = shown_in(opened, f"chat/{chat.id}", first="1")
    ahead = ids(page)
    while page.values["newer"]:
        page = follow(opened, page.values["newer"])
        ahead += ids(page)
    assert ahead == every


def test_a_date_leads_to_its_first_message(opened: OpenArchive) -> None:
    """A date after the last message shows the last messages; one that is not a date has status 400."""
    chat = largest(opened)
    with opened.reading() as archive:
        messages = list(archive.messages(chat.id))
        middle = messages[len(messages) // 2]
    months = shown_in(opened, f"chat/{chat.id}/dates").values
    listed = months["months"]
    assert isinstance(listed, list)
    assert listed
    day = listed[0].days[0][0]
    on_day = [item.id for item in messages if f"{datetime.fromtimestamp(item.position.ms / 1000, UTC):%F}" == day]
    assert on_day
    assert ids(shown_in(opened, f"chat/{chat.id}", date=day))[0] == on_day[0]
    late = shown_in(opened, f"chat/{chat.id}", date="2199-01-01")
    assert ids(late)[-1] == messages[-1].id
    refused = shown_in(opened, f"chat/{chat.id}", date="soon<b>")
    assert refused.status == 400
    assert "soon&lt;b&gt;" in drawn_in(opened, f"chat/{chat.id}", date="soon<b>")
    around = shown_in(opened, f"chat/{chat.id}", at=format_position(middle.position))
    assert middle.id in ids(around)


def test_a_quote_jumps_to_its_message(opened: OpenArchive) -> None:
    """The link of a quote redirects to the page of the chat that contains the quoted message."""
    with opened.reading() as archive:
        quoting = next(
            message
            for chat in archive.chats()
            for message in archive.messages(chat.id)
            if message.quote and message.quote.target_id
        )
    assert quoting.quote is not None
    page = drawn_in(opened, f"chat/{quoting.chat_id}", at=format_position(quoting.position))
    assert f'href="/to/{quoting.quote.target_id}"' in page
    answer = respond(opened, "", f"to/{quoting.quote.target_id}", {})
    assert isinstance(answer, RedirectResult)
    assert answer.address.endswith(f"#m{quoting.quote.target_id}")
    assert quoting.quote.target_id in ids(follow(opened, answer.address))


def test_the_size_of_pages_is_bounded(tmp_path: Path, open_file: OpenFile) -> None:
    """Long texts are truncated with a link to the whole message, and no message is left out of the pages."""
    header, frames = copies(60)
    for item in items(frames):
        if item.HasField("standardMessage"):
            item.standardMessage.text.body = "長いテキスト " * 2000
            item.ClearField("revisions")
    import_backups(tmp_path / "a.db", write(tmp_path / "one", header, frames))
    opened = open_file(tmp_path / "a.db")
    chat = largest(opened)
    page = shown_in(opened, f"chat/{chat.id}")
    back = ids(page)
    while page.values["older"]:
        assert len(str(page.values["inside"]).encode()) < 200_000
        page = follow(opened, page.values["older"])
        back = ids(page) + back
    assert back == whole(opened, chat)
    drawn = drawn_in(opened, f"chat/{chat.id}")
    assert len(drawn.encode()) < 200_000
    assert "The whole message" in drawn
    assert len(drawn_in(opened, f"message/{back[-1]}").encode()) < 400_000


def test_names_and_reactions_of_any_length_fill_no_page(tmp_path: Path, open_file: OpenFile) -> None:
    """Very long names, reactions, captions and polls leave every page below 200 kB."""
    header, frames = copies(120)
    long = "名" * 40_000
    for frame in frames:
        if frame.HasField("recipient") and frame.recipient.HasField("contact"):
            frame.recipient.contact.profileGivenName = long
            frame.recipient.contact.ClearField("systemGivenName")
            frame.recipient.contact.ClearField("nickname")
        elif frame.HasField("recipient") and frame.recipient.HasField("group"):
            frame.recipient.group.snapshot.title.title = long
        elif frame.HasField("chatFolder"):
            frame.chatFolder.name = long
    for item in items(frames):
        if item.HasField("standardMessage"):
            for reaction in item.standardMessage.reactions:
                reaction.emoji = long
            for attachment in item.standardMessage.attachments:
                attachment.pointer.fileName = attachment.pointer.caption = long
        elif item.HasField("poll"):
            item.poll.question = long
    import_backups(tmp_path / "a.db", write(tmp_path / "one", header, frames))
    opened = open_file(tmp_path / "a.db")
    chat = largest(opened)
    pages = ["", "people", "statistics", "about", f"chat/{chat.id}", f"chat/{chat.id}/dates"]
    pages += [f"message/{number}" for number in whole(opened, chat)[:10]]
    for path in pages:
        assert len(drawn_in(opened, path).encode()) < 200_000, path
    assert len(drawn_in(opened, "search", **{"is": "in"}).encode()) < 200_000


def test_messages_are_escaped(hostile_archive: OpenArchive) -> None:
    """Pages of hostile chats have no markup, event handler or javascript link from their messages."""
    with hostile_archive.reading() as archive:
        chats = archive.chats()
    for chat in chats[:12]:
        page = drawn_in(hostile_archive, f"chat/{chat.id}")
        assert EVIL not in page
        assert "<img src=x" not in page
        assert 'href="javascript:' not in page
        assert not re.search(r"<[^>]+ on\w+=", page)
        assert "&lt;script&gt;" in page


@pytest.mark.parametrize("path", ["chat/1", "chat/x", "chat/", "to/1", "to/x", "chat/1/dates", "chat/1/2/3"])
def test_an_unknown_chat_or_message_is_not_found(opened: OpenArchive, path: str) -> None:
    """Unknown and malformed ids of chats and messages are not found."""
    with pytest.raises(PageNotFound):
        respond(opened, "", path, {})


@pytest.mark.parametrize("query", [{"before": "1"}, {"after": "x.y.z"}, {"at": "1.2.3.4"}, {"at": f"{2**64}.0.0"}])
def test_an_invalid_position_is_not_found(opened: OpenArchive, query: dict[str, str]) -> None:
    """Positions with too few or too many parts, with letters, and beyond 64 bits are not found."""
    with pytest.raises(PageNotFound):
        shown_in(opened, f"chat/{largest(opened).id}", **query)
