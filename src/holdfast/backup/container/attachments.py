"""Attachment files of a local backup: how they are named, opened and written.

A content store has every attachment once, encrypted with its own key and named after its content and key, so that
snapshots share the files. A backup refers to an attachment by an `AttachmentKey`.
"""

import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hmac import compare_digest
from pathlib import Path
from typing import BinaryIO, Final, final

from holdfast.backup.container.chunks import CHUNK, Sink, as_file
from holdfast.backup.container.keys import CipherKeys, KeyBytes
from holdfast.backup.container.padding import padded
from holdfast.backup.container.sealed import BadPadding, Changed, Sealer, Span, VerifiedSpan, authenticate
from holdfast.backup.errors import (
    AttachmentDamaged,
    AttachmentError,
    AttachmentMismatch,
    AttachmentTooShort,
    AttachmentTruncated,
)
from holdfast.redacted_repr import redacted

__all__ = [
    "AttachmentKey",
    "LocalKey",
    "authenticate_attachment",
    "content_path",
    "decrypt_attachment",
    "encrypt_attachment",
    "file_size",
    "media_name",
]

HASH_SIZE: Final = 32
NAME: Final = re.compile(r"[0-9a-f]{64}")


@final
class LocalKey(KeyBytes):
    """The key of one attachment file."""

    __slots__ = ()
    SIZE = 64
    WHAT = "an attachment's key"

    def cipher_keys(self) -> CipherKeys:
        """Return the two keys; unlike everywhere else, the AES key is the first half."""
        return CipherKeys(aes=self.reveal()[:32], hmac=self.reveal()[32:])


@redacted
@dataclass(frozen=True, slots=True)
class AttachmentKey:
    """A reference to an attachment file: its key, and the SHA-256 and the size of its plaintext."""

    local_key: LocalKey
    plaintext_hash: bytes = field(repr=False)
    size: int

    def __post_init__(self) -> None:
        if len(self.plaintext_hash) != HASH_SIZE:
            raise AttachmentError(
                f"an attachment's hash is {HASH_SIZE} bytes, but the backup gives {len(self.plaintext_hash)}"
            )

    @property
    def name(self) -> str:
        """The name of its file."""
        return media_name(self.plaintext_hash, self.local_key)


def media_name(plaintext_hash: bytes, local_key: LocalKey) -> str:
    """Return the name of an attachment file, derived from its content and its key."""
    return hashlib.sha256(plaintext_hash + local_key.reveal()).hexdigest()


def content_path(store: Path, name: str) -> Path:
    """Return the path of a file in a content store; anything but a valid name, such as a path, is an error."""
    if not NAME.fullmatch(name):
        raise AttachmentError("an attachment's file name is 64 hexadecimal digits, but the backup gives another")
    return store / name[:2] / name


def file_size(size: int) -> int:
    """Return the size of the encrypted file of an attachment of `size` bytes, as current clients write it."""
    return 16 + 16 * (padded(size) // 16 + 1) + 32


def decrypt_attachment(source: BinaryIO, attachment: AttachmentKey) -> BinaryIO:
    """Authenticate an attachment file, then return its content as a file that is decrypted while it is read.

    The last chunk is returned only after the hash of the whole has been verified, so the content is valid only if
    it can be read to its end. Until then the source must not be used otherwise.
    """
    return as_file(_content(authenticate_attachment(source, attachment), attachment))


def authenticate_attachment(source: BinaryIO, attachment: AttachmentKey) -> VerifiedSpan:
    """Verify the MAC of an attachment file and its length, before any of it is decrypted."""
    name = attachment.name
    try:
        span = Span(0, source.seek(0, io.SEEK_END))
        problem = span.problem()
        if problem is not None:
            raise AttachmentTruncated(f"attachment {name} is cut short: {problem}")
        opened = authenticate(source, span, attachment.local_key.cipher_keys())
    except OSError as error:
        raise _unreadable(attachment, error) from error
    if opened is None:
        if span.end < file_size(attachment.size):
            raise AttachmentTruncated(f"attachment {name} is cut short: its file has only {span.end} bytes")
        raise AttachmentDamaged(f"attachment {name} is damaged: its MAC does not match")
    if attachment.size >= span.ciphertext_size:
        raise _too_short(attachment)
    return opened


def _content(opened: VerifiedSpan, attachment: AttachmentKey) -> Iterator[bytes]:
    digest = hashlib.sha256()
    left = attachment.size
    last = b""
    try:
        for chunk in opened.chunks():
            piece = chunk[:left]
            if not piece:
                continue
            if last:
                yield last
            digest.update(piece)
            left -= len(piece)
            last = piece
    except OSError as error:
        raise _unreadable(attachment, error) from error
    except Changed:
        raise AttachmentDamaged(f"attachment {attachment.name} changed while it was being read") from None
    except BadPadding:
        raise AttachmentDamaged(f"attachment {attachment.name} does not end as it must") from None
    if left:
        raise _too_short(attachment)
    if not compare_digest(digest.digest(), attachment.plaintext_hash):
        raise AttachmentMismatch(f"attachment {attachment.name} is whole, but is not the content the backup means")
    if last:
        yield last


def _unreadable(attachment: AttachmentKey, error: OSError) -> AttachmentDamaged:
    return AttachmentDamaged(f"attachment {attachment.name} cannot be read: {error.strerror}")


def _too_short(attachment: AttachmentKey) -> AttachmentTooShort:
    return AttachmentTooShort(
        f"attachment {attachment.name} is whole, but holds fewer than the {attachment.size} bytes the backup gives"
    )


def encrypt_attachment(
    source: BinaryIO, target: Sink, local_key: LocalKey, *, iv: bytes | None = None
) -> AttachmentKey:
    """Write the encrypted file of an attachment; return the reference that goes into the backup."""
    digest = hashlib.sha256()
    size = 0
    with Sealer(target, local_key.cipher_keys(), iv=iv) as sealer:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            sealer.write(chunk)
            size += len(chunk)
    return AttachmentKey(local_key, digest.digest(), size)
