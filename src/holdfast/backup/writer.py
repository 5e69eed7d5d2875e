"""Writes backups in every form that can be read.

A `BackupWriter` takes the header and then the frames. It checks the ordering rules, unless a tool that must
reproduce an invalid file turns that off. It writes to a target; there is one class per form, and each writes
atomically.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from holdfast.backup.container.atomic_write import sync_folder, write_atomically
from holdfast.backup.container.chunks import Sink
from holdfast.backup.container.cipher import encrypt
from holdfast.backup.container.folder import MAIN, MANIFEST, METADATA, UNFINISHED
from holdfast.backup.container.gunzip import GzipWriter
from holdfast.backup.container.manifest import write_manifest
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.container.metadata import ForwardSecrecy, LocalMetadata, TokenPair
from holdfast.backup.container.private import make_private_folder
from holdfast.backup.dates import moment
from holdfast.backup.errors import KeyIncomplete, TargetRefused, UnwritableBackup
from holdfast.backup.order import OrderChecker
from holdfast.backup.public import public
from holdfast.backup.schema import BackupInfo
from holdfast.backup.schema import Frame as FrameMessage
from holdfast.backup.wire import Block, Names, frame_to_json, header_to_json, to_json_lines
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.varint import encode_varint

__all__ = ["BackupWriter", "write_array", "write_container", "write_lines", "write_snapshot", "write_stream"]


class RecordTarget(Protocol):
    """Writes records in one form."""

    def header(self, raw: bytes) -> None:
        """Write the header."""

    def frame(self, raw: bytes) -> None:
        """Write a frame."""

    def block(self, block: Block) -> None:
        """Write many frames at once."""


@public
class BackupWriter:
    """Writes a backup record by record; returned by the functions below.

    With `unchecked`, frames are written in any order, and malformed ones too.
    """

    def __init__(self, target: RecordTarget, header: bytes | BackupInfo, *, unchecked: bool = False) -> None:
        self._target = target
        self._order = None if unchecked else OrderChecker()
        target.header(header if isinstance(header, bytes) else header.SerializeToString(deterministic=True))

    def write(self, frame: bytes | FrameMessage) -> None:
        """Write one frame; raises `OrderBroken`, and writes nothing, if it breaks an ordering rule."""
        raw = frame if isinstance(frame, bytes) else frame.SerializeToString(deterministic=True)
        if self._order is not None:
            self._order.check(raw)
        self._target.frame(raw)

    def write_block(self, block: Block) -> None:
        """Write the frames of a block, in one call if they need not be checked."""
        if self._order is None:
            self._target.block(block)
        else:
            for frame in block:
                self.write(frame.raw)


class StreamTarget:
    """Length-prefixed records."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def header(self, raw: bytes) -> None:
        """Write the header."""
        self.frame(raw)

    def frame(self, raw: bytes) -> None:
        """Write a record with its length prefix."""
        self._sink.write(encode_varint(len(raw)) + raw)

    def block(self, block: Block) -> None:
        """Write frames unchanged."""
        self._sink.write(block.data)


class LinesTarget:
    """JSON Lines."""

    def __init__(self, sink: Sink, names: Names) -> None:
        self._sink = sink
        self._names = names

    def header(self, raw: bytes) -> None:
        """Write the first line."""
        self._sink.write(header_to_json(raw, self._names) + b"\n")

    def frame(self, raw: bytes) -> None:
        """Write a line."""
        self._sink.write(frame_to_json(raw, self._names) + b"\n")

    def block(self, block: Block) -> None:
        """Write many lines, converted without message objects."""
        lines = to_json_lines(block.data, 0, NO_CAP, self._names)
        if lines.fault:
            raise block.damaged(lines.fault, lines.frames, lines.at)
        self._sink.write(lines.text)


class ArrayTarget:
    """An array of records in JSON, one a line."""

    def __init__(self, sink: Sink, names: Names) -> None:
        self._sink = sink
        self._names = names

    def header(self, raw: bytes) -> None:
        """Begin the array."""
        self._sink.write(b"[\n" + header_to_json(raw, self._names))

    def frame(self, raw: bytes) -> None:
        """Write the next record."""
        self._sink.write(b",\n" + frame_to_json(raw, self._names))

    def block(self, block: Block) -> None:
        """Write many records, one per line; no record contains a line break."""
        lines = to_json_lines(block.data, 0, NO_CAP, self._names)
        if lines.fault:
            raise block.damaged(lines.fault, lines.frames, lines.at)
        self._sink.write(b",\n" + lines.text.rstrip(b"\n").replace(b"\n", b",\n"))

    def finish(self) -> None:
        """End the array."""
        self._sink.write(b"\n]\n")


@contextmanager
def sink_at(target: Path | BinaryIO, *, replace: bool = False) -> Iterator[BinaryIO]:
    """Open a path for an atomic write; an open file is used directly."""
    if isinstance(target, Path):
        with write_atomically(target, replace=replace) as file:
            yield file
    else:
        yield target
        target.flush()


