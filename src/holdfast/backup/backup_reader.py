"""Opens a backup of any form; the form is detected from the content, not from the file name."""

import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Protocol, Self, TypeAlias

from holdfast.backup.container.chunks import CHUNK, as_file, read_chunks
from holdfast.backup.container.faults import OnFault
from holdfast.backup.errors import (
    DamagedContainer,
    FolderIncomplete,
    KeyIncomplete,
    UnreadableBackup,
    UnsupportedFormat,
    WrongKey,
)
from holdfast.backup.file_types import (
    CONTAINER_MAGIC,
    LOOKED_FOR,
    refuse_desktop_database,
    refuse_desktop_folder,
)
from holdfast.backup.form_detection import (
    ENCRYPTED_FORMS,
    HEAD_SIZE,
    SMALLEST_SEALED,
    Form,
    check_header,
    recognise,
    recognise_gzipped,
)
from holdfast.backup.public import public
from holdfast.backup.wire import Block, Frame, FrameStream, StreamLimits
from holdfast.backup.wire.salvage import OnGap, SalvagedStream
from holdfast.redacted_repr import redacted

if TYPE_CHECKING:
    from holdfast.backup.container.folder import SnapshotFolder
    from holdfast.backup.container.gunzip import GunzipLimits
    from holdfast.backup.container.keys import EntropyPool
    from holdfast.backup.container.material import KeyMaterial
    from holdfast.backup.container.media import AttachmentStore
    from holdfast.backup.container.metadata import LocalMetadata

__all__ = ["Backup", "BackupSource", "open", "opened"]


class RecordSource(Protocol):
    """A source of records: a header and frames."""

    header: bytes

    @property
    def offset(self) -> int:
        """The number of bytes of the plain stream read so far."""

    def blocks(self) -> Iterator[Block]:
        """Yield the frames."""


