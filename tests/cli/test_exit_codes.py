"""The exit status of commands."""

from pathlib import Path

from holdfast.cli.exit_codes import ExitCode
from tests.backup.container.vectors import SET_A
from tests.backup.streams import (
    container_of,
    small_sample,
)
from tests.cli.backup_helpers import OTHER_KEY_FILE, check_failure
from tests.cli.conftest import Run


def test_what_is_wrong_decides_the_exit_status(run: Run, tmp_path: Path, key_file: str) -> None:
    """A missing key has exit status 2, no backup or a damaged one 3, and a wrong key 4."""
    (tmp_path / "sealed").write_bytes(container_of(small_sample()))
    (tmp_path / "text").write_text("Dear diary, this is no backup.\n")
    (tmp_path / "other.txt").write_text(OTHER_KEY_FILE)
    (tmp_path / "short.txt").write_text("abcd efgh")
    check_failure(run("backup", "info", str(tmp_path / "sealed")), ExitCode.USAGE, "--key-file", "HOLDFAST_KEY")
    check_failure(
        run("backup", "info", str(tmp_path / "text")), ExitCode.UNREADABLE, "not a chat backup", "looked for"
    )
    check_failure(run("backup", "info", str(tmp_path / "none")), ExitCode.UNREADABLE, "No such file")
    check_failure(run("backup", "info", str(tmp_path / ("x" * 300))), ExitCode.UNREADABLE, "File name too long")
    wrong = run("backup", "info", str(tmp_path / "sealed"), "--key-file", str(tmp_path / "other.txt"))
    check_failure(wrong, ExitCode.WRONG_KEY, "does not fit")
    assert SET_A.pool not in wrong.err
    short = run("backup", "info", str(tmp_path / "sealed"), "--key-file", str(tmp_path / "short.txt"))
    check_failure(short, ExitCode.USAGE, "64 letters and digits")
    assert "abcd" not in short.err
    missing = run("backup", "info", str(tmp_path / "sealed"), "--key-file", str(tmp_path / "nowhere"))
    check_failure(missing, ExitCode.UNREADABLE, "the key file")
    data = bytearray((tmp_path / "sealed").read_bytes())
    data[-50] ^= 1
    (tmp_path / "sealed").write_bytes(data)
    damaged = run("backup", "info", str(tmp_path / "sealed"), "--key-file", key_file)
    check_failure(damaged, ExitCode.UNREADABLE, "the key fits, but the file was changed")
