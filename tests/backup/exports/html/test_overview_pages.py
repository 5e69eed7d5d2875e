"""Overview pages: their links, and the omission of everything that is not exported."""

import re
from pathlib import Path
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import Archive
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.html import overview_pages, write_html
from tests.backup.archives.histories import copies, import_backups, write
from tests.backup.exports.hostile import MARKUP_INJECTIONS
from tests.backup.exports.html.exported_pages import add_all_media, check_links, export_pages
from tests.backup.exports.sample_messages import PageParser


@pytest.fixture
def archive_path(tmp_path: Path) -> Path:
    """Make an archive with calls, media and people."""
    import_backups(tmp_path / "chats.db", write(tmp_path / "one", *copies(400)))
    return tmp_path / "chats.db"


def message_links(pages: dict[str, PageParser], out: Path, beginning: str) -> list[str]:
    """List the links to messages on overview pages."""
    links: list[str] = []
    for name in pages:
        if re.fullmatch(rf"{beginning}[\d-]*\.html", name):
            links += re.findall(r'<li><a href="(chats/[^"]+)"', (out / name).read_text())
    return links


def test_every_photo_and_video_leads_to_its_message(archive_path: Path) -> None:
    """Each month has a page of its images and videos, and the media page links to all months."""
    files = add_all_media(archive_path)
    with archives.open(archive_path) as opened:
        pages = export_pages(opened, archive_path.with_name("out"))
    check_links(archive_path.with_name("out"), pages)
    months = [name for name in pages if re.fullmatch(r"media-\d{4}-\d{2}\.html", name)]
    assert len(message_links(pages, archive_path.with_name("out"), "media-")) == files > 0
    assert sorted(set(pages["media.html"].links) & set(months)) == sorted(months)
    assert "media.html" in pages["index.html"].links
    assert all("media.html" in pages[name].links for name in months)


