"""Decoding of JSON bodies, forms and query strings to the declared types; errors name the field."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from io import BytesIO
from typing import Any, Final, TypeVar, cast, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, UnsetType
from python_multipart import parse_form
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File

from holdfast.hosting.http.errors import REQUIRED, TOO_LONG, TOO_SHORT, ApiError, FieldError

__all__ = ["Required", "SentFile", "decode_body", "decode_query", "decode_time", "given", "is_required", "rule"]

T = TypeVar("T", bound=msgspec.Struct)
V = TypeVar("V")

# Marks a field that must be given and not be empty; other constraints are in the field's own `Meta`.
Required: Final = Meta(extra={"required": True})

# Maximum fields of a form, more than any form has: parsing a field costs more than sending it.
MOST_FIELDS: Final = 1000
TOO_MANY: Final = f"a form has at most {MOST_FIELDS} fields"
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
INT64: Final = range(-(2**63), 2**63)
# The path of the invalid value in msgspec's error messages, and a list or map entry in that path.
PLACE: Final = re.compile(r"(?s)(.*) - at `(?:key` in `)?\$?([^`]*)`$")
ENTRY: Final = re.compile(r"\[[^\]]*\]")
INITIALS: Final = {"id": "ID", "ids": "IDs", "url": "URL", "sha": "SHA", "oid": "OID", "ssh": "SSH"}
WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class SentFile(msgspec.Struct, frozen=True):
    """A file uploaded with a form: its content, and its untrusted name."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class FieldRules:
    """A field of a struct: its name, JSON key, title in error messages, types and validation rules."""

    name: str
    key: str
    title: str
    types: tuple[Any, ...]
    required: bool
    text_rule: tuple[Callable[[str], bool], str] | None
    pattern: str
    is_list: bool
    takes_files: bool
    takes_text: bool
    """Whether an empty form value is a value, not a missing field."""


@cache
def fields_of(kind: type[msgspec.Struct]) -> dict[str, FieldRules]:
    """Return the fields of a struct by their keys."""
    return {field.key: field for field in read_fields(kind)}


def read_fields(kind: type[msgspec.Struct]) -> Iterator[FieldRules]:
    """Read the annotations of a struct."""
    hints = get_type_hints(kind, include_extras=True)
    for name, key in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True):
        hint = hints[name]
        metas = [part for part in getattr(hint, "__metadata__", ()) if isinstance(part, Meta)]
        extra: dict[str, Any] = {}
        for meta in metas:
            extra |= meta.extra or {}
        while hasattr(hint, "__metadata__"):
            hint = hint.__origin__
        types = (hint,) if get_origin(hint) in {list, dict} else get_args(hint) or (hint,)
        yield FieldRules(
            name,
            key,
            next((meta.title for meta in metas if meta.title), None) or title_of(key),
            types,
            required=bool(extra.get("required")),
            text_rule=extra.get("rule"),
            pattern=next((meta.pattern for meta in metas if meta.pattern), None) or "",
            is_list=any(get_origin(field_type) is list for field_type in types),
            takes_files=any(SentFile in get_args(field_type) for field_type in types),
            takes_text=any(
                field_type is str or getattr(field_type, "__origin__", None) is str for field_type in types
            ),
        )


def title_of(key: str) -> str:
    """Return the default title of a field in error messages: its key in CamelCase."""
    return "".join(INITIALS.get(part, part[:1].upper() + part[1:]) for part in key.split("_"))


@cache
def form_names(kind: type[msgspec.Struct]) -> dict[str, FieldRules]:
    """Return the fields of a struct by their form names: the title in lower case, or the key."""
    fields = fields_of(kind)
    return {WORD.sub("_", field.title).lower(): field for field in fields.values()} | fields


def given(value: V | UnsetType) -> V | None:
    """Return a value, or None if it is UNSET."""
    return None if isinstance(value, UnsetType) else value


def is_required(kind: type[msgspec.Struct], key: str) -> bool:
    """Return whether a field must be given."""
    return fields_of(kind)[key].required


def rule(is_valid: Callable[[str], bool], name: str) -> Meta:
    """Return the annotation of a string field with a validation rule; errors name the rule. Empty is valid."""
    return Meta(extra={"rule": (is_valid, name)})


