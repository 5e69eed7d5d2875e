"""Several accounts in one archive."""

from pathlib import Path

from holdfast.backup import archives
from tests.backup.archives.histories import copies, import_backups, write


def test_two_accounts_are_kept_apart(tmp_path: Path) -> None:
    """Backups of two accounts with the same people and texts are stored under two accounts."""
    header, frames = copies()
    source = write(tmp_path / "one", header, frames)
    header.mediaRootBackupKey = b"another account's media root key"
    account = next(frame.account for frame in frames if frame.HasField("account"))
    account.profileKey = bytes(32)
    other = write(tmp_path / "other", header, frames)
    first, second = import_backups(tmp_path / "a.db", source, other)
    assert first.new == second.new == 60
    with archives.open(tmp_path / "a.db") as opened:
        assert len({chat.account_id for chat in opened.chats()}) == 2
