"""Attachment files of an export."""

from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.exports.folder import ExportFolder
from holdfast.backup.exports.media import MediaFiles, display_kind, extension_of
from tests.backup.exports.sample_messages import attachment

DIGEST = "ab" * 32


@pytest.mark.parametrize(
    ("content_type", "display", "extension"),
    [
        ("image/jpeg", "image", ".jpg"),
        ("IMAGE/PNG; charset=x", "image", ".png"),
        ("video/mp4", "video", ".mp4"),
        ("audio/aac", "audio", ".aac"),
        ("application/pdf", "file", ".pdf"),
        ("text/html", "file", ".bin"),
        ("image/svg+xml", "file", ".bin"),
        ("application/xhtml+xml", "file", ".bin"),
        ("text/javascript", "file", ".bin"),
        ("", "file", ".bin"),
        (None, "file", ".bin"),
    ],
)
def test_only_what_cannot_run_is_shown(content_type: str | None, display: str, extension: str) -> None:
    """HTML, SVG and scripts are downloads with the extension .bin, which a browser does not open."""
    assert display_kind(attachment(content_type=content_type)) == display
    assert extension_of(content_type) == extension


def test_files_are_placed_once_under_their_content(archive_file: Path, tmp_path: Path) -> None:
    """Images are named by their digest, and other files also keep their escaped name."""
    with archives.open(archive_file) as opened:
        opened.path = tmp_path / "chats.db"
        store = opened.media_folder / "ab"
        store.mkdir(parents=True)
        (store / f"{DIGEST}.jpg").write_bytes(b"picture")
        with ExportFolder(tmp_path / "out", "html") as folder:
            files = MediaFiles(opened, folder)
            picture = attachment(path=f"ab/{DIGEST}.jpg")
            assert files.put(picture) == files.put(picture) == f"media/ab/{DIGEST}.jpg"
            page = attachment(path=f"ab/{DIGEST}.jpg", content_type="text/html", file_name="../../evil.html")
            assert files.put(page) == f"media/ab/{DIGEST[:16]}-_.._evil.html.bin"
            assert files.put(attachment(path=None)) is None
            assert files.put(attachment(path="ab/ffffffffffffffff.jpg")) is None
            assert folder.finish().written == 2
        assert (tmp_path / "out" / "media" / "ab" / f"{DIGEST}.jpg").read_bytes() == b"picture"


@pytest.mark.parametrize("path", ["../../../etc/passwd", "/etc/passwd", "ab/../../../secretsecretsecret", "x", ""])
def test_no_path_of_an_archive_leads_out_of_its_folder(archive_file: Path, tmp_path: Path, path: str) -> None:
    """Absolute paths and paths with ".." are not exported, because an archive may come from anybody."""
    (tmp_path / "secretsecretsecret").write_text("secret")
    with archives.open(archive_file) as opened:
        opened.path = tmp_path / "a" / "chats.db"
        opened.media_folder.mkdir(parents=True)
        with ExportFolder(tmp_path / "out", "html") as folder:
            assert MediaFiles(opened, folder).put(attachment(path=path)) is None
