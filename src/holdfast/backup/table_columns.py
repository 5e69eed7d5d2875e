"""Columns of tables in exports and datasets."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Column", "columns"]

# `label` is text with few distinct values, `time` is milliseconds since 1970.
Kind = Literal["text", "label", "int", "flag", "time"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    kind: Kind


def columns(text: str) -> tuple[Column, ...]:
    """Parse columns written as `name:kind`; without a kind they are text."""
    kinds: dict[str, Kind] = {"": "text", "l": "label", "i": "int", "f": "flag", "t": "time"}
    partitions = (definition.partition(":") for definition in text.split())
    return tuple(Column(name, kinds[kind]) for name, _, kind in partitions)
