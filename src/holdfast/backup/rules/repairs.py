"""Repairs of a record or a field that breaks a rule: what can be done, and what it loses.

A repair is safe if an importer reads the same content before and after, or if what is removed has no meaning. Any
other repair loses something that could not be imported, and is done only on request. A rule without repairs cannot
be repaired: the missing content would have to be invented.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

__all__ = [
    "DROP_DUPLICATE",
    "DROP_ELEMENT",
    "DROP_RECORD",
    "EMPTY",
    "LOST_FILE",
    "MOVE_UP",
    "ON",
    "Fix",
    "RepairAction",
    "clear",
    "discard",
    "put",
]


class RepairAction(StrEnum):
    """What is done to the field, the record or the file that breaks the rule."""

    CLEAR = "clear"  # clear the field
    PUT = "put"  # write a value
    DROP_ELEMENT = "drop-element"  # drop the innermost list element that contains the field
    DROP_RECORD = "drop-record"  # drop the whole frame, or the earlier revision that contains the field
    MOVE = "move"  # move what is referred to up to where it is needed
    MOVE_FIRST = "move-first"  # move the account to the beginning
    RENUMBER = "renumber"  # give a chat a free position among the pinned ones
    REWRITE = "rewrite"  # write the whole backup again, with everything that can be read
    DROP_BYTES = "drop-bytes"  # drop bytes in which no record can be read


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair of a finding.

    `words` describes it. `loses` is set if content is removed that somebody wrote or chose. `up` names an
    enclosing message, `down` fields of a nested message, that the repair applies to instead of the field of the
    finding. `values` are what `PUT` writes, by the name of a field: that of the finding, a sibling, or, if the
    finding is about a message, one of its fields.
    """

    action: RepairAction
    words: str
    loses: bool = False
    up: str = ""
    down: tuple[str, ...] = ()
    values: Mapping[str, bytes] = field(default_factory=dict, hash=False)


ON: Final = b"\x01"
EMPTY: Final = b""
# A `FilePointer` with an empty locator, which means that the file is lost.
LOST_FILE: Final = b"\x6a\x00"


def clear(words: str, *down: str) -> Fix:
    """Clear a field without meaning, or fields of its message."""
    return Fix(RepairAction.CLEAR, words, down=down)


def put(words: str, *down: str, **values: bytes | int) -> Fix:
    """Write the value that importers use anyway; a number must be below 128."""
    bodies = {name: bytes((value,)) if isinstance(value, int) else value for name, value in values.items()}
    return Fix(RepairAction.PUT, words, down=down, values=bodies)


def discard(words: str, *down: str, up: str = "") -> Fix:
    """Clear a field that cannot be imported, fields of its message, or the enclosing message `up`."""
    return Fix(RepairAction.CLEAR, words, loses=True, up=up, down=down)


DROP_ELEMENT: Final = Fix(RepairAction.DROP_ELEMENT, "The entry is left out of its list.", loses=True)
DROP_RECORD: Final = Fix(RepairAction.DROP_RECORD, "The record is left out.", loses=True)
DROP_DUPLICATE: Final = Fix(RepairAction.DROP_ELEMENT, "The second of the two is left out.")
MOVE_UP: Final = Fix(RepairAction.MOVE, "What it refers to is moved up to before it.")
