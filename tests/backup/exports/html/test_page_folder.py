"""The whole HTML export: all links work, every message is there once, and unchanged pages are kept."""

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import Archive
from holdfast.backup.errors import ExportRefused
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.html import chat_export, pagination, write_html
from holdfast.backup.exports.html.search_index import words_of
from holdfast.backup.exports.names import chat_name
from tests.backup.archives.histories import copies, import_backups, items, write, write_later
from tests.backup.exports.hostile import MARKUP_INJECTIONS
from tests.backup.exports.html.exported_pages import MANIFEST, check_links, export_pages
from tests.backup.exports.sample_messages import PageParser

PAGE = 20


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a page hold few messages, so that there are many pages."""
    monkeypatch.setattr(pagination, "PAGE_MESSAGES", PAGE)


def anchors(pages: dict[str, PageParser]) -> list[str]:
    """List the anchors of all messages."""
    return [anchor for page in pages.values() for anchor in page.ids if re.fullmatch(r"m\d+", anchor)]


def test_every_message_is_there_once_and_every_link_leads_somewhere(opened: Archive, tmp_path: Path) -> None:
    """The pages of a chat have its messages in order, each once, and no link is broken."""
    pages = export_pages(opened, tmp_path / "out")
    check_links(tmp_path / "out", pages)
    for chat in opened.chats():
        chat_folder = f"chats/{chat_name(chat.name, chat.id)}"
        expected = [f"m{entry.id}" for entry in opened.messages(chat.id)]
        count = -(-len(expected) // PAGE)
        names = [f"{chat_folder}/{n + 1}.html" for n in range(count)]
        assert [entry for name in names for entry in anchors({name: pages[name]})] == expected
        assert f"{chat_folder}/{count + 1}.html" not in pages


def test_pages_need_nothing_from_elsewhere(opened: Archive, tmp_path: Path) -> None:
    """Every page has a strict Content-Security-Policy, no inline script or style, and no external resource."""
    pages = export_pages(opened, tmp_path)
    assert {"index.html", "people.html", "search.html"} <= set(pages)
    for name in pages:
        text = (tmp_path / name).read_text()
        assert "default-src 'none'" in text
        assert not re.search(r"<style|\sstyle=|<script>|\son\w+=", text)
        for source in re.findall(r'<(?:script|link|img|video|audio)[^>]*?(?:src|href)="([^"]*)"', text):
            assert not source.startswith(("http", "//"))


def test_what_is_unchanged_is_not_written_again(opened: Archive, tmp_path: Path) -> None:
    """A second export writes nothing, and its files equal those of a new export."""
    first = write_html(opened, tmp_path / "one", ChatSelection(), media=True, search=True)
    second = write_html(opened, tmp_path / "one", ChatSelection(), media=True, search=True)
    assert (second.written, second.unchanged, second.removed) == (0, first.written, 0)
    write_html(opened, tmp_path / "two", ChatSelection(), media=True, search=True)
    for path in (tmp_path / "one").rglob("*.*"):
        if path.is_file() and path.name != MANIFEST:
            assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


def test_what_comes_later_changes_only_the_last_pages(tmp_path: Path) -> None:
    """New messages of a chat change its last page, its index and its latest page, and no other page."""
    header, parsed = copies(300)
    chats = [item.chatId for item in items(parsed)]
    busy = max(set(chats), key=chats.count)
    import_backups(tmp_path / "chats.db", write(tmp_path / "one", header, parsed))
    newest = max(item.dateSent for item in items(parsed))
    header.backupTimeMs += 86_400_000
    last = next(frame for frame in reversed(parsed) if frame.chatItem.chatId == busy)
    for n in range(30):
        fresh = type(last).FromString(last.SerializeToString())
        fresh.chatItem.Clear()
        fresh.chatItem.chatId, fresh.chatItem.authorId = busy, last.chatItem.authorId
        fresh.chatItem.dateSent = newest + 1000 + n
        fresh.chatItem.incoming.dateReceived = newest + 1000 + n
        fresh.chatItem.standardMessage.text.body = f"news {n}"
        parsed.append(fresh)
    out = tmp_path / "out"
    with archives.open(tmp_path / "chats.db") as opened:
        write_html(opened, out, ChatSelection(), media=False, search=True)
    before = {path.relative_to(out): path.stat().st_ino for path in out.glob("chats/*/*.html")}
    import_backups(tmp_path / "chats.db", write(tmp_path / "two", header, parsed))
    with archives.open(tmp_path / "chats.db") as opened:
        pages = export_pages(opened, out)
        check_links(out, pages)
        count = max(chat.messages for chat in opened.chats())
    after = {path.relative_to(out): path.stat().st_ino for path in out.glob("chats/*/*.html")}
    changed = {path for path in before if before[path] != after[path]}
    folders = {path.parent for path in changed}
    assert len(folders) == 1
    numbers = {int(path.stem) for path in changed if path.stem.isdigit()}
    assert numbers == {(count - 30 - 1) // PAGE + 1}
    assert {path.stem for path in changed if not path.stem.isdigit()} == {"index", "latest"}


def test_messages_that_have_vanished_are_marked(tmp_path: Path) -> None:
    """Messages that a later backup lacks stay on their page, each with a mark, and others have none."""
    first = write(tmp_path / "one", *copies(60))
    import_backups(tmp_path / "chats.db", first, write_later(tmp_path / "two", random.Random(1), days=1))
    with archives.open(tmp_path / "chats.db") as opened:
        pages = export_pages(opened, tmp_path / "out")
        vanished = [entry for chat in opened.chats() for entry in opened.messages(chat.id) if entry.vanished_ms]
    marks = [
        page.text.count("gone from the backup of")
        for name, page in pages.items()
        if re.fullmatch(r"chats/[^/]+/[\d-]+\.html", name)
    ]
    assert sum(marks) == len(vanished) > 0


def test_chosen_chats_and_dates(opened: Archive, tmp_path: Path) -> None:
    """An export has the selected messages only, without broken links, and another selection replaces it."""
    chat = max(opened.chats(), key=lambda chat: chat.messages)
    messages = list(opened.messages(chat.id))
    since, until = messages[10].position.ms, messages[60].position.ms
    expected = [f"m{message.id}" for message in messages if since <= message.position.ms < until]
    pages = export_pages(opened, tmp_path, ChatSelection((chat.id,), since, until), search=False)
    check_links(tmp_path, pages)
    assert sorted(anchors(pages)) == sorted(expected)
    assert not (tmp_path / "search.html").exists()
    assert not list(tmp_path.rglob("search*"))
    empty = export_pages(opened, tmp_path, ChatSelection((chat.id,), since_ms=messages[-1].position.ms + 1))
    check_links(tmp_path, empty)
    assert set(empty) == {"index.html", "search.html"}


def test_long_messages_make_more_pages_not_larger_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page with long messages is split, so that none is much larger than the limit."""
    header, parsed = copies(120)
    rng = random.Random(1)
    for item in items(parsed):
        if item.HasField("standardMessage") and rng.random() < 0.3:
            item.standardMessage.text.body = "long " * 800
    import_backups(tmp_path / "chats.db", write(tmp_path / "one", header, parsed))
    monkeypatch.setattr(chat_export, "PAGE_SIZE", 20_000)
    out = tmp_path / "out"
    with archives.open(tmp_path / "chats.db") as opened:
        pages = export_pages(opened, out)
        total = sum(chat.messages for chat in opened.chats())
    check_links(out, pages)
    assert any(re.search(r"/\d+-2\.html$", name) for name in pages)
    assert max(path.stat().st_size for path in out.glob("chats/*/[0-9]*.html")) < 20_000 + 10_000
    assert len(anchors(pages)) == len(set(anchors(pages))) == total


