"""Turns what a client sent into the type an endpoint declares, or says which field is wrong."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from io import BytesIO
from types import NoneType
from typing import Any, Final, TypeVar, cast, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, UnsetType
from python_multipart import parse_form
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File

from holdfast.hosting.http.errors import ApiError

__all__ = ["Required", "SentFile", "decode_body", "decode_query", "decode_time", "given", "is_required", "rule"]

# The name of a field and its key, whether it is required, and a rule for its text.
FieldRules = tuple[str, str, bool, tuple[Callable[[str], bool], str] | None]
T = TypeVar("T", bound=msgspec.Struct)
V = TypeVar("V")

# A field that must be given and not be empty; everything else about it is in its own `Meta`.
Required: Final = Meta(extra={"required": True})

# More fields than any form has; reading each costs more than sending it.
MOST_FIELDS: Final = 1000
TOO_MANY: Final = f"a form has at most {MOST_FIELDS} fields"
FREE: Final = (str, bool, datetime, NoneType, UnsetType)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
INT64: Final = range(-(2**63), 2**63)
PLACE: Final = re.compile(r"(?s)(.*) - at `(?:key` in `)?\$?([^`]*)`$")
INSIDE: Final = re.compile(r"\[[^\]]*\]")
INITIALS: Final = {"id": "ID", "ids": "IDs", "url": "URL", "sha": "SHA", "oid": "OID", "ssh": "SSH"}
WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class SentFile(msgspec.Struct, frozen=True):
    """A file that came with a form: its name as the sender says it, which may be anything, and its bytes."""

    name: str
    content: bytes


@cache
def hints(kind: type) -> dict[str, Any]:
    """Return a struct's fields with their annotations."""
    return get_type_hints(kind, include_extras=True)


def given(value: V | UnsetType) -> V | None:
    """Return the value of a key, or None for one that is absent."""
    return None if isinstance(value, UnsetType) else value


def metas(hint: Any) -> list[Meta]:
    """Return what is said about a field besides its type."""
    return [part for part in getattr(hint, "__metadata__", ()) if isinstance(part, Meta)]


def is_required(kind: type, name: str) -> bool:
    """Tell whether a field must be given."""
    return any((meta.extra or {}).get("required") for meta in metas(hints(kind)[name]))


@cache
def field_title(kind: type, key: str) -> str:
    """Return the name errors call a field by: its title, or its key in the manner of clients' own structs."""
    for name, encoded in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True):  # type: ignore[attr-defined]  # msgspec does not type it
        if encoded == key:
            title = next((meta.title for meta in metas(hints(kind)[name]) if meta.title), None)
            if title:
                return title
    return "".join(INITIALS.get(word, word[:1].upper() + word[1:]) for word in key.split("_"))


@cache
def form_names(kind: type) -> dict[str, str]:
    """Return the keys of a struct by the names they have in a form."""
    names = {}
    for key in kind.__struct_encode_fields__:  # type: ignore[attr-defined]  # msgspec does not type it
        names[WORD.sub("_", field_title(kind, key)).lower()] = key
        names[key] = key
    return names


