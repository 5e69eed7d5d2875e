"""A change log is written atomically, readable by its owner only, and read back or refused."""

import base64
import json
import stat
from pathlib import Path

import pytest

from holdfast.backup.errors import LogRefused
from holdfast.backup.repairs.log import (
    ChangeLog,
    LoggedChange,
    RepairLogEntry,
    StreamDigest,
    default_log_path,
    read_log,
    write_log,
)

LOG = ChangeLog(
    profile="strict",
    edition="current",
    purpose="remote",
    original=StreamDigest(3, 100, "ab"),
    repaired=StreamDigest(2, 90, "cd"),
    changes=(
        LoggedChange(2, base64.b64encode(b"\x01x").decode(), 0, (RepairLogEntry("frame.item", "", "dropped"),)),
    ),
)


def test_it_comes_back(tmp_path: Path) -> None:
    """A written log is read back unchanged, appears when the block ends, and has mode 0600."""
    path = default_log_path(tmp_path / "fixed.binproto")
    assert path.name == "fixed.binproto.changes.json"
    with write_log(path, LOG):
        assert not path.exists()
    assert read_log(path) == LOG
    assert read_log(path).changes[0].record() == b"\x01x"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("", "is not the change log"),
        ("[]", "is not the change log"),
        ('{"version": 1}', "is not the change log"),
        ("\xff", "is not the change log"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, text: str, pattern: str) -> None:
    """A file that is not a change log has an error that says so."""
    (tmp_path / "log").write_text(text)
    with pytest.raises(LogRefused, match=pattern):
        read_log(tmp_path / "log")


def test_damaged_and_newer_logs_are_refused(tmp_path: Path) -> None:
    """Invalid base64, an unknown version and a missing file are refused."""
    with write_log(tmp_path / "log", LOG):
        pass
    document = json.loads((tmp_path / "log").read_text())
    document["changes"][0]["before"] = "***"
    (tmp_path / "log").write_text(json.dumps(document))
    with pytest.raises(LogRefused, match="is not the change log"):
        read_log(tmp_path / "log")
    document["changes"] = []
    document["version"] = 2
    (tmp_path / "log").write_text(json.dumps(document))
    with pytest.raises(LogRefused, match="version 2"):
        read_log(tmp_path / "log")
    with pytest.raises(LogRefused, match="cannot be read"):
        read_log(tmp_path / "none")


def test_there_is_none_of_a_repair_that_failed(tmp_path: Path) -> None:
    """After a failure no new log is left, and an older one is kept."""
    path = tmp_path / "log"
    path.write_text("older")
    with pytest.raises(LogRefused), write_log(path, LOG, replace=True):
        raise LogRefused("the disk is full")
    assert path.read_text() == "older"
    assert len(list(tmp_path.iterdir())) == 1
