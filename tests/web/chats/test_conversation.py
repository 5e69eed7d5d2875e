"""Addresses inside a conversation, and archives that cannot be read."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.web.chats.conversation import answer
from holdfast.web.chats.room import Room, room_of_file
from holdfast.web.chats.view import NotHere, Shown
from tests.web.chats.conftest import Look, drawn_in


def test_every_page_is_small_and_whole(room: Room, look: Look) -> None:
    """With one heading, and less than 200 kB."""
    for path in ("", "search", "people", "statistics", "about"):
        page = look(path)
        assert page.count("<h1") == 1
        assert len(page.encode()) < 200_000
        assert page.rstrip().endswith("</html>")


def test_a_page_asks_as_much_of_a_long_history_as_of_a_short_one(room: Room) -> None:
    """The questions to the archive are few, however long the lists are."""
    with room.reading() as archive:
        chat = max(archive.chats(), key=lambda one: one.messages)
        message = archive.page(chat.id, limit=1).messages[0]
    for path in ("", f"chat/{chat.id}", f"message/{message.id}", "people", "search?q=the", "about", "statistics"):
        asked: list[str] = []
        with room.reading() as archive:
            archive.connection.set_trace_callback(asked.append)
        name, _, words = path.partition("?q=")
        drawn_in(room, name, **({"q": words} if words else {}))
        with room.reading() as archive:
            archive.connection.set_trace_callback(None)
        # The full-text index asks its own tables for itself.
        own = [one for one in asked if not one.startswith("--") and "'main'." not in one]
        assert 0 < len(own) <= 24, (path, len(own))


@settings(max_examples=60, deadline=None)
@given(
    path=st.lists(
        st.sampled_from(["chat", "to", "1", "", "..", "media", "x", "frame", "dates", "é", "%"]), max_size=5
    ),
    query=st.dictionaries(
        st.sampled_from(
            ["at", "before", "after", "date", "q", "chat", "page", "folder", "account", "below", "year"]
        ),
        st.text(max_size=12),
        max_size=3,
    ),
)
def test_whatever_is_asked_there_is_a_page_or_none(
    archive_file: Path, path: list[str], query: dict[str, str]
) -> None:
    """Nothing else happens."""
    room = room_of_file(archive_file, "chats.db")
    try:
        found = answer(room, "", "/".join(path), query)
    except NotHere:
        return
    finally:
        room.close()
    assert not isinstance(found, Shown) or found.status in {200, 400}


def test_a_damaged_archive_is_said_to_be_one(archive_file: Path, tmp_path: Path) -> None:
    """Without saying where it lies."""
    content = bytearray(archive_file.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    (tmp_path / "damaged.db").write_bytes(content)
    page = drawn_in(room_of_file(tmp_path / "damaged.db", "damaged.db"), "")
    assert "cannot be read" in page
    assert str(tmp_path) not in page
    gone = answer(room_of_file(tmp_path / "none.db", "none.db"), "", "", {})
    assert isinstance(gone, Shown)
    assert gone.status == 503


@pytest.mark.parametrize("path", ["nope", "search/x", "people/1/2", "chat", "a/b/c/d"])
def test_other_addresses_are_not_found(room: Room, path: str) -> None:
    """Whatever they look like."""
    with pytest.raises(NotHere):
        answer(room, "", path, {})
