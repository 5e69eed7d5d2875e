"""What is in a backup, at a glance: its header, and how many records of each type."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from google.protobuf.message import DecodeError

from holdfast.backup.errors import UnreadableBackup
from holdfast.backup.schema import RECORDS, BackupInfo
from holdfast.backup.wire import FrameStream, Limits

__all__ = ["Header", "Info", "info"]

LOOKED_FOR = "looked for a plain frame stream: a length, a header, then frames"


@dataclass(frozen=True, slots=True)
class Header:
    """What a backup says about itself, without its key and its debug data."""

    version: int
    made_at_ms: int
    app_version: str
    first_app_version: str

    @property
    def made_at(self) -> datetime | None:
        """When it was made, or None when the header's number is no date."""
        try:
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=self.made_at_ms)
        except OverflowError:
            return None


@dataclass(frozen=True, slots=True)
class Info:
    """A backup at a glance; `counts` has every record type by its name, also those that do not occur."""

    header: Header
    counts: Mapping[str, int]
    empty_frames: int
    bytes: int

    @property
    def frames(self) -> int:
        """The number of frames, without the header."""
        return sum(self.counts.values()) + self.empty_frames


def info(
    source: str | PathLike[str] | BinaryIO,
    *,
    limits: Limits | None = None,
    progress: Callable[[int], None] | None = None,
) -> Info:
    """Read a plain frame stream, from a path or an open file, and say what is in it.

    `progress` is called with the number of bytes read so far.
    """
    with ExitStack() as stack:
        if isinstance(source, str | PathLike):
            source = stack.enter_context(open_file(Path(source)))
        stream = FrameStream(source, limits=limits, progress=progress)
        header = read_header(stream.header)
        tally = stream.tally()
    counts = dict(zip(RECORDS[1:], tally.by_kind[1:], strict=True))
    return Info(header, counts, tally.by_kind[0], tally.bytes)


def open_file(path: Path) -> BinaryIO:
    """Open a file, or say in words why that is not possible."""
    try:
        return path.open("rb")
    except IsADirectoryError as error:
        raise UnreadableBackup(f"{path} is a folder, not a file; {LOOKED_FOR}") from error
    except OSError as error:
        raise UnreadableBackup(f"{path} cannot be read: {error.strerror}") from error


def read_header(raw: bytes) -> Header:
    """Make sense of the first record.

    Almost any bytes parse as some message, so a header that knows none of its fields is taken for no header.
    """
    try:
        parsed = BackupInfo.FromString(raw)
    except DecodeError as error:
        raise UnreadableBackup(f"this is not a chat backup; {LOOKED_FOR}") from error
    if not parsed.ListFields():
        raise UnreadableBackup(f"this is not a chat backup: its first record is no header; {LOOKED_FOR}")
    return Header(parsed.version, parsed.backupTimeMs, parsed.currentAppVersion, parsed.firstAppVersion)
