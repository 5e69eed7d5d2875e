"""The media page."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from holdfast.web.chats.chat_page import MessageLinks
from holdfast.web.chats.conversation_routes import respond
from holdfast.web.chats.media_page import KINDS, MediaTile, SentLink
from holdfast.web.chats.open_archive import OpenArchive
from holdfast.web.chats.view import MediaResult, PageNotFound, RedirectResult
from tests.web.chats.conftest import EVIL, drawn_in, shown_in


def tiles_of(opened: OpenArchive, **query: str) -> list[MediaTile]:
    """List the files of all pages."""
    media_tiles: list[MediaTile] = []
    while True:
        values = shown_in(opened, "media", **query).values
        months = values["months"]
        assert isinstance(months, list)
        media_tiles += [tile for _, tiles in months for tile in tiles]
        if not values["more"]:
            return media_tiles
        query = dict(parse_qsl(urlsplit(str(values["more"])).query))


def links_of(opened: OpenArchive, **query: str) -> list[SentLink]:
    """List the links of a page."""
    links = shown_in(opened, "media", kind="link", **query).values["links"]
    assert isinstance(links, list)
    return links


def test_pictures_are_shown_by_month_and_lead_to_their_messages(opened: OpenArchive) -> None:
    """Pictures have a URL that is served, a placeholder, and a link to their message."""
    tiles = tiles_of(opened)
    there = [tile for tile in tiles if tile.file and tile.show == "image"]
    assert len(there) > 5
    assert any(tile.placeholder.startswith("data:image/png;base64,") for tile in there)
    assert isinstance(respond(opened, "", there[0].file, {}), MediaResult)
    assert isinstance(respond(opened, "", there[0].message, {}), RedirectResult)
    page = drawn_in(opened, "media")
    assert f'<img src="{there[0].file}"' in page
    assert re.search(r'<h2 class="month">[A-Z][a-z]+ 20\d\d</h2>', page)
    assert "style=" not in page


def test_kinds_are_tabs(opened: OpenArchive) -> None:
    """The tab of the selected kind is marked, and an unknown kind is not found."""
    for kind in KINDS:
        assert f'aria-current="page">{KINDS[kind]}<' in drawn_in(opened, "media", kind=kind)
    with pytest.raises(PageNotFound):
        shown_in(opened, "media", kind="x")


@pytest.mark.parametrize(
    ("kind", "shown"),
    [("audio", '<audio controls preload="none" src="/here"'), ("file", '<a href="/here" download>')],
)
def test_sounds_are_played_and_files_saved(
    opened: OpenArchive, monkeypatch: pytest.MonkeyPatch, kind: str, shown: str
) -> None:
    """Stored audio has a player and other files a download link; a missing file is reported as not available."""
    assert shown in with_files(monkeypatch, opened, kind, "/here")
    missing = with_files(monkeypatch, opened, kind, None)
    assert shown not in missing
    assert "not available" in missing


def with_files(monkeypatch: pytest.MonkeyPatch, opened: OpenArchive, kind: str, address: str | None) -> str:
    """Draw a page on which every file has the same address."""
    monkeypatch.setattr(MessageLinks, "media", lambda *_: address)
    return drawn_in(opened, "media", kind=kind)


def test_a_chat_and_a_person_are_chosen(opened: OpenArchive) -> None:
    """Files are filtered by chat and author, and invalid values are not found."""
    tiles = tiles_of(opened)
    with opened.reading() as archive:
        message = archive.message(int(tiles[0].message.rpartition("/")[2]))
        chat = tiles_of(opened, chat=str(message.chat_id))
        numbers = [int(tile.message.rpartition("/")[2]) for tile in chat]
        assert {archive.message(number).chat_id for number in numbers} == {message.chat_id}
    assert 0 < len(chat) < len(tiles)
    person = tiles_of(opened, **{"from": str(message.author_id)})
    assert 0 < len(person) < len(tiles)
    assert {tile.author for tile in person} == {tiles[0].author}
    page = drawn_in(opened, "media", chat=str(message.chat_id))
    assert f'<option value="{message.chat_id}" selected' in page
    for query in ({"chat": "5"}, {"chat": "x"}, {"from": "x"}, {"below": "x"}, {"below": "1.x"}):
        with pytest.raises(PageNotFound):
            shown_in(opened, "media", **query)


def test_links_have_their_preview(opened: OpenArchive) -> None:
    """Links have titles and lead to their messages, and can be filtered by chat and by author."""
    links = links_of(opened)
    assert links
    assert any(link.title for link in links)
    assert all(link.address.startswith(("http://", "https://")) for link in links)
    with opened.reading() as archive:
        message = archive.message(int(links[0].message.rpartition("/")[2]))
    assert links_of(opened, chat=str(message.chat_id))[0] == links[0]
    assert links_of(opened, **{"from": str(message.author_id)})[0] == links[0]


@pytest.mark.parametrize("kind", list(KINDS))
def test_names_and_urls_are_escaped(hostile_archive: OpenArchive, kind: str) -> None:
    """The page has no markup, event handler or javascript link from names and addresses."""
    page = drawn_in(hostile_archive, "media", kind=kind)
    assert EVIL not in page
    assert "&lt;script&gt;" in page
    assert "javascript:" not in page
    assert not re.search(r"<[^>]+ on\w+=", page)
