"""The one door: opens a backup in whatever form it comes, by looking at its content and not at its name."""

import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Protocol, Self, TypeAlias

from google.protobuf.message import DecodeError

from holdfast.backup.container import GunzipLimits, KeyMaterial, LocalMetadata, decrypt, find_layout, gunzip
from holdfast.backup.container.chunks import CHUNK, as_file, read_chunks
from holdfast.backup.container.cipher import MAGIC
from holdfast.backup.container.faults import OnFault
from holdfast.backup.container.folder import (
    MAIN,
    METADATA,
    SnapshotFolder,
    find_snapshots,
    incomplete_snapshots,
    without_main,
)
from holdfast.backup.container.keyfile import read_keys
from holdfast.backup.container.keys import EntropyPool
from holdfast.backup.container.media import AttachmentStore, ExportMedia, FolderMedia
from holdfast.backup.container.takeout import ZipExport, find_export
from holdfast.backup.errors import (
    BackupError,
    DamagedContainer,
    FolderIncomplete,
    KeyIncomplete,
    UnreadableBackup,
    UnsupportedFormat,
    WrongKey,
)
from holdfast.backup.file_types import (
    LOOKED_FOR,
    is_random,
    is_utf8_text,
    refuse_binary,
    refuse_desktop_database,
    refuse_desktop_folder,
    refuse_json,
    refuse_text,
)
from holdfast.backup.public import public
from holdfast.backup.schema import BackupInfo
from holdfast.backup.wire import Block, Frame, FrameStream, StreamLimits, frames, walk
from holdfast.backup.wire.salvage import HEAD, OnGap, SalvagedStream, is_plain, is_record, length_at
from holdfast.backup.wire.stream import NO_CAP
from holdfast.redacted_repr import redacted

__all__ = ["Backup", "BackupSource", "Form", "open", "opened"]

LOOK: Final = 1 << 16
TEXT_LOOK: Final = 32
# How many frames behind a header without version or time vouch for it.
VOUCHERS: Final = 8
# A header has six fields; one that is longer than what is looked at is followed through this many.
MOST_FIELDS: Final = 1000
HEADER_TAGS: Final = frozenset({0x08, 0x10, 0x1A, 0x22, 0x2A, 0x32})
VERSION_TAG: Final = 0x08
TIME_TAG: Final = 0x10
# Where a gzip header has its flags, and the lowest value with one that means nothing.
GZIP_FLAGS: Final = 3
RESERVED_FLAGS: Final = 0x20
# An encrypted file without magic has an iv, whole blocks and a MAC, and looks like nothing else.
SMALLEST_SEALED: Final = 64


@public
class Form(StrEnum):
    """The forms a backup comes in."""

    STREAM = "frame stream"
    GZIP = "gzipped frame stream"
    GZIP_LINES = "gzipped JSON Lines"
    GZIP_ARRAY = "gzipped JSON array"
    CONTAINER = "encrypted backup"
    FOLDER = "local backup folder"
    LINES = "JSON Lines"
    ARRAY = "JSON array"
    EXPORT = "plaintext export"


# Those that a key opens.
ENCRYPTED_FORMS: Final = frozenset({Form.CONTAINER, Form.FOLDER})


class RecordSource(Protocol):
    """A header and the frames after it, whatever they are read from."""

    header: bytes

    @property
    def offset(self) -> int:
        """How many bytes of the plain stream were read so far."""

    def blocks(self) -> Iterator[Block]:
        """Yield the frames."""


