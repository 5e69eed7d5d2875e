"""Detects the form of a backup from its first bytes, not from its name."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from google.protobuf.message import DecodeError

from holdfast.backup.errors import UnreadableBackup, UnsupportedFormat
from holdfast.backup.file_types import (
    CONTAINER_MAGIC,
    LOOKED_FOR,
    is_random,
    is_utf8_text,
    refuse_binary,
    refuse_exported_chat,
    refuse_json,
    refuse_text,
)
from holdfast.backup.public import public
from holdfast.backup.schema import BackupInfo
from holdfast.backup.wire import frames, walk
from holdfast.backup.wire.salvage import HEAD, is_plain, is_record, length_at
from holdfast.backup.wire.stream import NO_CAP

__all__ = [
    "ENCRYPTED_FORMS",
    "HEAD_SIZE",
    "SMALLEST_SEALED",
    "Form",
    "begins_like_a_stream",
    "check_header",
    "recognise",
    "recognise_gzipped",
]

# The bytes from which the form is detected.
HEAD_SIZE: Final = 1 << 16
TEXT_LOOK: Final = 32
# The frames that must follow a header without version or time.
VOUCHERS: Final = 8
# A header has six fields; of a header longer than the bytes read, at most this many are skipped through.
MOST_FIELDS: Final = 1000
HEADER_TAGS: Final = frozenset({0x08, 0x10, 0x1A, 0x22, 0x2A, 0x32})
VERSION_TAG: Final = 0x08
TIME_TAG: Final = 0x10
# The offset of the flags in a gzip header, and the lowest value with a reserved flag.
GZIP_FLAGS: Final = 3
RESERVED_FLAGS: Final = 0x20
# The smallest encrypted file without a magic number: iv, one block and MAC.
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


# The encrypted forms.
ENCRYPTED_FORMS: Final = frozenset({Form.CONTAINER, Form.FOLDER})


def recognise(head: bytes, size: int | None, peek: Callable[[int, int], bytes] | None = None) -> Form:
    """Detect the form of a file from its first bytes; `size` is None if it is unknown.

    `peek` reads bytes at an offset after the head, if the file is seekable. A file of another known type raises an
    error that names the type.
    """
    if not head:
        raise UnreadableBackup("the file is empty")
    if head.startswith(CONTAINER_MAGIC):
        return Form.CONTAINER
    refuse_binary(head)
    # An encrypted file may begin with any bytes, so a short match with another form proves little: the shorter the
    # signature, the more of the following bytes is checked.
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
    # A date such as 12/31/20 also reads as a header: as its length, and one field that fills it.
    refuse_exported_chat(head)
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
    """Return whether the first record is a header. Almost any bytes parse as one, so a known field is required.

    One in ten thousand encrypted files still passes; `strict` requires version and time, which all apps write, or
    else frames after the header.
    """
    length, start = length_at(head, 0)
    end = start + length
    if length <= 0 or (size is not None and end > size):
        return False
    whole = size if size is not None else None if len(head) == HEAD_SIZE else len(head)
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
    """Skip through the fields of a header that is longer than the head, without reading their content.

    Return whether they end with the header and one of them is known, and whether there is a version, and a time.
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
    """Return whether the file ends after the header, or frames follow it, at least one of them with a record."""
    if at == size:
        return True
    data = look_at(at, HEAD_SIZE)
    spans, rest, _needed, fault = frames.split(data, 0, NO_CAP)
    raws = [data[begin:end] for begin, end in spans[:VOUCHERS]]
    if any(walk.walk_record(raw).fault for raw in raws) or (fault and len(spans) < VOUCHERS):
        return False
    return any(map(is_record, raws)) or (len(data) >= rest + HEAD and is_plain(data[rest : rest + HEAD]))


def check_header(raw: bytes) -> BackupInfo:
    """Parse the header; raise an error if the first record is not one."""
    try:
        header = BackupInfo.FromString(raw)
    except DecodeError:
        header = BackupInfo()
    if not header.ListFields():
        raise UnreadableBackup("the first record is not the header of a chat backup")
    return header


def recognise_gzipped(head: bytes) -> Form:
    """Detect the form of gzipped content; a form that needs a seekable file is an error."""
    try:
        form = recognise(head, None)
    except UnsupportedFormat as refusal:
        raise UnsupportedFormat(f"the file is gzipped, and what is in it is no backup: {refusal}") from None
    except UnreadableBackup:
        if not head or head.isascii():
            raise
        return Form.STREAM  # reading it reports the damage
    if head.startswith(CONTAINER_MAGIC) or form in {Form.EXPORT, Form.GZIP}:
        raise UnreadableBackup(
            f"the file is gzipped, and what is in it is a {form.value}: unpack it with `gunzip`"
        )
    return form
