"""The attachments of a backup: lists, checks and extracts them."""

import hashlib
import re
import shutil
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Final

from google.protobuf.message import DecodeError

from holdfast.backup.backup_reader import Backup, BackupSource, opened
from holdfast.backup.container.atomic_write import write_atomically
from holdfast.backup.container.attachments import AttachmentKey, LocalKey
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.container.media import AttachmentStore
from holdfast.backup.container.private import make_private_folder
from holdfast.backup.dates import moment
from holdfast.backup.errors import (
    AttachmentError,
    AttachmentMissing,
    KeyRefused,
    TargetRefused,
    UnreadableBackup,
    UnwritableBackup,
)
from holdfast.backup.names import recipient_name
from holdfast.backup.public import public
from holdfast.backup.schema import backup_pb2
from holdfast.backup.target_check import check_target
from holdfast.backup.wire import Block, tables
from holdfast.backup.wire.collect import Selection, collect_block, name_of
from holdfast.backup.wire.paths import PathFinder
from holdfast.backup.wire.stream import NO_CAP
from holdfast.redacted_repr import redacted

__all__ = [
    "ExtractedAttachment",
    "MediaCheck",
    "Pointer",
    "check_media",
    "extract",
    "kept",
    "pointers",
    "pointers_of",
]

FILE_POINTERS: Final = tuple(
    name_of(descriptor)
    for descriptor in tables.FIELDS.values()
    if descriptor.message_type is not None
    and descriptor.message_type.full_name == backup_pb2.FilePointer.DESCRIPTOR.full_name
)
PICKED: Final = Selection(
    [
        *("Frame.chatItem", "Frame.recipient", "Frame.chat"),
        *("ChatItem.chatId", "ChatItem.authorId", "ChatItem.dateSent"),
        *FILE_POINTERS,
    ]
)
# Characters that are invalid in file names or special in shells; a leading dot would hide the file.
UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]+')
WINDOWS_DEVICES: Final = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³]) *(\..*)?")
LONGEST_NAME: Final = 100
MAGICS: Final = (
    (0, b"\x89PNG\r\n\x1a\n", ".png"),
    (0, b"\xff\xd8\xff", ".jpg"),
    (0, b"GIF8", ".gif"),
    (8, b"WEBP", ".webp"),
    (8, b"WAVE", ".wav"),
    (4, b"ftyp", ".mp4"),
    (0, b"%PDF-", ".pdf"),
    (0, b"OggS", ".ogg"),
    (0, b"ID3", ".mp3"),
    (0, b"PK\x03\x04", ".zip"),
)
# Types that `mimetypes` lacks, or maps to an unusual extension.
EXTENSIONS: Final = {
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "image/heic": ".heic",
    "audio/aac": ".aac",
    "audio/mp4": ".m4a",
    "audio/ogg": ".ogg",
    "text/plain": ".txt",
    "text/x-signal-plain": ".txt",
    "video/quicktime": ".mov",
}


@redacted
@dataclass(frozen=True, slots=True)
class Pointer:
    """A reference to an attachment, at `path` in its frame.

    `attachment` is None if the attachment is not in the backup; then `unkept` is set if the device had it, and
    `remote` if it could have been downloaded. `chat` and `author` are ids of the backup, 0 outside of messages.
    """

    frame: int
    chat: int
    sent_ms: int
    content_type: str = field(repr=False)
    file_name: str = field(repr=False)
    attachment: AttachmentKey | None
    path: str = ""
    author: int = 0
    unkept: bool = False
    remote: bool = False


@public
@dataclass(frozen=True, slots=True)
class MediaCheck:
    """The result of checking the attachments of a backup, each file counted once."""

    files: int
    present: int
    missing: int
    damaged: int
    verified: bool


@public
@redacted
@dataclass(frozen=True, slots=True)
class ExtractedAttachment:
    """The result for one attachment: the file it was written to, or the problem."""

    frame: int
    media_name: str
    path: Path | None
    bytes: int
    error: AttachmentError | TargetRefused | None = None

    @property
    def problem(self) -> str:
        """The description of the problem; empty if the attachment was written."""
        return "" if self.error is None else str(self.error)