@public
class Backup:
    """An opened backup: its header, and its frames each time they are asked for.

    Frames are read lazily, and from the start again for each iteration, except from standard input, which can be
    read once. `form` says what it was recognised as, `media` is where its attachments lie, if that is known;
    `recovery_keys` has the one that it is encrypted with.
    """

    form: Form
    name: str
    header: bytes
    size: int
    media: AttachmentStore | None

    def __init__(
        self,
        form: Form,
        name: str,
        start: Callable[[], RecordSource],
        close: ExitStack,
        *,
        media: AttachmentStore | None = None,
        snapshot: SnapshotFolder | None = None,
        again: bool = True,
        limits: StreamLimits | None = None,
    ) -> None:
        self.form = form
        self.name = name
        self.media = media
        self.snapshot = snapshot
        self.recovery_keys: tuple[EntropyPool, ...] = ()
        self.size = 0
        self._start = start
        self._limits = limits or StreamLimits()
        self._again = again
        self._turn = 0
        with close, reading(name):
            self._records: RecordSource | None = start()
            self.header = self._records.header
            check_header(self.header)
            self._close = close.pop_all()

    @property
    def repeatable(self) -> bool:
        """Whether the frames can be read more than once."""
        return self._again

    def blocks(self) -> Iterator[Block]:
        """Yield the frames in blocks; `size` is that of the plain stream once all were read.

        All iterations share one file, so a new one ends those that were begun before.
        """
        self._turn += 1
        turn = self._turn
        records, self._records = self._records, None
        if records is None and not self._again:
            raise UnreadableBackup(f"{self.name} can be read only once")
        with reading(self.name):
            records = records or self._start()
            frames = size = 0
            for block in records.blocks():
                frames += block.count
                size += len(block.data)
                self._limits.hold(frames, size)
                yield block
                if turn != self._turn:
                    raise UnreadableBackup(f"{self.name} was begun to be read anew before this reading was done")
        self.size = records.offset

    def __iter__(self) -> Iterator[Frame]:
        for block in self.blocks():
            yield from block

    def close(self) -> None:
        """Close whatever was opened."""
        self._close.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


# What functions that read a backup take: where it is, or one that is open already.
BackupSource: TypeAlias = str | PathLike[str] | BinaryIO | Backup


