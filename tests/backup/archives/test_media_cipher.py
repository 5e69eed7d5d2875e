"""Encrypted media files: every modification is detected, and random access works."""

import io
import os
import random

import pytest

from holdfast.backup.archives.media_cipher import (
    CHUNK,
    MAGIC,
    DecryptedFile,
    EncryptedFileWriter,
    EncryptedSpool,
    MediaKey,
    content_size,
)
from holdfast.backup.errors import AttachmentDamaged

KEY = MediaKey(bytes(range(32)))
SIZES = [0, 1, 100, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 7]


def encrypted(content: bytes, name: str = "name", key: MediaKey = KEY) -> bytes:
    """Encrypt a content, written in pieces."""
    out = io.BytesIO()
    writer = EncryptedFileWriter(out, key, name)
    for start in range(0, len(content), 50_000):
        assert writer.write(content[start : start + 50_000]) == len(content[start : start + 50_000])
    writer.finish()
    return out.getvalue()


def decrypted(sealed: bytes, name: str = "name", key: MediaKey = KEY) -> bytes:
    """Decrypt a whole file."""
    with DecryptedFile(io.BytesIO(sealed), key, name) as file:
        return file.read()


@pytest.mark.parametrize("size", SIZES)
def test_what_was_written_is_read(size: int) -> None:
    """Content of sizes around that of a chunk is decrypted whole, and its size follows from the file size."""
    content = random.Random(size).randbytes(size)
    sealed = encrypted(content)
    assert sealed.startswith(MAGIC)
    assert decrypted(sealed) == content
    assert content_size(len(sealed)) == size
    assert size < 100 or content[:100] not in sealed
    assert encrypted(content) != sealed


def test_any_part_is_read_by_itself() -> None:
    """Reading from any position gives that part of the content, as a video player needs it."""
    content = random.Random(1).randbytes(3 * CHUNK + 7)
    with io.BufferedReader(DecryptedFile(io.BytesIO(encrypted(content)), KEY, "name")) as file:
        for start, stop in [(0, 5), (CHUNK - 3, CHUNK + 3), (2 * CHUNK, 3 * CHUNK + 7), (5, 2 * CHUNK)]:
            assert file.seek(start) == start
            assert file.read(stop - start) == content[start:stop]
        assert file.seek(-7, os.SEEK_END) == 3 * CHUNK
        assert file.read() == content[-7:]
        assert file.seek(10**9) == 10**9
        assert file.read() == b""


@pytest.mark.parametrize("size", [0, 100, CHUNK, 2 * CHUNK + 7])
def test_every_change_is_found(size: int) -> None:
    """A changed bit, a cut file, added bytes, another name and another key are reported as damage."""
    content = random.Random(size).randbytes(size)
    sealed = encrypted(content)
    for offset in {0, 8, 24, len(sealed) // 2, len(sealed) - 1}:
        changed = bytearray(sealed)
        changed[offset] ^= 1
        with pytest.raises(AttachmentDamaged):
            decrypted(bytes(changed))
    for cut in {0, 10, 24, 39, len(sealed) - 1, 24 + CHUNK + 16}:
        if cut < len(sealed):
            with pytest.raises(AttachmentDamaged):
                DecryptedFile(io.BytesIO(sealed[:cut]), KEY, "name")
    with pytest.raises(AttachmentDamaged):
        decrypted(sealed, "other")
    with pytest.raises(AttachmentDamaged):
        decrypted(sealed, key=MediaKey.generate())
    with pytest.raises(AttachmentDamaged):
        decrypted(sealed + b"more")


def test_chunks_do_not_change_places() -> None:
    """Two chunks that changed places are damage, because each is bound to its position."""
    sealed = encrypted(bytes(3 * CHUNK))
    first, second = sealed[24 : 24 + CHUNK + 16], sealed[24 + CHUNK + 16 : 24 + 2 * (CHUNK + 16)]
    with pytest.raises(AttachmentDamaged):
        decrypted(sealed[:24] + second + first + sealed[24 + 2 * (CHUNK + 16) :])


def test_names_tell_nothing_of_the_content() -> None:
    """A file name depends on the key and the hash and does not show the hash; the repr hides the key."""
    digest = "ab" * 32
    assert KEY.name_of(digest) == KEY.name_of(digest)
    assert KEY.name_of(digest) != digest
    assert KEY.name_of(digest) != MediaKey.generate().name_of(digest)
    assert KEY.key.hex() not in repr(KEY)
    assert repr(KEY.key) not in repr(KEY)


def test_a_spool_is_written_once_and_read_again() -> None:
    """A spool can be rewound and read more than once, as an import does."""
    content = random.Random(2).randbytes(3 * CHUNK)
    with EncryptedSpool() as spool:
        spool.write(content[:100])
        spool.write(content[100:])
        assert spool.rewind().read() == content
        assert spool.rewind().read(10) == content[:10]
