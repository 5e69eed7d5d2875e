"""How archives are recognised, and the files beside them."""

from pathlib import Path

from holdfast.backup.archives.file_paths import MEDIA_SUFFIX, archive_paths, beside, is_archive, places_beside
from holdfast.backup.file_types import ENCRYPTED_ARCHIVE


def test_an_archive_is_told_by_its_first_bytes(tmp_path: Path) -> None:
    """A text, a folder, a missing file, a path in bytes and None are not taken for archives."""
    plain, encrypted, text = (tmp_path / name for name in ("plain", "encrypted", "text"))
    plain.write_bytes(b"SQLite format 3\x00 and more")
    encrypted.write_bytes(ENCRYPTED_ARCHIVE + b"salt and pages")
    text.write_bytes(b"just text, and more of it")
    assert [is_archive(path) for path in (plain, str(plain), encrypted)] == [True, True, True]
    others = (text, tmp_path, tmp_path / "none", bytes(plain), None)
    assert [is_archive(other) for other in others] == [False] * 5


def test_files_are_beside_the_file_and_not_the_link(tmp_path: Path) -> None:
    """By a symbolic link the media are those beside the file, unless there are some beside the link only."""
    archive, link = tmp_path / "files" / "chats.db", tmp_path / "link.db"
    archive.parent.mkdir()
    archive.touch()
    link.symlink_to(archive)
    media, of_link = archive.with_name("chats.db-media"), link.with_name("link.db-media")
    assert places_beside(archive, MEDIA_SUFFIX) == [media]
    assert places_beside(link, MEDIA_SUFFIX) == [media, of_link]
    assert beside(link, MEDIA_SUFFIX) == media
    of_link.mkdir()
    assert beside(link, MEDIA_SUFFIX) == of_link
    media.mkdir()
    assert beside(link, MEDIA_SUFFIX) == media


def test_the_paths_of_an_archive_are_all_that_have_its_content(tmp_path: Path) -> None:
    """The file, what SQLite creates beside it, and the folders of the media; links in these are not followed."""
    archive = tmp_path / "chats.db"
    (tmp_path / "chats.db-media" / "ab").mkdir(parents=True)
    (tmp_path / "chats.db-media" / "link").symlink_to(tmp_path)
    names = ["chats.db", "chats.db-wal", "chats.db-shm", "chats.db-journal", "chats.db-media", "chats.db-media/ab"]
    assert list(archive_paths(archive)) == [tmp_path / name for name in names]
