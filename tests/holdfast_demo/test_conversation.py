"""The first start has something to look at."""

from pathlib import Path

from holdfast import backup
from holdfast.settings import Settings
from holdfast_demo.conversation import MESSAGES, add_conversation


def test_the_demo_is_a_backup_with_every_kind_of_record(tmp_path: Path) -> None:
    """What the home page shows is read like any other backup."""
    add_conversation(Settings(data=tmp_path))
    answer = backup.info(tmp_path / "backups" / "demo.binproto")
    assert answer.counts["chatItem"] == MESSAGES
    assert all(answer.counts.values())
