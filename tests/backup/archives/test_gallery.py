"""Lists of attachments by kind, chat and author."""

from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives.gallery import FileFamily, SentAttachment, sent_files
from tests.backup.archives.histories import import_backups
from tests.backup.streams import sample, stream_of


@pytest.fixture(scope="module")
def archive_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import a history with files, once."""
    folder = tmp_path_factory.mktemp("gallery")
    (folder / "one.binproto").write_bytes(stream_of(sample(600)))
    import_backups(folder / "chats.db", folder / "one.binproto")
    return folder / "chats.db"


def list_files(
    archive: archives.Archive,
    family: FileFamily,
    limit: int,
    *,
    chat: int | None = None,
    author: int | None = None,
) -> list[SentAttachment]:
    """Go through all pages."""
    files: list[SentAttachment] = []
    below = None
    while True:
        page = sent_files(archive, family, chat=chat, author=author, below=below, limit=limit)
        assert len(page.files) <= limit
        files += page.files
        if page.more is None:
            return files
        below = page.more


def test_each_file_is_listed_once_the_latest_first(archive_file: Path) -> None:
    """Pages of any size give the same list, also if one ends inside a message with several files."""
    with archives.open(archive_file) as archive:
        (expected,) = archive.connection.execute(
            "SELECT count(*) FROM attachment WHERE role = 'attachment' AND revision = 0 "
            "AND (content_type LIKE 'image/%' OR content_type LIKE 'video/%')"
        ).fetchone()
        complete = list_files(archive, "media", 500)
        assert len(complete) == expected > 10
        assert len({file.message_id for file in complete}) < expected
        positions = [(file.message_id, file.attachment.n) for file in complete]
        assert positions == sorted(set(positions), reverse=True)
        assert list_files(archive, "media", 1) == complete
        assert list_files(archive, "media", 7) == complete


def test_families_are_apart_and_complete(archive_file: Path) -> None:
    """Every attachment is in exactly one of the families photo, video, audio and file."""
    with archives.open(archive_file) as archive:
        families: tuple[FileFamily, ...] = ("photo", "video", "audio", "file")
        parts = {family: list_files(archive, family, 500) for family in families}
        (expected,) = archive.connection.execute(
            "SELECT count(*) FROM attachment WHERE role = 'attachment' AND revision = 0"
        ).fetchone()
        assert sum(map(len, parts.values())) == expected
        assert all((file.attachment.content_type or "").startswith("image/") for file in parts["photo"])
        assert all((file.attachment.content_type or "").startswith("audio/") for file in parts["audio"])
        assert parts["photo"]
        assert parts["audio"]
        assert parts["file"]


def test_one_chat_and_one_person_are_filters(archive_file: Path) -> None:
    """The filters by chat and by author work alone and together."""
    with archives.open(archive_file) as archive:
        complete = list_files(archive, "media", 500)
        chat, author = complete[0].chat_id, complete[0].author_id
        assert {file.author_id for file in complete} != {author}
        assert {file.chat_id for file in complete} != {chat}
        by_chat = [file for file in complete if file.chat_id == chat]
        assert list_files(archive, "media", 3, chat=chat) == by_chat
        by_author = [file for file in complete if file.author_id == author]
        assert list_files(archive, "media", 3, author=author) == by_author
        both = list_files(archive, "media", 3, chat=chat, author=author)
        assert both == [file for file in by_chat if file.author_id == author]
        assert list_files(archive, "media", 3, chat=1) == []
