"""Running the export process: streaming, errors and cancellation."""

import io
import os
import zipfile
from pathlib import Path
from typing import BinaryIO

import pytest

from holdfast.web.chats.export_process import ExportFailed, start_export
from holdfast.web.chats.export_worker import ExportTask
from holdfast.web.chats.import_limits import ImportQueueFull, acquire_slot
from holdfast.web.chats.import_worker import ImportLimits
from tests.backup.archives.histories import copies, import_backups, write
from tests.conftest import wait_for

LIMITS = ImportLimits(memory=1 << 30, seconds=60, output=1 << 28)


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
