"""Overview pages link to what they list, and have nothing that is not exported."""

import re
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import Archive
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.html import overview_pages
from tests.backup.archives.histories import copies, import_backups, write
from tests.backup.exports.html.test_markup import HOSTILE
from tests.backup.exports.html.test_page_folder import check_links, export
from tests.backup.exports.sample_messages import PageParser

PICTURE = b"\x89PNG\r\n\x1a\n picture"


def add_files(path: Path) -> int:
    """Put a file beside the archive for every attachment; return how many photos and videos were sent."""
    with archives.open(path, create=True) as opened:
        run = opened.connection.execute
        names = run("SELECT DISTINCT media_name FROM attachment WHERE media_name IS NOT NULL").fetchall()
        for n, (name,) in enumerate(names):
            digest = f"{n:064x}"
            run(
                "INSERT INTO media VALUES (?, ?, ?, ?)", (name, digest, len(PICTURE), f"{digest[:2]}/{digest}.png")
            )
            target = opened.media_folder / digest[:2] / f"{digest}.png"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(PICTURE)
        (files,) = run(
            "SELECT count(*) FROM attachment WHERE role = 'attachment' AND revision = 0 "
            "AND media_name IS NOT NULL "
            "AND content_type IN ('image/png', 'image/jpeg', 'image/gif', 'image/webp', 'video/mp4')"
        ).fetchone()
    return int(files)


@pytest.fixture
def archive_path(tmp_path: Path) -> Path:
    """Make an archive with calls, media and people."""
    import_backups(tmp_path / "chats.db", write(tmp_path / "one", *copies(400)))
    return tmp_path / "chats.db"


def message_links(pages: dict[str, PageParser], out: Path, beginning: str) -> list[str]:
    """List the addresses of messages that pages lead to."""
    links: list[str] = []
    for name in pages:
        if re.fullmatch(rf"{beginning}[\d-]*\.html", name):
            links += re.findall(r'<li><a href="(chats/[^"]+)"', (out / name).read_text())
    return links


def test_every_photo_and_video_leads_to_its_message(archive_path: Path) -> None:
    """Month by month, and the first page leads to all months."""
    files = add_files(archive_path)
    with archives.open(archive_path) as opened:
        pages = export(opened, archive_path.with_name("out"))
    check_links(archive_path.with_name("out"), pages)
    months = [name for name in pages if re.fullmatch(r"media-\d{4}-\d{2}\.html", name)]
    assert len(message_links(pages, archive_path.with_name("out"), "media-")) == files > 0
    assert sorted(set(pages["media.html"].links) & set(months)) == sorted(months)
    assert "media.html" in pages["index.html"].links
    assert all("media.html" in pages[name].links for name in months)


def test_files_are_read_a_few_at_a_time(archive_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And none is left out."""
    files = add_files(archive_path)
    monkeypatch.setattr(overview_pages, "PAGE_ENTRIES", 2)
    with archives.open(archive_path) as opened:
        pages = export(opened, archive_path.with_name("out"))
    assert len(message_links(pages, archive_path.with_name("out"), "media-")) == files > 4
    check_links(archive_path.with_name("out"), pages)


def test_without_files_there_is_no_media_page(archive_path: Path) -> None:
    """Nothing leads there either."""
    with archives.open(archive_path) as opened:
        pages = export(opened, archive_path.with_name("out"))
    assert not [name for name in pages if name.startswith("media")]
    assert "media.html" not in pages["index.html"].links


def test_every_call_is_listed_once_and_leads_to_its_place(opened: Archive, tmp_path: Path) -> None:
    """The latest first."""
    pages = export(opened, tmp_path / "out")
    rows = opened.connection.execute(
        "SELECT c.message_id FROM call c JOIN message m ON m.id = c.message_id "
        "ORDER BY m.order_ms DESC, m.order_n DESC"
    ).fetchall()
    links = [address.partition("#m")[2] for address in message_links(pages, tmp_path / "out", "calls")]
    assert links == [str(number) for (number,) in rows]
    assert links
    check_links(tmp_path / "out", pages)


def test_long_lists_are_several_pages(opened: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each leads to the next."""
    monkeypatch.setattr(overview_pages, "PAGE_ENTRIES", 1)
    pages = export(opened, tmp_path / "out")
    (calls,) = opened.connection.execute("SELECT count(*) FROM call").fetchone()
    assert len([name for name in pages if name.startswith("calls")]) == calls > 1
    assert "calls-2.html" in pages["calls.html"].links
    assert "calls.html" in pages["calls-2.html"].links
    check_links(tmp_path / "out", pages)


def test_everybody_and_statistics_are_of_the_whole_archive(opened: Archive, tmp_path: Path) -> None:
    """With as many people and messages as it has."""
    pages = export(opened, tmp_path / "out")
    assert f"{len(opened.people()):,} people" in (tmp_path / "out/people.html").read_text()
    assert f"{opened.statistics().messages:,} messages" in (tmp_path / "out/statistics.html").read_text()
    assert {"people.html", "statistics.html", "calls.html"} <= set(pages["index.html"].links)


def test_an_export_of_one_chat_tells_of_nothing_else(archive_path: Path) -> None:
    """Neither of people nor of numbers, and of calls and files only its own."""
    add_files(archive_path)
    with archives.open(archive_path) as opened:
        (chat,) = opened.connection.execute(
            "SELECT m.chat_id FROM call c JOIN message m ON m.id = c.message_id GROUP BY 1 ORDER BY count(*) DESC"
        ).fetchone()
        pages = export(opened, archive_path.with_name("out"), ChatSelection((chat,)))
        (calls,) = opened.connection.execute(
            "SELECT count(*) FROM call c JOIN message m ON m.id = c.message_id WHERE m.chat_id = ?", (chat,)
        ).fetchone()
    assert not {"people.html", "statistics.html"} & set(pages)
    assert len(message_links(pages, archive_path.with_name("out"), "calls")) == calls
    check_links(archive_path.with_name("out"), pages)


def test_a_time_bounds_calls_too(opened: Archive, tmp_path: Path) -> None:
    """Those outside of it are not listed."""
    times = [
        ms
        for (ms,) in opened.connection.execute(
            "SELECT m.order_ms FROM call c JOIN message m ON m.id = c.message_id ORDER BY 1"
        )
    ]
    middle = times[len(times) // 2]
    pages = export(opened, tmp_path / "out", ChatSelection(since_ms=middle))
    assert len(message_links(pages, tmp_path / "out", "calls")) == len([ms for ms in times if ms >= middle])
    assert "statistics.html" not in pages


def test_names_stay_text(tmp_path: Path) -> None:
    """Whatever people and groups are called."""
    header, parsed = copies(200)
    for n, frame in enumerate(parsed):
        if frame.HasField("recipient") and frame.recipient.HasField("contact"):
            frame.recipient.contact.nickname.given = HOSTILE[n % len(HOSTILE)]
        elif frame.HasField("recipient") and frame.recipient.HasField("group"):
            frame.recipient.group.snapshot.title.title = HOSTILE[n % len(HOSTILE)]
    import_backups(tmp_path / "chats.db", write(tmp_path / "one", header, parsed))
    with archives.open(tmp_path / "chats.db") as opened:
        # What reads the pages refuses every element and attribute that is not one of ours.
        pages = export(opened, tmp_path / "out")
    assert {"people.html", "calls.html", "statistics.html"} <= set(pages)
