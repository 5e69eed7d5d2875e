"""Several accounts in one archive."""

from collections import Counter
from pathlib import Path

from holdfast.backup import archives
from tests.backup.archives.histories import copies, import_backups, write


def test_two_accounts_are_kept_apart(tmp_path: Path) -> None:
    """Backups of two accounts with the same people and texts are stored under two accounts, each with its own."""
    header, frames = copies()
    source = write(tmp_path / "one", header, frames)
    header.mediaRootBackupKey = b"another account's media root key"
    account = next(frame.account for frame in frames if frame.HasField("account"))
    account.profileKey = bytes(32)
    other = write(tmp_path / "other", header, frames)
    first, second = import_backups(tmp_path / "a.db", source, other)
    assert first.new == second.new == 60
    with archives.open(tmp_path / "a.db") as opened:
        messages: Counter[int] = Counter()
        for chat in opened.chats():
            messages[chat.account_id] += chat.messages
    assert list(messages.values()) == [60, 60]
