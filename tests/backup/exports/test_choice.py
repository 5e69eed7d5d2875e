"""Which chats are exported."""

import pytest

from holdfast.backup.archives import Archive
from holdfast.backup.errors import NotInArchive
from holdfast.backup.exports.choice import ChatSelection, selected_chats


def test_all_chats_where_none_are_named(opened: Archive) -> None:
    """In the archive's order."""
    assert selected_chats(opened, ChatSelection()) == opened.chats()


def test_chats_by_name_and_id(opened: Archive) -> None:
    """Each once, whatever it is called by; one that is not there is an error."""
    first, second, *_ = opened.chats()
    assert selected_chats(opened, ChatSelection((second.name, first.id, second.id))) == [first, second]
    with pytest.raises(NotInArchive):
        selected_chats(opened, ChatSelection(("nobody of that name",)))


def test_chats_with_something_in_the_time(opened: Archive) -> None:
    """Where dates are given, chats that were silent then are left out."""
    chats = [chat for chat in opened.chats() if chat.latest_ms]
    latest = max(chats, key=lambda chat: chat.latest_ms or 0)
    assert latest.latest_ms is not None
    assert selected_chats(opened, ChatSelection(since_ms=latest.latest_ms)) == [latest]
    assert selected_chats(opened, ChatSelection(since_ms=latest.latest_ms + 1)) == []
    assert selected_chats(opened, ChatSelection(until_ms=latest.latest_ms + 1)) == chats
    assert selected_chats(opened, ChatSelection((latest.id,), since_ms=latest.latest_ms + 1)) == [latest]
