"""The two metadata records that are needed to decrypt a backup.

A remote backup has `ForwardSecrecy` before its ciphertext; a local folder has the file `metadata`. Neither is
authenticated, so they are used only to derive keys.
"""

import os
from dataclasses import dataclass
from typing import Final, Self

from google.protobuf.message import DecodeError

from holdfast.backup.container.keys import BackupId, LocalMetadataKey
from holdfast.backup.errors import DamagedContainer, UnreadableBackup
from holdfast.backup.parts import Part
from holdfast.backup.schema import local_pb2
from holdfast.redacted_repr import redacted

__all__ = ["FORWARD_SECRECY_LIMIT", "ForwardSecrecy", "LocalMetadata", "TokenPair"]

FORWARD_SECRECY_LIMIT: Final = 16 * 1024
LOCAL_VERSION: Final = 1

PAIR_COUNTS: Final = (1, 2)
CIPHERTEXT_SIZE: Final = 48
SALT_SIZE: Final = 32
IV_SIZE: Final = 12
COUNTER_SIZE: Final = 4


@redacted
@dataclass(frozen=True, slots=True)
class TokenPair:
    """An encrypted forward-secrecy token and the salt of its key."""

    ciphertext: bytes
    salt: bytes


@redacted
@dataclass(frozen=True, slots=True)
class ForwardSecrecy:
    """The unencrypted metadata of a remote backup about its token; `raw` is the record as written."""

    pairs: tuple[TokenPair, ...]
    iv: bytes
    raw: bytes

    @classmethod
    def parse(cls, raw: bytes, *, offset: int = 0) -> Self:
        """Parse the record at `offset` of its file; unknown fields are preserved in `raw`."""

        def damaged(problem: str) -> DamagedContainer:
            return DamagedContainer(f"the forward-secrecy metadata {problem}", part=Part.TOKENS, offset=offset)

        if len(raw) > FORWARD_SECRECY_LIMIT:
            raise damaged(f"is {len(raw)} bytes long, more than the {FORWARD_SECRECY_LIMIT} allowed")
        try:
            message = local_pb2.ForwardSecrecyMetadata.FromString(raw)
        except DecodeError:
            raise damaged("is not a readable record") from None
        if len(message.pair) not in PAIR_COUNTS:
            raise damaged(f"has {len(message.pair)} tokens where one or two belong")
        for pair in message.pair:
            if len(pair.ct) != CIPHERTEXT_SIZE:
                raise damaged(f"has a token of {len(pair.ct)} bytes where {CIPHERTEXT_SIZE} belong")
            if len(pair.pwSalt) != SALT_SIZE:
                raise damaged(f"has a salt of {len(pair.pwSalt)} bytes where {SALT_SIZE} belong")
        if len(message.iv) != IV_SIZE:
            raise damaged(f"has an iv of {len(message.iv)} bytes where {IV_SIZE} belong")
        return cls(tuple(TokenPair(pair.ct, pair.pwSalt) for pair in message.pair), message.iv, raw)

    @classmethod
    def build(cls, pairs: tuple[TokenPair, ...], iv: bytes) -> Self:
        """Build a record; the checks are those of `parse`."""
        message = local_pb2.ForwardSecrecyMetadata(iv=iv)
        for pair in pairs:
            message.pair.add(ct=pair.ciphertext, pwSalt=pair.salt)
        return cls.parse(message.SerializeToString(deterministic=True))


# Advice if the file is missing or damaged.
WITHOUT_METADATA: Final = (
    "give the account id beside the recovery key (--account-id, or a line `account-id = ...` in the key file), "
    "and the backup opens without it"
)


@redacted
@dataclass(frozen=True, slots=True)
class LocalMetadata:
    """The file `metadata` of a local snapshot: the encrypted backup id, so that a recovery key alone is enough."""

    iv: bytes
    encrypted_id: bytes

    @classmethod
    def parse(cls, raw: bytes) -> Self:
        """Parse the file."""

        def damaged(problem: str) -> DamagedContainer:
            return DamagedContainer(
                f"the local metadata {problem}; {WITHOUT_METADATA}", part=Part.METADATA, offset=0
            )

        try:
            message = local_pb2.Metadata.FromString(raw)
        except DecodeError:
            raise damaged("is not a readable record") from None
        if message.version > LOCAL_VERSION:
            raise UnreadableBackup(
                f"the local backup is of version {message.version}; this program reads version {LOCAL_VERSION}"
            )
        if message.version != LOCAL_VERSION:
            raise damaged("does not say which version it is")
        iv, encrypted_id = message.backupId.iv, message.backupId.encryptedId
        if len(iv) not in {IV_SIZE, IV_SIZE + COUNTER_SIZE}:
            raise damaged(f"has an iv of {len(iv)} bytes where {IV_SIZE} belong")
        if len(encrypted_id) != BackupId.SIZE:
            raise damaged(f"has a backup id of {len(encrypted_id)} bytes where {BackupId.SIZE} belong")
        return cls(iv, encrypted_id)

    @classmethod
    def seal(cls, backup_id: BackupId, key: LocalMetadataKey, *, iv: bytes | None = None) -> Self:
        """Encrypt a backup id for a new snapshot; the iv is random by default."""
        iv = os.urandom(IV_SIZE) if iv is None else iv
        return cls(iv, _counter_mode(backup_id.reveal(), key, iv))

    def backup_id(self, key: LocalMetadataKey) -> BackupId:
        """Decrypt the backup id. There is no MAC: a wrong key gives a wrong id."""
        return BackupId(_counter_mode(self.encrypted_id, key, self.iv))

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        sealed = local_pb2.Metadata.EncryptedBackupId(iv=self.iv, encryptedId=self.encrypted_id)
        message = local_pb2.Metadata(version=LOCAL_VERSION, backupId=sealed)
        return message.SerializeToString(deterministic=True)


def _counter_mode(data: bytes, key: LocalMetadataKey, iv: bytes) -> bytes:
    """Encrypt or decrypt with AES-CTR: a counter from 0 follows the iv, unless the iv has 16 bytes."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    block = iv.ljust(IV_SIZE + COUNTER_SIZE, b"\0")
    return Cipher(algorithms.AES256(key.reveal()), modes.CTR(block)).encryptor().update(data)
