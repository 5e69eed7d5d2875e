"""Encrypts the media files of an encrypted archive, in chunks for random access.

The archive has a random media key, from which the key of each file is derived by HKDF-SHA256 with a random salt. A
file is a magic number, the salt, and chunks of 64 KiB in AES-256-GCM. The nonce of a chunk is its number and
whether it is the last; the file name is authenticated with each chunk. So chunks cannot be changed, reordered or
truncated, and files cannot be swapped.
"""

import hmac
import io
import os
import tempfile
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from holdfast.backup.errors import AttachmentDamaged
from holdfast.redacted_repr import redacted

__all__ = ["MAGIC", "DecryptedFile", "EncryptedFileWriter", "EncryptedSpool", "MediaKey", "content_size"]

MAGIC: Final = b"HOLDMED\x01"
SALT: Final = 16
HEADER: Final = len(MAGIC) + SALT
CHUNK: Final = 64 << 10
TAG: Final = 16


@redacted
@dataclass(frozen=True, slots=True)
class MediaKey:
    """The key of all media files of an archive; its repr does not show it."""

    key: bytes

    @classmethod
    def generate(cls) -> "MediaKey":
        """Return a random key."""
        return cls(os.urandom(32))

    def derive(self, purpose: bytes, salt: bytes | None = None) -> bytes:
        """Derive a key for one purpose."""
        return HKDF(SHA256(), 32, salt=salt, info=b"holdfast archive " + purpose).derive(self.key)

    def name_of(self, digest: str) -> str:
        """Return the file name for a content hash, an HMAC that does not reveal the hash without the key."""
        return hmac.digest(self.derive(b"names"), bytes.fromhex(digest), "sha256").hex()


def nonce(number: int, *, last: bool) -> bytes:
    """Return the nonce of a chunk; as each file has its own key, a counter suffices."""
    return number.to_bytes(11, "big") + bytes([last])


class EncryptedFileWriter:
    """Encrypts what is written to it; `finish()` writes the last chunk, without which the file is invalid."""

    def __init__(self, target: BinaryIO, key: MediaKey, name: str) -> None:
        salt = os.urandom(SALT)
        self._target = target
        self._cipher = AESGCM(key.derive(b"file", salt))
        self._name = name.encode()
        self._waiting = bytearray()
        self._number = 0
        target.write(MAGIC + salt)

    def write(self, data: bytes) -> int:
        """Buffer data, and encrypt each full chunk that cannot be the last."""
        self._waiting += data
        at = 0
        while len(self._waiting) - at > CHUNK:
            self._encrypt(bytes(self._waiting[at : at + CHUNK]), last=False)
            at += CHUNK
        del self._waiting[:at]
        return len(data)

    def finish(self) -> None:
        """Encrypt the last chunk."""
        self._encrypt(bytes(self._waiting), last=True)
        self._waiting.clear()

    def _encrypt(self, chunk: bytes, *, last: bool) -> None:
        self._target.write(self._cipher.encrypt(nonce(self._number, last=last), chunk, self._name))
        self._number += 1


def content_size(size: int) -> int:
    """Return the plaintext size of an encrypted file of a size; -1 for a truncated one."""
    chunks = size - HEADER
    rest = chunks % (CHUNK + TAG)
    if chunks < TAG or (rest and rest < TAG):
        return -1
    return chunks - -(-chunks // (CHUNK + TAG)) * TAG


class DecryptedFile(io.RawIOBase):
    """Reads an encrypted file with random access; a chunk is authenticated before any of it is returned.

    The last chunk is decrypted first, so that opening a truncated file fails.
    """

    def __init__(self, source: BinaryIO, key: MediaKey, name: str) -> None:
        super().__init__()
        self._source = source
        self._name = name.encode()
        self._at = 0
        self._held: tuple[int, bytes] = (-1, b"")
        stored = source.seek(0, os.SEEK_END)
        self.size = content_size(stored)
        source.seek(0)
        header = source.read(HEADER)
        if self.size < 0 or not header.startswith(MAGIC):
            raise self._damaged()
        self._cipher = AESGCM(key.derive(b"file", header[len(MAGIC) :]))
        self._last = max(0, -(-(stored - HEADER) // (CHUNK + TAG)) - 1)
        self._chunk(self._last)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Change the position."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        """Read up to the end of a chunk."""
        if self._at >= self.size:
            return 0
        number, start = divmod(self._at, CHUNK)
        view = memoryview(buffer).cast("B")
        piece = self._chunk(number)[start : start + len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def close(self) -> None:
        """Close the underlying file."""
        if not self.closed:
            self._source.close()
            self._held = (-1, b"")
        super().close()

    def _chunk(self, number: int) -> bytes:
        """Decrypt a chunk, unless it is cached from the last read."""
        if self._held[0] != number:
            self._source.seek(HEADER + number * (CHUNK + TAG))
            sealed = self._source.read(CHUNK + TAG)
            try:
                piece = self._cipher.decrypt(nonce(number, last=number == self._last), sealed, self._name)
            except InvalidTag:
                raise self._damaged() from None
            self._held = (number, piece)
        return self._held[1]

    def _damaged(self) -> AttachmentDamaged:
        return AttachmentDamaged(f"the encrypted file {self._name.decode()} is damaged, or of another archive")


class EncryptedSpool:
    """A temporary file that is written once and then read, encrypted with a key in memory."""

    def __init__(self) -> None:
        self._file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  # closed with this
        self._key = MediaKey.generate()
        self._writer = EncryptedFileWriter(self._file, self._key, "")
        self._is_finished = False

    def write(self, data: bytes) -> int:
        """Append data."""
        return self._writer.write(data)

    def rewind(self) -> BinaryIO:
        """Return a reader from the beginning; nothing can be written any more."""
        if not self._is_finished:
            self._writer.finish()
            self._file.flush()
            self._is_finished = True
        # The reader closes its own descriptor only.
        source = os.fdopen(os.dup(self._file.fileno()), "rb")
        return io.BufferedReader(DecryptedFile(source, self._key, ""), CHUNK)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
