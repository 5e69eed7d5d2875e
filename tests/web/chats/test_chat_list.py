"""The list of chats."""

import re
from pathlib import Path

import pytest

from holdfast.web.chats.chat_list import ChatListTab, ChatRow
from holdfast.web.chats.open_archive import OpenArchive, open_archive_file
from holdfast.web.chats.view import PageNotFound
from tests.backup.archives.histories import copies, imported, write
from tests.web.chats.conftest import EVIL, drawn_in, shown_in


def rows_of(room: OpenArchive, **query: str) -> list[ChatRow]:
    """List the chats of a page."""
    rows = shown_in(room, "", **query).values["rows"]
    assert isinstance(rows, list)
    return rows


def tabs_of(room: OpenArchive) -> list[ChatListTab]:
    """List the folders."""
    tabs = shown_in(room, "").values["folders"]
    assert isinstance(tabs, list)
    return tabs


def test_the_owner_finds_what_they_saw(room: OpenArchive) -> None:
    """Pinned chats first in their order, then the latest; archived ones apart; a line and a count for each."""
    rows = rows_of(room)
    pinned = [row.chat.pinned_order for row in rows if row.chat.pinned_order is not None]
    assert pinned
    assert [row.chat.pinned_order for row in rows][: len(pinned)] == sorted(pinned)
    rest = [row.chat.latest_ms or 0 for row in rows[len(pinned) :]]
    assert rest == sorted(rest, reverse=True)
    assert not any(row.chat.archived for row in rows)
    archived = rows_of(room, archived="1")
    assert archived
    assert all(row.chat.archived for row in archived)
    assert all(row.line for row in rows if row.chat.messages)
    page = drawn_in(room, "")
    assert rows[0].chat.name in page
    assert "￼" not in page


def test_folders_are_tabs_with_their_chats(room: OpenArchive) -> None:
    """Each leads to the chats its owner put there."""
    tabs = tabs_of(room)
    assert [tabs[0].name, tabs[-1].name] == ["Chats", "Archived"]
    assert len(tabs) > 2
    for tab in tabs[1:-1]:
        number = re.search(r"folder=(\d+)", tab.address)
        assert number
        assert len(rows_of(room, folder=number[1])) == min(tab.count, 100)


def test_two_accounts_are_kept_apart(tmp_path: Path) -> None:
    """Each has its own list, and one leads to the other."""
    header, frames = copies(40, 2)
    header.mediaRootBackupKey = b"\x07" * 32
    for frame in frames:
        if frame.HasField("account"):
            frame.account.profileKey = b"\x08" * 32
            frame.account.givenName = "Somebody Else"
            frame.account.ClearField("username")
    other = write(tmp_path / "two", header, frames)
    imported(tmp_path / "a.db", write(tmp_path / "one", *copies()), other)
    room = open_archive_file(tmp_path / "a.db", "a.db")
    accounts = shown_in(room, "").values["accounts"]
    assert isinstance(accounts, list)
    assert len(accounts) == 2
    number = accounts[1].address.rpartition("=")[2]
    first = {row.chat.id for row in rows_of(room)}
    second = {row.chat.id for row in rows_of(room, account=number)}
    assert first
    assert second
    assert not first & second


@pytest.mark.parametrize("query", [{"account": "5"}, {"folder": "99"}, {"folder": "x"}, {"account": "x"}])
def test_what_is_not_there_is_not_found(room: OpenArchive, query: dict[str, str]) -> None:
    """Whatever the address says."""
    with pytest.raises(PageNotFound):
        shown_in(room, "", **query)


def test_names_and_texts_stay_text(hostile_room: OpenArchive) -> None:
    """Also the name of the archive and of folders."""
    page = drawn_in(hostile_room, "")
    assert EVIL not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;" in page


def test_an_archive_without_backups_has_an_empty_list(tmp_path: Path) -> None:
    """And says so."""
    imported(tmp_path / "empty.db")
    assert "No chats." in drawn_in(open_archive_file(tmp_path / "empty.db", "empty"), "")
