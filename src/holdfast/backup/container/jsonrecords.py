"""Reads records written as JSON, with the interface of a frame stream.

    JSON Lines    the header on the first line, a frame on each further one
    an array      [header, frame, frame, ...] in JSON or JSON5, as test tools write it

Lines are read in chunks, and arrays one record at a time, in constant memory. Only JSON5 (comments, unquoted keys,
trailing commas) has to be read whole, and is limited in size.
"""

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final, Literal

import json5

from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.errors import DamagedBackup, UnfitJson, UnreadableBackup
from holdfast.backup.wire import COMPILED, Block, StreamLimits
from holdfast.backup.wire.fromjson import frame_from_json, header_from_json, unique
from holdfast.backup.wire.line_encoder import EncodedLines, LineEncoder
from holdfast.backup.wire.salvage import Gap, OnGap
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.varint import encode_varint

__all__ = ["JsonRecords", "array_items", "line_items"]

# A block of frames; the fields of one are collected in a list, which fits into the cache of a core.
BLOCK: Final = 1 << 18
# The JSON5 parser is pure Python, about twenty kilobytes a second; it is meant for files written by hand.
JSON5_LIMIT: Final = 1 << 20
SPACE: Final = re.compile(r"[\s\ufeff]*")
# JSON5 parsers treat these as line terminators inside strings too, where JSON allows them.
LINE_ENDS: Final = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029"})

DECODER: Final = json.JSONDecoder(object_pairs_hook=unique)
END: Final = object()

Item = tuple[int, str | dict[str, Any]]
Where = Literal["lines", "array"]


def damaged(problem: str, number: int, where: Where) -> DamagedBackup:
    """Return the error for an invalid record, with its location and without its content."""
    if where == "lines":
        return DamagedBackup(problem, offset=number, unit="line")
    return DamagedBackup(problem, offset=number, unit="record", stream="array")


class JsonRecords:
    """The records of a JSON source: the header at once, the frames in blocks while they are read.

    `items` yields each record with its number, the line or the array index; or the error of a record that can be
    skipped; or, after the header, lines that are encoded already. `on_edited` is called with the number of a
    record that was edited although it carries its original bytes. With `on_gap`, invalid records are skipped and
    reported to it. A record of more than `cap` bytes is invalid.
    """

    def __init__(
        self,
        items: Iterator[Item | EncodedLines | DamagedBackup],
        where: Where,
        *,
        on_edited: Callable[[int], None] | None = None,
        on_gap: OnGap | None = None,
        cap: int = NO_CAP,
    ) -> None:
        self._items = items
        self._cap = cap
        self._where = where
        self._on_edited = on_edited
        self._on_gap = on_gap
        first = next(items, None)
        if first is None:
            raise UnreadableBackup("the file holds no record: the first one must be the header")
        if isinstance(first, DamagedBackup):
            raise first
        if isinstance(first, EncodedLines):
            raise TypeError("the header must not be encoded as a frame")
        self.header = self._encode(header_from_json, *first)
        self.offset = len(encode_varint(len(self.header))) + len(self.header)

    def blocks(self) -> Iterator[Block]:
        """Yield the frames as blocks of a frame stream; an error is reported after the frames before it."""
        parts: list[bytes] = []
        size = count = 0
        index = 1
        for outcome in self._frames():
            if isinstance(outcome, EncodedLines):
                parts.append(outcome.data)
                size += len(outcome.data)
                count += outcome.frames
            if parts and (size >= BLOCK or isinstance(outcome, DamagedBackup)):
                yield Block(index, self.offset, b"".join(parts), count)
                self.offset += size
                index += count
                parts, size, count = [], 0, 0
            if isinstance(outcome, EncodedLines):
                continue
            if self._on_gap is None:
                raise outcome
            self._on_gap(Gap(index, self.offset, 0, problem=outcome))
        if parts:
            yield Block(index, self.offset, b"".join(parts), count)
            self.offset += size

    def _frames(self) -> Iterator[EncodedLines | DamagedBackup]:
        """Yield frames, and the errors of invalid ones; an error that ends the items ends the frames too."""
        try:
            for item in self._items:
                if isinstance(item, EncodedLines | DamagedBackup):
                    yield item
                    continue
                try:
                    raw = self._encode(frame_from_json, *item)
                except DamagedBackup as problem:
                    yield problem
                else:
                    yield EncodedLines(encode_varint(len(raw)) + raw, 1, 1, 0)
        except DamagedBackup as problem:
            yield problem

    def _encode(self, encode: Callable[..., bytes], number: int, item: str | dict[str, Any]) -> bytes:
        edited = self._on_edited
        try:
            raw = encode(item, on_edited=None if edited is None else lambda: edited(number))
        except UnfitJson as error:
            raise damaged(str(error), number, self._where) from None
        if len(raw) > self._cap:
            raise damaged("the record is longer than is allowed", number, self._where)
        return raw


