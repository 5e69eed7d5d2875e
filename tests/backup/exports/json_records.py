"""Helpers that read and validate the records of an export to JSON Lines."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from jsonschema import Draft202012Validator

from holdfast.backup.exports import schemas

__all__ = ["SCHEMA", "check_records", "read_records"]

SCHEMA = schemas.json_schema()
VALIDATORS = {
    one["properties"]["record"]["enum"][0]: Draft202012Validator(
        {**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{name}"}]}
    )
    for name, one in SCHEMA["$defs"].items()
    if "record" in one["properties"]
}


def record_lines(folder: Path) -> Iterator[bytes]:
    """Yield every record of an export as a line of JSON."""
    for path in sorted(folder.rglob("*.jsonl")):
        yield from path.read_bytes().splitlines()
    yield (folder / "export.json").read_bytes()


def read_records(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Read the records of one kind."""
    return [record for record in map(json.loads, record_lines(folder)) if record["record"] == kind]


def check_records(folder: Path) -> None:
    """Validate every record against the schema and the record classes."""
    for line in record_lines(folder):
        record = json.loads(line)
        VALIDATORS[record["record"]].validate(record)
        read = msgspec.json.decode(line, type=schemas.Line)
        assert json.loads(msgspec.json.encode(read)) == record
