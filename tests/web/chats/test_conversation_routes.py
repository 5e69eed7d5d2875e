"""Routes inside a conversation, and errors of archives that cannot be read."""

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.archives import Archive
from holdfast.web.chats import open_archive as open_archive_module
from holdfast.web.chats.conversation_routes import respond
from holdfast.web.chats.open_archive import OpenArchive, open_archive_file
from holdfast.web.chats.view import PageNotFound, TemplateResult
from tests.backup.archives.histories import copies, import_backups, items, write
from tests.examples import examples
from tests.web.chats.conftest import OpenFile, RenderPage, drawn_in


def test_every_page_is_small_and_whole(opened: OpenArchive, render: RenderPage) -> None:
    """Every page has one heading, has less than 200 kB, and ends with the closing html tag."""
    for path in ("", "search", "people", "statistics", "about"):
        page = render(path)
        assert page.count("<h1") == 1
        assert len(page.encode()) < 200_000
        assert page.rstrip().endswith("</html>")


def test_the_queries_of_a_page_do_not_grow_with_the_history(opened: OpenArchive) -> None:
    """Every page takes at most 24 queries to the archive."""
    with opened.reading() as archive:
        chat = max(archive.chats(), key=lambda one: one.messages)
        message = archive.page(chat.id, limit=1).messages[0]
    for path in ("", f"chat/{chat.id}", f"message/{message.id}", "people", "search?q=the", "about", "statistics"):
        asked: list[str] = []
        with opened.reading() as archive:
            archive.connection.set_trace_callback(asked.append)
        name, _, words = path.partition("?q=")
        drawn_in(opened, name, **({"q": words} if words else {}))
        with opened.reading() as archive:
            archive.connection.set_trace_callback(None)
        # The full-text index asks its own tables for itself.
        own = [item for item in asked if not item.startswith("--") and "'main'." not in item]
        assert 0 < len(own) <= 24, (path, len(own))


@settings(max_examples=examples(60), deadline=None)
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
def test_any_url_is_a_page_or_not_found(archive_file: Path, path: list[str], query: dict[str, str]) -> None:
    """Any path and query is answered with status 200 or 400, a redirect, or not found."""
    opened = open_archive_file(archive_file, "chats.db")
    try:
        answer = respond(opened, "", "/".join(path), query)
    except PageNotFound:
        return
    finally:
        opened.close()
    assert not isinstance(answer, TemplateResult) or answer.status in {200, 400}


def test_a_damaged_archive_is_reported(archive_file: Path, tmp_path: Path, open_file: OpenFile) -> None:
    """The page says that the archive cannot be read without showing its path; a missing file has status 503."""
    content = bytearray(archive_file.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    (tmp_path / "damaged.db").write_bytes(content)
    page = drawn_in(open_file(tmp_path / "damaged.db"), "")
    assert "cannot be read" in page
    assert str(tmp_path) not in page
    gone = respond(open_file(tmp_path / "none.db"), "", "", {})
    assert isinstance(gone, TemplateResult)
    assert gone.status == 503


@pytest.mark.parametrize("path", ["nope", "search/x", "people/1/2", "chat", "a/b/c/d"])
def test_other_paths_are_not_found(opened: OpenArchive, path: str) -> None:
    """Unknown paths, and known ones with missing or additional segments, are not found."""
    with pytest.raises(PageNotFound):
        respond(opened, "", path, {})


def test_bidirectional_controls_are_removed(tmp_path: Path) -> None:
    """Pages have no such control characters; the record of a message shows them as escapes."""
    turned = "\u202egpj.exe\u2069 \u05e9\u05dc\u05d5\u05dd\u200f"
    header, frames = copies(60)
    for frame in frames:
        if frame.HasField("recipient") and frame.recipient.HasField("contact"):
            frame.recipient.contact.profileGivenName = turned
            frame.recipient.contact.ClearField("systemGivenName")
            frame.recipient.contact.ClearField("nickname")
    for item in items(frames):
        if item.HasField("standardMessage"):
            item.standardMessage.text.body = turned
            for attachment in item.standardMessage.attachments:
                attachment.pointer.fileName = turned
    import_backups(tmp_path / "a.db", write(tmp_path / "one", header, frames))
    with closing(open_archive_file(tmp_path / "a.db", turned)) as opened:
        with opened.reading() as archive:
            message = next(m for chat in archive.chats() for m in archive.messages(chat.id) if m.text == turned)
        paths = ("", "people", "statistics", "about", f"chat/{message.chat_id}", f"message/{message.id}")
        pages = {path: drawn_in(opened, path) for path in paths}
        pages["search"] = drawn_in(opened, "search", q="gpj", **{"from": turned})
    for path, page in pages.items():
        assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067") & set(page), path
        # Names in sentences are isolated, and nothing in them ends that early.
        assert page.count("\u2068") == page.count("\u2069"), path
    assert "<bdi>gpj.exe" in pages["people"]
    assert "\u05e9\u05dc\u05d5\u05dd\u200f" in pages["people"]
    assert "\\u202egpj.exe" in pages[f"message/{message.id}"]


def test_a_search_times_out(opened: OpenArchive, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that reports no progress, like one inside the full-text index, is interrupted by another thread."""
    monkeypatch.setattr(open_archive_module, "QUERY_TIMEOUT_S", 0.05)
    # No progress is told at all, as inside the index.
    monkeypatch.setattr(open_archive_module, "STEPS", 1 << 30)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"

    def search(archive: Archive, *_: object, **__: object) -> object:
        return archive.connection.execute(endless).fetchall()

    monkeypatch.setattr(Archive, "search", search)
    answer = respond(opened, "", "search", {"q": "the"})
    assert isinstance(answer, TemplateResult)
    assert answer.status == 503
    assert "longer than" in str(answer.values["problem"])
    monkeypatch.undo()
    assert "<mark>" in drawn_in(opened, "search", q="the")
