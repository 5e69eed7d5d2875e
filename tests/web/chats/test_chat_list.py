"""The list of chats."""

import re
from pathlib import Path

import pytest

from holdfast.backup.archives.model import TextRange
from holdfast.web.chats import chat_list
from holdfast.web.chats.chat_list import PANE_ROWS, ChatListTab, ChatRow, preview_line
from holdfast.web.chats.open_archive import OpenArchive
from holdfast.web.chats.view import PageNotFound
from tests.backup.archives.histories import copies, import_backups, items, write
from tests.backup.exports.sample_messages import message
from tests.web.chats.conftest import EVIL, OpenFile, drawn_in, shown_in


def rows_of(opened: OpenArchive, **query: str) -> list[ChatRow]:
    """List the chats of a page."""
    rows = shown_in(opened, "", **query).values["rows"]
    assert isinstance(rows, list)
    return rows


def tabs_of(opened: OpenArchive) -> list[ChatListTab]:
    """List the folders of the list of chats."""
    tabs = shown_in(opened, "").values["folders"]
    assert isinstance(tabs, list)
    return tabs


def test_chats_are_sorted_as_in_the_app(opened: OpenArchive) -> None:
    """Pinned chats come first in their order, then the latest ones; archived chats have a list of their own."""
    rows = rows_of(opened)
    pinned = [row.chat.pinned_order for row in rows if row.chat.pinned_order is not None]
    assert pinned
    assert [row.chat.pinned_order for row in rows][: len(pinned)] == sorted(pinned)
    rest = [row.chat.latest_ms or 0 for row in rows[len(pinned) :]]
    assert rest == sorted(rest, reverse=True)
    assert not any(row.chat.archived for row in rows)
    archived = rows_of(opened, archived="1")
    assert archived
    assert all(row.chat.archived for row in archived)
    assert all(row.line for row in rows if row.chat.messages)
    page = drawn_in(opened, "")
    assert rows[0].chat.name in page
    assert "￼" not in page


def test_folders_are_tabs_with_their_chats(opened: OpenArchive) -> None:
    """The tab of a folder lists as many chats as it counts, up to 100."""
    tabs = tabs_of(opened)
    assert [tabs[0].name, tabs[-1].name] == ["Chats", "Archived"]
    assert len(tabs) > 2
    for tab in tabs[1:-1]:
        number = re.search(r"folder=(\d+)", tab.address)
        assert number
        assert len(rows_of(opened, folder=number[1])) == min(tab.count, 100)


def test_unread_chats_have_a_badge_and_counts_of_messages_have_none(tmp_path: Path, open_file: OpenFile) -> None:
    """A badge shows the number of unread messages or marks a chat as unread, and a folder counts those chats."""
    header, frames = copies(200)
    chats = [frame.chat for frame in frames if frame.HasField("chat")]
    for chat in chats:
        chat.markedUnread = False
    received = [item for item in items(frames) if item.HasField("incoming")]
    for item in received:
        item.incoming.read = True
    for item in [item for item in received if item.chatId == received[0].chatId][:3]:
        item.incoming.read = False
    marked = next(chat for chat in chats if chat.id != received[0].chatId and not chat.archived)
    marked.markedUnread = True
    import_backups(tmp_path / "a.db", write(tmp_path / "one", header, frames))
    opened = open_file(tmp_path / "a.db")
    rows = rows_of(opened)
    assert sorted(row.unread for row in rows if row.unread is not None) == [0, 3]
    page = drawn_in(opened, "")
    assert '<span class="unread">3<span class="visually-hidden"> unread</span></span>' in page
    assert '<span class="unread"><span class="visually-hidden">Marked as unread</span></span>' in page
    assert page.count('class="unread"') == 2
    assert f'class="entry-total">{rows[0].chat.messages:,} message' in page
    assert 'aria-label="Pinned"' in page
    (unread,) = (tab for tab in tabs_of(opened) if tab.name == "Unread")
    assert unread.count == 2


def test_a_chat_is_listed_among_the_others_beside_it(opened: OpenArchive) -> None:
    """The open chat is marked in the side pane, and beside an archived chat are the archived ones."""
    rows = rows_of(opened)
    page = drawn_in(opened, f"chat/{rows[3].chat.id}")
    assert re.findall(r'href="([^"]*)" aria-current="page"', page) == [rows[3].address]
    assert all(f'href="{row.address}"' in page for row in rows[:PANE_ROWS])
    archived = rows_of(opened, archived="1")
    page = drawn_in(opened, f"chat/{archived[0].chat.id}")
    assert f'href="{rows[0].address}"' not in page
    assert all(f'href="{row.address}"' in page for row in archived)


def test_a_chat_far_down_the_list_is_on_top_of_those_beside_it(
    opened: OpenArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The open chat comes first in the side pane, whose number of rows is limited."""
    monkeypatch.setattr(chat_list, "PANE_ROWS", 3)
    rows = rows_of(opened)
    pane = shown_in(opened, f"chat/{rows[-1].chat.id}").values["pane"]
    assert isinstance(pane, list)
    assert [row.chat.id for row in pane] == [rows[-1].chat.id, rows[0].chat.id, rows[1].chat.id]


def test_two_accounts_are_kept_apart(tmp_path: Path, open_file: OpenFile) -> None:
    """An archive of two accounts has a link to each account, and their lists share no chat."""
    header, frames = copies(40, 2)
    header.mediaRootBackupKey = b"\x07" * 32
    for frame in frames:
        if frame.HasField("account"):
            frame.account.profileKey = b"\x08" * 32
            frame.account.givenName = "Somebody Else"
            frame.account.ClearField("username")
    other = write(tmp_path / "two", header, frames)
    import_backups(tmp_path / "a.db", write(tmp_path / "one", *copies()), other)
    opened = open_file(tmp_path / "a.db")
    accounts = shown_in(opened, "").values["accounts"]
    assert isinstance(accounts, list)
    assert len(accounts) == 2
    number = accounts[1].address.rpartition("=")[2]
    first = {row.chat.id for row in rows_of(opened)}
    second = {row.chat.id for row in rows_of(opened, account=number)}
    assert first
    assert second
    assert not first & second


@pytest.mark.parametrize("query", [{"account": "5"}, {"folder": "99"}, {"folder": "x"}, {"account": "x"}])
def test_an_unknown_account_or_folder_is_not_found(opened: OpenArchive, query: dict[str, str]) -> None:
    """An unknown or malformed account or folder in the query is not found."""
    with pytest.raises(PageNotFound):
        shown_in(opened, "", **query)


def test_names_and_texts_are_escaped(hostile_archive: OpenArchive) -> None:
    """The list of chats of the hostile archive has no markup from its names and texts."""
    page = drawn_in(hostile_archive, "")
    assert EVIL not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;" in page


def test_a_mention_in_a_line_is_isolated() -> None:
    """A name in Arabic reorders nothing beside it; a name in Latin letters stays as it is."""
    for name, line in (
        ("\u0646\u0628\u064a\u0644", "\u2068@\u0646\u0628\u064a\u0644\u2069 yes, with it."),
        ("Bob", "@Bob yes, with it."),
    ):
        mention = TextRange(0, 1, None, 4, name)
        assert preview_line(message("\ufffc yes, with it.", ranges=(mention,))) == line


def test_an_archive_without_backups_has_an_empty_list(tmp_path: Path, open_file: OpenFile) -> None:
    """The page of an empty archive says that there are no chats."""
    import_backups(tmp_path / "empty.db")
    assert "No chats." in drawn_in(open_file(tmp_path / "empty.db"), "")
