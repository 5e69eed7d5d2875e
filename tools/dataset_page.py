"""Writes the page about the tables of datasets."""

from holdfast.backup.datasets.schema import SCHEMA_VERSION, TABLES
from tools.exports import KINDS

__all__ = ["page"]

INTRODUCTION = f"""\
The tables that `holdfast dataset build` writes; see [the guide](../guides/datasets.md). This is version
{SCHEMA_VERSION} of the schema, as `_manifest.json` and the metadata `holdfast.dataset` of every file say. The
number grows when a program that reads the last version would misread the next; new columns may come without that.

Every table has the column `backup` besides: the name of the backup, from the folder the file lies in. Ids mean
something inside of their backup only. What is not known is null, and so is a time beyond the year 9999.
"""


def page() -> str:
    """Write the page."""
    lines = ["# Tables of datasets\n", INTRODUCTION]
    for table in TABLES.values():
        lines.append(f"## Table `{table.name}`\n\n{table.about[:1].upper()}{table.about[1:]}.\n")
        lines.append("| column | what it is |\n|---|---|")
        lines.extend(f"| `{column.name}` | {KINDS[column.kind]} |" for column in table.columns)
        lines.append("")
    return "\n".join(lines)
