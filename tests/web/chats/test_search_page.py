"""The search page of an archive, with highlighting."""

import re

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from holdfast.backup.archives import Archive
from holdfast.backup.archives.model import Message
from holdfast.backup.archives.search import CLOSE, OPEN
from holdfast.web.chats.open_archive import OpenArchive
from holdfast.web.chats.search_page import SearchHit, highlight_snippet
from tests.web.chats.conftest import EVIL, drawn_in, shown_in

pieces = st.text(st.sampled_from("ab <>&\"'" + OPEN + CLOSE), max_size=60)


@given(pieces)
def test_highlighting_adds_only_marks(snippet: str) -> None:
    """Without its mark elements, a snippet is the escaped text without the control characters of the marks."""
    created = str(highlight_snippet(snippet))
    without = created.replace("<mark>", "").replace("</mark>", "")
    assert created.count("<mark>") == created.count("</mark>")
    assert without == str(escape(re.sub(f"[{OPEN}{CLOSE}]", "", snippet)))


def hits(opened: OpenArchive, **query: str) -> list[SearchHit]:
    """Return the hits of a search."""
    result = shown_in(opened, "search", **query).values["hits"]
    assert isinstance(result, list)
    return result


FILTERS = {"from": "me", "has": "media"}


def found(archive: Archive, listed: list[SearchHit]) -> list[Message]:
    """Return the messages of some hits."""
    assert listed
    return [archive.message(int(hit.address.rpartition("/")[2])) for hit in listed]


def test_words_are_found_and_marked(opened: OpenArchive) -> None:
    """Most hits have the word marked, and each has a link to its message."""
    search_hits = hits(opened, q="the")
    assert search_hits
    # What was found may also stand in a poll's answers or a file's name.
    assert sum("<mark>" in hit.text for hit in search_hits) > len(search_hits) // 2
    assert all(re.fullmatch(r"/to/\d+", hit.address) for hit in search_hits)


def test_filters_limit_the_hits(opened: OpenArchive) -> None:
    """Hits are filtered by chat, kind, author, content and date, and the form keeps its values."""
    every = hits(opened, q="the")
    with opened.reading() as archive:
        chat = archive.chats()[0]
    inside = hits(opened, q="the", chat=str(chat.id))
    assert {hit.chat for hit in inside} == {chat.name}
    assert len(inside) < len(every)
    assert {hit.kind for hit in hits(opened, kind="poll")} == {"poll"}
    with opened.reading() as archive:
        messages = {name: found(archive, hits(opened, **{name: word})) for name, word in FILTERS.items()}
    assert "outgoing" in {message.direction for message in messages["from"]}
    assert len({message.author_id for message in messages["from"]}) == 1
    assert all(message.attachments for message in messages["has"])
    assert hits(opened, until="2000-01-01") == []
    page = drawn_in(opened, "search", q="the", chat=str(chat.id), since="2020-01-01")
    assert f'<option value="{chat.id}" selected dir="auto">' in page
    assert 'value="2020-01-01"' in page


def test_more_hits_are_a_link_away(opened: OpenArchive) -> None:
    """The links to more hits show every hit once."""
    seen: list[str] = []
    query: dict[str, str] = {"is": "in"}
    while True:
        template_result = shown_in(opened, "search", **query)
        listed = template_result.values["hits"]
        assert isinstance(listed, list)
        seen += [hit.address for hit in listed]
        more = re.search(r"below=(\d+)", str(template_result.values["more"]))
        if more is None:
            break
        query["below"] = more[1]
    with opened.reading() as archive:
        ids = archive.connection.execute("SELECT id FROM message WHERE direction = 'incoming'").fetchall()
    assert len(seen) == len(set(seen)) > 50
    assert set(seen) == {f"/to/{number}" for (number,) in ids}


def test_an_invalid_search_is_reported(opened: OpenArchive) -> None:
    """The page has status 400 and an alert that mentions no command of the terminal."""
    for query in (
        {"q": "-only"},
        {"q": "x", "kind": "<b>"},
        {"q": "x", "since": "soon"},
        {"q": "x", "from": EVIL},
    ):
        template_result = shown_in(opened, "search", **query)
        assert template_result.status == 400
        page = drawn_in(opened, "search", **query)
        assert 'role="alert"' in page
        assert EVIL not in page
        assert "holdfast archive people" not in page
    assert shown_in(opened, "search").values["hits"] is None


def test_hostile_hits_are_escaped(hostile_archive: OpenArchive) -> None:
    """A hit in a hostile text is marked, and its markup is escaped."""
    assert hits(hostile_archive, q="evil")
    page = drawn_in(hostile_archive, "search", q="evil")
    assert EVIL not in page
    assert "<mark>evil</mark>" in page