@redacted
@dataclass(frozen=True, slots=True)
class Opener:
    """What opening needs to know besides the place."""

    keys: KeyMaterial | None
    limits: StreamLimits
    gunzip: GunzipLimits
    progress: Callable[[int], None] | None
    on_edited: Callable[[int], None] | None
    on_fault: OnFault | None
    on_gap: OnGap | None
    keep_gaps: bool

    def read(self, plain: BinaryIO) -> RecordSource:
        """Read a plain stream from where it begins."""
        if self.on_gap is None:
            return FrameStream(plain, limits=self.limits, progress=self.progress)
        return SalvagedStream(plain, self.on_gap, keep=self.keep_gaps, limits=self.limits, progress=self.progress)

    def folder(self, path: Path) -> Backup:
        """Open a folder."""
        snapshots = find_snapshots(path)
        if snapshots:
            chosen = snapshots[0]
            if self.on_fault is not None:
                for incomplete in incomplete_snapshots(path):
                    if incomplete.name > chosen.path.name:
                        self.on_fault(without_main(incomplete))
            return self.snapshot(chosen)
        export = find_export(path)
        if export is None:
            for incomplete in incomplete_snapshots(path):
                raise without_main(incomplete)
            refuse_desktop_folder(path)
            raise UnreadableBackup(f"{path} is a folder, but no backup was found in it; looked for {LOOKED_FOR}")
        with ExitStack() as stack:
            source = stack.enter_context(export.open_lines())
            form = Form.EXPORT
            return Backup(
                form, str(path), self.lines(source), stack.pop_all(), media=ExportMedia(export), limits=self.limits
            )

    def snapshot(self, snapshot: SnapshotFolder) -> Backup:
        """Open one snapshot of a local folder."""
        with ExitStack() as stack:
            source = stack.enter_context(snapshot.open_main())
            start = self.sealed(source, snapshot.metadata)
            media = FolderMedia(snapshot.store, snapshot.root)
            name, form = str(snapshot.path), Form.FOLDER
            return Backup(form, name, start, stack.pop_all(), media=media, snapshot=snapshot, limits=self.limits)

    def file(self, source: BinaryIO, name: str, stack: ExitStack, beside: Path | None) -> Backup:
        """Open a file by what it begins with; `beside` is the folder it lies in."""
        again = source.seekable()
        if again:
            size: int | None = source.seek(0, io.SEEK_END)
            source.seek(0)
            head = b"".join(read_chunks(source, LOOK))
        else:
            size = None
            head, source = look(source)
        try:
            form = recognise(head, size, peeking(source) if again else None)
            if not again and form in {Form.CONTAINER, Form.EXPORT}:
                import tempfile  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

                # These have to be read from the end, or twice.
                spooled: BinaryIO = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # the stack closes it
                shutil.copyfileobj(source, spooled)
                source, again, size = spooled, True, spooled.tell()
                form = recognise(head, size, peeking(source))
        except UnsupportedFormat:
            raise
        except UnreadableBackup as refusal:
            if self.keys is None or size is None or size < SMALLEST_SEALED or not again:
                raise
            return Backup(
                Form.CONTAINER, name, self.cut(source, refusal), stack.pop_all(), again=again, limits=self.limits
            )
        if form is Form.CONTAINER and beside is not None and size is not None and not head.startswith(MAGIC):
            refuse_desktop_database(beside / Path(name).name, size)
        media: AttachmentStore | None = None
        if form is Form.CONTAINER:
            start = self.sealed(source, lambda: local_metadata(beside))
        elif form is Form.EXPORT:
            export = ZipExport.read(source, limits=self.gunzip)
            media = ExportMedia(export)

            def start() -> RecordSource:
                return self.read_lines(export.open_lines())

        elif form is Form.GZIP:
            return self.gzipped(source, name, stack, again=again)
        elif form is Form.LINES:
            start = self.lines(source)
        elif form is Form.ARRAY:
            start = self.array(source)
        else:
            start = self.stream(source)
        return Backup(form, name, start, stack.pop_all(), media=media, again=again, limits=self.limits)

    def stream(self, source: BinaryIO) -> Callable[[], RecordSource]:
        """Read a plain stream."""

        def start() -> RecordSource:
            rewind(source)
            return self.read(source)

        return start

    def lines(self, source: BinaryIO) -> Callable[[], RecordSource]:
        """Read JSON Lines."""

        def start() -> RecordSource:
            rewind(source)
            return self.read_lines(source)

        return start

    def read_lines(self, source: BinaryIO) -> RecordSource:
        """Read JSON Lines from where the source is."""
        from holdfast.backup.container.jsonrecords import JsonRecords, line_items  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

        items = line_items(source, self.limits)
        return JsonRecords(items, "lines", on_edited=self.on_edited, on_gap=self.on_gap)

    def array(self, source: BinaryIO) -> Callable[[], RecordSource]:
        """Read an array of records."""

        def start() -> RecordSource:
            from holdfast.backup.container.jsonrecords import JsonRecords, array_items  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

            rewind(source)
            return JsonRecords(array_items(source, self.limits), "array", on_edited=self.on_edited)

        return start

    def gzipped(self, source: BinaryIO, name: str, stack: ExitStack, *, again: bool) -> Backup:
        """Open what is gzipped: a stream, or JSON."""
        form = Form.GZIP

        def start() -> RecordSource:
            nonlocal form
            rewind(source)
            head, plain = look(gunzip(source, limits=self.gunzip, on_fault=self.on_fault))
            inner = recognise_gzipped(head)
            if inner is Form.LINES:
                form = Form.GZIP_LINES
                return self.lines(plain)()
            if inner is Form.ARRAY:
                form = Form.GZIP_ARRAY
                return self.array(plain)()
            return self.stream(plain)()

        backup = Backup(form, name, start, stack.pop_all(), again=again, limits=self.limits)
        backup.form = form
        return backup

    def cut(self, source: BinaryIO, refusal: UnreadableBackup) -> Callable[[], RecordSource]:
        """Read what may be the beginning of an encrypted container; only a key that fits can tell."""
        faults: list[DamagedContainer | FolderIncomplete] = []
        # Whether the key fits can be told of a file that is damaged, and then the damage is what to speak of.
        tolerant = self if self.on_fault is not None else replace(self, on_fault=faults.append)
        start = tolerant.sealed(source, lambda: None)

        def try_keys() -> RecordSource:
            try:
                records = start()
            except (WrongKey, KeyIncomplete):
                raise refusal from None
            for fault in faults:
                raise fault
            return records

        return try_keys

    def sealed(self, source: BinaryIO, metadata: Callable[[], LocalMetadata | None]) -> Callable[[], RecordSource]:
        """Read an encrypted container, whose MAC is compared each time before anything is decrypted."""

        def start() -> RecordSource:
            layout = find_layout(source, on_fault=self.on_fault)
            key_material = self.keys or KeyMaterial()
            try:
                beside = metadata()
            except BackupError as problem:
                # Who has the account's id, or the keys themselves, can do without the file that is damaged.
                if key_material.message is None and key_material.own_backup_id() is None:
                    raise
                if self.on_fault is not None and isinstance(problem, DamagedContainer | FolderIncomplete):
                    self.on_fault(problem)
                beside = None
            keys = key_material.message_keys(modern=layout.modern, local_metadata=beside)
            content = decrypt(source, layout, keys, on_fault=self.on_fault)
            plain = gunzip(content, limits=self.gunzip, on_fault=self.on_fault)
            return self.read(plain)

        return start


