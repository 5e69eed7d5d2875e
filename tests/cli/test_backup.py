"""`holdfast backup`."""

import json
from pathlib import Path

from holdfast.backup.schema import BackupInfo
from tests.backup.test_info import HEADER, frame
from tests.backup.wire.test_frames import record
from tests.cli.conftest import Run

STREAM = record(HEADER) + frame(1) + frame(2) * 3 + frame(4) * 12345


def test_info_prints_header_and_counts(run: Run, tmp_path: Path) -> None:
    """What a person wants to know first."""
    file = tmp_path / "x.binproto"
    file.write_bytes(STREAM)
    ran = run("backup", "info", str(file))
    assert ran.status == 0
    for words in ("2023-11-14 22:13:20 UTC", "App 2.0", "App 1.0", "chatItem", "12,345", f"{len(STREAM):,} bytes"):
        assert words in ran.out


def test_info_reads_standard_input_and_prints_json(spawn: Run) -> None:
    """Pipes work, and programs can read the answer."""
    ran = spawn("backup", "info", "-", "--json", data=STREAM)
    assert ran.err == ""
    answer = json.loads(ran.out)
    assert answer["counts"]["chatItem"] == 12345
    assert answer["header"]["app_version"] == "App 2.0"
    assert answer["bytes"] == len(STREAM)


def test_a_header_without_names_and_dates_is_shown_as_unknown(spawn: Run) -> None:
    """Missing facts are said to be missing; an empty frame is counted."""
    header = BackupInfo(version=1, backupTimeMs=2**64 - 1).SerializeToString()
    ran = spawn("backup", "info", "-", data=record(header) + record(b""))
    assert ran.out.count("unknown") == 3
    assert "(empty frames)" in ran.out


def test_damage_is_said_with_its_place(spawn: Run) -> None:
    """The exit status is 3 and the line names frame and byte."""
    ran = spawn("backup", "info", "-", data=STREAM[:-1])
    assert ran.status == 3
    assert ran.err.startswith("error: the file ends in the middle of a record (frame 12349, byte ")
