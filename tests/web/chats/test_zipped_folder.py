"""ZIP archives of a phone's folder: which files are read, and what is refused before it costs anything."""

import io
import os
import struct
import zipfile
from typing import Final

import pytest

from holdfast.backup.errors import AttachmentDamaged, OversizedBackup, UnreadableBackup
from holdfast.web.chats import zipped_folder
from holdfast.web.chats.zipped_folder import zipped_files

NOISE: Final = os.urandom(300_000)


def zip_of(files: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """Zip files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return out.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_files_are_read_from_any_position(method: int) -> None:
    """However often, and side by side."""
    opened = zipped_files(io.BytesIO(zip_of({"folder/main": NOISE, "folder/metadata": b"small"}, method)))
    assert list(opened) == ["folder/main", "folder/metadata"]
    with opened["folder/main"]() as main, opened["folder/metadata"]() as other:
        assert main.seek(0, os.SEEK_END) == len(NOISE)
        assert main.seek(200_000) == main.tell() == 200_000
        assert main.read(1000) == NOISE[200_000:201_000]
        assert other.read() == b"small"
        main.seek(5)
        assert main.read() == NOISE[5:]
    with opened["folder/main"]() as again:
        assert again.read() == NOISE


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
    """A folder's files may be zipped without it; what leads elsewhere is left out."""
    assert list(zipped_files(io.BytesIO(zip_of(dict.fromkeys(paths, b"x"))))) == expected


def test_folders_are_not_files() -> None:
    """Most programs write an entry for each."""
    assert list(zipped_files(io.BytesIO(zip_of({"a/": b"", "a/main": b"x"})))) == ["a/main"]


def test_an_excessive_compression_ratio_is_refused() -> None:
    """Encrypted files do not compress; zeros unpack to a thousand times their size."""
    zipped_files(io.BytesIO(zip_of({"a/metadata": bytes(1000)}, zipfile.ZIP_DEFLATED)))
    with pytest.raises(OversizedBackup, match="compressed more"):
        zipped_files(io.BytesIO(zip_of({"a/main": bytes(10_000_000)}, zipfile.ZIP_DEFLATED)))


def test_entries_that_share_their_bytes_are_refused() -> None:
    """Many large files in a small archive."""
    content = bytearray(zip_of({f"a/{number}": NOISE[:1000] if number else NOISE for number in range(4)}))
    first = content.index(b"PK\x01\x02")
    for _ in range(4):
        content[first + 20 : first + 28] = struct.pack("<II", len(NOISE), len(NOISE))
        content[first + 42 : first + 46] = bytes(4)
        first = content.find(b"PK\x01\x02", first + 1)
    with pytest.raises(OversizedBackup, match="overlap"):
        zipped_files(io.BytesIO(content))


def test_too_many_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as an upload may have are read."""
    monkeypatch.setattr(zipped_folder, "MOST_FILES", 3)
    content = zip_of(dict.fromkeys(("a/1", "a/2", "a/3"), b""))
    assert len(zipped_files(io.BytesIO(content))) == 3
    with pytest.raises(OversizedBackup, match="more than 3 files"):
        zipped_files(io.BytesIO(zip_of(dict.fromkeys(("a/1", "a/2", "a/3", "a/4"), b""))))


def test_the_size_of_the_central_directory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is for the list, not for the files."""
    content = zip_of({f"a/{number:06}": b"x" * 100 for number in range(2000)})
    monkeypatch.setattr(zipped_folder, "LARGEST_LIST", 70_000)
    with pytest.raises(UnreadableBackup, match="list of files"):
        zipped_files(io.BytesIO(content))
    monkeypatch.setattr(zipped_folder, "LARGEST_LIST", 300)
    large = zip_of({"a/main": NOISE})
    with zipped_files(io.BytesIO(large))["a/main"]() as main:
        assert main.read() == NOISE


def test_an_encrypted_entry_is_refused_with_a_message() -> None:
    """It would only be noticed when a file is opened."""
    content = bytearray(zip_of({"a/main": b"x"}))
    flags = content.index(b"PK\x01\x02") + 8
    content[flags] |= 1
    with pytest.raises(UnreadableBackup, match="password"):
        zipped_files(io.BytesIO(content))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_damage_is_an_error_of_the_file(method: int) -> None:
    """A changed byte, a missing header, and no list at all."""
    content = bytearray(zip_of({"a/main": NOISE}, method))
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