def line_items(source: BinaryIO, limits: StreamLimits) -> Iterator[Item | EncodedLines | DamagedBackup]:
    """Yield the lines of JSON Lines; empty lines are skipped.

    After the header, `LineEncoder` encodes the lines it can, many at a time, if it is compiled: interpreted, it is
    slower than the parser of the standard library.
    """
    number = 0
    cap = limits.frame_bytes
    encoding = False
    while data := read_lines(source, cap):
        encoder = LineEncoder(data, cap) if COMPILED else None
        at = 0
        while at < len(data):
            if encoder is not None and encoding:
                encoded = encoder.encode(at)
                number += encoded.lines
                at = encoded.rest
                if encoded.frames:
                    yield encoded
                if at == len(data):
                    break
            end = data.find(b"\n", at) + 1 or len(data)
            number += 1
            item = line_item(data[at:end], number, cap)
            at = end
            if item is not None:
                encoding = True
                yield item


def read_lines(source: BinaryIO, cap: int) -> bytes:
    """Read complete lines, about a chunk; a last line longer than `cap` is read only that far."""
    data = source.read(CHUNK)
    if data and not data.endswith(b"\n"):
        rest = source.readline(cap + 1)
        data += rest
        if len(rest) > cap:
            while rest and not rest.endswith(b"\n"):
                rest = source.readline(cap)
    return data


def line_item(line: bytes, number: int, cap: int) -> Item | DamagedBackup | None:
    """Decode a line; return its error if it is invalid, and None if it is empty."""
    if len(line) > cap:
        return damaged("the line is longer than is allowed", number, "lines")
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError:
        return damaged("the line is not UTF-8", number, "lines")
    return (number, text) if text else None


def array_items(source: BinaryIO, limits: StreamLimits) -> Iterator[Item]:
    """Yield the records of an array: a small one may be JSON5, a large one must be JSON (incremental)."""
    head = source.read(JSON5_LIMIT + 1)
    items = iter(small_array(head)) if len(head) <= JSON5_LIMIT else large_array(head, source, limits)
    for number, item in enumerate(items):
        if not isinstance(item, dict):
            raise damaged("the record is not an object", number, "array")
        yield number, item


def small_array(data: bytes) -> list[Any]:
    """Parse a whole array."""
    try:
        text = data.decode("utf-8-sig")
        try:
            document = json.loads(text, object_pairs_hook=unique)
        except json.JSONDecodeError:
            document = json5.loads(text.translate(LINE_ENDS), allow_duplicate_keys=False)
    except UnicodeDecodeError:
        raise UnreadableBackup("the file is not UTF-8") from None
    except RecursionError:
        raise UnreadableBackup("the file is nested too deep") from None
    except UnfitJson as error:
        raise UnreadableBackup(f"the file cannot be read as an array of records: {error}") from None
    except ValueError as error:
        place = re.search(r"<string>:(\d+)", str(error))
        where = f" at line {place[1]}" if place else ""
        raise UnreadableBackup(f"the file begins like JSON, but is neither JSON nor JSON5{where}") from None
    if not isinstance(document, list):
        raise UnreadableBackup("the file holds JSON, but not an array of records")
    return document


def large_array(head: bytes, source: BinaryIO, limits: StreamLimits) -> Iterator[Any]:
    """Parse the records of an array one by one; the buffer never has much more than one record."""
    utf8 = codecs.getincrementaldecoder("utf-8-sig")()
    buffer, at, number = decode(utf8, head), 0, 0
    while True:
        try:
            item, at = next_item(buffer, at, "[" if number == 0 else ",")
        except json.JSONDecodeError:
            # Doubling the buffer keeps the work linear in the size of a record.
            left = len(buffer) - at
            more = b"" if left > limits.frame_bytes else source.read(max(CHUNK, left))
            if not more:
                raise damaged("the array is not JSON here, or is cut off", number, "array") from None
            buffer, at = buffer[at:] + decode(utf8, more), 0
            continue
        except RecursionError:
            raise damaged("the record is nested too deep", number, "array") from None
        except (UnfitJson, ValueError) as error:
            problem = str(error) if isinstance(error, UnfitJson) else "the record holds a number of absurd length"
            raise damaged(problem, number, "array") from None
        if item is END:
            if buffer[skip_space(buffer, at + 1) :] or source.read(CHUNK).strip():
                raise damaged("something follows the array", number, "array")
            return
        yield item
        number += 1


def next_item(text: str, at: int, before: str) -> tuple[Any, int]:
    """Parse one record and the separator before it; return END after the last one.

    Records are objects, which have an end mark, so a truncated one is never mistaken for a complete one.
    """
    at = skip_space(text, at)
    if before == "," and text.startswith("]", at):
        return END, at
    if not text.startswith(before, at):
        raise json.JSONDecodeError("not an array", "", 0)
    at = skip_space(text, at + 1)
    if before == "[" and text.startswith("]", at):
        return END, at
    item: tuple[Any, int] = DECODER.raw_decode(text, at)
    return item


def skip_space(text: str, at: int) -> int:
    """Return the index of the next character that is not white space."""
    match = SPACE.match(text, at)
    return at if match is None else match.end()


def decode(decoder: codecs.IncrementalDecoder, data: bytes) -> str:
    """Decode the next bytes."""
    try:
        return decoder.decode(data)
    except UnicodeDecodeError:
        raise UnreadableBackup("the file is not UTF-8") from None
