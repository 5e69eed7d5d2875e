"""Attachment files of messages: media types, downloads and thumbnails."""

import io
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image

from holdfast.web.chats.conversation_routes import respond
from holdfast.web.chats.open_archive import OpenArchive
from holdfast.web.chats.view import MediaResult, PageNotFound, TemplateResult, ThumbnailResult
from tests.web.chats.conftest import OpenFile
from tests.web.chats.page_helpers import stored_media


def test_files_are_served_with_inert_media_types(opened: OpenArchive, archive_file: Path) -> None:
    """Pictures, audio and video are shown inline; other files are downloads of unknown type."""
    shown = set()
    for digest, content_type in stored_media(archive_file):
        answer = respond(opened, "", f"media/{digest}", {})
        assert isinstance(answer, MediaResult)
        assert answer.file.path.stem == digest
        shown.add((answer.inline, answer.media_type))
        if not content_type.startswith(("image/", "video/", "audio/", "text/")):
            assert (answer.inline, answer.media_type) == (False, "application/octet-stream")
    assert any(inline and kind.startswith("image/") for inline, kind in shown)


@pytest.mark.parametrize(
    "kind", ["text/html", "image/svg+xml", "application/xhtml+xml", "TEXT/HTML; charset=x", ""]
)
def test_active_media_types_are_downloads(
    archive_file: Path, tmp_path: Path, kind: str, open_file: OpenFile
) -> None:
    """A media type that a browser would execute is replaced by that of unknown bytes."""
    copy = tmp_path / "chats.db"
    shutil.copy(archive_file, copy)
    shutil.copytree(archive_file.with_name("chats.db-media"), tmp_path / "chats.db-media")
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE attachment SET content_type = ?, file_name = 'a<b>.html'", (kind,))
    digest = stored_media(copy)[0][0]
    answer = respond(open_file(copy), "", f"media/{digest}", {})
    assert isinstance(answer, MediaResult)
    assert (answer.inline, answer.media_type) == (False, "application/octet-stream")


@pytest.mark.parametrize("path", ["../secret", "{outside}", "", "link"])
def test_only_files_of_the_media_folder_are_served(
    archive_file: Path, tmp_path: Path, path: str, open_file: OpenFile
) -> None:
    """A path out of the folder and a symbolic link in it are not found, although the files exist."""
    copy = tmp_path / "chats.db"
    shutil.copy(archive_file, copy)
    (tmp_path / "chats.db-media").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "chats.db-media" / "link").symlink_to(tmp_path / "secret")
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE media SET path = ?", (path.format(outside=tmp_path / "secret"),))
    digest = stored_media(copy)[0][0]
    with pytest.raises(PageNotFound):
        respond(open_file(copy), "", f"media/{digest}", {})
    (tmp_path / "chats.db-media" / "file").write_text("of the folder")
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE media SET path = 'file'")
    assert isinstance(respond(open_file(copy), "", f"media/{digest}", {}), MediaResult)


@pytest.mark.parametrize("digest", ["x", "0" * 64, "A" * 64, "../" * 20, "0" * 63])
def test_other_names_are_not_found(opened: OpenArchive, digest: str) -> None:
    """A name that is not the SHA-256 of a stored file is not found."""
    with pytest.raises(PageNotFound):
        respond(opened, "", f"media/{digest}", {})


def large_photo() -> bytes:
    """Draw a photo that is worth a small copy."""
    out = io.BytesIO()
    noise = Image.frombytes("RGB", (300, 300), random.Random(1).randbytes(300 * 300 * 3))
    noise.resize((2400, 1800)).save(out, "JPEG", quality=95)
    return out.getvalue()


def test_a_page_shows_thumbnails_of_large_photos(archive_file: Path, tmp_path: Path, open_file: OpenFile) -> None:
    """A large photo has a WebP thumbnail besides the file itself, and a small photo is served as it is."""
    copy = tmp_path / "chats.db"
    shutil.copy(archive_file, copy)
    shutil.copytree(archive_file.with_name("chats.db-media"), tmp_path / "chats.db-media")
    opened = open_file(copy)
    digest = next(digest for digest, kind in stored_media(copy) if kind == "image/jpeg")
    small = respond(opened, "", f"media/{digest}/thumbnail", {})
    assert isinstance(small, MediaResult)
    photo = large_photo()
    small.file.path.write_bytes(photo)
    answer = respond(opened, "", f"media/{digest}/thumbnail", {})
    assert isinstance(answer, ThumbnailResult)
    assert answer.media_type == "image/webp"
    assert len(answer.content) < len(photo)
    assert isinstance(respond(opened, "", f"media/{digest}", {}), MediaResult)
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE attachment SET size = ?", (len(photo),))
    page = respond(open_file(copy), "", "media", {})
    assert isinstance(page, TemplateResult)
    months = page.values["months"]
    assert isinstance(months, list)
    assert f"/media/{digest}/thumbnail" in {tile.file for _, tiles in months for tile in tiles}


@pytest.mark.parametrize(
    "path",
    ["media/{file}/other", "media/{file}/thumbnail/x", "media/{none}/thumbnail", "attachment/{none}/thumbnail"],
)
def test_only_existing_photos_have_thumbnails(opened: OpenArchive, archive_file: Path, path: str) -> None:
    """Unknown files, and other paths below a file that exists, are not found."""
    file = next(digest for digest, kind in stored_media(archive_file) if kind == "image/jpeg")
    respond(opened, "", f"media/{file}/thumbnail", {})
    with pytest.raises(PageNotFound):
        respond(opened, "", path.format(file=file, none="0" * 64), {})