@contextmanager
def write_stream(
    target: Path | BinaryIO, header: bytes | BackupInfo, *, unchecked: bool = False, replace: bool = False
) -> Iterator[BackupWriter]:
    """Write a plain frame stream; an existing file is an error, unless `replace` is set."""
    with sink_at(target, replace=replace) as sink:
        yield BackupWriter(StreamTarget(sink), header, unchecked=unchecked)


@contextmanager
def write_lines(
    target: Path | BinaryIO,
    header: bytes | BackupInfo,
    *,
    names: Names = "spec",
    unchecked: bool = False,
    replace: bool = False,
) -> Iterator[BackupWriter]:
    """Write JSON Lines."""
    with sink_at(target, replace=replace) as sink:
        yield BackupWriter(LinesTarget(sink, names), header, unchecked=unchecked)


@contextmanager
def write_array(
    target: Path | BinaryIO,
    header: bytes | BackupInfo,
    *,
    names: Names = "spec",
    unchecked: bool = False,
    replace: bool = False,
) -> Iterator[BackupWriter]:
    """Write an array of records in JSON."""
    with sink_at(target, replace=replace) as sink:
        array = ArrayTarget(sink, names)
        yield BackupWriter(array, header, unchecked=unchecked)
        array.finish()


@contextmanager
def write_container(
    target: Path | BinaryIO,
    header: bytes | BackupInfo,
    keys: KeyMaterial,
    *,
    forward_secrecy: ForwardSecrecy | None = None,
    unchecked: bool = False,
    replace: bool = False,
    level: int = 6,
) -> Iterator[BackupWriter]:
    """Write an encrypted container, padded as clients do.

    If the keys have a forward-secrecy token, it has the modern layout. Its metadata is `forward_secrecy`, the
    token encrypted by the account's server; without it, random bytes are written instead, and the token itself is
    needed to open the file.
    """
    modern = keys.token is not None or forward_secrecy is not None
    secret = keys.message_keys(modern=modern)
    metadata = (forward_secrecy or made_up_metadata()) if modern else None
    with (
        sink_at(target, replace=replace) as sink,
        encrypt(sink, secret, forward_secrecy=metadata) as sealer,
        GzipWriter(sealer, level=level) as plain,
    ):
        yield BackupWriter(StreamTarget(plain), header, unchecked=unchecked)


@contextmanager
def write_snapshot(
    folder: Path,
    header: bytes | BackupInfo,
    keys: KeyMaterial,
    media_names: list[str],
    *,
    unchecked: bool = False,
    level: int = 6,
) -> Iterator[BackupWriter]:
    """Write a snapshot of a local folder: metadata, main and manifest, named after the time of the backup.

    `media_names` are the names of its attachment files in the content store; names may be added until the block
    ends. The snapshot is renamed into place when it is complete.
    """
    root, backup_id = keys.root(), keys.own_backup_id()
    if root is None or backup_id is None:
        missing = "the account id" if root is not None else "the recovery key and the account id"
        raise KeyIncomplete(f"to write a local folder, give {missing}", missing=(missing,))
    final = folder / snapshot_name(header)
    part = final.with_name(final.name + UNFINISHED)
    with ExitStack() as stack:
        try:
            if final.exists():
                raise TargetRefused(f"{final} exists already; move it away, or name another folder")
            make_private_folder(part)
            stack.callback(clear, part)
            metadata = LocalMetadata.seal(backup_id, root.local_metadata_key())
            with write_atomically(part / METADATA, replace=True) as target:
                target.write(metadata.to_bytes())
            local = KeyMaterial(backup_key=root, backup_id=backup_id)
            with write_container(
                part / MAIN, header, local, unchecked=unchecked, replace=True, level=level
            ) as writer:
                yield writer
            with write_atomically(part / MANIFEST, replace=True) as target:
                write_manifest(target, media_names)
            part.rename(final)
            sync_folder(folder)
        except OSError as error:
            raise UnwritableBackup(f"{final} cannot be written: {error.strerror}") from error


def clear(part: Path) -> None:
    """Remove an unfinished snapshot, if there is one."""
    if part.is_dir():
        for name in (METADATA, MAIN, MANIFEST):
            (part / name).unlink(missing_ok=True)
        part.rmdir()


def snapshot_name(header: bytes | BackupInfo) -> str:
    """Return the name of a snapshot, made of the time of its backup."""
    parsed = BackupInfo.FromString(header) if isinstance(header, bytes) else header
    made_at = moment(parsed.backupTimeMs) or moment(0)
    return f"signal-backup-{made_at:%Y-%m-%d-%H-%M-%S}"


def made_up_metadata() -> ForwardSecrecy:
    """Return metadata with random bytes in place of an encrypted token."""
    return ForwardSecrecy.build((TokenPair(os.urandom(48), os.urandom(32)),), os.urandom(12))