def without_nulls(value: object) -> object:
    """Drop keys whose value is null: to say null is to say nothing."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_nulls(inner) for inner in value]
    return value


def decode_body(
    kind: type[T], content: bytes, content_type: str | None, method: str, query: Mapping[str, str]
) -> T:
    """Decode a body by its content type.

    One for a struct with a class variable `plain_json` is JSON also where its client calls it plain text.
    """
    declared = (content_type or "").lower()
    is_plain = getattr(kind, "plain_json", False) and declared.startswith("text/plain")
    if "json" in declared or is_plain or (not declared and method in {"PATCH", "DELETE"} and content):
        return from_json(kind, content)
    if "form-urlencoded" in declared:
        return from_form(kind, form_fields(content))
    if "multipart/form-data" in declared:
        return from_form(kind, multipart_fields(content, content_type or ""))
    if declared:
        raise ApiError(422, "[]: Unsupported Content-Type")
    if method in {"POST", "PUT"}:
        raise ApiError(422, "[]: Empty Content-Type")
    return from_form(kind, list(query.items()))


def form_fields(content: bytes) -> list[tuple[str, str]]:
    """Read a form of names and values."""
    try:
        return parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise ApiError(400, TOO_MANY) from None


def from_json(kind: type[T], content: bytes) -> T:
    """Decode a JSON body; an empty one is an object without keys.

    A struct with a class variable `bare_list` may come as a list alone, which is then the field of that name.
    """
    try:
        value = without_nulls(msgspec.json.decode(content)) if content.strip() else {}
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ApiError(422, f"[]: {error}") from None
    bare: str | None = getattr(kind, "bare_list", None)
    if isinstance(value, list) and bare is not None:
        value = {bare: value}
    if not isinstance(value, dict):
        raise ApiError(422, "[]: the body must be a JSON object")
    return checked(kind, value, strict=True)


def multipart_fields(content: bytes, content_type: str) -> list[tuple[str, str | SentFile]]:
    """Read a multipart form: its plain fields and its files; an empty place for a file is none."""
    fields: list[tuple[str, str | SentFile]] = []

    parts = 0

    def count() -> None:
        nonlocal parts
        parts += 1
        if parts > MOST_FIELDS:
            raise ApiError(400, TOO_MANY)

    def keep(field: Field) -> None:
        count()
        name, value = field.field_name or b"", field.value or b""
        fields.append((name.decode("utf-8", "replace"), value.decode("utf-8", "replace")))

    def keep_file(file: File) -> None:
        count()
        name, sent = file.field_name or b"", file.file_name or b""
        if sent:
            file.file_object.seek(0)
            made = SentFile(sent.decode("utf-8", "replace"), file.file_object.read())
            fields.append((name.decode("utf-8", "replace"), made))
        file.close()

    try:
        parse_form({"Content-Type": content_type.encode()}, BytesIO(content), keep, keep_file)
    except (FormParserError, ValueError) as error:
        raise ApiError(422, f"[]: {error}") from None
    return fields


def from_form(kind: type[T], pairs: Sequence[tuple[str, str | SentFile]]) -> T:
    """Decode a form: values are texts, a list is a name that comes more than once, files go where some fit."""
    names, types = form_names(kind), hints(kind)
    keys = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
    value: dict[str, Any] = {}
    for name, given in pairs:
        key = names.get(name)
        if key is None or isinstance(given, SentFile) != takes_files(types[keys[key]]):
            continue
        if takes_list(types[keys[key]]):
            value.setdefault(key, []).append(given)
        elif given or takes_text(types[keys[key]]):
            value[key] = given
    return checked(kind, value, strict=False)


def members(hint: Any) -> tuple[Any, ...]:
    """Return the types a field may have."""
    while hasattr(hint, "__metadata__"):
        hint = hint.__origin__
    return (hint,) if get_origin(hint) in {list, dict} else get_args(hint) or (hint,)


def takes_list(hint: Any) -> bool:
    """Tell whether a field holds a list."""
    return any(get_origin(member) is list for member in members(hint))


def takes_files(hint: Any) -> bool:
    """Tell whether a field holds files that were sent with a form."""
    return any(SentFile in get_args(member) for member in members(hint))


def takes_text(hint: Any) -> bool:
    """Tell whether a field holds text, so that an empty value means something."""
    return any(member is str or getattr(member, "__origin__", None) is str for member in members(hint))


@cache
def empty_query(kind: type[msgspec.Struct]) -> msgspec.Struct:
    """Return what no query at all stands for, which nobody can change."""
    return from_form(kind, [])


def decode_query(kind: type[T], pairs: list[tuple[str, str]]) -> T:
    """Decode the query string; an empty parameter counts as not given."""
    if not pairs:
        return cast("T", empty_query(kind))
    return from_form(kind, [(name, value) for name, value in pairs if value])


def decode_time(text: str, field: str) -> int:
    """Return an RFC 3339 time as seconds since 1970; without an offset it is UTC."""
    try:
        # A plus sign that was not escaped arrives as a space.
        moment = datetime.fromisoformat(text.strip().replace(" ", "+"))
    except ValueError:
        raise ApiError(422, f"[{field}]: not a time such as 2026-08-22T10:00:00Z") from None
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - EPOCH) // timedelta(seconds=1)


def checked(kind: type[T], value: dict[str, Any], *, strict: bool) -> T:
    """Convert to the type and run the rules that types cannot express; the first failure is reported."""
    for key in kind.__struct_encode_fields__:
        # PostgreSQL cannot keep it in a text, and nothing people write needs it.
        if key in value and holds_nul(value[key]):
            raise ApiError(422, f"[{field_title(kind, key)}]: the character NUL is not allowed")
    try:
        made = msgspec.convert(value, kind, strict=strict)
    except (msgspec.ValidationError, OverflowError) as error:
        raise ApiError(422, type_problem(kind, str(error))) from None
    check_rules(made)
    return made


def holds_nul(value: object) -> bool:
    """Tell whether a NUL is in a text, or in one of those inside a list or an object."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(holds_nul(key) or holds_nul(inner) for key, inner in value.items())
    return isinstance(value, list) and any(map(holds_nul, value))


