"""The change log of a repair: every frame as it was before, so that the original can be put together again.

It is one JSON document, as private as the backup itself, since it holds pieces of it.
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
    """A plain stream by its size and its hash, which say whether two are the same."""

    frames: int
    bytes: int
    sha256: str


@redacted
class RepairLogEntry(msgspec.Struct, frozen=True):
    """Why a frame was changed: the rule it broke, the field it broke it with, and what was done about it."""

    rule: str
    path: str
    repair: str


@redacted
class LoggedChange(msgspec.Struct, frozen=True):
    """One place of the original that was changed.

    `frame` is its number in the original, `before` what stood there, with its length, in base64, and `records` how
    many records stand there now.
    """

    frame: int
    before: str
    records: int
    repairs: tuple[RepairLogEntry, ...]

    def record(self) -> bytes:
        """Return what stood there."""
        return base64.b64decode(self.before, validate=True)


@redacted
class LostBytes(msgspec.Struct, frozen=True):
    """Bytes of the original in which no record could be read.

    They stood at `offset`, before the frame that has the number `frame` when they are not counted; `data` is in
    base64.
    """

    frame: int
    offset: int
    data: str

    def content(self) -> bytes:
        """Return the bytes."""
        return base64.b64decode(self.data, validate=True)


@redacted
class KeptOriginal(msgspec.Struct, frozen=True):
    """The original file, kept beside the log under a name, by its size and its hash."""

    name: str
    bytes: int
    sha256: str


@redacted
class ChangeLog(msgspec.Struct, frozen=True, kw_only=True):
    """All changes, in the order of the original, what could not be read, and the streams they lie between.

    `kept` is set where the file around the stream was damaged too, and the original is that file.
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
    """Name the log of a repaired backup, beside it."""
    return target.with_name(f"{target.name}.changes.json")


@contextmanager
def write_log(path: Path, log: ChangeLog, *, replace: bool = False) -> Iterator[None]:
    """Write a log that gets its name once the block is done: there is none of a repair that failed."""
    with write_atomically(path, replace=replace) as target:
        target.write(msgspec.json.format(msgspec.json.encode(log), indent=1))
        yield


def read_log(path: Path) -> ChangeLog:
    """Read a log."""
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
