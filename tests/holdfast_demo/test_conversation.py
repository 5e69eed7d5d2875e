"""The backup and the archive of the demo."""

from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives.gallery import sent_files
from holdfast.settings import Settings
from holdfast_demo.conversation import ARCHIVE, MESSAGES, add_conversation


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the demo, twice: a start that was interrupted is begun again."""
    target = tmp_path_factory.mktemp("demo")
    add_conversation(Settings(data=target))
    add_conversation(Settings(data=target))
    return target / "backups"


def test_the_demo_is_a_backup_with_every_kind_of_record(demo_folder: Path) -> None:
    """The backup of the demo can be read, and has every kind of record."""
    summary = backup.info(demo_folder / "demo.binproto")
    assert summary.counts["chatItem"] == MESSAGES
    assert all(summary.counts.values())


def test_the_archive_has_pictures_to_look_at(demo_folder: Path) -> None:
    """The archive has photos, voice messages and files whose content is stored."""
    with archives.open(demo_folder / ARCHIVE) as archive:
        assert len(archive.snapshots()) == 1
        for family in ("photo", "audio", "file"):
            files = sent_files(archive, family).files
            stored = [file for file in files if file.attachment.path and archive.kept_file(file.attachment.path)]
            assert stored, family