def rule(is_valid: Callable[[str], bool], name: str) -> Meta:
    """Annotate a text with a rule: unless it is empty or valid, the error names the rule."""
    return Meta(extra={"rule": (is_valid, name)})


@cache
def rules_of(kind: type[msgspec.Struct]) -> tuple[FieldRules, ...]:
    """Return the fields there are rules for."""
    found = []
    for name, key in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True):
        hint = hints(kind)[name]
        extra: dict[str, Any] = {}
        for meta in metas(hint):
            extra |= meta.extra or {}
        if extra or not all(is_free(member) for member in members(hint)):
            found.append((name, key, bool(extra.get("required")), extra.get("rule")))
    return tuple(found)


def is_free(member: Any) -> bool:
    """Tell whether any value of a type will do: numbers must fit, and structs may have rules of their own."""
    if isinstance(member, type) and issubclass(member, msgspec.Struct):
        return not rules_of(member)
    return member in FREE


def check_rules(made: msgspec.Struct) -> None:
    """Refuse a required field that is empty, a text that breaks its rule, and a number no database keeps."""
    kind = type(made)
    for name, key, required, text_rule in rules_of(kind):
        value = getattr(made, name)
        if required and (value is msgspec.UNSET or value is None or value in ("", 0, [])):
            raise ApiError(422, f"[{field_title(kind, key)}]: Required")
        if isinstance(value, str):
            if text_rule is not None and value and not text_rule[0](value):
                raise ApiError(422, f"[{field_title(kind, key)}]: {text_rule[1]}")
            continue
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, msgspec.Struct):
                check_rules(item)
            elif isinstance(item, int) and item not in INT64:
                raise ApiError(422, f"[{field_title(kind, key)}]: a number must fit into 64 bits")


@cache
def innermost(kind: type, keys: tuple[str, ...]) -> type:
    """Return the struct that some keys lead to, through structs and lists of them."""
    for key in keys:
        names = {one.encode_name: one.name for one in msgspec.structs.fields(kind)}
        held = members(hints(kind)[names[key]]) if key in names else ()
        inside = [one for member in held for one in (member, *get_args(member))]
        kind = next((one for one in inside if isinstance(one, type) and issubclass(one, msgspec.Struct)), kind)
    return kind


def type_problem(kind: type, text: str) -> str:
    """Say which field msgspec objects to, and in the contract's words why where it has some."""
    match = PLACE.match(text)
    if match is None:
        return f"[]: {text}"
    reason, place = match.groups()
    # An entry of a list or a map is written with dots, as `[...]`.
    keys = INSIDE.sub("", place).removeprefix(".").split(".")
    title = field_title(innermost(kind, tuple(keys[:-1])), keys[-1]) if keys[-1] else ""
    if "length <=" in reason:
        reason = "MaxSize"
    elif "length >=" in reason:
        reason = "MinSize"
    return f"[{title}]: {reason}"
