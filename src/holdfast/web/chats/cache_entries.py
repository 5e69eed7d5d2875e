"""What is known of a conversation in the cache: where it came from, whose it is, and what state it is in."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from holdfast.settings import Settings
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
]

MB: Final = 1 << 20


class CacheLimits(msgspec.Struct, frozen=True):
    """How many bytes all conversations together and those of one owner may take, and what an import may."""

    total: int
    per_owner: int
    per_hour: int
    imports: ImportLimits

    @classmethod
    def of(cls, settings: Settings) -> "CacheLimits":
        """Take them from the settings."""
        total, per_owner = settings.chat_cache_mb * MB, settings.chat_cache_owner_mb * MB
        output = min(settings.chat_import_output_mb * MB, total, per_owner)
        imports = ImportLimits(settings.chat_import_memory_mb * MB, settings.chat_import_seconds, output)
        return cls(total, per_owner, settings.chat_imports_per_hour, imports)


class FileOrigin(msgspec.Struct, frozen=True):
    """Where a file lies in a repository."""

    repository: int
    owner: int
    public: bool
    kind: str
    ref: str
    path: bytes
    blob: str


class CacheEntry(msgspec.Struct, frozen=True):
    """What is known of a conversation in the cache: whose it is, where it came from and who may look at it."""

    content: str
    origin: FileOrigin | None = None
    browser: str = ""
    """Names the browser that alone can read it, for one that is sealed."""
    account: int | None = None
    session: str = ""
    viewer: str = ""
    """The kind of viewer that began it."""
    starter: str = ""
    """Names whoever began it."""
    size: int = 0

    @property
    def owner(self) -> int:
        """The account whose share of the room it takes; 0 is the shelf."""
        return 0 if self.origin is None else self.origin.owner


@dataclass(frozen=True, slots=True)
class ConversationSource:
    """A file to show: `content` names its bytes, `write` puts them into a file unless they lie at `path`."""

    content: str
    name: str
    kind: FileKind
    path: Path | None = None
    write: Callable[[Path], None] | None = None
    origin: FileOrigin | None = None


@dataclass(frozen=True, slots=True)
class ImportReady:
    """It can be shown."""

    room: OpenArchive


@dataclass(frozen=True, slots=True)
class ImportRunning:
    """It is being brought in."""

    progress: ImportProgress


@dataclass(frozen=True, slots=True)
class ImportFailed:
    """It cannot be shown."""

    problem: str


@dataclass(frozen=True, slots=True)
class KeyRequired:
    """It is encrypted; `problem` tells what was wrong with the key that was given."""

    problem: str = ""


@dataclass(frozen=True, slots=True)
class ImportNotStarted:
    """Nobody has had it brought in, and whoever looks may not."""


State = ImportReady | ImportRunning | ImportFailed | KeyRequired | ImportNotStarted
