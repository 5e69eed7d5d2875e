"""Edits single fields of a serialized protobuf record and keeps all other bytes.

A field is identified by its path as in findings: `chatItem.standardMessage.reactions[2].authorId`. Only the
messages that contain a changed field get a new length; all other bytes are kept, including unknown fields, fields
out of order and overlong varints.
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
    """There is no field at the path, or its message is split into several occurrences."""


@redacted
@dataclass(slots=True)
class FieldNode:
    """A serialized field: its tag, its length if it has one, and its value.

    `replaced` maps positions of a packed list to new numbers, empty for removed ones; `packed` is the wire type of
    its numbers.
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
        """Return the fields of the submessage, parsed on first use."""
        if self.fields is None:
            if self.message is None:
                raise CannotEdit("there is no message where the path leads through one")
            self.fields = parse_fields(self.body, self.message)
        return self.fields

    def is_modified(self) -> bool:
        """Return whether the field or any of its children was changed."""
        if self.changed or self.dropped or self.replaced:
            return True
        return any(child.is_modified() for child in self.fields or ())

    def encode(self) -> bytes:
        """Serialize the field; unchanged parts keep their bytes."""
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
    """A serialized record that can be edited field by field.

    Paths refer to the record as it was read: removing the first element of a list does not renumber the second.
    """

    def __init__(self, raw: bytes, root: int = tables.FRAME) -> None:
        self._root = FieldNode(0, DELIMITED, b"", b"", raw, root)

    def encode(self) -> bytes:
        """Serialize the record."""
        root = self._root
        return b"".join(node.encode() for node in root.fields) if root.fields is not None else root.body

    def has(self, path: str) -> bool:
        """Return whether there is a field at a path."""
        try:
            parent, descriptor, index = self._resolve(path)
        except CannotEdit:
            return False
        return bool(self._fields_at(parent, descriptor, index))

    def number(self, path: str) -> int:
        """Return the number at a path, 0 if there is none."""
        parent, descriptor, index = self._resolve(path)
        fields = self._fields_at(parent, descriptor, index)
        if not fields:
            return 0
        node, position = fields[-1]
        body = node.body if position is None else split_packed(node.body, node.packed)[position]
        return varint_at(body, 0)[0] if body else 0

    def clear(self, path: str) -> None:
        """Remove a field or an element of a list."""
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
        """Set the value at a path, given without its length; a new field is inserted in order of field numbers."""
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
        """Set values related to a path: of a field on the path, or of fields inside or next to its end."""
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
        """Resolve a path to its parent message, field descriptor and element index."""
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
        """List the occurrences of a field; numbers of a packed list as the list and a position."""
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
    """Split a path into field names and element indexes."""
    steps = []
    for part in path.split("."):
        step = STEP.fullmatch(part)
        if step is None:
            raise CannotEdit("the path leads to nothing that the schema names")
        steps.append((step[1], None if step[2] is None else int(step[2])))
    return steps


def ancestor_path(path: str, name: str) -> str:
    """Return the prefix of a path up to the innermost field with a name."""
    steps = path.split(".")
    while steps and parse_path(steps[-1])[0][0] != name:
        steps.pop()
    if not steps:
        raise CannotEdit("the path does not lead through such a field")
    return ".".join(steps)


def element_path(path: str) -> str:
    """Return the prefix of a path up to its innermost list element."""
    steps = path.split(".")
    while steps and not steps[-1].endswith("]"):
        steps.pop()
    if not steps:
        raise CannotEdit("the path leads through no list")
    return ".".join(steps)


def descriptor_of(node: FieldNode, name: str) -> FieldDescriptor:
    """Return the descriptor of a field by name."""
    if node.message is None or name not in tables.MESSAGES[node.message].fields_by_name:
        raise CannotEdit("the path names a field that the schema does not have")
    return tables.MESSAGES[node.message].fields_by_name[name]


def split_packed(body: bytes, wire_type: int) -> list[bytes]:
    """Split a packed list into its encoded numbers."""
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
    """Parse the fields of a message that is known to be well-formed."""
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
    """Return the message type of a field, None if it is not a message, and the wire type of its packed numbers."""
    number = tag >> 3
    slot = tables.BASES[message] + number if number < tables.LIMITS[message] else 0
    kind = tables.SHAPES[slot]
    is_message = kind & tables.KIND == tables.MESSAGE and tag & 7 == DELIMITED
    return (tables.TARGETS[slot] if is_message else None), kind & tables.WIRE_TYPE


def end_of_group(data: bytes, pos: int) -> int:
    """Return the end of a group, after its end tag."""
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
