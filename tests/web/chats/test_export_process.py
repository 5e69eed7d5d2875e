"""Running the export process: streaming, errors and cancellation."""

import io
import os
import zipfile
from pathlib import Path
from typing import BinaryIO

import msgspec
import pytest

from holdfast.backup.container.attachments import content_path
from holdfast.backup.exports.zip_file import PROBLEMS
from holdfast.hosting.errors import StorageUnavailable
from holdfast.web.chats import export_process
from holdfast.web.chats.encrypted_media import EncryptedFiles, media_of
from holdfast.web.chats.export_process import ExportFailed, start_export
from holdfast.web.chats.export_worker import ExportForm, ExportTask
from holdfast.web.chats.import_limits import ImportQueueFull, acquire_slot
from tests.backup.archives.histories import copies, import_backups, write
from tests.conftest import wait_for
from tests.web.chats.encrypted_conversations import (
    KEY,
    LIMITS,
    add_attachment,
    damage,
    exported_locally,
    import_folder,
    picture_names,
    unzipped,
    write_folder,
)

# Not much more than the process needs for itself.
MEMORY = 192 << 20


@pytest.fixture
def task(tmp_path: Path) -> ExportTask:
    """Make an archive whose export is larger than a pipe holds, so that the process waits for its reader."""
    import_backups(tmp_path / "chats.db", write(tmp_path / "one", *copies(1500)))
    return ExportTask(str(tmp_path / "chats.db"), "html", LIMITS)


@pytest.fixture
def slot(tmp_path: Path) -> BinaryIO:
    """Acquire the only slot for exports."""
    return acquire_slot(tmp_path, 1, "exporting")


def is_free(folder: Path) -> bool:
    """Return whether the slot can be acquired."""
    try:
        acquire_slot(folder, 1, "exporting").close()
    except ImportQueueFull:
        return False
    return True


def children() -> set[int]:
    """Return the processes that this one has started."""
    tasks = Path("/proc/self/task").iterdir()
    return {int(pid) for task in tasks for pid in (task / "children").read_text().split()}


def test_the_output_is_streamed(task: ExportTask, slot: BinaryIO, tmp_path: Path) -> None:
    """The output is a valid ZIP archive; afterwards the slot is free and no process remains."""
    before = children()
    pieces = start_export(task, slot)
    assert not is_free(tmp_path)
    content = b"".join(pieces)
    assert len(content) > 4 * 65_536
    assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None
    assert is_free(tmp_path)
    assert children() == before


def test_an_export_ends_when_the_client_disconnects(task: ExportTask, slot: BinaryIO, tmp_path: Path) -> None:
    """Closing the output before it is read ends the process and frees the slot."""
    before = children()
    pieces = start_export(task, slot)
    assert children() > before
    pieces.close()
    wait_for(lambda: children() == before)
    assert is_free(tmp_path)


def test_an_error_is_reported_before_the_response_starts(task: ExportTask, slot: BinaryIO, tmp_path: Path) -> None:
    """An unreadable archive raises an error at the start, and the slot is free again."""
    (tmp_path / "chats.db").write_bytes(b"no archive")
    with pytest.raises(ExportFailed):
        start_export(task, slot)
    assert is_free(tmp_path)


def test_a_failed_export_aborts_the_response(task: ExportTask, slot: BinaryIO, tmp_path: Path) -> None:
    """A killed worker raises an error while the output is read, and the output is no ZIP archive."""
    before = children()
    pieces = start_export(task, slot)
    (worker,) = children() - before
    os.kill(worker, 9)
    content = b""
    with pytest.raises(ExportFailed):
        for piece in pieces:
            content += piece
    assert not zipfile.is_zipfile(io.BytesIO(content))
    assert is_free(tmp_path)


@pytest.fixture
def phone(tmp_path: Path) -> Path:
    """Write the folder of a phone."""
    write_folder(tmp_path / "phone")
    return tmp_path / "phone"


def encrypted_files(folder: Path) -> EncryptedFiles:
    """Return the encrypted attachments of a folder."""
    media = media_of(folder)
    assert media is not None
    return media.files


class WatchedFiles:
    """The attachments of a folder, with the names of those that were opened."""

    def __init__(self, folder: Path) -> None:
        self.files = encrypted_files(folder)
        self.opened: list[str] = []

    def has(self, media_name: str) -> bool:
        """Return whether there is a file of that name."""
        return self.files.has(media_name)

    def open_encrypted(self, media_name: str) -> BinaryIO:
        """Open a file."""
        self.opened.append(media_name)
        return self.files.open_encrypted(media_name)


