"""Changes single fields of a record and leaves every other byte of it as it was written.

A field is named by its path, as findings name it: `chatItem.standardMessage.reactions[2].authorId`. Only the
messages on the way to a changed field get a new length; everything beside the way keeps its bytes, also what is
unknown, out of order or written with more bytes than it needs.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from google.protobuf.descriptor import FieldDescriptor

from holdfast.backup.wire import tables
from holdfast.backup.wire.varint import encode_varint, varint_at
from holdfast.redacted_repr import redacted

__all__ = ["CannotEdit", "EditableRecord", "ancestor_path", "element_path"]

DELIMITED: Final = 2
STEP: Final = re.compile(r"([A-Za-z_0-9]+)(?:\[(\d+)\])?")
SIZES: Final = {1: 8, 5: 4}


class CannotEdit(Exception):
    """The field is not where its path leads, or is written in pieces that cannot be changed one by one."""


@redacted
@dataclass(slots=True)
class FieldNode:
    """One field as it is written: its tag, its length if it has one, and its value.

    `replaced` are the numbers to write into a packed list by their places, empty where one is left out; the
    numbers of the list are of `packed` wire type.
    """

    number: int
    wire_type: int
    head: bytes
    length: bytes
    body: bytes
    message: int | None = None
    packed: int = 0
    fields: list["FieldNode"] | None = None
    replaced: dict[int, bytes] = field(default_factory=dict)
    changed: bool = False
    dropped: bool = False

    def children(self) -> list["FieldNode"]:
        """Take the message it holds apart, once."""
        if self.fields is None:
            if self.message is None:
                raise CannotEdit("there is no message where the path leads through one")
            self.fields = parse_fields(self.body, self.message)
        return self.fields

    def is_modified(self) -> bool:
        """Return whether anything in it was changed."""
        if self.changed or self.dropped or self.replaced:
            return True
        return any(child.is_modified() for child in self.fields or ())

    def encode(self) -> bytes:
        """Write the field again, byte for byte where nothing in it was changed."""
        if self.dropped:
            return b""
        if not self.is_modified():
            return self.head + self.length + self.body
        body = self.body
        if self.fields is not None:
            body = b"".join(child.encode() for child in self.fields)
        elif self.replaced:
            parts = split_packed(self.body, self.packed)
            body = b"".join(self.replaced.get(position, part) for position, part in enumerate(parts))
            if not body:
                return b""
        return self.head + (encode_varint(len(body)) if self.wire_type == DELIMITED else b"") + body


class EditableRecord:
    """A record that can be changed field by field.

    Paths mean the record as it was read: dropping the first element of a list does not move the second.
    """

    def __init__(self, raw: bytes, root: int = tables.FRAME) -> None:
        self._root = FieldNode(0, DELIMITED, b"", b"", raw, root)

    def encode(self) -> bytes:
        """Write the record."""
        root = self._root
        return b"".join(node.encode() for node in root.fields) if root.fields is not None else root.body

    def has(self, path: str) -> bool:
        """Return whether there is anything where a path leads."""
        try:
            parent, descriptor, index = self._resolve(path)
        except CannotEdit:
            return False
        return bool(self._fields_at(parent, descriptor, index))

    def number(self, path: str) -> int:
        """Read a number, 0 where there is none."""
        parent, descriptor, index = self._resolve(path)
        fields = self._fields_at(parent, descriptor, index)
        if not fields:
            return 0
        node, position = fields[-1]
        body = node.body if position is None else split_packed(node.body, node.packed)[position]
        return varint_at(body, 0)[0] if body else 0

    def clear(self, path: str) -> None:
        """Leave a field, or an element of a list, out."""
        parent, descriptor, index = self._resolve(path)
        fields = self._fields_at(parent, descriptor, index)
        if not fields:
            raise CannotEdit("there is nothing where the path leads")
        for node, position in fields:
            if position is None:
                node.dropped = True
            else:
                node.replaced[position] = b""

    def put(self, path: str, body: bytes) -> None:
        """Write a value, without its length, in place of the one that is there or where it would belong."""
        parent, descriptor, index = self._resolve(path)
        fields = self._fields_at(parent, descriptor, index)
        if descriptor.is_repeated and (index is None or not fields):
            raise CannotEdit("a list has no one place for a value")
        for node, position in fields:
            if position is not None:
                node.replaced[position] = body
            else:
                node.body, node.fields, node.changed = body, None, True
        if fields:
            return
        wire_type = tables.KINDS[descriptor.type] & tables.WIRE_TYPE
        head = encode_varint(descriptor.number << 3 | wire_type)
        children = parent.children()
        place = max(
            (position + 1 for position, node in enumerate(children) if node.number <= descriptor.number), default=0
        )
        children.insert(place, FieldNode(descriptor.number, wire_type, head, b"", body, changed=True))

    def put_near(self, path: str, values: Mapping[str, bytes]) -> None:
        """Write the values that go with a path: that of a field on it, or those of fields inside or beside it."""
        steps = path.split(".")
        for length in range(len(steps), 0, -1):
            name = parse_path(steps[length - 1])[0][0]
            if name in values:
                self.put(".".join(steps[:length]), values[name])
                return
        parent, descriptor, index = self._resolve(path)
        inner = descriptor.message_type
        is_inside = inner is not None and set(values) <= set(inner.fields_by_name)
        if is_inside and len(self._fields_at(parent, descriptor, index)) != 1:
            raise CannotEdit("the message is missing, or written in pieces")
        base = f"{path}." if is_inside else path[: path.rfind(".") + 1]
        for name, body in values.items():
            self.put(base + name, body)

    def _resolve(self, path: str) -> tuple[FieldNode, FieldDescriptor, int | None]:
        """Follow a path up to its last step: the message there, and which field and element of it is meant."""
        node = self._root
        steps = parse_path(path)
        for name, index in steps[:-1]:
            fields = self._fields_at(node, descriptor_of(node, name), index)
            if len(fields) != 1:
                raise CannotEdit("a message on the way is missing, or written in pieces")
            node = fields[0][0]
        name, index = steps[-1]
        return node, descriptor_of(node, name), index

    def _fields_at(
        self, node: FieldNode, descriptor: FieldDescriptor, index: int | None
    ) -> list[tuple[FieldNode, int | None]]:
        """List the fields that are meant; a number in a packed list by the list and its place in it."""
        kind = tables.KINDS[descriptor.type]
        matches: list[tuple[FieldNode, int | None]] = []
        for child in node.children():
            if child.number != descriptor.number:
                continue
            if child.wire_type == kind & tables.WIRE_TYPE:
                matches.append((child, None))
            elif child.wire_type == DELIMITED and descriptor.is_repeated:
                matches += [(child, position) for position in range(len(split_packed(child.body, child.packed)))]
        return matches if index is None else matches[index : index + 1]


def parse_path(path: str) -> list[tuple[str, int | None]]:
    """Take a path apart."""
    steps = []
    for part in path.split("."):
        step = STEP.fullmatch(part)
        if step is None:
            raise CannotEdit("the path leads to nothing that the schema names")
        steps.append((step[1], None if step[2] is None else int(step[2])))
    return steps


def ancestor_path(path: str, name: str) -> str:
    """Shorten a path to the innermost field of a name that it leads through."""
    steps = path.split(".")
    while steps and parse_path(steps[-1])[0][0] != name:
        steps.pop()
    if not steps:
        raise CannotEdit("the path does not lead through such a field")
    return ".".join(steps)


def element_path(path: str) -> str:
    """Shorten a path to the innermost element of a list it leads to or through."""
    steps = path.split(".")
    while steps and not steps[-1].endswith("]"):
        steps.pop()
    if not steps:
        raise CannotEdit("the path leads through no list")
    return ".".join(steps)


def descriptor_of(node: FieldNode, name: str) -> FieldDescriptor:
    """Find a field of a message by its name."""
    if node.message is None or name not in tables.MESSAGES[node.message].fields_by_name:
        raise CannotEdit("the path names a field that the schema does not have")
    return tables.MESSAGES[node.message].fields_by_name[name]


def split_packed(body: bytes, wire_type: int) -> list[bytes]:
    """Take a packed list apart into its numbers as they are written."""
    if wire_type in SIZES:
        size = SIZES[wire_type]
        return [body[position : position + size] for position in range(0, len(body), size)]
    parts = []
    pos = 0
    while pos < len(body):
        start = pos
        _value, pos = varint_at(body, pos)
        parts.append(body[start:pos])
    return parts


def parse_fields(data: bytes, message: int) -> list[FieldNode]:
    """Take a message apart that was walked before."""
    nodes = []
    pos = 0
    while pos < len(data):
        start = pos
        tag, pos = varint_at(data, pos)
        head = data[start:pos]
        begin = pos
        if tag & 7 == DELIMITED:
            size, begin = varint_at(data, pos)
            end = begin + size
        elif tag & 7 == 0:
            _value, end = varint_at(data, pos)
        elif tag & 7 in SIZES:
            end = pos + SIZES[tag & 7]
        else:
            end = end_of_group(data, pos)
        target, packed = field_type(message, tag)
        nodes.append(FieldNode(tag >> 3, tag & 7, head, data[pos:begin], data[begin:end], target, packed))
        pos = end
    return nodes


def field_type(message: int, tag: int) -> tuple[int | None, int]:
    """Return the message a field holds, if it holds one, and the wire type of the numbers it would hold packed."""
    number = tag >> 3
    slot = tables.BASES[message] + number if number < tables.LIMITS[message] else 0
    kind = tables.SHAPES[slot]
    is_message = kind & tables.KIND == tables.MESSAGE and tag & 7 == DELIMITED
    return (tables.TARGETS[slot] if is_message else None), kind & tables.WIRE_TYPE


def end_of_group(data: bytes, pos: int) -> int:
    """Find the end of a group, behind the tag that closes it."""
    depth = 1
    while depth:
        tag, pos = varint_at(data, pos)
        if tag & 7 == 0:
            _value, pos = varint_at(data, pos)
        elif tag & 7 == DELIMITED:
            size, pos = varint_at(data, pos)
            pos += size
        else:
            pos += SIZES.get(tag & 7, 0)
            depth += {3: 1, 4: -1}.get(tag & 7, 0)
    return pos
