"""Selection of the chats to export."""

import pytest

from holdfast.backup.archives import Archive
from holdfast.backup.errors import NotInArchive
from holdfast.backup.exports.choice import ChatSelection, selected_chats


def test_all_chats_where_none_are_named(opened: Archive) -> None:
    """A selection without names has all chats in the order of the archive."""
    assert selected_chats(opened, ChatSelection()) == opened.chats()


def test_chats_by_name_and_id(opened: Archive) -> None:
    """A chat that is named twice is selected once, and an unknown name raises `NotInArchive`."""
    first, second, *_ = opened.chats()
    assert selected_chats(opened, ChatSelection((second.name, first.id, second.id))) == [first, second]
    with pytest.raises(NotInArchive):
        selected_chats(opened, ChatSelection(("nobody of that name",)))


def test_chats_with_something_in_the_time(opened: Archive) -> None:
    """A period leaves out chats without messages in it, unless they are named."""
    chats = [chat for chat in opened.chats() if chat.latest_ms]
    latest = max(chats, key=lambda chat: chat.latest_ms or 0)
    assert latest.latest_ms is not None
    assert selected_chats(opened, ChatSelection(since_ms=latest.latest_ms)) == [latest]
    assert selected_chats(opened, ChatSelection(since_ms=latest.latest_ms + 1)) == []
    assert selected_chats(opened, ChatSelection(until_ms=latest.latest_ms + 1)) == chats
    assert selected_chats(opened, ChatSelection((latest.id,), since_ms=latest.latest_ms + 1)) == [latest]
