"""`holdfast backup info`."""

import json
from pathlib import Path

from holdfast import backup
from holdfast.backup.schema import BackupInfo
from holdfast.cli.exit_codes import ExitCode
from tests.backup.streams import (
    KEYS,
    folder_of,
    record,
    sample,
)
from tests.cli.backup_helpers import FRAME_STREAM
from tests.cli.conftest import Run


def test_info_prints_what_people_recognise(run: Run, tmp_path: Path) -> None:
    """The form, the time, the versions of the app and the counts are shown."""
    file = tmp_path / "x.binproto"
    file.write_bytes(FRAME_STREAM)
    result = run("backup", "info", str(file))
    assert (result.status, result.err) == (0, "")
    for text in ("frame stream", "2023-11-14 22:13:20 UTC", "App 2.0", "App 1.0", "12,345"):
        assert text in result.out


def test_info_of_a_sample_shows_chats_years_and_media(run: Run, tmp_path: Path, key_file: str) -> None:
    """The account and the number of missing and damaged attachments are shown too."""
    snapshot = folder_of(sample(300), tmp_path)
    next((snapshot.parent / "files").glob("*/*")).unlink()
    account = backup.info(snapshot, KEYS).account
    for more in ([], ["--verify-media"]):
        result = run("backup", "info", str(tmp_path), "--key-file", key_file, *more)
        assert (result.status, result.err) == (ExitCode.NO if more else ExitCode.FINE, "")
        for text in ("local backup folder", "largest chats", "year", "1 missing, 0 damaged", "people", account):
            assert text in result.out


def test_info_reads_standard_input_and_prints_json(spawn: Run) -> None:
    """`info - --json` reads a pipe and prints one document."""
    result = spawn("backup", "info", "-", "--json", data=FRAME_STREAM)
    assert result.err == ""
    document = json.loads(result.out)
    assert document["counts"]["chatItem"] == 12345
    assert document["header"]["app_version"] == "App 2.0"
    assert document["bytes"] == len(FRAME_STREAM)


def test_a_header_without_names_and_dates_is_shown_as_unknown(spawn: Run) -> None:
    """Missing versions and dates are shown as unknown, and an empty frame is counted."""
    header = BackupInfo(version=1, backupTimeMs=2**64 - 1).SerializeToString()
    result = spawn("backup", "info", "-", data=record(header) + record(b""))
    assert result.out.count("unknown") >= 3
    assert "1 frame without a record" in result.out
