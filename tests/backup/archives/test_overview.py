"""Queries for browsing an archive."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import Archive, overview
from holdfast.backup.errors import NotInArchive


def test_the_latest_message_of_each_chat(opened: Archive) -> None:
    """It is the last message of the last page of the chat, and a chat without messages has none."""
    chats = opened.chats()
    latest = overview.latest_messages(opened, [chat.id for chat in chats])
    for chat in chats:
        page = opened.page(chat.id, limit=1)
        assert latest.get(chat.id) == (page.messages[-1] if page.messages else None)


def test_months_and_days_count_every_message(opened: Archive) -> None:
    """Every message is counted once; months are listed newest first, and days in ascending order."""
    chat = max(opened.chats(), key=lambda row: row.messages)
    months = overview.months(opened, chat.id)
    assert sum(month.messages for month in months) == chat.messages
    assert [month.name for month in months] == sorted((month.name for month in months), reverse=True)
    for month in months:
        assert sum(count for _, count in month.days) == month.messages
        assert [day for day, _ in month.days] == sorted(day for day, _ in month.days)


def test_a_page_at_a_place_has_it_in_the_middle(opened: Archive) -> None:
    """The position is in the middle of the page; at both ends of a chat the page is shorter on one side."""
    chat = max(opened.chats(), key=lambda row: row.messages)
    messages = list(opened.messages(chat.id))
    for number in (0, len(messages) // 2, len(messages) - 1):
        page = overview.at_position(opened, chat.id, messages[number].position, 10)
        first = max(0, number - 5)
        assert page.messages == tuple(messages[first : number + 5])
        assert (page.older is None, page.newer is None) == (first == 0, number + 5 >= len(messages))
    assert overview.at_position(opened, 1, messages[0].position, 10).messages == ()


def test_folders_take_what_their_owner_put_there(opened: Archive) -> None:
    """A folder has its included chats, and none of its excluded ones."""
    ((account, _name),) = overview.accounts(opened)
    folders = overview.folders(opened, account)
    assert folders
    chats = opened.chats()
    for folder in folders:
        included = {chat.id for chat in chats if folder.includes(chat)}
        assert not included & folder.excluded
        assert folder.included & {chat.id for chat in chats} - folder.excluded <= included
    assert overview.folders(opened, 1) == []
    (newest,) = opened.connection.execute("SELECT max(id) FROM snapshot").fetchone()
    rows = opened.connection.execute(
        "SELECT n, name, all_individual, all_groups, show_only_unread FROM chat_folder"
        " WHERE snapshot_id = ? AND type <> 'ALL' ORDER BY n",
        (newest,),
    ).fetchall()
    assert [
        (folder.n, folder.name, folder.all_individual, folder.all_groups, folder.only_unread) for folder in folders
    ] == rows
    members = [
        (newest, folder.n, recipient, included)
        for folder in folders
        for included, recipients in ((1, folder.included), (0, folder.excluded))
        for recipient in recipients
    ]
    stored = opened.connection.execute(
        "SELECT snapshot_id, n, recipient_id, included FROM chat_folder_member"
        " WHERE n IN (SELECT n FROM chat_folder WHERE type <> 'ALL')"
    ).fetchall()
    assert sorted(members) == sorted(stored)
    assert {included for *_, included in members} == {0, 1}


@pytest.mark.parametrize("kind", ["group", "contact"])
def test_a_folder_is_for_kinds_and_for_single_chats(opened: Archive, kind: str) -> None:
    """Exclusion is stronger than everything, and a folder of unread chats shows no others."""
    chat = next(chat for chat in opened.chats() if (chat.kind == "group") == (kind == "group"))

    def shows(*, unread: bool = True, **rules: Any) -> bool:
        defaults: dict[str, Any] = {"all_individual": False, "all_groups": False, "included": frozenset()}
        folder = overview.ChatFolder(1, "a", **{**defaults, "excluded": frozenset(), **rules})
        return folder.includes(chat, unread=unread)

    this = frozenset({chat.id})
    for rules, expected in (
        ({}, False),
        ({"all_groups": True}, kind == "group"),
        ({"all_individual": True}, kind != "group"),
        ({"included": this}, True),
        ({"included": frozenset({chat.id + 1})}, False),
        ({"included": this, "excluded": this}, False),
        ({"all_groups": True, "all_individual": True, "excluded": this}, False),
        ({"included": this, "unread": False}, True),
        ({"included": this, "only_unread": True}, True),
        ({"included": this, "only_unread": True, "unread": False}, False),
    ):
        assert shows(**rules) is expected, rules


def test_files_are_found_by_their_content_only(archive_file: Path, tmp_path: Path) -> None:
    """An attachment is found by the hash of its file; another hash, a name and a path raise `NotInArchive`."""
    digest, path = "ab" * 32, f"ab/{'ab' * 32}.jpg"
    with archives.open(shutil.copy(archive_file, tmp_path / "a.db"), create=True) as opened:
        (name,) = opened.connection.execute("SELECT media_name FROM attachment WHERE media_name <> ''").fetchone()
        opened.connection.execute("INSERT INTO media VALUES (?, ?, 7, ?)", (name, digest, path))
        attachment = overview.kept_file(opened, digest)
        assert (attachment.media_name, attachment.path) == (name, path)
        for other in ("0" * 64, name, path):
            with pytest.raises(NotInArchive):
                overview.kept_file(opened, other)
