"""Helpers that export an archive to HTML pages, read them, and put media files beside the archive."""

import random
import re
from pathlib import Path
from urllib.parse import unquote

from holdfast.backup import archives
from holdfast.backup.archives import Archive
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.html import write_html
from tests.backup.exports.sample_messages import PageParser

__all__ = [
    "MANIFEST",
    "PICTURE",
    "add_all_media",
    "check_links",
    "export_pages",
    "read_files",
    "replace_some_media",
]

PICTURE = b"\x89PNG\r\n\x1a\n picture"
MANIFEST = ".holdfast-export.json"
ALL = ChatSelection()


def export_pages(
    opened: Archive, folder: Path, choice: ChatSelection = ALL, *, search: bool = True
) -> dict[str, PageParser]:
    """Export an archive and return its pages by their paths."""
    write_html(opened, folder, choice, media=True, search=search)
    pages = sorted(folder.rglob("*.html"))
    return {path.relative_to(folder).as_posix(): PageParser(path.read_text()) for path in pages}


def check_links(folder: Path, pages: dict[str, PageParser]) -> None:
    """Assert that the target of every link inside the export exists: a page, a file or an anchor."""
    for name, page in pages.items():
        for link in page.links:
            if re.match("https?:", link, re.IGNORECASE):
                continue
            path, _, anchor = unquote(link).partition("#")
            target = (folder / name).parent / path if path else folder / name
            assert target.is_file(), f"{name} leads to {link}"
            key = target.resolve().relative_to(folder.resolve()).as_posix()
            if anchor and key != "search.html":
                assert anchor in pages[key].ids, f"{name} leads to {link}"


def add_all_media(path: Path) -> int:
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


def replace_some_media(archive: Path, rng: random.Random) -> None:
    """Put the files of a few attachments beside the archive, and remove some that were there."""
    with archives.open(archive, create=True) as opened:
        names = opened.connection.execute(
            "SELECT DISTINCT media_name FROM attachment WHERE media_name IS NOT NULL"
        )
        for (name,) in rng.sample(sorted(names.fetchall()), 3):
            path = f"ab/{rng.randrange(5):064x}.jpg"
            opened.connection.execute("INSERT OR REPLACE INTO media VALUES (?, 'ab', 7, ?)", (name, path))
            (opened.media_folder / "ab").mkdir(parents=True, exist_ok=True)
            # Its name tells what is in it, so nobody writes it again; an export has a link to it.
            if not (opened.media_folder / path).exists():
                (opened.media_folder / path).write_bytes(path.encode())
        for file in sorted(opened.media_folder.rglob("*.jpg")):
            if rng.random() < 0.2:
                file.unlink()


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files of an export by their paths, without its manifest."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
