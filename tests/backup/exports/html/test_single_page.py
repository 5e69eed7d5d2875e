"""One chat as one file: complete, and without external resources or scripts."""

import base64
import hashlib
import random
import re
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import Archive, Chat
from holdfast.backup.errors import ExportRefused, TargetRefused
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.html import pagination, single_page
from holdfast.backup.exports.html.single_page import write_single_page
from tests.backup.archives.histories import copies, import_backups, items, write
from tests.backup.exports.hostile import MARKUP_INJECTIONS
from tests.backup.exports.html.exported_pages import PICTURE, add_all_media
from tests.backup.exports.sample_messages import PageParser

DATA = re.compile(r"data:([a-z0-9/.-]+);base64,([A-Za-z0-9+/=]*)")
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a few messages at a time, so that a chat is read in several steps."""
    monkeypatch.setattr(pagination, "PAGE_MESSAGES", 20)


@pytest.fixture
def archive_path(tmp_path: Path) -> Path:
    """Make an archive with a file for every attachment."""
    import_backups(tmp_path / "chats.db", write(tmp_path / "one", *copies(400)))
    add_all_media(tmp_path / "chats.db")
    return tmp_path / "chats.db"


def largest_chat(opened: Archive) -> Chat:
    """Return the chat with the most messages."""
    return max(opened.chats(), key=lambda chat: chat.messages)


def parse(page: str) -> PageParser:
    """Parse a page without what only a single file has: its style, and files in addresses."""
    assert len(STYLE.findall(page)) == 1
    return PageParser(DATA.sub("media/file", STYLE.sub("", page)))


def write_page(opened: Archive, target: Path, choice: ChatSelection, *, media: bool = True) -> str:
    """Write a page and read it."""
    write_single_page(opened, target, choice, media=media)
    return target.read_text(encoding="utf-8")


def messages_of(opened: Archive, chat: Chat) -> list[tuple[int, int]]:
    """List the ids of a chat's messages in order, with their times."""
    rows = opened.connection.execute(
        "SELECT id, order_ms FROM message WHERE chat_id = ? ORDER BY order_ms, order_n, id", (chat.id,)
    )
    return [(number, time) for number, time in rows]


def test_every_message_is_there_once_and_in_order(archive_path: Path, tmp_path: Path) -> None:
    """The page has every message of the chat in order, and every link to an anchor leads to one."""
    with archives.open(archive_path) as opened:
        chat = largest_chat(opened)
        assert chat.messages > 100
        progress: list[tuple[int, int]] = []
        target = tmp_path / "chat.html"
        write_single_page(opened, target, ChatSelection((chat.id,)), progress=lambda *now: progress.append(now))
        page = parse(target.read_text(encoding="utf-8"))
        assert [anchor for anchor in page.ids if re.fullmatch(r"m\d+", anchor)] == [
            f"m{number}" for number, _ in messages_of(opened, chat)
        ]
    assert progress
    assert all(count <= total for count, total in progress)
    fragments = [link[1:] for link in page.links if link.startswith("#")]
    assert fragments
    assert set(fragments) <= set(page.ids)


def test_only_what_is_in_the_file_is_loaded(archive_path: Path, tmp_path: Path) -> None:
    """The CSP allows the style by its hash, and every resource is a data URL."""
    with archives.open(archive_path) as opened:
        page = write_page(opened, tmp_path / "chat.html", ChatSelection((largest_chat(opened).id,)))
    [style] = STYLE.findall(page)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; media-src data:;" in page
    assert "url(" not in style
    assert not {"script", "link"} & set(parse(page).tags)
    embedded = DATA.findall(page)
    assert {base64.b64decode(content) for _, content in embedded} == {PICTURE}
    assert all(kind.startswith(("image/", "video/", "audio/", "application/octet-stream")) for kind, _ in embedded)
    assert re.findall(r'src="(?!data:)', page) == re.findall(r'href="(?!data:application|https?:|#)', page) == []


