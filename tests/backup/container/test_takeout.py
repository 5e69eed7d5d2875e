"""The plaintext export, as a folder and as a ZIP."""

import contextlib
import io
import zipfile
from pathlib import Path

import pytest

from holdfast.backup.container.gunzip import GunzipLimits
from holdfast.backup.container.takeout import FolderExport, ZipExport, find_export
from holdfast.backup.errors import AttachmentMissing, BackupError, OversizedBackup, UnreadableBackup

NAME = "ab" * 32
LINES = b'{"version":"1"}\n{}\n'


def zipped(**entries: bytes) -> io.BytesIO:
    """Make a ZIP."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make an export in a folder."""
    export = tmp_path / "signal-export-2026-01-31-10-00-00"
    (export / "files" / "ab").mkdir(parents=True)
    (export / "main.jsonl").write_bytes(LINES)
    (export / "files" / "ab" / f"{NAME}.jpeg").write_bytes(b"picture")
    return export


def test_an_export_in_a_folder_gives_its_lines_and_media(folder: Path) -> None:
    """Lines and media are read from a folder, and a medium is found with any extension."""
    export = find_export(folder)
    assert export is not None
    with export.open_lines() as lines:
        assert lines.read() == LINES
    with export.open_medium(NAME) as medium:
        assert medium.read() == b"picture"
    with pytest.raises(AttachmentMissing):
        export.open_medium("cd" * 32)


def test_an_early_export_lies_one_folder_deeper(tmp_path: Path) -> None:
    """An export in a subfolder is found from the folder around it."""
    inner = tmp_path / "signal-backup-1"
    inner.mkdir()
    (inner / "main.jsonl").write_bytes(LINES)
    assert find_export(tmp_path) == FolderExport(inner)
    assert find_export(inner / "..") is not None
    (inner / "main.jsonl").unlink()
    assert find_export(tmp_path) is None


def test_a_zip_gives_its_lines_and_media() -> None:
    """Lines and media are found at the top of a ZIP and in a folder inside it."""
    for prefix in ("", "export/"):
        entries = {
            f"{prefix}main.jsonl": LINES,
            f"{prefix}files/ab/{NAME}.jpg": b"picture",
            "metadata.json": b"{}",
        }
        export = ZipExport.read(zipped(**entries))
        assert export.open_lines().read() == LINES
        assert export.open_medium(NAME).read() == b"picture"
        with pytest.raises(AttachmentMissing):
            export.open_medium("cd" * 32)


def test_names_that_climb_out_are_only_names() -> None:
    """Entries of a ZIP are looked up by the end of their name, so `..` in it has no effect."""
    export = ZipExport.read(zipped(**{"main.jsonl": LINES, "../../etc/passwd": b"x", f"../files/ab/{NAME}": b"y"}))
    assert export.open_lines().read() == LINES
    assert export.open_medium(NAME).read() == b"y"


def test_a_zip_without_lines_is_no_export() -> None:
    """A ZIP without `main.jsonl` is refused with an error that names that file."""
    with pytest.raises(UnreadableBackup, match=r"no main\.jsonl"):
        ZipExport.read(zipped(**{"readme.txt": b"x"}))


def test_a_zip_bomb_stops_early() -> None:
    """An entry with a high compression ratio is refused before it is read to its end."""
    export = ZipExport.read(
        zipped(**{"main.jsonl": bytes(50 << 20)}),
        limits=GunzipLimits(output=1 << 30, ratio=100, ratio_after=4 << 20),
    )
    content = export.open_lines()
    read: list[int] = []
    with pytest.raises(OversizedBackup):
        read.extend(map(len, iter(lambda: content.read(1 << 20), b"")))
    assert sum(read) <= 4 << 20


@pytest.mark.parametrize("offset", range(0, 200, 7))
def test_a_damaged_zip_is_an_error_in_words(offset: int) -> None:
    """A truncated or changed ZIP causes no other exception than a BackupError."""
    data = bytearray(zipped(**{"main.jsonl": LINES * 20, f"files/ab/{NAME}": b"x" * 50}).getvalue())
    flipped = bytes(data[:offset]) + bytes([data[offset] ^ 0xFF]) + bytes(data[offset + 1 :])
    for broken in (bytes(data[: -offset - 1]), flipped):
        with contextlib.suppress(BackupError):
            assert ZipExport.read(io.BytesIO(broken)).open_lines().read() == LINES * 20
