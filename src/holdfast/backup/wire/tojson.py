"""Converts records to JSON with protobuf's JSON mapping, without building message objects.

A record is parsed by `walk` first, so only well-formed records are rendered. The few with duplicate or conflicting
fields are first normalized by protobuf, which defines how they are merged.

The keys have the order of the fields. JSON cannot represent unknown fields and non-canonical encodings, such as a
varint longer than necessary. A record that could not be restored byte for byte gets one more key, "@raw", with its
original bytes.
"""

import base64
from typing import NamedTuple

import cython

from holdfast.backup.errors import DamagedRecord
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire import tables
from holdfast.backup.wire.faults import FAULTS
from holdfast.backup.wire.names import Names
from holdfast.backup.wire.render import Renderer
from holdfast.backup.wire.walk import Walker

__all__ = ["Lines", "frame_to_json", "header_to_json", "to_json_lines"]

NEWLINE = cython.declare(cython.uchar, ord("\n"))


class Lines(NamedTuple):
    """The complete frames of a buffer as JSON Lines; the other fields are those of `walk.Walk`."""

    text: bytes
    frames: int
    rest: int
    needed: int
    fault: int
    at: int


def normalize(raw: bytes, root: int) -> bytes:
    """Normalize a record with protobuf: duplicate fields are merged, unknown fields are discarded."""
    message = BackupInfo.FromString(raw) if root == tables.BACKUP_INFO else Frame.FromString(raw)
    message.DiscardUnknownFields()
    return message.SerializeToString()


def render_record(raw: bytes, root: cython.uint, names: Names, lossless: bool) -> bytes:  # noqa: FBT001  # a C function: no keywords
    """Convert one record."""
    walker: Walker = Walker(raw, 0, len(raw))
    renderer: Renderer
    keep: cython.bint
    walker.body(root)
    if walker.fault:
        raise DamagedRecord(f"the record {FAULTS[walker.fault]}", offset=walker.pos)
    if walker.knotted:
        text = render_record(normalize(raw, root), root, names, False)
        comma = b"," if len(text) > len(b"{}") else b""
        return b'%b%b"@raw":"%b"}' % (text.removesuffix(b"}"), comma, base64.b64encode(raw)) if lossless else text
    renderer = Renderer(raw, 64 + 4 * len(raw), names)
    keep = lossless and (walker.odd or walker.lossy)
    while True:
        renderer.record(root, 0, renderer.whole, keep)
        if not renderer.full:
            return renderer.written()
        renderer.grow()


def frame_to_json(raw: bytes, names: Names = "spec", *, lossless: bool = True) -> bytes:
    """Convert a frame to a JSON object; raises `DamagedRecord` if it is malformed."""
    return render_record(raw, tables.FRAME, names, lossless)


def header_to_json(raw: bytes, names: Names = "spec", *, lossless: bool = True) -> bytes:
    """Convert a header (`BackupInfo`) to a JSON object; raises `DamagedRecord` if it is malformed."""
    return render_record(raw, tables.BACKUP_INFO, names, lossless)


def to_json_lines(
    data: bytes | memoryview,
    start: cython.Py_ssize_t,
    cap: cython.Py_ssize_t,
    names: Names = "spec",
    *,
    lossless: bool = True,
) -> Lines:
    """Convert the complete frames of a buffer to JSON Lines; releases the GIL."""
    walker: Walker = Walker(data, start, len(data))
    renderer: Renderer = Renderer(data, 64 + 4 * (len(data) - start), names)
    keep: cython.bint = lossless
    body: cython.Py_ssize_t = 0
    frames: cython.Py_ssize_t = 0
    while True:
        with cython.nogil:
            while walker.enter(cap):
                body = walker.pos
                walker.body(0)
                if walker.fault or walker.knotted:
                    break
                renderer.record(0, body, walker.end, keep and (walker.odd or walker.lossy))
                renderer.put(NEWLINE)
                if renderer.full:
                    break
                frames += 1
        if renderer.full:
            renderer.grow()
            walker.pos = walker.begin
        elif walker.knotted and not walker.fault:
            renderer.append(render_record(bytes(data[body : walker.pos]), tables.FRAME, names, lossless) + b"\n")
            walker.knotted = False
            frames += 1
        else:
            return Lines(renderer.written(), frames, walker.begin, walker.needed, walker.fault, walker.pos)