def decode_body(
    kind: type[T], content: bytes, content_type: str | None, method: str, query: Mapping[str, str]
) -> T:
    """Decode a body by its content type.

    For a struct with a class variable `plain_json`, a body of type `text/plain` is decoded as JSON too.
    """
    declared = (content_type or "").lower()
    is_plain = getattr(kind, "plain_json", False) and declared.startswith("text/plain")
    if "json" in declared or is_plain or (not declared and method in {"PATCH", "DELETE"} and content):
        return from_json(kind, content)
    if "form-urlencoded" in declared:
        return from_form(kind, urlencoded_fields(content))
    if "multipart/form-data" in declared:
        return from_form(kind, multipart_fields(content, content_type or ""))
    if declared:
        raise FieldError("", "Unsupported Content-Type")
    if method in {"POST", "PUT"}:
        raise FieldError("", "Empty Content-Type")
    return from_form(kind, list(query.items()))


def from_json(kind: type[T], content: bytes) -> T:
    """Decode a JSON body; an empty body is an empty object.

    For a struct with a class variable `bare_list`, a top-level list is the value of the field of that name.
    """
    try:
        value = without_nulls(msgspec.json.decode(content)) if content.strip() else {}
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise FieldError("", str(error)) from None
    bare: str | None = getattr(kind, "bare_list", None)
    if isinstance(value, list) and bare is not None:
        value = {bare: value}
    if not isinstance(value, dict):
        raise FieldError("", "the body must be a JSON object")
    return convert(kind, match_keys(kind, value), strict=True)


@cache
def folded_keys(kind: type[msgspec.Struct]) -> dict[str, str]:
    """Return the keys of a struct by their lower-case names.

    A class variable `key_aliases` adds further names of keys.
    """
    aliases: Mapping[str, str] = getattr(kind, "key_aliases", {})
    return {key.lower(): key for key in fields_of(kind)} | {name.lower(): key for name, key in aliases.items()}


@cache
def structs_in(kind: type[msgspec.Struct]) -> dict[str, type[msgspec.Struct]]:
    """Return the fields of a struct that are structs or lists of them, by key."""
    structs: dict[str, type[msgspec.Struct]] = {}
    for key, field in fields_of(kind).items():
        for field_type in field.types:
            inner = get_args(field_type)[0] if get_origin(field_type) is list else field_type
            if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
                structs[key] = inner
    return structs


def match_keys(kind: type[msgspec.Struct], value: dict[str, Any]) -> dict[str, Any]:
    """Rename the keys of an object to those of a struct, ignoring case, which differs between clients.

    Of several spellings of a key the last one is used.
    """
    fields, structs = fields_of(kind), structs_in(kind)
    if not structs and value.keys() <= fields.keys():
        return value
    folded = folded_keys(kind)
    matched: dict[str, Any] = {}
    for name, inner in value.items():
        key = name if name in fields else folded.get(name.lower(), name)
        struct = structs.get(key)
        if struct is not None and isinstance(inner, dict):
            inner = match_keys(struct, inner)  # noqa: PLW2901  # the same value with other keys
        elif struct is not None and isinstance(inner, list):
            inner = [match_keys(struct, item) if isinstance(item, dict) else item for item in inner]  # noqa: PLW2901  # as above, for each of a list
        matched[key] = inner
    return matched


