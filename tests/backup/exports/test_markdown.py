"""Export to Markdown, as rendered by a CommonMark renderer."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import pytest
from markdown_it import MarkdownIt

from holdfast.backup.archives import Archive
from holdfast.backup.exports import markdown
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.markdown import Times, write_markdown
from holdfast.backup.exports.markdown_text import normalize
from holdfast.backup.exports.message_records import messages

RENDERERS = (MarkdownIt("commonmark", {"html": True}), MarkdownIt("default", {"html": True}))
OURS = {"h1", "h2", "p", "a", "strong", "em", "br", "hr", "ul", "li", "blockquote", "img", "code", "s"}


class Page(HTMLParser):
    """The text, the elements and the links of a rendered page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.elements: set[str] = set()
        self.addresses: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element; only links and pictures have attributes."""
        self.elements.add(tag)
        for name, value in attrs:
            assert (tag, name) in {("a", "href"), ("img", "src"), ("img", "alt")}
            if name in {"href", "src"}:
                self.addresses.append(value or "")

    def handle_data(self, data: str) -> None:
        """Gather text."""
        self.text += data

    def handle_comment(self, data: str) -> None:
        """Fail on a comment."""
        raise AssertionError(data)


def without_separators(text: str) -> str:
    """Leave out what separates words."""
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("renderer", RENDERERS)
def test_hostile_texts_stay_texts(hostile: Archive, tmp_path: Path, renderer: MarkdownIt) -> None:
    """Every text is readable, no other element is rendered, and every link leads to a file of the export."""
    write_markdown(hostile, tmp_path / "out", ChatSelection())
    visible = ""
    for path in (tmp_path / "out").rglob("*.md"):
        page = Page(renderer.render(path.read_text("utf-8")))
        assert page.elements <= OURS
        for address in page.addresses:
            assert (path.parent / unquote(address)).resolve().is_file(), address
        visible += page.text
    all_text = without_separators(visible)
    for (text,) in hostile.connection.execute("SELECT DISTINCT text FROM message WHERE text IS NOT NULL"):
        assert without_separators(normalize(text)) in all_text


def test_no_file_steers_a_terminal(hostile: Archive, tmp_path: Path) -> None:
    """No file has control characters other than tabs and line feeds."""
    write_markdown(hostile, tmp_path / "out", ChatSelection())
    paths = list((tmp_path / "out").rglob("*.md"))
    assert len(paths) > 10
    for path in paths:
        assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", path.read_bytes())


def test_every_message_is_there_once_and_in_its_order(two_snapshots: Archive, tmp_path: Path) -> None:
    """Every message has a heading with its time, in the order of the chat."""
    write_markdown(two_snapshots, tmp_path / "out", ChatSelection())
    headings = re.compile(r"^(?:\*\*.+?\*\* |\*)(?:\d{4}-\d\d-\d\d )?(\d\d:\d\d)", re.MULTILINE)
    times = Times()
    for chat in two_snapshots.chats():
        (folder,) = (tmp_path / "out" / "chats").glob(f"*-{markdown.chat_folder(chat).rpartition('-')[2]}")
        text = "".join(path.read_text() for path in sorted(folder.glob("[0-9]*.md")))
        expected = [times.time(message.sent_ms)[-5:] for message in messages(two_snapshots, chat.id)]
        assert headings.findall(text) == expected


def test_everything_that_hangs_on_a_message_is_told(two_snapshots: Archive, tmp_path: Path) -> None:
    """Quotes, polls, cards, reactions, earlier texts, missing files and vanished messages are written."""
    write_markdown(two_snapshots, tmp_path / "out", ChatSelection())
    text = "".join(path.read_text() for path in (tmp_path / "out").rglob("*.md"))
    for sign in ("\n> **", "**Poll: ", "- phone", "Reactions: ", "> *At ", "no longer there since", "edited"):
        assert sign in text, sign
    assert "not in this export)" in text


def test_files_stay_small(opened: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A year with many messages is split into months, a month into days, and no link is broken."""
    monkeypatch.setattr(markdown, "MAX_MESSAGES", 5)
    write_markdown(opened, tmp_path / "out", ChatSelection())
    names = {path.stem for path in (tmp_path / "out" / "chats").rglob("*.md")} - {"index"}
    assert {len(name) for name in names} >= {4, 7, 10}
    for path in (tmp_path / "out").rglob("*.md"):
        for address in Page(RENDERERS[0].render(path.read_text())).addresses:
            assert (path.parent / unquote(address)).is_file()


def test_times_are_told_in_a_zone(opened: Archive, tmp_path: Path) -> None:
    """Times are written in the selected zone, which the index names."""
    write_markdown(opened, tmp_path / "out", ChatSelection(), zone=ZoneInfo("Asia/Tokyo"))
    assert "Asia/Tokyo" in (tmp_path / "out" / "index.md").read_text()
    times = Times(ZoneInfo("Asia/Tokyo"))
    assert times.time(0) == "1970-01-01 09:00"
    assert times.time(0, "Thursday, 1970-01-01") == "09:00"
    assert times.time((1 << 63) - 1) == "beyond the calendar"
    assert times.day(253_402_300_799_000) == "Beyond the calendar"


def test_a_second_export_writes_nothing(opened: Archive, tmp_path: Path) -> None:
    """A second Markdown export of the same archive leaves all files unchanged."""
    first = write_markdown(opened, tmp_path / "out", ChatSelection())
    second = write_markdown(opened, tmp_path / "out", ChatSelection())
    assert (second.written, second.unchanged, second.removed) == (0, first.written, 0)
