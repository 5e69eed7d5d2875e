"""Writes the page about what exports hold, and the JSON Schema that is published with it."""

import inspect
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from holdfast.backup.exports import schemas
from holdfast.backup.exports.jsonl import schema_text
from holdfast.backup.exports.tables import TABLES
from tools.payloads import below

SCHEMAS = (Path("docs/reference/exports.schema.json"), Path("src/holdfast/backup/exports/schema.json"))
WORDS = {str: "text", int: "number", bool: "true or false", Any: "anything"}
KINDS = {
    "text": "text",
    "label": "text",
    "int": "number",
    "flag": "true or false",
    "time": "time in UTC",
}
INTRODUCTION = f"""\
See [the guide](../guides/exporting.md) for what each form is good for.

## JSON

Every line of a `.jsonl` file, and `export.json`, is one of these records; the key `record` says which. This is
version {schemas.VERSION} of the format, as `export.json` says. The number grows when a program that reads the last
version would misread the next; new keys may come without that. The same is written as a
[JSON Schema](exports.schema.json) (2020-12), which every export also contains as `schema.json`.

Unknown values are left out, and so are `false` and empty lists where it says *may be left out*. Keys that end in
`_ms` are times in milliseconds since 1970. Ids are the same in every archive.
"""


def page() -> str:
    """Write the page."""
    lines = ["# Export formats\n", INTRODUCTION]
    records = dict.fromkeys(get_args(schemas.Line))
    lines.extend(section(struct) for struct in records)
    lines.append("## Objects\n")
    lines.extend(section(struct) for struct in sorted(below(records), key=schemas.definition_name))
    lines.append("## Tables\n")
    lines.append("CSV and Parquet have the same tables and columns. A time beyond the year 9999 is empty.\n")
    for table in TABLES:
        lines.append(f"### Table `{table.name}`\n\n{table.about[:1].upper()}{table.about[1:]}.\n")
        lines.append("| column | what it is |\n|---|---|")
        lines.extend(f"| `{column.name}` | {KINDS[column.kind]} |" for column in table.columns)
        lines.append("")
    return "\n".join(lines)


def section(struct: type[msgspec.Struct]) -> str:
    """Write the keys of a record."""
    lines = [
        f"### {schemas.definition_name(struct)}\n",
        f"{inspect.getdoc(struct)}\n",
        "| key | what it is |\n|---|---|",
    ]
    tag = struct.__struct_config__.tag
    if tag is not None:
        lines.append(f"| `record` | `{tag}` |")
    hints = get_type_hints(struct)
    for key in msgspec.structs.fields(struct):
        kind = said(hints[key.name])
        lines.append(f"| `{key.encode_name}` | {kind if key.required else f'{kind}; may be left out'} |")
    return "\n".join(lines) + "\n"


def said(hint: Any) -> str:
    """Say in words what a key holds."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return " or ".join(said(one) for one in inside if one is not type(None))
    if origin is Literal:
        return " or ".join(f"`{one}`" for one in inside)
    if origin is tuple:
        return f"list of {said(inside[0])}"
    if origin is dict:
        return f"object of {said(inside[1])} by key"
    if hint in WORDS:
        return WORDS[hint]
    name = schemas.definition_name(hint)
    return f"[{name}](#{name.lower()})"


def schema() -> str:
    """Write the schema."""
    return schema_text().decode()
