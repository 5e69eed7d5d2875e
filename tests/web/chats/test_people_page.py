"""The page of all people in an archive."""

from holdfast.web.chats.open_archive import OpenArchive
from tests.web.chats.conftest import EVIL, drawn_in, shown_in


def test_people_are_listed_with_links_to_their_messages(opened: OpenArchive) -> None:
    """The list is sorted by the number of messages, and links to their search and chat."""
    rows = shown_in(opened, "people").values["rows"]
    assert isinstance(rows, list)
    counts = [row.person.messages for row in rows]
    assert counts == sorted(counts, reverse=True)
    assert f'href="/search?from={rows[0].person.id}"' in drawn_in(opened, "people")
    chat = next(row for row in rows if row.chat and row.person.kind != "self")
    assert f"/chat/{chat.person.id}#latest" in drawn_in(opened, "people")


def test_people_are_found_by_name_and_number(opened: OpenArchive) -> None:
    """The search ignores case, and says when no contact matches."""
    rows = shown_in(opened, "people").values["rows"]
    assert isinstance(rows, list)
    somebody = next(row.person for row in rows if row.person.phone and row.person.name.isascii())
    for text in (somebody.name.upper(), somebody.phone or ""):
        result = shown_in(opened, "people", q=text).values["rows"]
        assert isinstance(result, list)
        assert somebody.id in {row.person.id for row in result}
        assert len(result) < len(rows)
    assert "No contacts match" in drawn_in(opened, "people", q="no such person")


def test_hostile_names_are_escaped(hostile_archive: OpenArchive) -> None:
    """Names in the list and the text of the search field are escaped."""
    for query in ({}, {"q": EVIL}):
        page = drawn_in(hostile_archive, "people", **query)
        assert EVIL not in page
        assert "&lt;script&gt;" in page
