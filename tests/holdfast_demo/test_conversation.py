"""The first start has something to look at."""

from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives.gallery import sent_files
from holdfast.settings import Settings
from holdfast_demo.conversation import ARCHIVE, MESSAGES, add_conversation


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the demo, twice: a start that was interrupted is begun again."""
    home = tmp_path_factory.mktemp("demo")
    add_conversation(Settings(data=home))
    add_conversation(Settings(data=home))
    return home / "backups"


def test_the_demo_is_a_backup_with_every_kind_of_record(folder: Path) -> None:
    """What the home page shows is read like any other backup."""
    answer = backup.info(folder / "demo.binproto")
    assert answer.counts["chatItem"] == MESSAGES
    assert all(answer.counts.values())


def test_the_archive_has_pictures_to_look_at(folder: Path) -> None:
    """Photos, voice messages and files, most of them with the file that was sent."""
    with archives.open(folder / ARCHIVE) as archive:
        assert len(archive.snapshots()) == 1
        for family in ("photo", "audio", "file"):
            found = sent_files(archive, family).files
            there = [one for one in found if one.attachment.path and archive.kept_file(one.attachment.path)]
            assert there, family
