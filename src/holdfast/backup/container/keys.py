"""The keys of a backup, and how one is derived from another.

    EntropyPool ──> BackupKey ─┬─> BackupId (with the account id)
                               ├─> MessageKeys (with the BackupId, and the token for remote backups)
                               └─> LocalMetadataKey
    MediaRootKey ──> MediaId ────> MediaKeys

The repr of a key never shows its value. `reveal` is called only where the value is used.
"""

from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import ClassVar, Final, Self, final
from uuid import UUID

from holdfast.backup.container.key_formats import read_bytes, read_pool
from holdfast.backup.errors import KeyRefused
from holdfast.secret import MASK

__all__ = [
    "BackupId",
    "BackupKey",
    "CipherKeys",
    "EntropyPool",
    "ForwardSecrecyToken",
    "KeyBytes",
    "LocalMetadataKey",
    "MasterKey",
    "MediaId",
    "MediaKeys",
    "MediaRootKey",
    "MessageKeys",
    "remote_media_name",
]

BACKUP_KEY: Final = b"20240801_SIGNAL_BACKUP_KEY"
MASTER_KEY: Final = b"20240801_SIGNAL_SVR_MASTER_KEY"
BACKUP_ID: Final = b"20241024_SIGNAL_BACKUP_ID:"
MESSAGES: Final = b"20241007_SIGNAL_BACKUP_ENCRYPT_MESSAGE_BACKUP:"
MESSAGES_WITH_TOKEN: Final = b"20250708_SIGNAL_BACKUP_ENCRYPT_MESSAGE_BACKUP:"
LOCAL_METADATA: Final = b"20241011_SIGNAL_LOCAL_BACKUP_METADATA_KEY"
MEDIA_ID: Final = b"20241007_SIGNAL_BACKUP_MEDIA_ID:"
MEDIA: Final = b"20241007_SIGNAL_BACKUP_ENCRYPT_MEDIA:"
THUMBNAIL: Final = b"20241030_SIGNAL_BACKUP_ENCRYPT_THUMBNAIL:"


def _derive(secret: bytes, info: bytes, size: int, salt: bytes | None = None) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415  # loaded when it is needed, so that commands start at once
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    return HKDF(algorithm=SHA256(), length=size, salt=salt, info=info).derive(secret)


@dataclass(frozen=True, slots=True, repr=False)
class KeyBytes:
    """Bytes of a fixed length whose repr does not show them."""

    SIZE: ClassVar[int]
    WHAT: ClassVar[str]

    _value: bytes

    def __post_init__(self) -> None:
        if len(self._value) != self.SIZE:
            raise KeyRefused(f"{self.WHAT} is {self.SIZE} bytes, but {len(self._value)} were given")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the key from hexadecimal or base64."""
        return cls(read_bytes(text, cls.SIZE, cls.WHAT))

    def reveal(self) -> bytes:
        """Return the value; call this only where the value is used."""
        return self._value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({MASK!r})"

    def __reduce__(self) -> str:
        raise TypeError("a key cannot be serialised")


@dataclass(frozen=True, slots=True, repr=False)
class CipherKeys:
    """The keys of one encryption: an HMAC key and an AES key."""

    hmac: bytes
    aes: bytes

    def __post_init__(self) -> None:
        for label, key in (("an HMAC key", self.hmac), ("an AES key", self.aes)):
            if len(key) != 32:
                raise KeyRefused(f"{label} is 32 bytes, but {len(key)} were given")

    @classmethod
    def split(cls, both: bytes) -> Self:
        """Split 64 derived bytes, the HMAC key first."""
        return cls(hmac=both[:32], aes=both[32:])

    @classmethod
    def parse(cls, *, hmac: str, aes: str) -> Self:
        """Parse the two keys from hexadecimal or base64."""
        return cls(hmac=read_bytes(hmac, 32, "an HMAC key"), aes=read_bytes(aes, 32, "an AES key"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({MASK!r})"

    def __reduce__(self) -> str:
        raise TypeError("a key cannot be serialised")


@final
class MessageKeys(CipherKeys):
    """The keys of a backup container."""

    __slots__ = ()


@final
class MediaKeys(CipherKeys):
    """The keys of an attachment, or of its thumbnail, in the remote media store."""

    __slots__ = ()


@final
class ForwardSecrecyToken(KeyBytes):
    """The token that a remote backup needs besides the account's keys; only the server can issue it."""

    __slots__ = ()
    SIZE = 32
    WHAT = "a forward-secrecy token"