@public
def open(  # noqa: A001  # backup.open() is what people look for
    source: str | PathLike[str] | BinaryIO,
    key: KeyMaterial | str | None = None,
    *,
    limits: StreamLimits | None = None,
    gunzip_limits: GunzipLimits | None = None,
    progress: Callable[[int], None] | None = None,
    on_edited: Callable[[int], None] | None = None,
    on_fault: OnFault | None = None,
    on_gap: OnGap | None = None,
    keep_gaps: bool = False,
) -> Backup:
    """Open a backup: a path to a file or folder, or an open binary file, standard input among them.

    Taken are a frame stream, plain or gzipped; an encrypted container of either layout; the folder a phone
    writes (itself, the one around it, or one snapshot); a plaintext export (`main.jsonl`, its folder, its ZIP); an
    array of records in JSON or JSON5. `key` is whatever keys there are, see `read_keys`. `progress` is called with
    the bytes of the plain stream read so far, `on_edited` with the number of a JSON record that was edited
    although it carries its original bytes. With `on_fault` what is wrong with encryption, compression or the
    folder is told there instead of raised, and what can still be read is, unproven; each reading tells it anew.
    With `on_gap` the frames go on behind places of the stream that cannot be read, of which it is told before what
    follows them; with `keep_gaps` also the bytes that stand there.

    >>> with hb.open("chats.binproto") as backup:
    ...     print(backup.form, sum(frame.message.HasField("chatItem") for frame in backup))
    frame stream 200
    """
    keys = read_keys(key) if isinstance(key, str) else key
    opener = Opener(
        keys,
        limits or StreamLimits(),
        gunzip_limits or GunzipLimits(),
        progress,
        on_edited,
        on_fault,
        on_gap,
        keep_gaps,
    )
    backup = open_with(opener, source)
    if keys is not None and keys.pool is not None and backup.form in ENCRYPTED_FORMS:
        backup.recovery_keys = (keys.pool,)
    return backup


