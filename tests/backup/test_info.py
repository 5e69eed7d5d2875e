"""A backup at a glance."""

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup.schema import RECORDS, BackupInfo
from tests.backup.wire.test_frames import record, varint

HEADER = BackupInfo(
    version=1, backupTimeMs=1_700_000_000_123, currentAppVersion="App 2.0", firstAppVersion="App 1.0"
).SerializeToString()


def frame(kind: int) -> bytes:
    """Write a frame that holds an empty record."""
    return record(varint(kind << 3 | 2) + b"\x00")


def test_info_shows_the_header_and_counts_every_record_type() -> None:
    """All eight record types are there, also those that do not occur."""
    data = record(HEADER) + frame(1) + frame(2) * 3 + frame(4) * 5 + frame(8) + record(b"")
    answer = backup.info(io.BytesIO(data))
    assert answer.header == backup.Header(1, 1_700_000_000_123, "App 2.0", "App 1.0")
    assert answer.header.made_at == datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)
    assert answer.counts == {
        **dict.fromkeys(RECORDS[1:], 0),
        "account": 1,
        "recipient": 3,
        "chatItem": 5,
        "chatFolder": 1,
    }
    assert (answer.empty_frames, answer.frames, answer.bytes) == (1, 11, len(data))


def test_info_takes_a_path_as_text_or_object(tmp_path: Path) -> None:
    """Both spellings of a path work."""
    file = tmp_path / "x.binproto"
    file.write_bytes(record(HEADER))
    assert backup.info(file) == backup.info(str(file))


def test_a_time_beyond_the_calendar_is_no_date() -> None:
    """A header may claim any 64-bit number."""
    data = record(BackupInfo(version=1, backupTimeMs=2**64 - 1).SerializeToString())
    assert backup.info(io.BytesIO(data)).header.made_at is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"# A text\n\nwith some lines, long enough to hold a record of 35 bytes.\n", "not a chat backup"),
        (record(b"\x78\x01"), "no header"),
    ],
)
def test_what_is_no_backup_is_said_not_to_be_one(content: bytes, words: str) -> None:
    """The message says what was looked for."""
    with pytest.raises(backup.UnreadableBackup, match=words):
        backup.info(io.BytesIO(content))


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    """Each has its own sentence."""
    with pytest.raises(backup.UnreadableBackup, match="cannot be read: No such file"):
        backup.info(tmp_path / "none")
    with pytest.raises(backup.UnreadableBackup, match="is a folder"):
        backup.info(tmp_path)
