"""Containers are decrypted only with the right key and an unmodified file."""

import hmac
import io
import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.container.cipher import decrypt, encrypt, find_layout
from holdfast.backup.container.keys import MessageKeys
from holdfast.backup.container.metadata import ForwardSecrecy
from holdfast.backup.errors import BackupError, DamagedBackup, WrongKey
from holdfast.backup.file_types import CONTAINER_MAGIC
from tests.backup.container.vectors import GZIP_START, LEGACY_B, MODERN_B, ONE_PAIR, SET_A, container, exactly

CONTENT = GZIP_START + b"a few words, compressed or not"
OTHER = MessageKeys.split(secrets.token_bytes(64))


def opened(raw: bytes, keys: MessageKeys) -> bytes:
    """Decrypt a container in memory."""
    file = io.BytesIO(raw)
    return decrypt(file, find_layout(file), keys).read()


def refusal(raw: bytes) -> DamagedBackup:
    """Return the error that an invalid layout of a container raises."""
    with pytest.raises(DamagedBackup) as caught:
        find_layout(io.BytesIO(raw))
    return caught.value


def test_a_legacy_container_is_the_sealed_content_alone() -> None:
    """A legacy container is an IV of 16 bytes, the ciphertext, and a MAC over both."""
    raw = container(CONTENT, pad=True)
    layout = find_layout(io.BytesIO(raw))
    assert raw.startswith(b"I" * 16)
    assert raw[-32:] == hmac.digest(LEGACY_B.hmac, raw[:-32], "sha256")
    assert (len(raw), layout.modern, layout.span.start) == (592, False, 0)


def test_a_modern_container_has_its_metadata_in_front() -> None:
    """A modern container begins with magic, length and metadata, which the MAC does not cover."""
    raw = container(CONTENT, modern=True, pad=True)
    layout = find_layout(io.BytesIO(raw))
    assert raw.startswith(CONTAINER_MAGIC + b"\x64" + ONE_PAIR.raw + b"I" * 16)
    assert raw[-32:] == hmac.digest(MODERN_B.hmac, raw[109:-32], "sha256")
    assert (len(raw), layout.forward_secrecy, layout.span.start) == (701, ONE_PAIR, 109)


@given(st.one_of(st.integers(0, 600), st.sampled_from([CHUNK - 19, CHUNK - 4, CHUNK - 3, CHUNK, 2 * CHUNK])))
def test_content_of_any_size_comes_back_in_either_layout(size: int) -> None:
    """Content of sizes around blocks and chunks is read back."""
    content = GZIP_START + secrets.token_bytes(size)
    assert content == opened(container(content), LEGACY_B)
    assert content == opened(container(content, modern=True), MODERN_B)


def test_metadata_of_a_newer_app_is_written_as_it_is_given() -> None:
    """Metadata with unknown fields is written unchanged up to the limit of 16 KiB."""
    raw = ONE_PAIR.raw + b"\x1a\x97\x7f" + bytes(16279)
    long = ForwardSecrecy.parse(raw + b"\x20\x01")
    assert len(long.raw) == 16384
    file = io.BytesIO()
    with encrypt(file, MODERN_B, forward_secrecy=long) as sealer:
        sealer.write(CONTENT)
    assert find_layout(file).forward_secrecy == long
    assert opened(file.getvalue(), MODERN_B).rstrip(b"\0") == CONTENT


@pytest.mark.parametrize(
    ("raw", "problem", "offset"),
    [
        (b"", "0 bytes are too few to be encrypted content: 64 are the least", 0),
        (b"four", "4 bytes are too few to be encrypted content: 64 are the least", 4),
        (b"\x9e\x02\xaa\x15\x77\x31\x08\xf0", "8 bytes are too few to be encrypted content: 64 are the least", 8),
        (bytes(63), "63 bytes are too few to be encrypted content: 64 are the least", 63),
        (bytes(65), "the encrypted content is cut off: 17 bytes are not a whole number of blocks", 65),
        (CONTAINER_MAGIC, "the file ends in the middle of a length", 8),
        (CONTAINER_MAGIC + b"\x80", "the file ends in the middle of a length", 9),
        (CONTAINER_MAGIC + b"\x01", "the file ends in the middle of the forward-secrecy metadata", 9),
        (CONTAINER_MAGIC + b"\x01\x00", "the forward-secrecy metadata is not a readable record", 9),
        (CONTAINER_MAGIC + b"\x80\x80\x80\x80\x80\x01", "a length is larger than 32 bits can say", 8),
        (
            CONTAINER_MAGIC + b"\x81\x80\x01" + bytes(16385),
            "the forward-secrecy metadata claims 16385 bytes, more than the 16384 allowed",
            8,
        ),
        (
            CONTAINER_MAGIC + b"\x00" + bytes(64),
            "the forward-secrecy metadata has 0 tokens where one or two belong",
            9,
        ),
        (
            CONTAINER_MAGIC + b"\x64" + ONE_PAIR.raw + bytes(48),
            "48 bytes are too few to be encrypted content: 64 are the least",
            157,
        ),
    ],
)
def test_a_file_that_cannot_be_a_container_is_named(raw: bytes, problem: str, offset: int) -> None:
    """The layout is checked without a key, and the error has the problem and its offset."""
    refused = refusal(raw)
    assert (problem, offset, None) == (refused.problem, refused.offset, refused.frame)