def test_files_to_save_have_their_names(archive_path: Path, tmp_path: Path) -> None:
    """Every download has a file name without a folder and with an extension."""
    names: list[str] = []
    with archives.open(archive_path) as opened:
        for chat in opened.chats():
            page = write_page(opened, tmp_path / f"{chat.id}.html", ChatSelection((chat.id,)))
            file_names = re.findall(r'href="data:[^"]*" download="([^"]+)"', page)
            assert page.count('href="data:') == len(file_names)
            names += file_names
    assert names
    assert all(re.fullmatch(r"[^/\\]+\.\w+", name) for name in names)


def test_files_that_are_too_large_or_not_wanted_are_named(
    archive_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that are too large or not wanted are not embedded, and the page says that they are missing."""
    with archives.open(archive_path) as opened:
        choice = ChatSelection((largest_chat(opened).id,))
        without = write_page(opened, tmp_path / "without.html", choice, media=False)
        monkeypatch.setattr(single_page, "LARGEST_FILE", len(PICTURE) - 1)
        small = write_page(opened, tmp_path / "small.html", choice)
    assert without == small
    assert not DATA.search(small)
    assert "not available" in small


def test_only_a_time_is_written_and_quotes_of_others_lead_nowhere(archive_path: Path, tmp_path: Path) -> None:
    """The start of a period is included and its end is not, and quotes of other messages have no link."""
    with archives.open(archive_path) as opened:
        chat = largest_chat(opened)
        messages = messages_of(opened, chat)
        since, until = messages[len(messages) // 3][1], messages[2 * len(messages) // 3][1]
        page = parse(write_page(opened, tmp_path / "chat.html", ChatSelection((chat.id,), since, until)))
    assert [anchor for anchor in page.ids if re.fullmatch(r"m\d+", anchor)] == [
        f"m{number}" for number, time in messages if since <= time < until
    ]
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)


def test_one_chat_and_a_new_file(archive_path: Path, tmp_path: Path) -> None:
    """A selection of no or several chats is refused, and an existing file is not overwritten."""
    target = tmp_path / "chat.html"
    with archives.open(archive_path) as opened:
        chats = opened.chats()
        for names in ((), (chats[0].id, chats[1].id)):
            with pytest.raises(ExportRefused, match="a single file has exactly one chat"):
                write_single_page(opened, target, ChatSelection(names))
        assert not target.exists()
        target.write_text("mine", encoding="utf-8")
        with pytest.raises(TargetRefused):
            write_single_page(opened, target, ChatSelection((chats[0].id,)))
    assert target.read_text(encoding="utf-8") == "mine"


def test_hostile_names_and_texts_stay_text(tmp_path: Path) -> None:
    """Markup in names, texts and file names creates no script, style or svg element."""
    header, frames = copies(80)
    rng = random.Random(2)
    for frame in frames:
        if frame.HasField("recipient") and frame.recipient.HasField("contact"):
            frame.recipient.contact.nickname.given = rng.choice(MARKUP_INJECTIONS)
        elif frame.HasField("recipient") and frame.recipient.HasField("group"):
            frame.recipient.group.snapshot.title.title = rng.choice(MARKUP_INJECTIONS)
    for item in items(frames):
        if item.HasField("standardMessage"):
            item.standardMessage.text.body = rng.choice(MARKUP_INJECTIONS)
            for attached in item.standardMessage.attachments:
                attached.pointer.fileName = rng.choice(MARKUP_INJECTIONS)
    import_backups(tmp_path / "chats.db", write(tmp_path / "one", header, frames))
    add_all_media(tmp_path / "chats.db")
    with archives.open(tmp_path / "chats.db") as opened:
        for chat in opened.chats():
            page = parse(write_page(opened, tmp_path / f"{chat.id}.html", ChatSelection((chat.id,))))
            assert not {"script", "style", "svg"} & set(page.tags)
