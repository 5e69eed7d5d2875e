"""Lists of sent files."""

from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives.gallery import FileFamily, SentAttachment, sent_files
from tests.backup.archives.histories import imported
from tests.backup.streams import sample, stream_of


@pytest.fixture(scope="module")
def archive_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import a history with files, once."""
    home = tmp_path_factory.mktemp("gallery")
    (home / "one.binproto").write_bytes(stream_of(sample(600)))
    imported(home / "chats.db", home / "one.binproto")
    return home / "chats.db"


def listed(
    archive: archives.Archive,
    family: FileFamily,
    limit: int,
    *,
    chat: int | None = None,
    author: int | None = None,
) -> list[SentAttachment]:
    """Go through all pages."""
    found: list[SentAttachment] = []
    below = None
    while True:
        page = sent_files(archive, family, chat=chat, author=author, below=below, limit=limit)
        assert len(page.files) <= limit
        found += page.files
        if page.more is None:
            return found
        below = page.more


def test_each_file_is_listed_once_the_latest_first(archive_file: Path) -> None:
    """Whatever the size of a page, also when it ends inside of a message with several files."""
    with archives.open(archive_file) as archive:
        (expected,) = archive.connection.execute(
            "SELECT count(*) FROM attachment WHERE role = 'attachment' AND revision = 0 "
            "AND (content_type LIKE 'image/%' OR content_type LIKE 'video/%')"
        ).fetchone()
        whole = listed(archive, "media", 500)
        assert len(whole) == expected > 10
        assert len({one.message_id for one in whole}) < expected
        places = [(one.message_id, one.attachment.n) for one in whole]
        assert places == sorted(set(places), reverse=True)
        assert listed(archive, "media", 1) == whole
        assert listed(archive, "media", 7) == whole


def test_families_are_apart_and_complete(archive_file: Path) -> None:
    """Every file is of one of them."""
    with archives.open(archive_file) as archive:
        families: tuple[FileFamily, ...] = ("photo", "video", "audio", "file")
        parts = {family: listed(archive, family, 500) for family in families}
        (expected,) = archive.connection.execute(
            "SELECT count(*) FROM attachment WHERE role = 'attachment' AND revision = 0"
        ).fetchone()
        assert sum(map(len, parts.values())) == expected
        assert all((one.attachment.content_type or "").startswith("image/") for one in parts["photo"])
        assert all((one.attachment.content_type or "").startswith("audio/") for one in parts["audio"])
        assert parts["photo"]
        assert parts["audio"]
        assert parts["file"]


def test_one_chat_and_one_person_are_filters(archive_file: Path) -> None:
    """Alone and together."""
    with archives.open(archive_file) as archive:
        whole = listed(archive, "media", 500)
        chat, author = whole[0].chat_id, whole[0].author_id
        assert {one.author_id for one in whole} != {author}
        by_chat = [one for one in whole if one.chat_id == chat]
        assert listed(archive, "media", 3, chat=chat) == by_chat
        assert listed(archive, "media", 3, author=author) == [one for one in whole if one.author_id == author]
        both = listed(archive, "media", 3, chat=chat, author=author)
        assert both == [one for one in by_chat if one.author_id == author]
        assert listed(archive, "media", 3, chat=1) == []