def test_authentic_bytes_that_are_no_blocks_do_not_decrypt() -> None:
    """The published file of 26 letters with a right MAC is too short to be a container."""
    keys = MessageKeys.parse(hmac=SET_A.modern[0], aes=SET_A.modern[1])
    letters = b"abcdefghijklmnopqrstuvwxyz"
    with pytest.raises(DamagedBackup, match="58 bytes are too few"):
        opened(letters + hmac.digest(keys.hmac, letters, "sha256"), keys)


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
def test_any_flipped_bit_is_found_before_anything_is_decrypted(modern: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """A flipped bit after the metadata is an error of `decrypt`, before any content is returned."""
    keys = MODERN_B if modern else LEGACY_B
    raw = bytearray(container(CONTENT, modern=modern))
    start = find_layout(io.BytesIO(raw)).span.start
    for bit in range(8 * start, 8 * len(raw)):
        raw[bit // 8] ^= 1 << bit % 8
        file = io.BytesIO(raw)
        layout = find_layout(file)
        with pytest.raises((DamagedBackup, WrongKey)):
            decrypt(file, layout, keys)
        raw[bit // 8] ^= 1 << bit % 8
    assert opened(bytes(raw), keys) == CONTENT


def test_a_flipped_bit_before_the_metadata_is_found_too() -> None:
    """A flipped bit in the magic or the length of the metadata is an error."""
    raw = bytearray(container(CONTENT, modern=True))
    for bit in range(8 * (len(CONTAINER_MAGIC) + 1)):
        raw[bit // 8] ^= 1 << bit % 8
        with pytest.raises(BackupError):
            opened(bytes(raw), MODERN_B)
        raw[bit // 8] ^= 1 << bit % 8


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
def test_any_cut_is_found_before_anything_is_decrypted(modern: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """A file truncated anywhere is an error before any content is returned."""
    keys = MODERN_B if modern else LEGACY_B
    raw = container(CONTENT, modern=modern)
    for end in range(len(raw)):
        file = io.BytesIO(raw[:end])
        with pytest.raises(BackupError):
            decrypt(file, find_layout(file), keys)


def test_a_wrong_key_is_told_from_damage() -> None:
    """A wrong key and a wrong MAC have errors of their own."""
    raw = container(CONTENT)
    with pytest.raises(WrongKey) as wrong:
        opened(raw, OTHER)
    assert str(wrong.value) == "the key does not fit this file, or its first bytes are damaged"
    with pytest.raises(DamagedBackup) as damaged:
        opened(raw[:-1] + bytes([raw[-1] ^ 1]), LEGACY_B)
    assert str(damaged.value) == (
        "the key fits, but the file was changed or cut since it was written: its MAC does not match "
        f"(byte {len(raw) - 32} of the file)"
    )


def test_a_right_key_with_the_first_bytes_damaged_is_not_called_wrong_outright() -> None:
    """The error about a damaged first block says that the key may be wrong or the file damaged."""
    raw = container(CONTENT)
    with pytest.raises(WrongKey, match="or its first bytes are damaged"):
        opened(bytes([raw[0] ^ 1]) + raw[1:], LEGACY_B)


def test_half_a_right_pair_is_named() -> None:
    """A right HMAC key with a wrong AES key has an error of its own."""
    with pytest.raises(WrongKey, match="the HMAC key fits this file, but the AES key does not"):
        opened(container(CONTENT), MessageKeys(hmac=LEGACY_B.hmac, aes=OTHER.aes))


def test_a_version_we_do_not_know_is_read_as_legacy() -> None:
    """A file that begins like an unknown version is tried as legacy; a wrong key names that version."""
    file = io.BytesIO()
    with encrypt(file, LEGACY_B, iv=b"SBACKUP\x02 or so..", padding=exactly) as sealer:
        sealer.write(CONTENT)
    layout = find_layout(file)
    assert (layout.modern, layout.unknown_version) == (False, 2)
    assert decrypt(file, layout, LEGACY_B).read() == CONTENT
    with pytest.raises(
        WrongKey, match="begins like a remote backup of version 2, which this program does not know"
    ):
        decrypt(file, layout, OTHER)


def test_a_file_that_changes_between_the_passes_is_not_trusted() -> None:
    """A change between the two passes is an error at each further read."""
    raw = container(GZIP_START + bytes(3 * CHUNK))
    file = io.BytesIO(raw)
    content = decrypt(file, find_layout(file), LEGACY_B)
    file.seek(2 * CHUNK)
    file.write(b"changed")
    for _ in range(2):
        with pytest.raises(DamagedBackup, match="the file changed while it was being read"):
            list(iter(lambda: content.read(CHUNK), b""))


def test_padding_that_is_none_is_damage_of_the_content() -> None:
    """Authentic content without padding at its end is damaged."""
    file = io.BytesIO()
    sealer = encrypt(file, LEGACY_B, padding=exactly)
    sealer.write(GZIP_START + bytes(29))  # two whole blocks, and no third one of padding behind them
    body = file.getvalue()
    file.write(hmac.digest(LEGACY_B.hmac, body, "sha256"))
    with pytest.raises(DamagedBackup, match="does not end as it must"):
        opened(file.getvalue(), LEGACY_B)
