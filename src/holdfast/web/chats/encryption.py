"""Encryption at rest of cached archives, with a key derived from a secret of the browser.

The key is derived from a secret that is stored only in a cookie of the browser. The file is encrypted in chunks
with AES-GCM; the nonce has the index of the chunk and whether it is the last, so that none can be changed, moved
or dropped.
"""

import os
import sqlite3
from pathlib import Path
from typing import BinaryIO, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from holdfast.backup.errors import ArchiveError
from holdfast.secret import Secret

__all__ = ["key_for", "open_sealed", "seal"]

MAGIC: Final = b"HFCHATS1"
PREFIX: Final = 7
PIECE: Final = 1 << 20
TAG: Final = 16


def key_for(secret: Secret, content: str) -> bytes:
    """Derive the key of one entry from the browser's secret."""
    return HKDF(SHA256(), 32, salt=None, info=b"holdfast chats " + content.encode()).derive(
        secret.reveal().encode()
    )


def seal(connection: sqlite3.Connection, target: Path, key: bytes) -> None:
    """Write an in-memory database to a file, encrypted."""
    content = memoryview(connection.serialize())
    cipher, prefix = AESGCM(key), os.urandom(PREFIX)
    beside = target.with_name(f"{target.name}.new")
    with beside.open("wb") as out:
        os.fchmod(out.fileno(), 0o600)
        out.write(MAGIC + prefix)
        for number, start in enumerate(range(0, len(content), PIECE)):
            last = start + PIECE >= len(content)
            out.write(cipher.encrypt(chunk_nonce(prefix, number, last=last), content[start : start + PIECE], None))
    beside.rename(target)


def chunk_nonce(prefix: bytes, number: int, *, last: bool) -> bytes:
    """Return the nonce of a chunk: its index, and whether it is the last."""
    return prefix + number.to_bytes(4, "big") + bytes([last])


def open_sealed(path: Path, key: bytes) -> sqlite3.Connection:
    """Decrypt a sealed database into memory."""
    try:
        with path.open("rb") as source:
            content = decrypt_chunks(source, key, path.stat().st_size)
    except OSError as error:
        raise ArchiveError(f"what was kept of this conversation cannot be read: {error.strerror}") from error
    except InvalidTag:
        raise ArchiveError("what was kept of this conversation is damaged, or belongs to another key") from None
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.deserialize(content)
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA query_only = ON")
    return connection


def decrypt_chunks(source: BinaryIO, key: bytes, size: int) -> bytes:
    """Decrypt all chunks."""
    if source.read(len(MAGIC)) != MAGIC:
        raise InvalidTag
    prefix, cipher = source.read(PREFIX), AESGCM(key)
    pieces: list[bytes] = []
    left = size - len(MAGIC) - PREFIX
    while left > 0:
        piece = source.read(min(left, PIECE + TAG))
        left -= len(piece)
        pieces.append(cipher.decrypt(chunk_nonce(prefix, len(pieces), last=left == 0), piece, None))
    if not pieces:
        raise InvalidTag
    return b"".join(pieces)