def test_the_search_finds_every_message_by_its_words(opened: Archive, tmp_path: Path) -> None:
    """The search index leads from every word to its pages, whose files lead to the messages."""
    export_pages(opened, tmp_path)
    calls = {path: path.read_text() for path in tmp_path.rglob("*.js") if path.parent.name != "assets"}

    def given(path: Path) -> list[Any]:
        return list(json.loads(f"[{calls[path].partition('(')[2].rpartition(')')[0]}]"))

    (index,) = given(tmp_path / "search" / "index.js")
    positions: dict[str, set[int]] = {}
    for number in range(len(index["firsts"])):
        messages, words = given(tmp_path / "search" / f"{number}.js")
        assert messages == number
        assert min(words, key=lambda word: word.encode("utf-16-be")) == index["firsts"][number]
        for word, steps in words.items():
            positions[word] = {sum(steps[: n + 1]) for n in range(len(steps))}
    seen = 0
    for number, (chat, page, latest) in enumerate(index["pages"]):
        folder, name = index["chats"][chat]
        key, (authors, rows) = given(tmp_path / folder / f"{page}.js")
        assert key == f"{folder}/{page}"
        for identifier, author, sent, text in rows:
            message = opened.message(identifier)
            assert (message.chat, message.author, message.sent_ms) == (name, authors[author], sent)
            assert sent <= latest
            assert all(number in positions[word] for word in words_of(text))
            seen += 1
    texts = opened.connection.execute("SELECT count(*) FROM message WHERE text != ''").fetchone()[0]
    assert seen >= texts


