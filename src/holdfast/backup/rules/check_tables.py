"""All checks of all rules as flat arrays, indexed by slot and by message.

A field is looked up when it is read, a message when its end is reached. The compiled modules have these arrays as
C constants, which the build generates from this module; they are imported only when the modules are interpreted.
"""

from array import array
from collections.abc import Iterable
from typing import Final

from holdfast.backup.rules.checks import (
    ADDITIONS,
    LOSSES,
    MESSAGE_BY_NAME,
    NEWER,
    RETIRED,
    SLOT_BY_NAME,
    CheckRole,
    FieldCheck,
    Op,
)
from holdfast.backup.rules.registry import RULES
from holdfast.backup.wire import tables
from holdfast.backup.wire.layout import AGED, CHECKED, DATED, LIMIT_AT, REFERRING, TARGET_AT

__all__ = [
    "AGES",
    "APART",
    "ARGUMENTS",
    "CLASHES",
    "HEADS",
    "KINDS",
    "KIND_RULES",
    "MISSING",
    "NAMED",
    "ONEOFS",
    "ONEOF_RULES",
    "OPS",
    "REQUIRED",
    "SHAPES",
    "TWICE",
    "VALUE_RULES",
    "CheckTables",
]

ALL: Final = (1 << 64) - 1


def slots_of_oneof(name: str) -> tuple[int, int]:
    """Return the message of a oneof, and the set of field numbers of its members."""
    message, _, oneof = name.rpartition(".")
    index = MESSAGE_BY_NAME[message]
    return index, sum(1 << field.number for field in tables.MESSAGES[index].oneofs_by_name[oneof].fields)


class CheckTables:
    """The checks of rules as arrays; rules are identified by number."""

    def __init__(self, checks: Iterable[tuple[int, FieldCheck]]) -> None:
        slots, messages = tables.SLOTS, len(tables.MESSAGES)
        self.ops = array("B", bytes(slots))
        self.arguments = array("Q", [0] * slots)
        self.rules = array("I", [0] * slots)
        self.missing = array("I", [0] * slots)
        self.kinds = array("I", [0] * slots)
        self.kind_rules = array("I", [0] * slots)
        self.twice = array("I", [0] * slots)
        self.apart = array("I", [0] * slots)
        self.ages = array("B", bytes(slots))
        # The required fields of a message: those with a rule about their absence, and dates.
        self.required = array("Q", [0] * messages)
        self.oneofs = array("Q", [0] * (2 * messages))
        self.oneof_rules = array("I", [0] * (2 * messages))
        for name in ADDITIONS:
            self.ages[SLOT_BY_NAME[name]] = NEWER
        for name in LOSSES:
            self.ages[SLOT_BY_NAME[name]] = RETIRED
        for number, check in checks:
            self._add(number, check)
        self.shapes = array("Q", map(self._shape, range(slots)))
        self.heads = array("Q", [number for message in range(messages) for number in self._head(message)])

    def _shape(self, slot: int) -> int:
        """Return the shape of a field with the flags of its checks and its message or enum, see `layout`."""
        return (
            tables.SHAPES[slot]
            | (CHECKED if self.ops[slot] else 0)
            | (AGED if self.ages[slot] else 0)
            | (DATED if self.ops[slot] in (Op.DATE, Op.DATE_OR_FOREVER) else 0)
            | (REFERRING if self.ops[slot] == Op.REFERS else 0)
            | tables.TARGETS[slot] << TARGET_AT
        )

    def _head(self, message: int) -> tuple[int, int, int, int]:
        """Return the four numbers that are read for every message, adjacent in memory.

        Without a oneof its set is all ones: only a message without fields then looks as if none were set.
        """
        return (
            tables.BASES[message] | tables.LIMITS[message] << LIMIT_AT,
            self.required[message],
            self.oneofs[2 * message] or ALL,
            self.oneofs[2 * message + 1] or ALL,
        )

    def _add(self, number: int, check: FieldCheck) -> None:
        if check.role is CheckRole.ONEOF:
            message, members = slots_of_oneof(check.field)
            place = 2 * message + (1 if self.oneofs[2 * message] else 0)
            put(self.oneofs, place, members, check)
            self.oneof_rules[place] = number
            return
        slot = SLOT_BY_NAME[check.field]
        bit = 1 << tables.FIELDS[slot].number
        message = MESSAGE_BY_NAME[check.field.rpartition(".")[0]]
        if check.role is CheckRole.VALUE:
            put(self.ops, slot, check.op, check)
            self.arguments[slot] = check.argument
            self.rules[slot] = number
        elif check.role is CheckRole.MISSING:
            put(self.missing, slot, number, check)
            self.required[message] |= bit
        elif check.role is CheckRole.KIND:
            put(self.kind_rules, slot, number, check)
            self.kinds[slot] = check.argument
        elif check.role is CheckRole.TWICE:
            put(self.twice, slot, number, check)
        elif check.role is CheckRole.APART:
            put(self.apart, slot, number, check)
        else:
            self.required[message] |= bit


def put(column: "array[int]", place: int, value: int, check: FieldCheck) -> None:
    """Write a value to an empty entry: a field can have one check of each role."""
    if column[place]:
        raise ValueError(f"{check.field} is checked twice in the role {check.role.name}")
    column[place] = value


_TABLES: Final = CheckTables((rule.number, check) for rule in RULES for check in rule.checks)
# Indexed by slot.
SHAPES: Final = _TABLES.shapes
CLASHES: Final = tables.CLASHES
AGES: Final = _TABLES.ages
OPS: Final = _TABLES.ops
ARGUMENTS: Final = _TABLES.arguments
VALUE_RULES: Final = _TABLES.rules
MISSING: Final = _TABLES.missing
KINDS: Final = _TABLES.kinds
KIND_RULES: Final = _TABLES.kind_rules
TWICE: Final = _TABLES.twice
APART: Final = _TABLES.apart
# Indexed by message: heads have four numbers per message, oneofs two.
HEADS: Final = _TABLES.heads
REQUIRED: Final = _TABLES.required
ONEOFS: Final = _TABLES.oneofs
ONEOF_RULES: Final = _TABLES.oneof_rules
# Indexed by enum.
NAMED: Final = tables.NAMED
