"""The original of a damaged file is copied, and restored only if the copy is unmodified."""

import io
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup.errors import LogRefused, UnreadableBackup
from holdfast.backup.repairs.log import KeptOriginal
from holdfast.backup.repairs.originals import default_original_path, file_digest, open_source_file, restore_file
from tests.backup.streams import KEYS, container_of, folder_of, small_sample, stream_of


def test_it_lies_beside_the_log() -> None:
    """The name is that of the repaired backup, or that of the log where the log has another name."""
    assert default_original_path(Path("a/fixed.encrypted.changes.json")) == Path("a/fixed.encrypted.original")
    assert default_original_path(Path("a/log")) == Path("a/log.original")


def test_the_file_of_a_backup_is_what_it_is_read_from(tmp_path: Path) -> None:
    """The file is that of the path, the given file object, or the main file of a snapshot."""
    sealed = tmp_path / "sealed"
    sealed.write_bytes(container_of(small_sample()))
    with backup.open(sealed, KEYS) as source, open_source_file(source, None) as file:
        assert file.read() == sealed.read_bytes()
    given = io.BytesIO(stream_of(small_sample()))
    with backup.open(given) as source, open_source_file(source, given) as file:
        assert file.read() == given.getvalue()
    snapshot = folder_of(small_sample(), tmp_path)
    with backup.open(snapshot, KEYS) as source, open_source_file(source, None) as file:
        assert file.read() == (snapshot / "main").read_bytes()
    with (
        backup.open(io.BytesIO(stream_of(small_sample()))) as source,
        pytest.raises(UnreadableBackup),
        open_source_file(source, None),
    ):
        pass


def test_it_is_put_back_to_the_byte(tmp_path: Path) -> None:
    """The original is restored byte for byte; a changed, missing or outside file is refused."""
    original = tmp_path / "kept.original"
    original.write_bytes(b"damaged")
    with original.open("rb") as file:
        written = file_digest(file, original)
    assert (written.name, written.bytes) == ("kept.original", 7)
    restore_file(written, tmp_path, tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == b"damaged"
    (tmp_path / "inner").mkdir()
    with pytest.raises(LogRefused, match=r"inner/kept\.original"):
        restore_file(
            KeptOriginal("../kept.original", written.bytes, written.sha256), tmp_path / "inner", tmp_path / "other"
        )
    original.write_bytes(b"changed")
    with pytest.raises(LogRefused, match="no longer the original"):
        restore_file(written, tmp_path, tmp_path / "other")
    original.unlink()
    with pytest.raises(LogRefused, match="cannot be read"):
        restore_file(written, tmp_path, tmp_path / "other")
    assert not (tmp_path / "other").exists()
