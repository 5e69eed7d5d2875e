"""The worker that imports a backup into an archive."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from holdfast.backup import archives
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.errors import BackupError
from holdfast.backup.wire import header_to_json
from holdfast.web.chats.import_worker import (
    PROBLEM,
    READY,
    SEALED,
    ImportLimits,
    ImportProblem,
    ImportTask,
    import_backup,
)
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import copies, write
from tests.backup.container.vectors import SET_B
from tests.backup.streams import HEADER, KEY_FILE, KEYS

LIMITS = ImportLimits(memory=1 << 30, seconds=60, output=1 << 28)


def problem_in(folder: Path) -> ImportProblem:
    """Return the problem that an import reported."""
    return msgspec.json.decode((folder / PROBLEM).read_bytes(), type=ImportProblem)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Make the folder of a conversation."""
    (tmp_path / "entry").mkdir()
    return tmp_path / "entry"


def test_a_plain_backup_becomes_an_archive_with_its_findings(tmp_path: Path, target: Path) -> None:
    """The snapshot has the name of the file instead of its path, and the verdict is stored."""
    source = write(tmp_path / "one", *copies())
    import_backup(ImportTask(str(source), str(target), "phone.binproto", LIMITS))
    with archives.open(target / READY) as opened:
        assert [snapshot.source for snapshot in opened.snapshots()] == ["phone.binproto"]
        assert opened.connection.execute("SELECT valid FROM page_verdict").fetchone() == (1,)
    assert {path.name for path in target.iterdir()} <= {READY, "progress"}


def test_a_damaged_backup_is_reported(tmp_path: Path, target: Path) -> None:
    """The reported problem has no path, and no other file of the import remains."""
    source = write(tmp_path / "one", *copies())
    source.write_bytes(source.read_bytes()[:-5])
    with pytest.raises(BackupError):
        import_backup(ImportTask(str(source), str(target), "phone.binproto", LIMITS))
    problem = problem_in(target)
    assert not problem.key
    assert str(tmp_path) not in problem.text
    assert {path.name for path in target.iterdir()} <= {PROBLEM, "progress"}


def test_an_encrypted_backup_leaves_no_plain_text(tmp_path: Path, target: Path) -> None:
    """Written files contain neither SQLite pages nor the key; a wrong key is reported as such."""
    source = tmp_path / "phone.backup"
    write_sample(sample_records(60, 1), source, OutputFormat.CONTAINER, seed=1, keys=KEYS)
    with pytest.raises(BackupError):
        import_backup(
            ImportTask(
                str(source), str(target), "phone.backup", LIMITS, keys=f"recovery-key = {'a' * 64}", key=b"k" * 32
            )
        )
    assert problem_in(target).key
    (target / PROBLEM).unlink()
    import_backup(ImportTask(str(source), str(target), "phone.backup", LIMITS, keys=KEY_FILE, key=b"k" * 32))
    assert (target / SEALED).is_file()
    for path in target.iterdir():
        content = path.read_bytes()
        assert b"SQLite" not in content
        assert str(SET_B.pool).encode() not in content


def confined(task: ImportTask) -> subprocess.CompletedProcess[bytes]:
    """Run a task in a process of its own, as the service does."""
    command = [sys.executable, "-m", "holdfast.web.chats.import_worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(msgspec.json.encode(task) + b"\n")
        process.stdin.flush()
        status = process.wait(60)
        assert process.stderr is not None
        return subprocess.CompletedProcess(command, status, b"", process.stderr.read())


def test_an_import_beyond_its_memory_limit_is_ended_with_a_message(tmp_path: Path, target: Path) -> None:
    """The process exits with status 1, and only the reported problem remains."""
    source = tmp_path / "bomb.jsonl"
    source.write_bytes(header_to_json(HEADER) + b'\n{"chatItem": {"standardMessage": {"text": {"body": "')
    with source.open("ab") as out:
        for _ in range(120):
            out.write(b"x" * (1 << 20))
        out.write(b'"}}}}\n')
    small = ImportLimits(memory=160 << 20, seconds=60, output=1 << 28)
    done = confined(ImportTask(str(source), str(target), "bomb.jsonl", small))
    assert done.returncode == 1, done.stderr
    assert not done.stderr
    assert problem_in(target).text
    assert {path.name for path in target.iterdir()} <= {PROBLEM, "progress"}


def test_an_archive_beyond_its_limit_is_refused(tmp_path: Path, target: Path) -> None:
    """The message for a plain backup names the command without such a limit; an encrypted one is refused too."""
    source = write(tmp_path / "one", *copies())
    tiny = ImportLimits(memory=1 << 30, seconds=60, output=64 << 10)
    assert confined(ImportTask(str(source), str(target), "one", tiny)).returncode == 1
    assert "too large" in problem_in(target).text
    assert "archive import" in problem_in(target).text
    write_sample(sample_records(60, 1), tmp_path / "sealed", OutputFormat.CONTAINER, seed=1, keys=KEYS)
    with pytest.raises(BackupError):
        import_backup(
            ImportTask(str(tmp_path / "sealed"), str(target), "sealed", tiny, keys=KEY_FILE, key=b"k" * 32)
        )
    assert "too large" in problem_in(target).text
    assert {path.name for path in target.iterdir()} <= {PROBLEM, "progress"}


def test_written_files_are_private_with_any_umask(tmp_path: Path, target: Path) -> None:
    """Files have mode 600 and folders mode 700, although the process started with a umask of 0."""
    source = write(tmp_path / "one", *copies())
    before = os.umask(0)
    try:
        done = confined(ImportTask(str(source), str(target), "one", LIMITS))
    finally:
        os.umask(before)
    assert done.returncode == 0, done.stderr
    written = list(target.rglob("*"))
    assert {oct(path.stat().st_mode & 0o777) for path in written if path.is_file()} == {"0o600"}
    assert {path.stat().st_mode & 0o777 for path in written if path.is_dir()} <= {0o700}
