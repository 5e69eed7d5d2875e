"""Converts JSON to records.

The mapping is protobuf's JSON mapping, read leniently: either spelling of a name, integers as numbers or strings,
enum values by name or by number, base64 in either alphabet with or without padding, `null` for an absent field.
Anything that is not in the schema is an error, with the path to it.
"""

import base64
import binascii
import json
import re
import struct
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from holdfast.backup.errors import DamagedRecord, UnfitJson
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire import tables
from holdfast.backup.wire.cursor import MAX_DEPTH
from holdfast.backup.wire.names import SPELLINGS, field_name, value_name
from holdfast.backup.wire.tojson import frame_to_json, header_to_json
from holdfast.backup.wire.varint import encode_varint

__all__ = ["frame_from_json", "header_from_json"]

Source: TypeAlias = str | bytes | Mapping[str, object]
Scalar: TypeAlias = bool | int | float | str | bytes

RAW: Final = "@raw"
TEXTUAL: Final = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)
FOUR_BYTES: Final = (FieldDescriptor.TYPE_FIXED32, FieldDescriptor.TYPE_FLOAT)
MASK: Final = (1 << 64) - 1

FIELDS: Final[dict[str, dict[str, FieldDescriptor]]] = {
    message.full_name: {field_name(field, names): field for field in message.fields for names in SPELLINGS}
    for message in tables.MESSAGES
}
VALUES: Final[dict[str, dict[str, int]]] = {
    enum.full_name: {
        value_name(enum, number, names): number for number in enum.values_by_number for names in SPELLINGS
    }
    for enum in tables.ENUMS
}
INTEGER: Final = re.compile(r"-?[0-9]{1,20}", re.ASCII)
NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|NaN|-?Infinity", re.ASCII)
BASE64: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}", re.ASCII)


def frame_from_json(source: Source, *, on_edited: Callable[[], None] | None = None) -> bytes:
    """Convert a JSON object, parsed or as text, to a frame.

    If the object carries the original bytes (`@raw`) and they still match its other keys, they are returned
    unchanged. If the object was edited, its keys are encoded instead and `on_edited` is called.
    """
    return from_json(source, Frame, frame_to_json, on_edited)


def header_from_json(source: Source, *, on_edited: Callable[[], None] | None = None) -> bytes:
    """Convert a JSON object to a header (`BackupInfo`), as `frame_from_json` does for a frame."""
    return from_json(source, BackupInfo, header_to_json, on_edited)


def from_json(
    source: Source,
    record: type[Frame] | type[BackupInfo],
    to_json: Callable[..., bytes],
    on_edited: Callable[[], None] | None,
) -> bytes:
    """Convert one record."""
    unedited = None if isinstance(source, Mapping) else original_bytes(source, to_json)
    if unedited is not None:
        return unedited
    shown = dict(source if isinstance(source, Mapping) else parse(source))
    kept = shown.pop(RAW, None)
    encoded = encode(shown, record.DESCRIPTOR)
    if kept is None:
        return encoded
    raw = to_bytes(kept, RAW)
    try:
        original = parse(to_json(raw, lossless=False))
    except DamagedRecord as error:
        raise UnfitJson(f"does not hold a record: {error}", path=RAW) from None
    # A tool that sorts keys has not edited the record.
    if encode(original, record.DESCRIPTOR, ordered=False) == encode(shown, record.DESCRIPTOR, ordered=False):
        return raw
    if on_edited is not None:
        on_edited()
    return encoded


def original_bytes(text: str | bytes, to_json: Callable[..., bytes]) -> bytes | None:
    """Return the original bytes that a text carries, if the text is exactly what `to_json` writes for them.

    That is the common case, and avoids parsing the text to find that it was not edited.
    """
    line = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    _, key, kept = line.rpartition(b'"@raw":"')
    if not key or not kept.endswith(b'"}'):
        return None
    try:
        raw = base64.b64decode(kept[:-2], validate=True)
        return raw if any(to_json(raw, names) == line for names in SPELLINGS) else None
    except (binascii.Error, DamagedRecord):
        return None