@public
class Backup:
    """An open backup: its header, and an iterator over its frames.

    Frames are read lazily; each iteration starts at the beginning, except for standard input, which can be read
    once. `form` is the detected form, `media` the store of its attachments, if there is one; `recovery_keys` has
    the recovery key that it is encrypted with.
    """

    form: Form
    name: str
    header: bytes
    size: int
    media: "AttachmentStore | None"

    def __init__(
        self,
        form: Form,
        name: str,
        start: Callable[[], RecordSource],
        close: ExitStack,
        *,
        media: "AttachmentStore | None" = None,
        snapshot: "SnapshotFolder | None" = None,
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
        """Yield the frames in blocks; afterwards, `size` is the size of the plain stream.

        All iterations share one file, so a new iteration ends earlier ones.
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
                    raise UnreadableBackup(f"{self.name} is being read again: this iteration has ended")
        self.size = records.offset

    def __iter__(self) -> Iterator[Frame]:
        for block in self.blocks():
            yield from block

    def close(self) -> None:
        """Close the files that were opened."""
        self._close.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


# The argument of functions that read a backup: a path, a file, or an open backup.
BackupSource: TypeAlias = str | PathLike[str] | BinaryIO | Backup


@redacted
@dataclass(frozen=True, slots=True)
class Opener:
    """The options of `open`, and one method for each form."""

    keys: "KeyMaterial | None"
    limits: StreamLimits
    gunzip: "GunzipLimits | None"
    progress: Callable[[int], None] | None
    on_edited: Callable[[int], None] | None
    on_fault: OnFault | None
    on_gap: OnGap | None
    keep_gaps: bool

    def read(self, plain: BinaryIO) -> RecordSource:
        """Read a plain stream from its beginning."""
        if self.on_gap is None:
            return FrameStream(plain, limits=self.limits, progress=self.progress)
        return SalvagedStream(plain, self.on_gap, keep=self.keep_gaps, limits=self.limits, progress=self.progress)

    def folder(self, path: Path) -> Backup:
        """Open a folder."""
        from holdfast.backup.container.folder import find_snapshots, incomplete_snapshots, without_main  # noqa: PLC0415  # loaded when it is needed, so that commands start at once
        from holdfast.backup.container.media import ExportMedia  # noqa: PLC0415  # loaded when it is needed, so that commands start at once
        from holdfast.backup.container.takeout import find_export  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

        snapshots = find_snapshots(path)
        if snapshots:
            chosen = snapshots[0]
            # One snapshot that was asked for is not compared with the others.
            if self.on_fault is not None and chosen.path != path:
                for incomplete in incomplete_snapshots(chosen.path.parent):
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

    def snapshot(self, snapshot: "SnapshotFolder") -> Backup:
        """Open one snapshot of a local folder."""
        from holdfast.backup.container.media import FolderMedia  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

        with ExitStack() as stack:
            source = stack.enter_context(snapshot.open_main())
            start = self.sealed(source, snapshot.metadata)
            media = FolderMedia(snapshot.store, snapshot.root)
            name, form = str(snapshot.path), Form.FOLDER
            return Backup(form, name, start, stack.pop_all(), media=media, snapshot=snapshot, limits=self.limits)

    def file(self, source: BinaryIO, name: str, stack: ExitStack, beside: Path | None) -> Backup:
        """Open a file by its first bytes; `beside` is its folder."""
        again = source.seekable()
        if again:
            size: int | None = source.seek(0, io.SEEK_END)
            source.seek(0)
            head = b"".join(read_chunks(source, HEAD_SIZE))
        else:
            size = None
            head, source = peek_head(source)
        try:
            form = recognise(head, size, peeking(source) if again else None)
            if not again and form in {Form.CONTAINER, Form.EXPORT}:
                import tempfile  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

                # These are read from the end, or twice.
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
        if (
            form is Form.CONTAINER
            and beside is not None
            and size is not None
            and not head.startswith(CONTAINER_MAGIC)
        ):
            refuse_desktop_database(beside / Path(name).name, size)
        media: AttachmentStore | None = None
        if form is Form.CONTAINER:
            start = self.sealed(source, lambda: local_metadata(beside))
        elif form is Form.EXPORT:
            from holdfast.backup.container.media import ExportMedia  # noqa: PLC0415  # loaded when it is needed, so that commands start at once
            from holdfast.backup.container.takeout import ZipExport  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

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
        """Read JSON Lines from the current position of the source."""
        from holdfast.backup.container.jsonrecords import JsonRecords, line_items  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

        items = line_items(source, self.limits)
        return JsonRecords(items, "lines", on_edited=self.on_edited, on_gap=self.on_gap)

    def array(self, source: BinaryIO) -> Callable[[], RecordSource]:
        """Read an array of records."""

        def start() -> RecordSource:
            from holdfast.backup.container.jsonrecords import JsonRecords, array_items  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

            rewind(source)
            items = array_items(source, self.limits)
            return JsonRecords(items, "array", on_edited=self.on_edited, cap=self.limits.frame_bytes)

        return start

    def gzipped(self, source: BinaryIO, name: str, stack: ExitStack, *, again: bool) -> Backup:
        """Open a gzip file with a frame stream or JSON."""
        form = Form.GZIP

        def start() -> RecordSource:
            from holdfast.backup.container.gunzip import gunzip  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

            nonlocal form
            rewind(source)
            head, plain = peek_head(gunzip(source, limits=self.gunzip, on_fault=self.on_fault))
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
        """Read what may be a truncated encrypted container; that it is one is known only if the key fits."""
        faults: list[DamagedContainer | FolderIncomplete] = []
        # If the key fits a damaged file, the damage is the error to report.
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

    def sealed(
        self, source: BinaryIO, metadata: "Callable[[], LocalMetadata | None]"
    ) -> Callable[[], RecordSource]:
        """Read an encrypted container; its MAC is verified each time before anything is decrypted."""

        def start() -> RecordSource:
            from holdfast.backup.container.decryption import open_decrypted  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

            return self.read(
                open_decrypted(source, self.keys, metadata, limits=self.gunzip, on_fault=self.on_fault)
            )

        return start


@public
def open(  # noqa: A001  # backup.open() is what people look for
    source: str | PathLike[str] | BinaryIO,
    key: "KeyMaterial | str | None" = None,
    *,
    limits: StreamLimits | None = None,
    gunzip_limits: "GunzipLimits | None" = None,
    progress: Callable[[int], None] | None = None,
    on_edited: Callable[[int], None] | None = None,
    on_fault: OnFault | None = None,
    on_gap: OnGap | None = None,
    keep_gaps: bool = False,
) -> Backup:
    """Open a backup: a path to a file or folder, or an open binary file, standard input among them.

    Supported are a frame stream, plain or gzipped; an encrypted container of either layout; the folder a phone
    writes (itself, its parent, or one snapshot); a plaintext export (`main.jsonl`, its folder, its ZIP archive);
    an array of records in JSON or JSON5. `key` has the keys, see `read_keys`. `progress` is called with the number
    of bytes of the plain stream read so far, `on_edited` with the number of a JSON record that was edited although
    it carries its original bytes. With `on_fault`, faults of the encryption, the compression or the folder are
    passed to it instead of raised, at each iteration, and what can be read is returned without authentication.
    With `on_gap`, unreadable parts of the stream are skipped, and passed to it before the frames that follow; with
    `keep_gaps`, including their bytes.

    >>> with hb.open("chats.binproto") as backup:
    ...     print(backup.form, sum(frame.message.HasField("chatItem") for frame in backup))
    frame stream 200
    """
    if isinstance(key, str):
        from holdfast.backup.container.keyfile import read_keys  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

        keys: KeyMaterial | None = read_keys(key)
    else:
        keys = key
    opener = Opener(
        keys,
        limits or StreamLimits(),
        gunzip_limits,
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
            # The name of a temporary file may be a number.
            file_name = getattr(source, "name", None)
            name = file_name if isinstance(file_name, str) else "the input"
            with reading(name):
                return opener.file(source, name, stack, None)
        path = Path(source)
        try:
            if path.is_dir():
                return opener.folder(path)
            # A path given by the user may be a pipe.
            file = stack.enter_context(path.open("rb"))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "no file can have this name"
            raise UnreadableBackup(f"{path} cannot be read: {reason}") from error
        with reading(str(path)):
            return opener.file(file, str(path), stack, path.parent)


@contextmanager
def opened(
    source: BackupSource,
    key: "KeyMaterial | str | None" = None,
    *,
    limits: StreamLimits | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Backup]:
    """Open a backup and close it afterwards; a backup that is already open is not closed."""
    if isinstance(source, Backup):
        yield source
    else:
        with open(source, key, limits=limits, progress=progress) as backup:
            yield backup


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Convert I/O errors to `UnreadableBackup` with the name of the backup."""
    try:
        yield
    except OSError as error:
        raise UnreadableBackup(f"{name} cannot be read: {error.strerror or error}") from error


def local_metadata(folder: Path | None) -> "LocalMetadata | None":
    """Return the metadata file in the folder of a container, if there is one."""
    from holdfast.backup.container.folder import MAIN, METADATA, SnapshotFolder  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    if folder is None or not (folder / METADATA).is_file() or not (folder / MAIN).is_file():
        return None
    return SnapshotFolder(folder, folder).metadata()


def peeking(source: BinaryIO) -> Callable[[int, int], bytes]:
    """Return a function that reads bytes at an offset of a seekable file."""

    def peek(place: int, count: int) -> bytes:
        source.seek(place)
        return b"".join(read_chunks(source, count))

    return peek


def peek_head(source: BinaryIO) -> tuple[bytes, BinaryIO]:
    """Return the first bytes of a source, and a file that still begins with them.

    A read from a pipe may return few bytes, so it is repeated.
    """
    head = b"".join(read_chunks(source, HEAD_SIZE))
    return head, as_file(chain([head], iter(lambda: source.read(CHUNK), b"")))


def rewind(source: BinaryIO) -> None:
    """Seek to the start, if the source is seekable."""
    if source.seekable():
        source.seek(0)
