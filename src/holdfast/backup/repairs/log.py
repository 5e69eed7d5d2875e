"""The change log of a repair: the original of each changed frame, from which the original is restored.

It is a JSON document with parts of the backup, and as private as the backup itself.
"""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from holdfast.backup.container.atomic_write import write_atomically
from holdfast.backup.errors import LogRefused
from holdfast.redacted_repr import redacted

__all__ = [
    "VERSION",
    "ChangeLog",
    "KeptOriginal",
    "LoggedChange",
    "LostBytes",
    "RepairLogEntry",
    "StreamDigest",
    "default_log_path",
    "read_log",
    "write_log",
]

VERSION: Final = 1
MAX_LOG_SIZE: Final = 1 << 30


@redacted
class StreamDigest(msgspec.Struct, frozen=True):
    """Size and hash of a plain stream, which identify it."""

    frames: int
    bytes: int
    sha256: str


@redacted
class RepairLogEntry(msgspec.Struct, frozen=True):
    """The reason of a change: the violated rule, the path of the field, and the repair."""

    rule: str
    path: str
    repair: str


@redacted
class LoggedChange(msgspec.Struct, frozen=True):
    """A changed frame of the original.

    `frame` is its number in the original, `before` the original record with its length prefix in base64, and
    `records` the number of records that replace it.
    """

    frame: int
    before: str
    records: int
    repairs: tuple[RepairLogEntry, ...]

    def record(self) -> bytes:
        """Return the original record."""
        return base64.b64decode(self.before, validate=True)


@redacted
class LostBytes(msgspec.Struct, frozen=True):
    """Bytes of the original that could not be read as records.

    They were at `offset`, before the readable frame with the number `frame`; `data` is in base64.
    """

    frame: int
    offset: int
    data: str

    def content(self) -> bytes:
        """Return the bytes."""
        return base64.b64decode(self.data, validate=True)


@redacted
class KeptOriginal(msgspec.Struct, frozen=True):
    """The copy of the original file next to the log: name, size and hash."""

    name: str
    bytes: int
    sha256: str


@redacted
class ChangeLog(msgspec.Struct, frozen=True, kw_only=True):
    """All changes in the order of the original, the unreadable bytes, and the digests of both streams.

    `kept` is set if the container file was damaged too; then the original is that file.
    """

    version: int = VERSION
    profile: str
    edition: str
    purpose: str
    original: StreamDigest
    repaired: StreamDigest
    changes: tuple[LoggedChange, ...]
    lost: tuple[LostBytes, ...] = ()
    kept: KeptOriginal | None = None


def default_log_path(target: Path) -> Path:
    """Return the default path of the log: next to the repaired backup."""
    return target.with_name(f"{target.name}.changes.json")


@contextmanager
def write_log(path: Path, log: ChangeLog, *, replace: bool = False) -> Iterator[None]:
    """Write a log; it is renamed to its path when the block succeeds, and deleted when it fails."""
    with write_atomically(path, replace=replace) as target:
        target.write(msgspec.json.format(msgspec.json.encode(log), indent=1))
        yield


def read_log(path: Path) -> ChangeLog:
    """Read and validate a log."""
    try:
        with path.open("rb") as source:
            data = source.read(MAX_LOG_SIZE + 1)
    except OSError as error:
        raise LogRefused(f"the change log {path} cannot be read: {error.strerror}") from error
    if len(data) > MAX_LOG_SIZE:
        raise LogRefused(f"the change log {path} is far too large to be one")
    try:
        log = msgspec.json.decode(data, type=ChangeLog)
        for change in log.changes:
            change.record()
        for lost in log.lost:
            lost.content()
    except ValueError:
        raise LogRefused(f"{path} is not the change log of a repair") from None
    if log.version != VERSION:
        raise LogRefused(f"the change log {path} is of version {log.version}; this program knows {VERSION}")
    return log
