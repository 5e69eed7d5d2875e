"""The encryption of containers and attachments: iv, ciphertext and MAC.

    iv (16) | AES-256-CBC of the content, zeros up to a padded size, PKCS#7 | HMAC-SHA256 of all before it (32)

Reading takes two passes over a seekable file. The first, `authenticate`, verifies the MAC before anything is
decrypted. The second decrypts, and computes the MAC again to detect a file that changed in between. Callers
convert failures to errors with their own messages.
"""

import hmac
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Final, Self

from holdfast.backup.container.chunks import CHUNK, Sink, read_chunks, zeros
from holdfast.backup.container.keys import CipherKeys
from holdfast.backup.container.padding import padded
from holdfast.redacted_repr import redacted

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.modes import CBC
    from cryptography.hazmat.primitives.padding import PKCS7

__all__ = [
    "BLOCK",
    "MAC",
    "BadPadding",
    "Changed",
    "Sealer",
    "Span",
    "VerifiedSpan",
    "authenticate",
    "first_block",
    "unproven",
]

BLOCK: Final = 16
MAC: Final = 32
SMALLEST: Final = BLOCK + BLOCK + MAC


class Changed(Exception):
    """The file changed after it was authenticated."""


class BadPadding(Exception):
    """The file is authentic, but the padding of the plaintext is invalid; `content` is its end."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.content = content


@dataclass(frozen=True, slots=True)
class Span:
    """The encrypted part of a file, from its iv to the end of its MAC."""

    start: int
    end: int

    @property
    def mac(self) -> int:
        """The offset of the MAC."""
        return self.end - MAC

    @property
    def ciphertext_size(self) -> int:
        """The number of bytes between iv and MAC."""
        return self.mac - self.start - BLOCK

    def problem(self) -> str | None:
        """Return what is wrong with the length, None if it is valid."""
        if self.end - self.start < SMALLEST:
            return f"{self.end - self.start} bytes are too few to be encrypted content: {SMALLEST} are the least"
        if self.ciphertext_size % BLOCK:
            return (
                f"the encrypted content is cut off: {self.ciphertext_size} bytes are not a whole number of blocks"
            )
        return None


@redacted
@dataclass(frozen=True, slots=True)
class VerifiedSpan:
    """A span whose MAC has been verified."""

    source: BinaryIO
    span: Span
    keys: CipherKeys
    mac: bytes

    def chunks(self) -> Iterator[bytes]:
        """Yield the content and its zero padding; the last chunk only after the MAC has been verified again."""
        self.source.seek(self.span.start)
        iv = self.source.read(BLOCK)
        if len(iv) != BLOCK:
            raise Changed
        check = hmac.new(self.keys.hmac, iv, "sha256")
        decryptor = aes_cbc(self.keys.aes, iv).decryptor()
        last = b""
        for chunk in read_chunks(self.source, self.span.ciphertext_size):
            if last:
                yield last
            check.update(chunk)
            last = decryptor.update(chunk)
        if not hmac.compare_digest(check.digest(), self.mac):
            raise Changed
        unpadder = pkcs7().unpadder()
        try:
            unpadded = unpadder.update(last) + unpadder.finalize()
        except ValueError:
            raise BadPadding(last) from None
        yield unpadded

    def part(self, start: int, stop: int) -> Iterator[bytes]:
        """Yield a range of the content, decrypting only the blocks that contain it.

        The MAC is not verified again: the source must be unchanged.
        """
        first = start // BLOCK
        skipped = start - first * BLOCK
        left = stop - start
        # In CBC a block is decrypted with the previous one; the iv precedes the first.
        self.source.seek(self.span.start + first * BLOCK)
        before = self.source.read(BLOCK)
        if len(before) != BLOCK:
            raise Changed
        decryptor = aes_cbc(self.keys.aes, before).decryptor()
        for chunk in read_chunks(self.source, -(-(skipped + left) // BLOCK) * BLOCK):
            piece = decryptor.update(chunk)[skipped : skipped + left]
            skipped = 0
            left -= len(piece)
            yield piece
        if left:
            raise Changed


def aes_cbc(key: bytes, iv: bytes) -> "Cipher[CBC]":
    """Return the cipher AES-256-CBC."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    return Cipher(algorithms.AES256(key), modes.CBC(iv))


def pkcs7() -> "PKCS7":
    """Return the padding PKCS#7 to whole blocks."""
    from cryptography.hazmat.primitives.padding import PKCS7  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    return PKCS7(8 * BLOCK)


def authenticate(source: BinaryIO, span: Span, keys: CipherKeys) -> VerifiedSpan | None:
    """Read the whole span and compare its MAC in constant time; return None if it does not match."""
    source.seek(span.start)
    check = hmac.new(keys.hmac, digestmod="sha256")
    for chunk in read_chunks(source, span.mac - span.start):
        check.update(chunk)
    mac = b"".join(read_chunks(source, MAC))
    return VerifiedSpan(source, span, keys, mac) if hmac.compare_digest(check.digest(), mac) else None


def unproven(source: BinaryIO, span: Span, keys: CipherKeys) -> Iterator[bytes]:
    """Decrypt a span that is not authentic, up to the end of the file; only for diagnosis and salvage."""
    source.seek(span.start)
    iv = b"".join(read_chunks(source, BLOCK))
    decryptor = aes_cbc(keys.aes, iv).decryptor()
    for chunk in read_chunks(source, span.ciphertext_size):
        yield decryptor.update(chunk)


def first_block(source: BinaryIO, span: Span, keys: CipherKeys) -> bytes:
    """Decrypt the first block without authentication; only to guess whether the key is right."""
    source.seek(span.start)
    start = b"".join(read_chunks(source, 2 * BLOCK))
    if len(start) < 2 * BLOCK:
        return b""
    return aes_cbc(keys.aes, start[:BLOCK]).decryptor().update(start[BLOCK:])


class Sealer:
    """A writer that encrypts; `finish`, called at the end of a `with` block without an error, adds the MAC.

    `padding` returns the size to which the content is padded with zeros. The iv is random by default.
    """

    def __init__(
        self,
        target: Sink,
        keys: CipherKeys,
        *,
        iv: bytes | None = None,
        padding: Callable[[int], int] = padded,
    ) -> None:
        iv = os.urandom(BLOCK) if iv is None else iv
        self._target = target
        self._padding = padding
        self._encryptor = aes_cbc(keys.aes, iv).encryptor()
        self._pkcs7 = pkcs7().padder()
        self._mac = hmac.new(keys.hmac, digestmod="sha256")
        self._size = 0
        self._finished = False
        self._put(iv)

    def write(self, data: bytes, /) -> int:
        """Encrypt the next bytes of the content."""
        if self._finished:
            raise ValueError("the content was finished and takes no more")
        view = memoryview(data)
        for start in range(0, len(view), CHUNK):
            self._put(self._encryptor.update(self._pkcs7.update(view[start : start + CHUNK])))
        self._size += len(view)
        return len(view)

    def finish(self) -> None:
        """Pad the content and write the MAC."""
        for chunk in zeros(self._padding(self._size) - self._size):
            self.write(chunk)
        self._finished = True
        self._put(self._encryptor.update(self._pkcs7.finalize()) + self._encryptor.finalize())
        self._target.write(self._mac.digest())

    def _put(self, data: bytes) -> None:
        self._mac.update(data)
        self._target.write(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