def attachment_of(locator: backup_pb2.FilePointer.LocatorInfo) -> AttachmentKey | None:
    """Return the reference to an attachment file, None if the backup does not have the file."""
    if not (locator.plaintextHash and locator.localKey):
        return None
    try:
        return AttachmentKey(LocalKey(locator.localKey), locator.plaintextHash, locator.size)
    except (AttachmentError, KeyRefused):
        return None


def pointers_of(locator: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    """Yield hash, key and size of a kept attachment from the bytes of its locator."""
    parsed = backup_pb2.FilePointer.LocatorInfo.FromString(locator)
    if attachment_of(parsed) is not None:
        yield parsed.plaintextHash, parsed.localKey, parsed.size


def check_media(
    media: AttachmentStore, attachments: Iterable[tuple[bytes, bytes, int]], *, verify: bool
) -> MediaCheck:
    """Check that every attachment file exists; with `verify`, decrypt each and verify its hash."""
    files = present = missing = damaged = 0
    for plaintext_hash, local_key, size in sorted(attachments):
        attachment = AttachmentKey(LocalKey(local_key), plaintext_hash, size)
        files += 1
        try:
            if verify:
                with media.open(attachment) as source:
                    while source.read(CHUNK):
                        pass
            else:
                media.check(attachment)
        except AttachmentMissing:
            missing += 1
        except AttachmentError:
            damaged += 1
        else:
            present += 1
    return MediaCheck(files, present, missing, damaged, verify)


def pointers(backup: Backup) -> Iterator[Pointer]:
    """Yield every reference to an attachment, in the order of the frames."""
    slots = PICKED.slots
    items = {slots["Frame.chatItem"], slots["Frame.recipient"], slots["Frame.chat"]}
    for block in backup.blocks():
        entries, frames, fault, at = collect_block(block.data, NO_CAP, PICKED)
        if fault:
            raise block.damaged(fault, frames, at)
        span_of = block.spans()
        chat = sent = author = 0
        read_frame, paths = -1, PathFinder(b"")
        for slot, depth, start, end in entries:
            if slot in items and depth == 0:
                chat = sent = author = 0
            elif slot == slots["ChatItem.authorId"]:
                author = author if depth > 1 else start
            elif slot == slots["ChatItem.chatId"]:
                chat = chat if depth > 1 else start
            elif slot == slots["ChatItem.dateSent"]:
                sent = sent if depth > 1 else start
            else:
                pointer = parse(block, start, end)
                index, begin, stop = span_of(start)
                if index != read_frame:
                    read_frame, paths = index, PathFinder(block.data[begin:stop])
                locator = pointer.locatorInfo
                attachment = attachment_of(locator)
                yield Pointer(
                    index,
                    chat,
                    sent,
                    pointer.contentType,
                    pointer.fileName,
                    attachment,
                    paths.path_to(start - begin),
                    author,
                    attachment is None and bool(locator.plaintextHash),
                    bool(locator.transitCdnKey or locator.encryptedDigest),
                )


def kept(backup: Backup) -> Iterator[tuple[Pointer, AttachmentKey]]:
    """Yield every attachment file once, with the first reference to it."""
    names: set[str] = set()
    for pointer in pointers(backup):
        attachment = pointer.attachment
        if attachment is not None and attachment.name not in names:
            names.add(attachment.name)
            yield pointer, attachment


def parse(block: Block, start: int, end: int) -> backup_pb2.FilePointer:
    """Parse the record of an attachment; its texts have not been validated before."""
    try:
        return backup_pb2.FilePointer.FromString(block.data[start:end])
    except DecodeError:
        _ = block.frame_at(start).message  # raises, with the place
        raise


def chat_names(backup: Backup) -> dict[int, str]:
    """Return the names of all chats by id."""
    people: dict[int, str] = {}
    chats: dict[int, str] = {}
    for frame in backup:
        if frame.kind == 2:
            recipient = frame.message.recipient
            people[recipient.id] = recipient_name(recipient)
        elif frame.kind == 3:
            chat = frame.message.chat
            chats[chat.id] = people.get(chat.recipientId, "Unknown")
    return chats


@public
def extract(
    source: BackupSource,
    target: str | PathLike[str],
    key: KeyMaterial | str | None = None,
    *,
    replace: bool = False,
) -> Iterator[ExtractedAttachment]:
    """Extract the attachments of a local folder or export as ordinary files; yield a result for each.

    A file is written to a folder named after its chat, with its own name and the time it was sent. A missing or
    damaged attachment is reported and does not stop the others. An identical existing file is kept; another file
    of that name is reported, unless `replace` is set. Each content is written once.

    >>> written = [item for item in hb.extract("phone", "files", hb.read_keys(key_file)) if not item.problem]
    >>> len(written)
    23
    """
    with opened(source, key) as backup:
        yield from extract_to(backup, Path(target), replace=replace)


def extract_to(backup: Backup, folder: Path, *, replace: bool) -> Iterator[ExtractedAttachment]:
    """Extract the attachments of an open backup as ordinary files."""
    check_target(backup, folder)
    media = backup.media
    if media is None:
        raise UnreadableBackup(f"{backup.name} is a {backup.form.value}, which has no attachments beside it")
    chats = chat_names(backup)
    taken: set[str] = set()
    for pointer, attachment in kept(backup):
        try:
            with media.open(attachment) as source:
                start = source.read(CHUNK)
                path = place(folder, chats.get(pointer.chat, "Other"), pointer, start, taken)
                if not holds(path, attachment):
                    make_folder(path.parent)
                    with write_atomically(path, replace=replace) as target:
                        target.write(start)
                        shutil.copyfileobj(source, target, CHUNK)
        except (AttachmentError, TargetRefused) as error:
            yield ExtractedAttachment(pointer.frame, attachment.name, None, 0, error)
        else:
            taken.add(folded(path))
            yield ExtractedAttachment(pointer.frame, attachment.name, path, attachment.size)


def place(folder: Path, chat: str, pointer: Pointer, start: bytes, taken: set[str]) -> Path:
    """Return the path for an attachment: always inside the folder, and unique.

    If neither its name nor its type has an extension, its first bytes are used to find one.
    """
    date = moment(pointer.sent_ms) if pointer.sent_ms else None
    when = f"{date:%Y-%m-%d %H.%M.%S}" if date else ""
    file_name = Path(safe_name(pointer.file_name))
    stem = " ".join(part for part in (when, file_name.stem) if part) or "attachment"
    extension = file_name.suffix or extension_of(pointer.content_type) or sniffed(start)
    home = folder / (safe_name(chat) or "Chat")
    path = home / f"{stem}{extension}"
    number = 2
    while folded(path) in taken:
        path = home / f"{stem} ({number}){extension}"
        number += 1
    return path


def holds(path: Path, attachment: AttachmentKey) -> bool:
    """Return whether a file exists and has the content of the attachment."""
    if not path.is_file() or path.stat().st_size != attachment.size:
        return False
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").digest() == attachment.plaintext_hash


def make_folder(path: Path) -> None:
    """Create a folder that only its owner can read, if it does not exist."""
    try:
        make_private_folder(path)
    except OSError as error:
        raise UnwritableBackup(f"{path} cannot be made: {error.strerror}") from error


def folded(path: Path) -> str:
    """Return a path case-folded: on some disks, paths that differ only by case are the same."""
    return str(path).casefold()


def sniffed(start: bytes) -> str:
    """Return the extension for the first bytes of a file, empty if the type is unknown."""
    for at, magic, extension in MAGICS:
        if start[at : at + len(magic)] == magic:
            return extension
    return ""


def safe_name(text: str) -> str:
    """Convert an untrusted text to a safe file name; empty if nothing is left."""
    name = UNSAFE.sub("_", unicodedata.normalize("NFC", text))
    name = "".join(sign for sign in name if unicodedata.category(sign) not in {"Cf", "Cs", "Cc", "Zl", "Zp"})
    name = name.strip(" .")
    if WINDOWS_DEVICES.fullmatch(name):
        name = f"_{name}"
    if len(name.encode()) > LONGEST_NAME:
        stem, dot, suffix = name.rpartition(".")
        suffix = f".{suffix}" if dot and stem and len(suffix) <= 10 else ""
        stem = (stem if suffix else name).encode()[: LONGEST_NAME - len(suffix.encode())].decode(errors="ignore")
        name = f"{stem.strip(' .')}{suffix}"
    return name


def extension_of(content_type: str) -> str:
    """Return the extension for a content type, empty if it is unknown."""
    import mimetypes  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    kind = content_type.partition(";")[0].strip().lower()
    return EXTENSIONS.get(kind) or mimetypes.guess_extension(kind, strict=False) or ""
