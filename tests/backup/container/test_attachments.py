"""Attachment files are decrypted to the content the backup refers to, or raise a typed error."""

import hashlib
import hmac
import io
import secrets
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.container.attachments import (
    AttachmentKey,
    LocalKey,
    content_path,
    decrypt_attachment,
    encrypt_attachment,
    file_size,
    media_name,
)
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.container.sealed import Sealer
from holdfast.backup.errors import (
    AttachmentDamaged,
    AttachmentError,
    AttachmentMismatch,
    AttachmentTooShort,
    AttachmentTruncated,
    KeyRefused,
)
from tests.backup.container.vectors import exactly

HELLO = b"hello world"
KEY = LocalKey(bytes(range(64)))
HELLO_HASH = bytes.fromhex("b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9")
HELLO_NAME = "a5ee652dbadf9570110ed4af0fa80dee7126b26dae10d630965f4698080b310e"
HELLO_ATTACHMENT = AttachmentKey(KEY, HELLO_HASH, len(HELLO))


def written(content: bytes, key: LocalKey = KEY, iv: bytes | None = None) -> tuple[bytes, AttachmentKey]:
    """Encrypt content in memory."""
    target = io.BytesIO()
    attachment = encrypt_attachment(io.BytesIO(content), target, key, iv=iv)
    return target.getvalue(), attachment


def opened(raw: bytes, attachment: AttachmentKey) -> bytes:
    """Decrypt an attachment file in memory."""
    return decrypt_attachment(io.BytesIO(raw), attachment).read()


def test_the_published_file_is_written_and_read() -> None:
    """The published file has the expected name, length, MAC and bytes."""
    raw, attachment = written(HELLO, iv=b"\x07" * 16)
    assert attachment == HELLO_ATTACHMENT
    assert attachment.name == HELLO_NAME == media_name(HELLO_HASH, KEY)
    assert len(raw) == 592 == file_size(len(HELLO))
    assert raw[-32:].hex() == "4930c1535d928d2299c7a5040e9b061a27dd7246743656206f231542e32400d7"
    digest = "41ff61eb9fa8a4b2c10858a16a755705e4cc0bb23b71fa566a10d6a402d271cc"
    assert digest == hashlib.sha256(raw).hexdigest()
    assert opened(raw, attachment) == HELLO


@given(st.one_of(st.integers(0, 3000), st.sampled_from([CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK - 8])))
def test_content_of_any_size_comes_back(size: int) -> None:
    """Content of sizes around blocks, chunks and padding steps is read back, empty content included."""
    content = secrets.token_bytes(size)
    raw, attachment = written(content, LocalKey(secrets.token_bytes(64)))
    assert (size, hashlib.sha256(content).digest()) == (attachment.size, attachment.plaintext_hash)
    assert len(raw) == file_size(size)
    assert content == opened(raw, attachment)


def test_the_padding_of_the_file_does_not_matter() -> None:
    """A file without the usual padding is opened."""
    target = io.BytesIO()
    with Sealer(target, KEY.cipher_keys(), padding=exactly) as sealer:
        sealer.write(HELLO)
    assert opened(target.getvalue(), HELLO_ATTACHMENT) == HELLO


