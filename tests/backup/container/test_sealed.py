"""Authenticated encryption: nothing is decrypted before its MAC is verified, and content round-trips."""

import hmac
import io
import secrets
import tempfile
import tracemalloc

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.container.keys import CipherKeys
from holdfast.backup.container.padding import padded
from holdfast.backup.container.sealed import BadPadding, Changed, Sealer, Span, authenticate, first_block
from tests.backup.container.vectors import exactly
from tests.examples import examples

KEYS = CipherKeys(hmac=secrets.token_bytes(32), aes=secrets.token_bytes(32))

BORDERS = [
    1,
    15,
    16,
    17,
    CHUNK - 17,
    CHUNK - 16,
    CHUNK - 1,
    CHUNK,
    CHUNK + 1,
    CHUNK + 16,
    2 * CHUNK,
    2 * CHUNK + 1,
]
SIZES = st.one_of(st.integers(0, 2000), st.sampled_from(BORDERS))


def sealed(content: bytes, *, pieces: int = CHUNK) -> bytes:
    """Seal content that is written piece by piece."""
    target = io.BytesIO()
    with Sealer(target, KEYS, padding=exactly) as sealer:
        for start in range(0, len(content), pieces):
            sealer.write(content[start : start + pieces])
    return target.getvalue()


def opened(raw: bytes) -> bytes | None:
    """Decrypt sealed content; return None if its MAC is wrong."""
    authentic = authenticate(io.BytesIO(raw), Span(0, len(raw)), KEYS)
    return None if authentic is None else b"".join(authentic.chunks())


def forged(plaintext: bytes) -> bytes:
    """Seal whole blocks as they are, without the padding that belongs behind them."""
    encryptor = Cipher(algorithms.AES256(KEYS.aes), modes.CBC(bytes(16))).encryptor()
    body = bytes(16) + encryptor.update(plaintext)
    return body + hmac.digest(KEYS.hmac, body, "sha256")


@given(SIZES, st.integers(1, 3 * CHUNK))
def test_content_of_any_size_comes_back(size: int, pieces: int) -> None:
    """Content of sizes around blocks and chunks is read back, written in pieces of any size."""
    content = secrets.token_bytes(size)
    assert content == opened(sealed(content, pieces=max(pieces, size // 50)))


@given(st.binary(max_size=3000))
def test_content_is_padded_with_zeros(content: bytes) -> None:
    """By default, zeros pad the content to the next size of a series in steps of five percent."""
    target = io.BytesIO()
    with Sealer(target, KEYS) as sealer:
        sealer.write(content)
    raw = target.getvalue()
    assert content.ljust(padded(len(content)), b"\0") == opened(raw)
    assert len(raw) == 16 + 16 * (padded(len(content)) // 16 + 1) + 32


def test_any_flipped_bit_is_found() -> None:
    """A flipped bit in the IV, the ciphertext or the MAC makes the file unauthentic."""
    raw = bytearray(sealed(secrets.token_bytes(100)))
    for bit in range(8 * len(raw)):
        raw[bit // 8] ^= 1 << bit % 8
        assert opened(bytes(raw)) is None
        raw[bit // 8] ^= 1 << bit % 8
    assert opened(bytes(raw)) is not None


def test_any_cut_is_found() -> None:
    """A cut is found by the length or else by the MAC, and so are bytes added at the end."""
    raw = sealed(secrets.token_bytes(100))
    for end in range(len(raw)):
        assert Span(0, end).problem() is not None or opened(raw[:end]) is None
    assert opened(raw + bytes(16)) is None
    assert Span(0, len(raw) + 1).problem() is not None


@settings(max_examples=examples(30))
@given(st.integers(0, 3 * CHUNK), st.integers(1, 255))
def test_a_change_after_the_first_pass_is_found_in_the_second(place: int, change: int) -> None:
    """The file is authenticated again while it is decrypted, and its last chunk is held back until then."""
    raw = sealed(bytes(3 * CHUNK - 1))
    file = io.BytesIO(raw)
    authentic = authenticate(file, Span(0, len(raw)), KEYS)
    assert authentic is not None
    file.seek(place)
    file.write(bytes([raw[place] ^ change]))
    read: list[bytes] = []
    with pytest.raises(Changed):
        read.extend(authentic.chunks())
    assert [len(chunk) for chunk in read] == [CHUNK] * 2


@pytest.mark.parametrize("left", [0, 8, 16, 40, CHUNK])
def test_a_file_that_shrinks_after_the_first_pass_is_found(left: int) -> None:
    """A file truncated anywhere after the first pass is an error in the second."""
    raw = sealed(bytes(2 * CHUNK))
    file = io.BytesIO(raw)
    authentic = authenticate(file, Span(0, len(raw)), KEYS)
    assert authentic is not None
    file.truncate(left)
    with pytest.raises(Changed):
        list(authentic.chunks())


@pytest.mark.parametrize(
    "ending", [b"\x00", b"\x11", b"\x10", b"\x01\x02", b"\x03\x02\x03", b"\x01" + b"\x10" * 15, b"\xff"]
)
def test_padding_is_checked_strictly(ending: bytes) -> None:
    """Authentic blocks with missing, oversized or inconsistent PKCS #7 padding are refused."""
    with pytest.raises(BadPadding):
        opened(forged(bytes(32 - len(ending)) + ending))


def test_a_whole_block_of_padding_is_padding() -> None:
    """Content that fills its blocks is followed by a whole block of padding."""
    assert opened(forged(b"content of block" + b"\x10" * 16)) == b"content of block"


@given(st.binary(min_size=1, max_size=40))
def test_the_first_block_can_be_looked_at(content: bytes) -> None:
    """The first block is decrypted without authentication, to test whether a key fits."""
    raw = sealed(content)
    assert first_block(io.BytesIO(raw), Span(0, len(raw)), KEYS).startswith(content[:16])
    assert first_block(io.BytesIO(raw[:20]), Span(0, len(raw)), KEYS) == b""


def test_every_file_has_an_iv_of_its_own() -> None:
    """The same content sealed twice has different IVs."""
    assert sealed(b"same")[:16] != sealed(b"same")[:16]


def test_nothing_is_written_behind_the_seal() -> None:
    """Writing to a finished file is a ValueError."""
    sealer = Sealer(io.BytesIO(), KEYS)
    sealer.finish()
    with pytest.raises(ValueError, match="takes no more"):
        sealer.write(b"more")


def test_memory_stays_flat() -> None:
    """Sealing and opening 48 MiB, given in one piece, takes a few chunks of memory."""
    content = bytes(48 * CHUNK)
    with tempfile.TemporaryFile() as file:
        tracemalloc.start()
        with Sealer(file, KEYS) as sealer:
            sealer.write(content)
        authentic = authenticate(file, Span(0, file.tell()), KEYS)
        assert authentic is not None
        total = sum(len(chunk) for chunk in authentic.chunks())
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert total == padded(len(content))
    assert peak < 8 * CHUNK
