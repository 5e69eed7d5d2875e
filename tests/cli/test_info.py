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
from tests.cli.conftest import Run
from tests.cli.test_backup import STREAM


def test_info_prints_what_people_recognise(run: Run, tmp_path: Path) -> None:
    """When and by which app it was made, and what is in it."""
    file = tmp_path / "x.binproto"
    file.write_bytes(STREAM)
    result = run("backup", "info", str(file))
    assert (result.status, result.err) == (0, "")
    for text in ("frame stream", "2023-11-14 22:13:20 UTC", "App 2.0", "App 1.0", "12,345"):
        assert text in result.out


def test_info_of_a_sample_shows_chats_months_and_media(run: Run, tmp_path: Path, key_file: str) -> None:
    """With the account's name and what became of the attachments."""
    snapshot = folder_of(sample(300), tmp_path)
    next((snapshot.parent / "files").glob("*/*")).unlink()
    account = backup.info(snapshot, KEYS).account
    for more in ([], ["--verify-media"]):
        result = run("backup", "info", str(tmp_path), "--key-file", key_file, *more)
        assert (result.status, result.err) == (ExitCode.NO if more else ExitCode.FINE, "")
        for text in ("local backup folder", "largest chats", "year", "1 missing, 0 damaged", "people", account):
            assert text in result.out


def test_info_reads_standard_input_and_prints_json(spawn: Run) -> None:
    """Pipes work, and programs can read the answer."""
    result = spawn("backup", "info", "-", "--json", data=STREAM)
    assert result.err == ""
    document = json.loads(result.out)
    assert document["counts"]["chatItem"] == 12345
    assert document["header"]["app_version"] == "App 2.0"
    assert document["bytes"] == len(STREAM)


def test_a_header_without_names_and_dates_is_shown_as_unknown(spawn: Run) -> None:
    """Missing facts are said to be missing; an empty frame is counted."""
    header = BackupInfo(version=1, backupTimeMs=2**64 - 1).SerializeToString()
    result = spawn("backup", "info", "-", data=record(header) + record(b""))
    assert result.out.count("unknown") >= 3
    assert "1 frames without a record" in result.out
