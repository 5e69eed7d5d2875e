"""The records of an export, and the JSON Schema that describes them."""

import inspect
import typing
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from holdfast.backup.exports import schemas

SCHEMA = schemas.json_schema()
RECORDS = {record.__struct_config__.tag: record for record in typing.get_args(schemas.Line)}


def is_valid(record: dict[str, Any]) -> bool:
    """Return whether a record is valid against the definition of its kind."""
    name = schemas.definition_name(RECORDS[record["record"]])
    return Draft202012Validator({**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{name}"}]}).is_valid(record)


def test_every_record_has_a_definition_with_its_kind_and_a_description() -> None:
    """The definition of a record has the docstring of its class, and a name without its prefix."""
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == f"urn:holdfast:export:{schemas.VERSION}"
    for kind, record in RECORDS.items():
        definition = SCHEMA["$defs"][schemas.definition_name(record)]
        assert definition["properties"]["record"] == {"enum": [kind]}
        assert "record" in definition["required"]
        assert definition["description"] == inspect.getdoc(record)


def test_the_schema_does_not_know_the_names_of_classes() -> None:
    """Neither names nor references in the schema have the prefix "Exported" of the classes."""
    assert "Exported" not in msgspec.json.encode(SCHEMA).decode()
    assert schemas.definition_name(schemas.ExportedMessage) == "Message"
    assert schemas.definition_name(schemas.Export) == "Export"


def test_a_wrong_record_is_not_valid() -> None:
    """An id that is a string and an unknown format are not valid against the schema."""
    assert not is_valid({"record": "message", "id": "1"})
    assert not is_valid({"record": "export", "format": "other", "version": 1, "made_by": ""})


def test_what_is_not_known_is_left_out() -> None:
    """Optional fields without a value are left out, and the record is valid and can be read again."""
    message = schemas.ExportedMessage(
        id=1,
        account_id=2,
        chat_id=3,
        chat="Boats",
        author_id=4,
        author="Ada",
        direction="incoming",
        kind="standardMessage",
        sent_ms=5,
        first_sent_ms=5,
        order_ms=5,
        order_n=0,
        first_seen_ms=6,
    )
    written = msgspec.to_builtins(message)
    assert written["record"] == "message"
    assert not {"text", "quote", "reactions", "deleted_by_id"} & set(written)
    assert is_valid(written)
    assert msgspec.json.decode(msgspec.json.encode(message), type=schemas.Line) == message
    assert not is_valid({**written, "direction": "sideways"})


def test_a_record_of_an_unknown_kind_is_refused() -> None:
    """Reading a record of an unknown kind raises an error and does not skip it."""
    with pytest.raises(msgspec.ValidationError, match="record"):
        msgspec.json.decode(b'{"record": "letter"}', type=schemas.Line)


def test_no_key_is_part_of_an_export() -> None:
    """No field of the schema is named as a key or a password."""
    fields = {name for definition in SCHEMA["$defs"].values() for name in definition["properties"]}
    assert not [name for name in fields if name.endswith("key") or "password" in name]