def parse(text: str | bytes) -> dict[str, object]:
    """Parse the text of a JSON object; duplicate keys are an error."""
    try:
        found = json.loads(text, object_pairs_hook=unique, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        # The message of the parser could contain part of the text.
        raise UnfitJson("is not well-formed JSON", path="") from None
    if not isinstance(found, dict):
        raise UnfitJson("is not a JSON object", path="")
    return found


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object with these members; duplicate keys are an error."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise UnfitJson("has a key that stands twice", path="")
    return made


def refuse_constant(name: str) -> object:
    """Raise an error for NaN and Infinity without quotes, which are not JSON."""
    raise UnfitJson(f"holds {name} without quotes", path="")


def encode(shown: object, message: Descriptor, path: str = "", depth: int = 0, *, ordered: bool = True) -> bytes:
    """Encode an object as a message, with the fields in the order of the keys, or else in that of their numbers.

    Writers order fields differently; in JSON, the order of the keys preserves it.
    """
    if not isinstance(shown, Mapping):
        raise UnfitJson("is not an object", path=path)
    if depth > MAX_DEPTH:
        raise UnfitJson("is nested too deep", path=path)
    fields = FIELDS[message.full_name]
    taken: dict[str, str] = {}
    parts: list[tuple[int, bytes]] = []
    for key, value in shown.items():
        place = f"{path}.{key}" if path else key
        field = fields.get(key)
        if field is None:
            raise UnfitJson("is not a field the format has", path=place)
        if value is None:
            continue
        holder = field.name if field.containing_oneof is None else field.containing_oneof.name
        if holder in taken:
            raise UnfitJson(f"cannot stand beside {taken[holder]}", path=place)
        taken[holder] = key
        if field.is_repeated:
            parts.append((field.number, encode_list(value, field, place, depth, ordered=ordered)))
        elif field.message_type is not None:
            inner = encode(value, field.message_type, place, depth + 1, ordered=ordered)
            parts.append((field.number, delimited(field, inner)))
        else:
            scalar = to_scalar(value, field, place)
            # A field without presence is not written if it has its default value; -0.0 is not the default.
            if field.has_presence or scalar or (isinstance(scalar, float) and str(scalar) == "-0.0"):
                parts.append((field.number, encode_scalar(scalar, field)))
    if not ordered:
        parts.sort()
    return b"".join(part for _number, part in parts)


def encode_list(shown: object, field: FieldDescriptor, path: str, depth: int, *, ordered: bool) -> bytes:
    """Encode a repeated field; numbers are packed, as all writers do."""
    if not isinstance(shown, list | tuple):
        raise UnfitJson("is not a list", path=path)
    places = ((value, f"{path}[{index}]") for index, value in enumerate(shown))
    if field.message_type is not None:
        inner = field.message_type
        return b"".join(
            delimited(field, encode(value, inner, place, depth + 1, ordered=ordered)) for value, place in places
        )
    scalars = [to_scalar(value, field, place) for value, place in places]
    if field.type in TEXTUAL:
        return b"".join(encode_scalar(scalar, field) for scalar in scalars)
    packed = b"".join(bare(scalar, field) for scalar in scalars)
    return delimited(field, packed) if scalars else b""


def encode_scalar(value: Scalar, field: FieldDescriptor) -> bytes:
    """Encode a tag and a value."""
    if isinstance(value, str):
        return delimited(field, value.encode())
    if isinstance(value, bytes):
        return delimited(field, value)
    return encode_varint(field.number << 3 | (5 if field.type in FOUR_BYTES else 0)) + bare(value, field)


def bare(value: Scalar, field: FieldDescriptor) -> bytes:
    """Encode a number without a tag; a negative one takes ten bytes."""
    if field.type in FOUR_BYTES:
        return struct.pack("<f" if field.type == FieldDescriptor.TYPE_FLOAT else "<I", value)
    return encode_varint(int(value) & MASK)


def delimited(field: FieldDescriptor, content: bytes) -> bytes:
    """Encode a length-delimited field."""
    return encode_varint(field.number << 3 | 2) + encode_varint(len(content)) + content


def to_scalar(value: object, field: FieldDescriptor, path: str) -> Scalar:
    """Convert a value to the type of its field."""
    if field.enum_type is not None:
        return to_enum(value, VALUES[field.enum_type.full_name], path)
    return READERS[field.type](value, path)


def to_enum(value: object, names: dict[str, int], path: str) -> int:
    """Convert the name of an enum value, or any 32-bit number."""
    if isinstance(value, str):
        if value not in names:
            raise UnfitJson("is not a value its enum has", path=path)
        return names[value]
    return to_integer(value, path, low=-(1 << 31), high=(1 << 31) - 1)


def to_integer(value: object, path: str, *, low: int, high: int) -> int:
    """Convert an integer written as a number or as a string."""
    if isinstance(value, str) and INTEGER.fullmatch(value):
        number = int(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, float) and value.is_integer():
        number = int(value)
    else:
        raise UnfitJson("is not an integer", path=path)
    if not low <= number <= high:
        raise UnfitJson(f"is not between {low} and {high}", path=path)
    return number


def to_uint32(value: object, path: str) -> int:
    """Convert a 32-bit integer."""
    return to_integer(value, path, low=0, high=(1 << 32) - 1)


def to_uint64(value: object, path: str) -> int:
    """Convert a 64-bit integer."""
    return to_integer(value, path, low=0, high=(1 << 64) - 1)


def to_bool(value: object, path: str) -> bool:
    """Convert a boolean."""
    if not isinstance(value, bool):
        raise UnfitJson("is neither true nor false", path=path)
    return value


def to_text(value: object, path: str) -> str:
    """Convert a string, which must be encodable as UTF-8."""
    if not isinstance(value, str):
        raise UnfitJson("is not text", path=path)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UnfitJson("holds half of a surrogate pair", path=path) from None
    return value


def to_bytes(value: object, path: str) -> bytes:
    """Convert base64, in either alphabet, with or without padding, to bytes."""
    if isinstance(value, str):
        text = value.replace("-", "+").replace("_", "/")
        if BASE64.fullmatch(text):
            digits = text.rstrip("=")
            try:
                return base64.b64decode(digits + "=" * (-len(digits) % 4))
            except binascii.Error:
                pass
    raise UnfitJson("is not base64", path=path)


def to_float(value: object, path: str) -> float:
    """Convert a 32-bit float, or the name of one that is not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UnfitJson("is not a number", path=path)
    if isinstance(value, str) and not NUMBER.fullmatch(value):
        raise UnfitJson("is not a number", path=path)
    try:
        number = float(value)
        struct.pack("<f", number)
    except OverflowError:
        raise UnfitJson("is too large for a number of four bytes", path=path) from None
    return number


READERS: Final[dict[int, Callable[[object, str], Scalar]]] = {
    FieldDescriptor.TYPE_UINT64: to_uint64,
    FieldDescriptor.TYPE_UINT32: to_uint32,
    FieldDescriptor.TYPE_FIXED32: to_uint32,
    FieldDescriptor.TYPE_BOOL: to_bool,
    FieldDescriptor.TYPE_STRING: to_text,
    FieldDescriptor.TYPE_BYTES: to_bytes,
    FieldDescriptor.TYPE_FLOAT: to_float,
}