def test_hostile_names_and_texts(tmp_path: Path) -> None:
    """Names and texts with markup or path separators break no page and create no file elsewhere."""
    header, parsed = copies(80)
    rng = random.Random(2)
    for frame in parsed:
        if frame.HasField("recipient") and frame.recipient.HasField("contact"):
            frame.recipient.contact.nickname.given = rng.choice(["../../../x", "CON", ".", *MARKUP_INJECTIONS])
        elif frame.HasField("recipient") and frame.recipient.HasField("group"):
            frame.recipient.group.snapshot.title.title = rng.choice(["a/b\\c:d", *MARKUP_INJECTIONS])
    for item in items(parsed):
        if item.HasField("standardMessage"):
            item.standardMessage.text.body = rng.choice(MARKUP_INJECTIONS)
            for attached in item.standardMessage.attachments:
                attached.pointer.fileName = rng.choice(MARKUP_INJECTIONS)
    import_backups(tmp_path / "chats.db", write(tmp_path / "one", header, parsed))
    with archives.open(tmp_path / "chats.db") as opened:
        pages = export_pages(opened, tmp_path / "out")
    check_links(tmp_path / "out", pages)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chats.db", "one", "out"]
    assert any("<script>canary()</script>" in page.text for page in pages.values())


def test_progress_is_told(opened: Archive, tmp_path: Path) -> None:
    """Progress increases to the total, which is the same in every report."""
    progress: list[tuple[int, int]] = []
    write_html(
        opened, tmp_path, ChatSelection(), media=False, search=False, progress=lambda *now: progress.append(now)
    )
    assert progress == sorted(progress)
    assert progress[-1] == (400, 400)
    assert {total for _done, total in progress} == {400}


def test_a_folder_with_something_else_is_refused(opened: Archive, tmp_path: Path) -> None:
    """A folder with another file is refused, and nothing is written."""
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(ExportRefused):
        write_html(opened, tmp_path, ChatSelection(), media=False, search=False)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_media_are_linked_from_their_pages(opened: Archive, tmp_path: Path) -> None:
    """Media files are copied and shown, and an export without media removes them."""
    shutil.copy(opened.path, tmp_path / "chats.db")
    with archives.open(tmp_path / "chats.db", create=True) as own:
        name = own.connection.execute(
            "SELECT media_name FROM attachment WHERE media_name IS NOT NULL AND role = 'attachment' "
            "AND content_type LIKE 'image/%' LIMIT 1"
        ).fetchone()[0]
        own.connection.execute("INSERT INTO media VALUES (?, ?, 7, ?)", (name, "ab" * 32, f"ab/{'ab' * 32}.jpg"))
        (own.media_folder / "ab").mkdir(parents=True)
        (own.media_folder / "ab" / f"{'ab' * 32}.jpg").write_bytes(b"picture")
        pages = export_pages(own, tmp_path / "out")
        check_links(tmp_path / "out", pages)
        assert any("img" in page.tags for page in pages.values())
        assert [path.read_bytes() for path in (tmp_path / "out" / "media").rglob("*.*")] == [b"picture"]
        write_html(own, tmp_path / "out", ChatSelection(), media=False, search=False)
        assert not (tmp_path / "out" / "media").exists()


def test_times_are_those_of_a_zone(opened: Archive, tmp_path: Path) -> None:
    """Times on pages are in the selected zone, which the index names."""
    write_html(opened, tmp_path, ChatSelection(), media=False, search=True, zone=ZoneInfo("Asia/Kathmandu"))
    assert "Times are Asia/Kathmandu." in (tmp_path / "index.html").read_text()
    text = next(tmp_path.glob("chats/*/1.html")).read_text()
    utc, local = re.findall(r'<time datetime="[^"]*T(\d\d:\d\d):\d\dZ">(?:[\d-]+ )?(\d\d:\d\d)</time>', text)[0]
    minutes = [int(time[:2]) * 60 + int(time[3:]) for time in (utc, local)]
    assert (minutes[1] - minutes[0]) % 1440 == 5 * 60 + 45