@final
class BackupId(KeyBytes):
    """The id of an account's backup."""

    __slots__ = ()
    SIZE = 16
    WHAT = "a backup id"


@final
class LocalMetadataKey(KeyBytes):
    """The key of the backup id in the metadata file of a local folder."""

    __slots__ = ()
    SIZE = 32
    WHAT = "a local metadata key"


@final
class MasterKey(KeyBytes):
    """The master key of the account; backups are not encrypted with it."""

    __slots__ = ()
    SIZE = 32
    WHAT = "a master key"


@final
class BackupKey(KeyBytes):
    """The root key of a backup's encryption; a device transfer uses a random one."""

    __slots__ = ()
    SIZE = 32
    WHAT = "a backup key"

    def backup_id(self, aci: UUID) -> BackupId:
        """Derive the id of an account's backup."""
        return BackupId(_derive(self.reveal(), BACKUP_ID + aci.bytes, BackupId.SIZE))

    def message_keys(self, backup_id: BackupId, token: ForwardSecrecyToken | None = None) -> MessageKeys:
        """Derive the keys of a container: of the modern layout with a token, of the legacy layout without."""
        if token is None:
            return MessageKeys.split(_derive(self.reveal(), MESSAGES + backup_id.reveal(), 64))
        info = MESSAGES_WITH_TOKEN + backup_id.reveal()
        return MessageKeys.split(_derive(self.reveal(), info, 64, salt=token.reveal()))

    def local_metadata_key(self) -> LocalMetadataKey:
        """Derive the key of a local folder's metadata file."""
        return LocalMetadataKey(_derive(self.reveal(), LOCAL_METADATA, LocalMetadataKey.SIZE))


@final
class EntropyPool(KeyBytes):
    """The recovery key: 64 letters and digits."""

    __slots__ = ()
    SIZE = 64
    WHAT = "a recovery key"

    def __post_init__(self) -> None:
        if read_pool(self._value.decode("latin-1")).encode() != self._value:
            raise KeyRefused("a recovery key is kept in lower case and without gaps; parse reads the other forms")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse it in any grouping and case, with or without the characters that apps display for o and 0."""
        return cls(read_pool(text).encode())

    def backup_key(self) -> BackupKey:
        """Derive the backup key."""
        return BackupKey(_derive(self.reveal(), BACKUP_KEY, BackupKey.SIZE))

    def master_key(self) -> MasterKey:
        """Derive the account's master key."""
        return MasterKey(_derive(self.reveal(), MASTER_KEY, MasterKey.SIZE))


@final
class MediaId(KeyBytes):
    """The id of an attachment in the remote media store."""

    __slots__ = ()
    SIZE = 15
    WHAT = "a media id"

    def text(self) -> str:
        """Return it in the encoding of the store."""
        return urlsafe_b64encode(self.reveal()).decode()


@final
class MediaRootKey(KeyBytes):
    """The root of all media keys: random, and stored in the header of the backup."""

    __slots__ = ()
    SIZE = 32
    WHAT = "a media root key"

    def media_id(self, media_name: str) -> MediaId:
        """Derive the id of an attachment in the store."""
        return MediaId(_derive(self.reveal(), MEDIA_ID + media_name.encode(), MediaId.SIZE))

    def media_keys(self, media_id: MediaId) -> MediaKeys:
        """Derive the keys of an attachment."""
        return MediaKeys.split(_derive(self.reveal(), MEDIA + media_id.reveal(), 64))

    def thumbnail_keys(self, media_id: MediaId) -> MediaKeys:
        """Derive the transfer keys of a thumbnail."""
        return MediaKeys.split(_derive(self.reveal(), THUMBNAIL + media_id.reveal(), 64))


def remote_media_name(plaintext_hash: bytes, key: bytes, *, thumbnail: bool = False) -> str:
    """Return the name of an attachment in the remote store, derived from its content and key."""
    return (plaintext_hash + key).hex() + ("_thumbnail" if thumbnail else "")
