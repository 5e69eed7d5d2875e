"""`holdfast backup redact`."""

import io
import json
import subprocess
import sys
from pathlib import Path

from holdfast import backup
from holdfast.cli.exit_codes import ExitCode
from tests.backup.streams import KEY_FILE, container_of, folder_of, small_sample, stream_of
from tests.cli.conftest import Run


def test_a_copy_is_written_and_said_to_be(run: Run, tmp_path: Path) -> None:
    """`redact` prints the count of frames, and the same seed gives the same copy as the library."""
    source = tmp_path / "backup.binproto"
    source.write_bytes(stream_of(small_sample()))
    result = run("backup", "redact", str(source), str(tmp_path / "copy"), "--seed", "4")
    assert (result.status, result.err) == (0, "")
    assert result.out == f"{tmp_path / 'copy'}: {len(small_sample()) - 1} frames, redacted\n"
    backup.redact(source, tmp_path / "again", seed=4)
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "again").read_bytes()


def test_encrypted_backups_and_folders_need_their_key(run: Run, tmp_path: Path) -> None:
    """An encrypted source needs its key, and its redacted copy is readable without one."""
    (tmp_path / "keys").write_text(KEY_FILE)
    (tmp_path / "sealed").write_bytes(container_of(small_sample()))
    snapshot = folder_of(small_sample(), tmp_path)
    copies = set()
    for source in (tmp_path / "sealed", snapshot):
        result = run(
            *("backup", "redact", str(source), str(tmp_path / "copy"), "--seed", "4"),
            *("--key-file", str(tmp_path / "keys"), "--json", "--force"),
        )
        assert (result.status, result.err) == (0, "")
        assert json.loads(result.out) == {
            "frames": len(small_sample()) - 1,
            "damaged": 0,
            "problem": "",
            "gaps": 0,
            "faults": [],
        }
        copies.add((tmp_path / "copy").read_bytes())
    assert len(copies) == 1
    assert run("backup", "info", str(tmp_path / "copy")).status == 0


def test_standard_input_and_output() -> None:
    """`redact - -` reads standard input and writes only the copy to standard output."""
    stream = stream_of(small_sample())
    command = [sys.executable, "-m", "holdfast", "backup", "redact", "-", "-", "--seed", "4"]
    completed = subprocess.run(command, input=stream, capture_output=True, check=True)
    expected = io.BytesIO()
    backup.redact(io.BytesIO(stream), expected, seed=4)
    assert (completed.stdout, completed.stderr) == (expected.getvalue(), b"")


def test_damage_is_copied_and_said(run: Run, tmp_path: Path) -> None:
    """Notes count the damaged frames that were copied and the places that could not be read."""
    source = tmp_path / "backup.binproto"
    source.write_bytes(stream_of([*small_sample(), b"\x0a\x03\x22\x01\xff"]) + b"\x20abc")
    result = run("backup", "redact", str(source), str(tmp_path / "copy"))
    assert result.status == 0
    assert result.err.splitlines() == [
        "note: 1 frame is damaged, and so is its copy",
        "note: nothing can be read in 1 place, and nothing is copied from there",
    ]


def test_a_damaged_container_is_copied_as_far_as_it_can_be_read(run: Run, tmp_path: Path) -> None:
    """A container with a wrong MAC is copied, and a note says that the copy does not have that fault."""
    (tmp_path / "keys").write_text(KEY_FILE)
    data = container_of(small_sample())
    (tmp_path / "sealed").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    target = tmp_path / "copy"
    result = run("backup", "redact", str(tmp_path / "sealed"), str(target), "--key-file", str(tmp_path / "keys"))
    assert result.status == 0
    assert "its MAC does not match" in result.err
    assert "the copy is a plain stream, and does not have that fault" in result.err
    assert f"{len(small_sample()) - 1} frames" in result.out


def test_the_backup_itself_is_not_written_over(run: Run, tmp_path: Path) -> None:
    """The source as target is an error, and the source stays unchanged."""
    source = tmp_path / "backup.binproto"
    source.write_bytes(stream_of(small_sample()))
    result = run("backup", "redact", str(source), str(source))
    assert (result.status, result.out) == (ExitCode.NO, "")
    assert result.err.startswith("error: ")
    assert source.read_bytes() == stream_of(small_sample())
