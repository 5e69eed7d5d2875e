"""The media folder of an archive, encrypted and unencrypted."""

import hashlib
from pathlib import Path

import pytest

from holdfast.backup.archives.media_cipher import MediaKey
from holdfast.backup.archives.media_files import KeptFile, MediaFolder
from holdfast.backup.errors import AttachmentDamaged

CONTENT = b"a picture of a dinner" * 10_000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(params=[None, MediaKey(bytes(32))], ids=["plain", "encrypted"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> MediaFolder:
    """Return a folder of each form."""
    return MediaFolder(tmp_path / "media", request.param)


def write_file(folder: MediaFolder) -> KeptFile:
    """Write a file."""
    path = folder.place_of(DIGEST, "image/png")
    with folder.write(path) as out:
        out.write(CONTENT)
    file = folder.find(path)
    assert file is not None
    return file


def test_a_file_is_found_and_read(folder: MediaFolder) -> None:
    """The size and the hash of a stored file are those of its content, and it can be read from any position."""
    stored = write_file(folder)
    assert stored.size == len(CONTENT)
    assert stored.digest() == bytes.fromhex(DIGEST)
    with stored.open() as file:
        file.seek(100_000)
        assert file.read(50) == CONTENT[100_000:100_050]
    assert list(folder.files()) == [stored.path]


def test_an_encrypted_file_tells_neither_hash_nor_type_nor_content(folder: MediaFolder) -> None:
    """A plain file is named by its hash and type; an encrypted one shows neither, nor its content."""
    file = write_file(folder)
    is_plain = folder.key is None
    assert (file.path.name == f"{DIGEST}.png") == is_plain
    assert (DIGEST in file.path.name) == is_plain
    assert (file.path.suffix == "") != is_plain
    assert (b"dinner" in file.path.read_bytes()) == is_plain


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../archive.db", "aa/../../b", "aa/missing"])
def test_no_path_leads_out_of_the_folder(folder: MediaFolder, path: str) -> None:
    """Absolute paths and paths with ".." find no file, because an archive may come from anybody."""
    write_file(folder)
    (folder.path.parent / "archive.db").write_text("secret")
    assert folder.find(path) is None


def test_a_file_that_is_not_written_to_its_end_is_not_there(folder: MediaFolder) -> None:
    """A write that raises an exception leaves no file."""
    path = folder.place_of(DIGEST, "")
    with pytest.raises(RuntimeError), folder.write(path) as out:
        out.write(CONTENT)
        raise RuntimeError
    assert folder.find(path) is None
    assert list(folder.files()) == []


def test_a_changed_file_is_damaged(folder: MediaFolder) -> None:
    """A changed encrypted file raises `AttachmentDamaged` and has no hash; a plain one has another hash."""
    file = write_file(folder)
    content = bytearray(file.path.read_bytes())
    content[-1] ^= 1
    file.path.write_bytes(content)
    if folder.key is None:
        assert file.digest() not in {None, bytes.fromhex(DIGEST)}
    else:
        assert file.digest() is None
        with pytest.raises(AttachmentDamaged):
            file.open()
        file.path.write_bytes(content[:30])
        assert file.size == -1
