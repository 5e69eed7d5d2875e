"""Running the import process: time and size limits."""

import os
from pathlib import Path

from holdfast.web.chats.import_process import SPOOLED, entry_size, exit_reason, run
from holdfast.web.chats.import_worker import ImportLimits, ImportTask


def test_a_slow_import_is_ended_with_its_process(tmp_path: Path) -> None:
    """A process that reads from a silent pipe is killed after the time limit, with a message."""
    os.mkfifo(tmp_path / "pipe")
    keeper = os.open(tmp_path / "pipe", os.O_RDWR)
    (tmp_path / "entry").mkdir()
    limits = ImportLimits(memory=1 << 30, seconds=1, output=1 << 20)
    task = ImportTask(str(tmp_path / "pipe"), str(tmp_path / "entry"), "pipe", limits)
    status, ended = run(task, tmp_path / "entry")
    os.close(keeper)
    assert status == -9
    assert ended == limits.too_long
    assert "1 seconds" in ended


def test_an_import_that_writes_too_much_is_ended(tmp_path: Path) -> None:
    """The process is killed when its folder is larger than the output limit."""
    os.mkfifo(tmp_path / "pipe")
    keeper = os.open(tmp_path / "pipe", os.O_RDWR)
    (tmp_path / "entry").mkdir()
    (tmp_path / "entry" / "new.db").write_bytes(bytes(5000))
    limits = ImportLimits(memory=1 << 30, seconds=60, output=1000)
    status, ended = run(
        ImportTask(str(tmp_path / "pipe"), str(tmp_path / "entry"), "pipe", limits), tmp_path / "entry"
    )
    os.close(keeper)
    assert (status, ended) == (-9, limits.too_large)


def test_the_copy_of_the_file_does_not_count(tmp_path: Path) -> None:
    """The temporary copy of the source, a file or a folder, is not part of the size of an entry."""
    (tmp_path / SPOOLED).write_bytes(bytes(1000))
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "one").write_bytes(bytes(10))
    assert entry_size(tmp_path) == 10
    (tmp_path / SPOOLED).unlink()
    (tmp_path / SPOOLED).mkdir()
    (tmp_path / SPOOLED / "main").write_bytes(bytes(1000))
    assert entry_size(tmp_path) == 10


def test_the_end_of_a_process_has_a_message() -> None:
    """An exit by the memory limit, by the time limit and by an error each have a message."""
    limits = ImportLimits(memory=1 << 30, seconds=60, output=1)
    assert "1,024 MB" in exit_reason(-9, limits)
    assert exit_reason(-24, limits) == limits.too_long
    assert exit_reason(2, limits)