def test_files_are_read_a_few_at_a_time(archive_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is listed once, even if two are read at a time."""
    files = add_all_media(archive_path)
    monkeypatch.setattr(overview_pages, "PAGE_ENTRIES", 2)
    with archives.open(archive_path) as opened:
        pages = export_pages(opened, archive_path.with_name("out"))
    assert len(message_links(pages, archive_path.with_name("out"), "media-")) == files > 4
    check_links(archive_path.with_name("out"), pages)


def test_without_files_there_is_no_media_page(archive_path: Path) -> None:
    """An export without media files has no media page and no link to one."""
    with archives.open(archive_path) as opened:
        pages = export_pages(opened, archive_path.with_name("out"))
    assert not [name for name in pages if name.startswith("media")]
    assert "media.html" not in pages["index.html"].links


def test_every_call_is_listed_once_and_leads_to_its_place(opened: Archive, tmp_path: Path) -> None:
    """Calls are listed with the latest first."""
    pages = export_pages(opened, tmp_path / "out")
    rows = opened.connection.execute(
        "SELECT c.message_id FROM call c JOIN message m ON m.id = c.message_id "
        "ORDER BY m.order_ms DESC, m.order_n DESC"
    ).fetchall()
    links = [address.partition("#m")[2] for address in message_links(pages, tmp_path / "out", "calls")]
    assert links == [str(number) for (number,) in rows]
    assert links
    check_links(tmp_path / "out", pages)


def test_long_lists_are_several_pages(opened: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long list of calls is split into pages that link to one another."""
    monkeypatch.setattr(overview_pages, "PAGE_ENTRIES", 1)
    pages = export_pages(opened, tmp_path / "out")
    (calls,) = opened.connection.execute("SELECT count(*) FROM call").fetchone()
    assert len([name for name in pages if name.startswith("calls")]) == calls > 1
    assert "calls-2.html" in pages["calls.html"].links
    assert "calls.html" in pages["calls-2.html"].links
    check_links(tmp_path / "out", pages)


def test_everybody_and_statistics_are_of_the_whole_archive(opened: Archive, tmp_path: Path) -> None:
    """The pages of people and statistics have the counts of the whole archive, and the index links to them."""
    pages = export_pages(opened, tmp_path / "out")
    assert f"{len(opened.people()):,} people" in (tmp_path / "out/people.html").read_text()
    assert f"{opened.statistics().messages:,} messages" in (tmp_path / "out/statistics.html").read_text()
    assert {"people.html", "statistics.html", "calls.html"} <= set(pages["index.html"].links)


def test_statistics_count_in_the_time_zone_of_the_export(opened: Archive, tmp_path: Path) -> None:
    """The hours of the statistics are those at which the other pages show the messages, and the zone is named."""
    zone = ZoneInfo("Asia/Kathmandu")
    export_pages(opened, tmp_path / "utc")
    write_html(opened, tmp_path / "there", ChatSelection(), media=False, search=False, zone=zone)
    utc, there = ((tmp_path / name / "statistics.html").read_text() for name in ("utc", "there"))
    assert "Times are UTC." in utc
    assert "Times are Asia/Kathmandu." in there
    local = opened.statistics(zone=zone).hours
    noon = sum(day[12] for day in local)
    assert noon != sum(day[12] for day in opened.statistics().hours)
    assert re.search(rf"12:00</span><progress[^>]*></progress><span>{noon}</span>", there)


def test_an_export_of_one_chat_tells_of_nothing_else(archive_path: Path) -> None:
    """An export of one chat has no pages of people or statistics, and the calls and files of that chat only."""
    add_all_media(archive_path)
    with archives.open(archive_path) as opened:
        (chat,) = opened.connection.execute(
            "SELECT m.chat_id FROM call c JOIN message m ON m.id = c.message_id GROUP BY 1 ORDER BY count(*) DESC"
        ).fetchone()
        pages = export_pages(opened, archive_path.with_name("out"), ChatSelection((chat,)))
        (calls,) = opened.connection.execute(
            "SELECT count(*) FROM call c JOIN message m ON m.id = c.message_id WHERE m.chat_id = ?", (chat,)
        ).fetchone()
    assert not {"people.html", "statistics.html"} & set(pages)
    assert len(message_links(pages, archive_path.with_name("out"), "calls")) == calls
    (folder,) = (archive_path.with_name("out") / "chats").iterdir()
    files = message_links(pages, archive_path.with_name("out"), "media-")
    assert {unquote(link).rpartition("/")[0] for link in files} == {f"chats/{folder.name}"}
    check_links(archive_path.with_name("out"), pages)


def test_a_time_bounds_calls_too(opened: Archive, tmp_path: Path) -> None:
    """Calls outside the selected period are not listed, and there is no page of statistics."""
    times = [
        ms
        for (ms,) in opened.connection.execute(
            "SELECT m.order_ms FROM call c JOIN message m ON m.id = c.message_id ORDER BY 1"
        )
    ]
    middle = times[len(times) // 2]
    pages = export_pages(opened, tmp_path / "out", ChatSelection(since_ms=middle))
    assert len(message_links(pages, tmp_path / "out", "calls")) == len([ms for ms in times if ms >= middle])
    assert "statistics.html" not in pages


def test_names_stay_text(tmp_path: Path) -> None:
    """Markup in the names of contacts and groups stays text on all pages."""
    header, parsed = copies(200)
    for n, frame in enumerate(parsed):
        if frame.HasField("recipient") and frame.recipient.HasField("contact"):
            frame.recipient.contact.nickname.given = MARKUP_INJECTIONS[n % len(MARKUP_INJECTIONS)]
        elif frame.HasField("recipient") and frame.recipient.HasField("group"):
            frame.recipient.group.snapshot.title.title = MARKUP_INJECTIONS[n % len(MARKUP_INJECTIONS)]
    import_backups(tmp_path / "chats.db", write(tmp_path / "one", header, parsed))
    with archives.open(tmp_path / "chats.db") as opened:
        # What reads the pages refuses every element and attribute that is not one of ours.
        pages = export_pages(opened, tmp_path / "out")
    assert {"people.html", "calls.html", "statistics.html"} <= set(pages)
