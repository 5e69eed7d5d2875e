"""The worker of the export process."""

import io
import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from holdfast.backup.errors import ArchiveError
from holdfast.backup.exports.html import search_index
from holdfast.web.chats.encryption import seal
from holdfast.web.chats.export_worker import ExportForm, ExportTask, export_conversation
from holdfast.web.chats.import_worker import ImportLimits
from tests.backup.archives.histories import copies, import_backups, write

LIMITS = ImportLimits(memory=1 << 30, seconds=60, output=1 << 28)
KEY = bytes(range(32))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an archive."""
    home = tmp_path_factory.mktemp("export")
    import_backups(home / "chats.db", write(home / "one", *copies()))
    return home / "chats.db"


@pytest.fixture(scope="module")
def sealed(plain: Path) -> Path:
    """Encrypt the archive."""
    with closing(sqlite3.connect(plain)) as connection, connection:
        seal(connection, plain.with_name("sealed"), KEY)
    return plain.with_name("sealed")


def exported(source: Path, form: ExportForm, key: bytes = b"") -> zipfile.ZipFile:
    """Export an archive in this process."""
    stream = io.BytesIO()
    export_conversation(ExportTask(str(source), form, LIMITS, key), stream)
    return zipfile.ZipFile(stream)


def test_both_forms_have_all_messages(plain: Path, sealed: Path) -> None:
    """JSON has every message, and HTML an index and a search page, also of an encrypted conversation."""
    with closing(sqlite3.connect(plain)) as connection, connection:
        ((messages,),) = connection.execute("SELECT count(*) FROM message").fetchall()
    for source, key in ((plain, b""), (sealed, KEY)):
        zip_file = exported(source, "json", key)
        names = [name for name in zip_file.namelist() if name.startswith("messages/")]
        lines = [line for name in names for line in zip_file.read(name).splitlines()]
        assert len(lines) == messages
        assert all(json.loads(line) for line in lines)
        pages = exported(source, "html", key)
        assert {"index.html", "search.html"} <= set(pages.namelist())


def test_the_pages_of_a_large_encrypted_conversation_have_no_search(sealed: Path) -> None:
    """The search index is in memory, so an archive that takes much of the memory limit has none."""
    for memory, has_search in ((8 * sealed.stat().st_size, True), (8 * sealed.stat().st_size - 1, False)):
        stream = io.BytesIO()
        limits = msgspec.structs.replace(LIMITS, memory=memory)
        export_conversation(ExportTask(str(sealed), "html", limits, KEY), stream)
        names = zipfile.ZipFile(stream).namelist()
        assert ("search.html" in names) is has_search
        assert "index.html" in names


def test_an_encrypted_backup_is_exported_without_temporary_files(
    sealed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The export opens no file for writing, also if its search index has several runs; a wrong key is refused."""
    monkeypatch.setattr(search_index, "MAX_POSTINGS", 10)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = {path: path.stat().st_mtime_ns for path in sealed.parent.rglob("*")}
    opened: list[str] = []

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        flags = arguments[2] if watching and event == "open" else 0
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            opened.append(str(arguments[0]))

    sys.addaudithook(watch)
    watching = True
    try:
        for form in ("html", "json"):
            exported(sealed, form, KEY)
    finally:
        watching = False
    assert opened == []
    assert list(tmp_path.iterdir()) == []
    assert {path: path.stat().st_mtime_ns for path in sealed.parent.rglob("*")} == before
    with pytest.raises(ArchiveError):
        exported(sealed, "json", bytes(32))


def run(task: bytes) -> "subprocess.CompletedProcess[bytes]":
    """Run the process, whose input stays open until it ends."""
    command = [sys.executable, "-m", "holdfast.web.chats.export_worker"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(task + b"\n")
        process.stdin.flush()
        output, errors = process.stdout.read(), process.stderr.read()
        return subprocess.CompletedProcess(command, process.wait(), output, errors)


def test_the_process_writes_to_its_output_within_its_limits(plain: Path, tmp_path: Path) -> None:
    """The output is a valid ZIP archive, and the message of a failure names no file."""
    done = run(msgspec.json.encode(ExportTask(str(plain), "json", LIMITS)))
    assert (done.returncode, done.stderr) == (0, b"")
    assert zipfile.ZipFile(io.BytesIO(done.stdout)).testzip() is None
    (tmp_path / "private name").write_bytes(b"no archive")
    failed = run(msgspec.json.encode(ExportTask(str(tmp_path / "private name"), "html", LIMITS)))
    assert (failed.returncode, failed.stdout) == (2, b"")
    assert failed.stderr.startswith(b"export failed: ")
    assert b"private" not in failed.stderr


def test_the_worker_ends_with_its_parent(plain: Path) -> None:
    """The process exits when its standard input is closed."""
    command = [sys.executable, "-m", "holdfast.web.chats.export_worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(msgspec.json.encode(ExportTask(str(plain), "html", LIMITS)) + b"\n")
        process.stdin.close()
        assert process.wait(30) in {0, 3}
