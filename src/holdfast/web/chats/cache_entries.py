"""Records and import states of the conversation cache."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from holdfast.settings import Settings
from holdfast.web.chats.encrypted_media import EncryptedMedia
from holdfast.web.chats.file_kinds import FileKind
from holdfast.web.chats.import_worker import ImportLimits, ImportProgress
from holdfast.web.chats.open_archive import OpenArchive

__all__ = [
    "CacheEntry",
    "CacheLimits",
    "ConversationSource",
    "FileOrigin",
    "ImportFailed",
    "ImportNotStarted",
    "ImportReady",
    "ImportRunning",
    "KeyRequired",
    "State",
    "UploadOrigin",
]

MB: Final = 1 << 20


class CacheLimits(msgspec.Struct, frozen=True):
    """The limits of the cache: bytes in total and per owner, imports per hour, and resources of one import."""

    total: int
    per_owner: int
    per_hour: int
    imports: ImportLimits

    @classmethod
    def of(cls, settings: Settings) -> "CacheLimits":
        """Return the limits of the settings."""
        total, per_owner = settings.chat_cache_mb * MB, settings.chat_cache_owner_mb * MB
        output = min(settings.chat_import_output_mb * MB, total, per_owner)
        imports = ImportLimits(settings.chat_import_memory_mb * MB, settings.chat_import_seconds, output)
        return cls(total, per_owner, settings.chat_imports_per_hour, imports)


class FileOrigin(msgspec.Struct, frozen=True, tag="file"):
    """The repository file a conversation was imported from."""

    repository: int
    owner: int
    public: bool
    kind: str
    ref: str
    path: bytes
    blob: str

    @property
    def place(self) -> str:
        """What it is in: the same content elsewhere is another entry."""
        return str(self.repository)


class UploadOrigin(msgspec.Struct, frozen=True, tag="upload"):
    """The uploaded backup a conversation was imported from, and its owner."""

    backup: int
    owner: int

    @property
    def place(self) -> str:
        """What it is in: the same content elsewhere is another entry."""
        return f"upload {self.backup}"


class CacheEntry(msgspec.Struct, frozen=True):
    """The record of a cache entry: its content, its origin, and who may read it."""

    content: str
    origin: FileOrigin | UploadOrigin | None = None
    browser: str = ""
    """The id of the only browser that can decrypt it, for an encrypted entry."""
    account: int | None = None
    session: str = ""
    viewer: str = ""
    """The kind of viewer that started the import."""
    starter: str = ""
    """The rate-limit name of the viewer that started the import."""
    size: int = 0

    @property
    def owner(self) -> int:
        """The account whose quota it counts against; 0 is the data folder."""
        return 0 if self.origin is None else self.origin.owner


@dataclass(frozen=True, slots=True)
class ConversationSource:
    """A file or folder to import: `content` identifies it, `write` copies it to a path unless it is at `path`.

    `media` opens the encrypted attachments of a folder that is not at `path`.
    """

    content: str
    name: str
    kind: FileKind
    path: Path | None = None
    write: Callable[[Path], None] | None = None
    origin: FileOrigin | UploadOrigin | None = None
    media: Callable[[], EncryptedMedia | None] | None = None


@dataclass(frozen=True, slots=True)
class ImportReady:
    """The conversation is imported; `opened` reads it."""

    opened: OpenArchive


@dataclass(frozen=True, slots=True)
class ImportRunning:
    """The import is running."""

    progress: ImportProgress


@dataclass(frozen=True, slots=True)
class ImportFailed:
    """The import failed."""

    problem: str


@dataclass(frozen=True, slots=True)
class KeyRequired:
    """The backup is encrypted and needs a key; `problem` says why the last one failed."""

    problem: str = ""


@dataclass(frozen=True, slots=True)
class ImportNotStarted:
    """The conversation is not imported, and the viewer may not start an import."""


State = ImportReady | ImportRunning | ImportFailed | KeyRequired | ImportNotStarted