@pytest.mark.parametrize("form", ["html", "json"])
def test_attachments_of_an_encrypted_conversation_are_exported(
    phone: Path, slot: BinaryIO, tmp_path: Path, form: ExportForm
) -> None:
    """The export has the files of an export of the folder, byte by byte, and lists damaged and missing ones."""
    sealed = import_folder(phone)
    before = children()
    whole = b"".join(start_export(ExportTask(str(sealed), form, LIMITS, KEY), slot, encrypted_files(phone)))
    expected, problems = exported_locally(phone, tmp_path / "local", form)
    assert sum(name.startswith("media/") for name in expected) > 5
    assert problems == []
    assert unzipped(whole) == expected
    names = picture_names(sealed)
    damage(content_path(phone / "files", names[0]))
    damage(content_path(phone / "files", names[1]), -1)
    content_path(phone / "files", names[2]).unlink()
    content_path(phone / "files", names[3]).write_bytes(b"short")
    slot = acquire_slot(tmp_path, 1, "exporting")
    part = b"".join(start_export(ExportTask(str(sealed), form, LIMITS, KEY), slot, encrypted_files(phone)))
    expected, problems = exported_locally(phone, tmp_path / "again", form)
    assert len(problems) == 4
    content = unzipped(part)
    assert sorted(content.pop(PROBLEMS).decode().splitlines()) == sorted(problems)
    assert content == expected
    assert children() == before


@pytest.mark.long
def test_an_attachment_may_be_larger_than_the_memory_limit(phone: Path, slot: BinaryIO) -> None:
    """It is verified and decrypted in ranges, and nothing of it is written to disk."""
    sealed = import_folder(phone)
    limits = msgspec.structs.replace(LIMITS, memory=MEMORY)
    piece = os.urandom(1 << 20)
    size = MEMORY + (16 << 20)
    add_attachment(phone, sealed, (piece for _ in range(size >> 20)))
    before = set(phone.parent.rglob("*"))
    total, largest = 0, 0
    for output in start_export(ExportTask(str(sealed), "json", limits, KEY), slot, encrypted_files(phone)):
        total += len(output)
        largest = max(largest, len(output))
    assert total > size
    assert largest <= 256 * 1024
    assert set(phone.parent.rglob("*")) == before


def test_nothing_is_read_while_the_client_does_not_read(phone: Path, slot: BinaryIO, tmp_path: Path) -> None:
    """Requests for attachments wait for the reader of the output; closing the output ends the process."""
    sealed = import_folder(phone)
    files = WatchedFiles(phone)
    before = children()
    pieces = start_export(ExportTask(str(sealed), "json", LIMITS, KEY), slot, files)
    assert files.opened == []
    while not files.opened:
        next(pieces)
    (worker,) = children() - before
    count = len(files.opened)
    wait_for(lambda: Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[0] == "S")
    assert len(files.opened) == count
    pieces.close()
    wait_for(lambda: children() == before)
    assert is_free(tmp_path)


@pytest.mark.parametrize("form", ["html", "json"])
def test_the_iterator_returns_after_each_request(phone: Path, slot: BinaryIO, form: ExportForm) -> None:
    """A client that disconnects is noticed there, also while many attachments are read without any output."""
    sealed = import_folder(phone)
    files = WatchedFiles(phone)
    count = 0
    for _ in start_export(ExportTask(str(sealed), form, LIMITS, KEY), slot, files):
        assert len(files.opened) <= count + 1
        count = len(files.opened)
    assert count > 5


def test_an_export_ends_when_access_is_lost(
    phone: Path, slot: BinaryIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The response is aborted before the next attachment is read."""
    sealed = import_folder(phone)
    monkeypatch.setattr(export_process, "CHECK_INTERVAL_S", 0)
    answers = [True, True, False]
    files = WatchedFiles(phone)
    before = children()
    content = b""
    with pytest.raises(ExportFailed):
        for piece in start_export(
            ExportTask(str(sealed), "json", LIMITS, KEY), slot, files, lambda: answers.pop(0)
        ):
            content += piece
    assert answers == []
    assert len(files.opened) <= 2
    assert not zipfile.is_zipfile(io.BytesIO(content))
    assert children() == before
    assert is_free(tmp_path)


def test_a_store_that_fails_aborts_the_response(phone: Path, slot: BinaryIO, tmp_path: Path) -> None:
    """An attachment that cannot be read at the moment is not taken for a missing one."""

    class FailingFiles(WatchedFiles):
        def open_encrypted(self, media_name: str) -> BinaryIO:
            if len(self.opened) == 3:
                raise StorageUnavailable
            return super().open_encrypted(media_name)

    sealed = import_folder(phone)
    before = children()
    pieces = start_export(ExportTask(str(sealed), "html", LIMITS, KEY), slot, FailingFiles(phone))
    content = b""
    with pytest.raises(ExportFailed):
        for piece in pieces:
            content += piece
    assert not zipfile.is_zipfile(io.BytesIO(content))
    assert children() == before
    assert is_free(tmp_path)
