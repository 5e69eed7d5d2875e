"""Writes records as JSON, the way protobuf's own mapping does, straight from their bytes.

A record is walked first, so what is rendered is known to be well-formed. The few in which fields stand twice or
clash are first put in order by protobuf, which alone knows what they add up to.

The keys stand in the order of the fields. What JSON cannot carry are fields the schema does not know, and odd ways
of writing those it does, such as a number longer than needed. A record that would not come back byte for byte gets
one key more, "@raw", with its own bytes.
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
    """The whole frames of a buffer as JSON Lines; what is left is described as in `walk.Walk`."""

    text: bytes
    frames: int
    rest: int
    needed: int
    fault: int
    at: int


def settle(raw: bytes, root: int) -> bytes:
    """Let protobuf say what the fields of a record add up to; what the schema does not know is left out."""
    message = BackupInfo.FromString(raw) if root == tables.BACKUP_INFO else Frame.FromString(raw)
    message.DiscardUnknownFields()
    return message.SerializeToString()


def render_record(raw: bytes, root: cython.uint, names: Names, lossless: bool) -> bytes:  # noqa: FBT001  # a C function: no keywords
    """Write one record."""
    walker: Walker = Walker(raw, 0, len(raw))
    renderer: Renderer
    keep: cython.bint
    walker.body(root)
    if walker.fault:
        raise DamagedRecord(f"the record {FAULTS[walker.fault]}", offset=walker.pos)
    if walker.knotted:
        text = render_record(settle(raw, root), root, names, False)
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
    """Write one frame as a JSON object; DamagedRecord when it is not well-formed."""
    return render_record(raw, tables.FRAME, names, lossless)


def header_to_json(raw: bytes, names: Names = "spec", *, lossless: bool = True) -> bytes:
    """Write the header, a BackupInfo, as a JSON object; DamagedRecord when it is not well-formed."""
    return render_record(raw, tables.BACKUP_INFO, names, lossless)


def to_json_lines(
    data: bytes | memoryview,
    start: cython.Py_ssize_t,
    cap: cython.Py_ssize_t,
    names: Names = "spec",
    *,
    lossless: bool = True,
) -> Lines:
    """Write the whole frames of a buffer as JSON Lines; other threads run meanwhile."""
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