def open_with(opener: Opener, source: str | PathLike[str] | BinaryIO) -> Backup:
    """Open a path or a file."""
    with ExitStack() as stack:
        if not isinstance(source, str | PathLike):
            # A file without a name, such as a temporary one, has a number in its place.
            file_name = getattr(source, "name", None)
            name = file_name if isinstance(file_name, str) else "the input"
            with reading(name):
                return opener.file(source, name, stack, None)
        path = Path(source)
        try:
            if path.is_dir():
                return opener.folder(path)
            # A path somebody typed is taken at its word, and may be a pipe.
            file = stack.enter_context(path.open("rb"))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "no file can have this name"
            raise UnreadableBackup(f"{path} cannot be read: {reason}") from error
        with reading(str(path)):
            return opener.file(file, str(path), stack, path.parent)


@contextmanager
def opened(
    source: BackupSource,
    key: KeyMaterial | str | None = None,
    *,
    limits: StreamLimits | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Backup]:
    """Open a backup and close it again; one that is open already stays open."""
    if isinstance(source, Backup):
        yield source
    else:
        with open(source, key, limits=limits, progress=progress) as backup:
            yield backup


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Say what could not be read when a disk or a pipe fails."""
    try:
        yield
    except OSError as error:
        raise UnreadableBackup(f"{name} cannot be read: {error.strerror or error}") from error


def recognise(head: bytes, size: int | None, peek: Callable[[int, int], bytes] | None = None) -> Form:
    """Tell the form of a file by how it begins; `size` is None where it is not known.

    `peek` reads so many bytes from a place behind the head, where there is a way to. A file that is known to be
    something else is refused with what it is.
    """
    if not head:
        raise UnreadableBackup("the file is empty")
    if head.startswith(MAGIC):
        return Form.CONTAINER
    refuse_binary(head)
    # An encrypted file begins with any bytes whatever, so a few that look like another form prove little: the
    # fewer of them there are, the more of what follows is looked at.
    if head.startswith(b"\x1f\x8b\x08") and len(head) > GZIP_FLAGS and head[GZIP_FLAGS] < RESERVED_FLAGS:
        return Form.GZIP
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Form.EXPORT
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip() if is_utf8_text(head, TEXT_LOOK) else b""
    if text.startswith(b"{") and text[1:].lstrip()[:1] in {b'"', b"}"}:
        refuse_json(text)
        return Form.LINES
    if text.startswith((b"[", b"//", b"/*")) and text[1:].lstrip()[:1] in {b"{", b"/", b"*", b"]"}:
        return Form.ARRAY
    fits = size is None or (size >= SMALLEST_SEALED and size % 16 == 0)
    if begins_like_a_stream(head, strict=fits and not head.isascii(), size=size, peek=peek):
        return Form.STREAM
    refuse_text(head)
    if is_random(head):
        if fits and not head.isascii():
            return Form.CONTAINER
        if size is not None and size >= SMALLEST_SEALED:
            raise UnreadableBackup(
                f"this is not a chat backup in any form known here; looked for {LOOKED_FOR}. It may be an "
                "encrypted backup that was cut off, as its size is not a multiple of 16: give its key to find out"
            )
    raise UnreadableBackup(f"this is not a chat backup in any form known here; looked for {LOOKED_FOR}")


def begins_like_a_stream(
    head: bytes,
    *,
    strict: bool,
    size: int | None = None,
    peek: Callable[[int, int], bytes] | None = None,
) -> bool:
    """Return whether the first record is a header. Almost any bytes parse as one, so it must have a known field.

    One in ten thousand encrypted files passes even so; `strict` asks for version and time, which all apps write,
    or else for frames behind the header.
    """
    length, start = length_at(head, 0)
    end = start + length
    if length <= 0 or (size is not None and end > size):
        return False
    whole = size if size is not None else None if len(head) == LOOK else len(head)
    look_at = peek or (lambda place, count: head[place : place + count])
    if end > len(head):
        if whole is not None and end > whole:
            return False
        walked, version, time = walk_header(look_at, start, end)
        return (version and time) or (walked and followed_by_frames(look_at, end, whole))
    try:
        header = check_header(head[start:end])
    except UnreadableBackup:
        return False
    if not strict or (header.version and header.backupTimeMs):
        return True
    return followed_by_frames(look_at, end, whole)


def walk_header(look_at: Callable[[int, int], bytes], at: int, end: int) -> tuple[bool, bool, bool]:
    """Follow the fields of a header that is longer than the head, without reading what is in them.

    Return whether they end where the header does and one of them is known, and whether a version and a time were
    among them.
    """
    met: set[int] = set()
    for _ in range(MOST_FIELDS):
        if at >= end:
            break
        start = look_at(at, HEAD + 10)
        tag, value = length_at(start, 0)
        match tag & 7 if tag > 0 else None:
            case 0:
                width = next((place + 1 for place, byte in enumerate(start[value:]) if byte < 0x80), None)
                if width is None:
                    break
                at += value + width
            case 1:
                at += value + 8
            case 2:
                size, body = length_at(start, value)
                if size < 0:
                    break
                at += body + size
            case 5:
                at += value + 4
            case _:
                break
        if at > end:
            break
        met.add(tag)
    return at == end and bool(met & HEADER_TAGS), VERSION_TAG in met, TIME_TAG in met


def followed_by_frames(look_at: Callable[[int, int], bytes], at: int, size: int | None) -> bool:
    """Return whether the file ends behind a header, or frames follow it, at least one of them a record."""
    if at == size:
        return True
    data = look_at(at, LOOK)
    spans, rest, _needed, fault = frames.split(data, 0, NO_CAP)
    raws = [data[begin:end] for begin, end in spans[:VOUCHERS]]
    if any(walk.look(raw).fault for raw in raws) or (fault and len(spans) < VOUCHERS):
        return False
    return any(map(is_record, raws)) or (len(data) >= rest + HEAD and is_plain(data[rest : rest + HEAD]))


def check_header(raw: bytes) -> BackupInfo:
    """Refuse a first record that is no header."""
    try:
        header = BackupInfo.FromString(raw)
    except DecodeError:
        header = BackupInfo()
    if not header.ListFields():
        raise UnreadableBackup("the first record is not the header of a chat backup")
    return header


def local_metadata(folder: Path | None) -> LocalMetadata | None:
    """Find the metadata beside a container that was taken out of a snapshot or is still in it."""
    if folder is None or not (folder / METADATA).is_file() or not (folder / MAIN).is_file():
        return None
    return SnapshotFolder(folder, folder).metadata()


def recognise_gzipped(head: bytes) -> Form:
    """Tell the form of what was gzipped; what can only be read from a file of its own is refused."""
    try:
        form = recognise(head, None)
    except UnsupportedFormat as refusal:
        raise UnsupportedFormat(f"the file is gzipped, and what is in it is no backup: {refusal}") from None
    except UnreadableBackup:
        if not head or head.isascii():
            raise
        return Form.STREAM  # reading it says where it is damaged
    if head.startswith(MAGIC) or form in {Form.EXPORT, Form.GZIP}:
        raise UnreadableBackup(
            f"the file is gzipped, and what is in it is a {form.value}: unpack it with `gunzip`"
        )
    return form


def peeking(source: BinaryIO) -> Callable[[int, int], bytes]:
    """Return a function that reads from a place of a file that can be read from any."""

    def peek(place: int, count: int) -> bytes:
        source.seek(place)
        return b"".join(read_chunks(source, count))

    return peek


def look(source: BinaryIO) -> tuple[bytes, BinaryIO]:
    """Look at what a source begins with, and return a file that still begins with it.

    A pipe gives as little at a time as was written to it, so it is not enough to look once.
    """
    head = b"".join(read_chunks(source, LOOK))
    return head, as_file(chain([head], iter(lambda: source.read(CHUNK), b"")))


def rewind(source: BinaryIO) -> None:
    """Go back to the start, where there is a way back."""
    if source.seekable():
        source.seek(0)