def without_nulls(value: object) -> object:
    """Drop keys whose value is null: null is treated as absent."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_nulls(inner) for inner in value]
    return value


def urlencoded_fields(content: bytes) -> list[tuple[str, str]]:
    """Parse a form of type `application/x-www-form-urlencoded`."""
    try:
        return parse_qsl(text_of(content), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise ApiError(400, TOO_MANY) from None


def multipart_fields(content: bytes, content_type: str) -> list[tuple[str, str | SentFile]]:
    """Parse a form of type `multipart/form-data`; a file input without a file has no file name."""
    fields: list[tuple[str, str | SentFile]] = []

    def add(name: bytes | None, value: str | SentFile) -> None:
        if len(fields) == MOST_FIELDS:
            raise ApiError(400, TOO_MANY)
        fields.append((text_of(name), value))

    def add_text(field: Field) -> None:
        add(field.field_name, text_of(field.value))

    def add_file(file: File) -> None:
        file.file_object.seek(0)
        add(file.field_name, SentFile(text_of(file.file_name), file.file_object.read()))
        file.close()

    try:
        parse_form({"Content-Type": content_type.encode()}, BytesIO(content), add_text, add_file)
    except (FormParserError, ValueError) as error:
        raise FieldError("", str(error)) from None
    return [(name, value) for name, value in fields if isinstance(value, str) or value.name]


def text_of(content: bytes | None) -> str:
    """Decode UTF-8, with replacement characters for invalid bytes."""
    return (content or b"").decode("utf-8", "replace")


def from_form(kind: type[T], pairs: Sequence[tuple[str, str | SentFile]]) -> T:
    """Decode a form: repeated names are lists, and files go to fields that accept files."""
    names = form_names(kind)
    value: dict[str, Any] = {}
    for name, sent in pairs:
        field = names.get(name)
        if field is None or isinstance(sent, SentFile) != field.takes_files:
            continue
        if field.is_list:
            value.setdefault(field.key, []).append(sent)
        elif sent or field.takes_text:
            value[field.key] = sent
    return convert(kind, value, strict=False)


@cache
def empty_query(kind: type[msgspec.Struct]) -> msgspec.Struct:
    """Return the decoded empty query string; the struct is immutable and shared."""
    return from_form(kind, [])


def decode_query(kind: type[T], pairs: list[tuple[str, str]]) -> T:
    """Decode the query string; an empty parameter is treated as absent."""
    if not pairs:
        return cast("T", empty_query(kind))
    return from_form(kind, [(name, value) for name, value in pairs if value])


def decode_time(text: str, field: str) -> int:
    """Parse an RFC 3339 time to a Unix timestamp; without an offset it is UTC."""
    try:
        # An unescaped plus sign arrives as a space.
        moment = datetime.fromisoformat(text.strip().replace(" ", "+"))
    except ValueError:
        raise FieldError(field, "not a time such as 2026-08-22T10:00:00Z") from None
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - EPOCH) // timedelta(seconds=1)


def convert(kind: type[T], value: dict[str, Any], *, strict: bool) -> T:
    """Convert to the type and check the rules that types cannot express; the first error is reported."""
    for key, field in fields_of(kind).items():
        # PostgreSQL cannot store NUL in text.
        if key in value and holds_nul(value[key]):
            raise FieldError(field.title, "the character NUL is not allowed")
    try:
        converted = msgspec.convert(value, kind, strict=strict)
    except (msgspec.ValidationError, OverflowError) as error:
        raise type_error(kind, str(error)) from None
    check_rules(converted)
    return converted


def holds_nul(value: object) -> bool:
    """Return whether a string, or a string nested in a list or object, contains NUL."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(holds_nul(key) or holds_nul(inner) for key, inner in value.items())
    return isinstance(value, list) and any(map(holds_nul, value))


def check_rules(converted: msgspec.Struct) -> None:
    """Raise an error for an empty required field, a string that breaks its rule, or a number over 64 bits."""
    for field in fields_of(type(converted)).values():
        value = getattr(converted, field.name)
        if field.required and (value is msgspec.UNSET or value is None or value in ("", 0, [])):
            raise FieldError(field.title, REQUIRED)
        if isinstance(value, str):
            if field.text_rule is not None and value and not field.text_rule[0](value):
                raise FieldError(field.title, field.text_rule[1])
            continue
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, msgspec.Struct):
                check_rules(item)
            elif isinstance(item, int) and item not in INT64:
                raise FieldError(field.title, "a number must fit into 64 bits")


def type_error(kind: type[msgspec.Struct], message: str) -> FieldError:
    """Convert a msgspec error message to a `FieldError` with the API's message, if it has one."""
    match = PLACE.match(message)
    if match is None:
        return FieldError("", message)
    reason, place = match.groups()
    keys = ENTRY.sub("", place).removeprefix(".").split(".")
    field = field_at(kind, keys)
    if "length <=" in reason:
        reason = TOO_LONG
    elif "length >=" in reason:
        reason = TOO_SHORT
    pattern = field.pattern if field is not None and "matching regex" in reason else ""
    return FieldError(title_of(keys[-1]) if field is None else field.title, reason, pattern)


def field_at(kind: type[msgspec.Struct], keys: list[str]) -> FieldRules | None:
    """Return the field at a path of keys, through nested structs and lists of structs."""
    field = None
    for key in keys:
        field = fields_of(kind).get(key)
        types = () if field is None else [inner for held in field.types for inner in (held, *get_args(held))]
        kind = next(
            (inner for inner in types if isinstance(inner, type) and issubclass(inner, msgspec.Struct)), kind
        )
    return field
