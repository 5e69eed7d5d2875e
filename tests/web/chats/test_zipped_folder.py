"""ZIP archives of a phone's folder: reading files, and limits on their sizes."""

import io
import os
import struct
import zipfile
from typing import Final

import pytest

from holdfast.backup.errors import AttachmentDamaged, OversizedBackup, UnreadableBackup
from holdfast.web.chats import zipped_folder
from holdfast.web.chats.zipped_folder import zipped_files
from tests.web.chats.upload_helpers import zip_archive

NOISE: Final = os.urandom(300_000)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_files_are_read_from_any_position(method: int) -> None:
    """Each file can be opened repeatedly, and several at once."""
    opened = zipped_files(io.BytesIO(zip_archive({"folder/main": NOISE, "folder/metadata": b"small"}, method)))
    assert list(opened) == ["folder/main", "folder/metadata"]
    with opened["folder/main"]() as main, opened["folder/metadata"]() as other:
        assert main.seek(0, os.SEEK_END) == len(NOISE)
        assert main.seek(200_000) == main.tell() == 200_000
        assert main.read(1000) == NOISE[200_000:201_000]
        assert other.read() == b"small"
        main.seek(5)
        assert main.read() == NOISE[5:]
        assert main.seek(-3, os.SEEK_CUR) == len(NOISE) - 3
        assert main.read() == NOISE[-3:]
        assert main.read() == b""
    with opened["folder/main"]() as again:
        assert again.read() == NOISE


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_size_of_a_file_is_known_without_reading_it(method: int) -> None:
    """Only reading moves the position in the ZIP archive; large files are read once less."""
    source = io.BytesIO(zip_archive({"folder/main": NOISE}, method))
    with zipped_files(source)["folder/main"]() as main:
        before = source.tell()
        assert main.seek(0, os.SEEK_END) == len(NOISE)
        assert main.seek(0) == 0
        assert source.tell() == before
        assert main.read(10) == NOISE[:10]
        assert source.tell() > before


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["SignalBackups/x/main", "SignalBackups/files/a"], ["SignalBackups/x/main", "SignalBackups/files/a"]),
        (["signal-backup-1/main", "files/a"], ["zip/signal-backup-1/main", "zip/files/a"]),
        (["main", "metadata"], ["zip/main", "zip/metadata"]),
        (["a/main", "../b", "/c", "a/../d", "a\\e", "a//f", "a/\ud7ff\x07"], ["a/main"]),
    ],
)
def test_paths_begin_with_the_folder_that_was_zipped(paths: list[str], expected: list[str]) -> None:
    """Files zipped without a folder get one, and paths that are unsafe are left out."""
    assert list(zipped_files(io.BytesIO(zip_archive(dict.fromkeys(paths, b"x"))))) == expected


def test_folders_are_not_files() -> None:
    """The entries that most programs write for folders are left out."""
    assert list(zipped_files(io.BytesIO(zip_archive({"a/": b"", "a/main": b"x"})))) == ["a/main"]


def test_an_excessive_compression_ratio_is_refused() -> None:
    """Encrypted files do not compress; zeros unpack to a thousand times their size."""
    zipped_files(io.BytesIO(zip_archive({"a/metadata": bytes(1000)}, zipfile.ZIP_DEFLATED)))
    with pytest.raises(OversizedBackup, match="compressed more"):
        zipped_files(io.BytesIO(zip_archive({"a/main": bytes(10_000_000)}, zipfile.ZIP_DEFLATED)))


def test_entries_that_share_their_bytes_are_refused() -> None:
    """Overlapping entries would be many large files in a small archive."""
    content = bytearray(zip_archive({f"a/{number}": NOISE[:1000] if number else NOISE for number in range(4)}))
    first = content.index(b"PK\x01\x02")
    for _ in range(4):
        content[first + 20 : first + 28] = struct.pack("<II", len(NOISE), len(NOISE))
        content[first + 42 : first + 46] = bytes(4)
        first = content.find(b"PK\x01\x02", first + 1)
    with pytest.raises(OversizedBackup, match="overlap"):
        zipped_files(io.BytesIO(content))


def test_too_many_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive with as many files as the limit is read, and one with more is refused."""
    monkeypatch.setattr(zipped_folder, "MOST_FILES", 3)
    content = zip_archive(dict.fromkeys(("a/1", "a/2", "a/3"), b""))
    assert len(zipped_files(io.BytesIO(content))) == 3
    with pytest.raises(OversizedBackup, match="more than 3 files"):
        zipped_files(io.BytesIO(zip_archive(dict.fromkeys(("a/1", "a/2", "a/3", "a/4"), b""))))


def test_the_size_of_the_central_directory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit applies to the list of files and not to their content."""
    content = zip_archive({f"a/{number:06}": b"x" * 100 for number in range(2000)})
    monkeypatch.setattr(zipped_folder, "LARGEST_LIST", 70_000)
    with pytest.raises(UnreadableBackup, match="list of files"):
        zipped_files(io.BytesIO(content))
    monkeypatch.setattr(zipped_folder, "LARGEST_LIST", 300)
    large = zip_archive({"a/main": NOISE})
    with zipped_files(io.BytesIO(large))["a/main"]() as main:
        assert main.read() == NOISE


def test_an_encrypted_entry_is_refused_with_a_message() -> None:
    """Encryption is noticed when the archive is opened, not when a file is read."""
    content = bytearray(zip_archive({"a/main": b"x"}))
    flags = content.index(b"PK\x01\x02") + 8
    content[flags] |= 1
    with pytest.raises(UnreadableBackup, match="password"):
        zipped_files(io.BytesIO(content))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_damage_is_an_error_of_the_file(method: int) -> None:
    """A changed byte and a missing header damage one file; without a central directory nothing is read."""
    content = bytearray(zip_archive({"a/main": NOISE}, method))
    content[150_000] ^= 0xFF
    with (
        zipped_files(io.BytesIO(content))["a/main"]() as main,
        pytest.raises(AttachmentDamaged, match=r"^main in"),
    ):
        main.read()
    content[0] ^= 0xFF
    with pytest.raises(AttachmentDamaged):
        zipped_files(io.BytesIO(content))["a/main"]()
    with pytest.raises(UnreadableBackup):
        zipped_files(io.BytesIO(content[:-30]))