def test_any_flipped_bit_is_found_before_anything_is_decrypted() -> None:
    """A flipped bit in the IV, the ciphertext, its padding or the MAC is an error before any content is read."""
    raw, attachment = written(HELLO)
    broken = bytearray(raw)
    for bit in range(8 * len(raw)):
        broken[bit // 8] ^= 1 << bit % 8
        with pytest.raises(AttachmentDamaged, match=f"attachment {HELLO_NAME} is damaged"):
            decrypt_attachment(io.BytesIO(broken), attachment)
        broken[bit // 8] ^= 1 << bit % 8


def test_any_cut_is_told_from_other_damage() -> None:
    """A truncated file has an error of its own, wherever it was cut."""
    raw, attachment = written(HELLO)
    for end in range(len(raw)):
        with pytest.raises(AttachmentTruncated, match=f"attachment {HELLO_NAME} is cut short"):
            decrypt_attachment(io.BytesIO(raw[:end]), attachment)


def test_bytes_added_to_a_file_are_damage() -> None:
    """Bytes after the MAC are damage, since the MAC is expected at the end of the file."""
    raw, attachment = written(HELLO)
    with pytest.raises(AttachmentDamaged):
        opened(raw + bytes(16), attachment)


def test_a_file_of_another_key_does_not_open() -> None:
    """A file encrypted with another key is damaged, since its MAC does not match."""
    raw, _ = written(HELLO, LocalKey(secrets.token_bytes(64)))
    with pytest.raises(AttachmentDamaged):
        opened(raw, HELLO_ATTACHMENT)


@pytest.mark.parametrize("size", [542, 543, 544, 545, 10_000])
def test_a_size_beyond_the_content_is_named(size: int) -> None:
    """A size larger than the decrypted content is an error that names that size."""
    raw, attachment = written(HELLO)
    with pytest.raises(AttachmentTooShort, match=f"fewer than the {size} bytes the backup gives"):
        opened(raw, AttachmentKey(KEY, attachment.plaintext_hash, size))


@pytest.mark.parametrize("size", [0, 10, 12, 541])
def test_a_size_within_the_file_but_not_the_right_one_is_a_mismatch(size: int) -> None:
    """A size other than that of the content is a mismatch of the hash."""
    raw, attachment = written(HELLO)
    with pytest.raises(AttachmentMismatch, match="is not the content the backup means"):
        opened(raw, AttachmentKey(KEY, attachment.plaintext_hash, size))


@settings(max_examples=20)
@given(st.integers(0, 2 * CHUNK + 40))
def test_the_last_of_a_wrong_content_is_never_given_out(size: int) -> None:
    """If the hash is wrong, reading to the end raises an error, and so does reading on after it."""
    raw, attachment = written(bytes(size))
    wrong = AttachmentKey(KEY, hashlib.sha256(b"other").digest(), attachment.size)
    content = decrypt_attachment(io.BytesIO(raw), wrong)
    read: list[int] = []
    for _ in range(2):
        with pytest.raises(AttachmentMismatch):
            read.extend(map(len, iter(lambda: content.read(CHUNK // 2), b"")))
    assert sum(read) <= max(0, size - 1)


def test_a_file_that_changes_while_it_is_read_is_named() -> None:
    """A change of the file between the two passes of reading is an error."""
    raw, attachment = written(bytes(3 * CHUNK))
    file = io.BytesIO(raw)
    content = decrypt_attachment(file, attachment)
    file.seek(-33, io.SEEK_END)
    file.write(b"\xff")
    with pytest.raises(AttachmentDamaged, match="changed while it was being read"):
        content.read()


def test_authentic_content_without_an_end_is_damage() -> None:
    """Authentic blocks without the padding at their end are damaged."""
    file = io.BytesIO()
    sealer = Sealer(file, KEY.cipher_keys(), padding=exactly)
    sealer.write(bytes(32))
    file.write(hmac.digest(KEY.cipher_keys().hmac, file.getvalue(), "sha256"))
    with pytest.raises(AttachmentDamaged, match="does not end as it must"):
        opened(file.getvalue(), AttachmentKey(KEY, hashlib.sha256(bytes(20)).digest(), 20))


def test_an_attachment_lies_where_its_name_says(tmp_path: Path) -> None:
    """The file of an attachment is in a folder named after the first two digits of its name."""
    assert content_path(tmp_path, HELLO_ATTACHMENT.name) == tmp_path / "a5" / HELLO_NAME


@pytest.mark.parametrize("name", ["", "..", "a" * 63, "A" * 64, "../" * 21 + "x", "a" * 64 + "\n", "/" + "a" * 63])
def test_what_is_not_a_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    """Only a name of 64 hexadecimal digits becomes a path, since names may come from hostile files."""
    with pytest.raises(AttachmentError, match="64 hexadecimal digits"):
        content_path(tmp_path, name)


def test_what_a_backup_says_is_checked() -> None:
    """A hash or key of a wrong length is refused, and `repr` does not show the key."""
    with pytest.raises(AttachmentError, match="32 bytes, but the backup gives 31"):
        AttachmentKey(KEY, bytes(31), 0)
    with pytest.raises(KeyRefused, match="an attachment's key is 64 bytes, but 32 were given"):
        LocalKey(bytes(32))
    assert "local_key=<LocalKey>" in repr(HELLO_ATTACHMENT)


def test_memory_stays_flat() -> None:
    """A video is written and read in a few chunks of memory."""
    size = 48 * CHUNK
    with tempfile.TemporaryFile() as video, tempfile.TemporaryFile() as file:
        video.truncate(size)
        tracemalloc.start()
        attachment = encrypt_attachment(video, file, KEY)
        content = decrypt_attachment(file, attachment)
        total = sum(len(chunk) for chunk in iter(lambda: content.read(CHUNK), b""))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert total == size
    assert peak < 10 * CHUNK
