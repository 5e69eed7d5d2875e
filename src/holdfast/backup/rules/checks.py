"""The checks a single field can be held to, as rules state them and as the core reads them.

A rule about one field at a time is a handful of these. `CheckTables` holds all of them as flat arrays by slot and
by message; the core looks a field up in them when it reads it, and a message when it has read it to its end.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from holdfast.backup.schema import backup_pb2
from holdfast.backup.wire import tables
from holdfast.backup.wire.collect import name_of
from holdfast.backup.wire.layout import AGED, CHECKED, DATED, REFERRING, TARGET_AT

__all__ = [
    "MESSAGE_BY_NAME",
    "NEWER",
    "RETIRED",
    "SLOT_BY_NAME",
    "UUID_SIZE",
    "Check",
    "CheckTables",
    "Op",
    "Role",
    "among",
    "by_name",
    "characters",
    "clock",
    "date",
    "date_or_forever",
    "date_or_none",
    "decimal",
    "field",
    "filled",
    "identity_key",
    "known",
    "length",
    "nonzero",
    "of_kind",
    "one_of_fields",
    "opaque",
    "refers",
    "required",
    "service_id",
    "unique",
    "username",
]


SLOT_BY_NAME: Final = {name_of(field): slot for slot, field in tables.FIELDS.items()}
MESSAGE_BY_NAME: Final = {
    message.full_name.removeprefix(f"{backup_pb2.DESCRIPTOR.package}."): index
    for index, message in enumerate(tables.MESSAGES)
}


# The number of bytes of a UUID, as which accounts and other things are identified.
UUID_SIZE: Final = 16


def field(name: str) -> int:
    """Return the number of a field."""
    return tables.FIELDS[SLOT_BY_NAME[name]].number


class Op(IntEnum):
    """What the core does with the value of a field."""

    NONE = 0
    LENGTH = 1
    AT_LEAST = 2
    NONZERO = 3
    AMONG = 4
    DATE = 5
    DATE_OR_FOREVER = 6
    REFERS = 7
    SERVICE_ID = 8
    OPAQUE = 9
    DECIMAL = 10
    USERNAME = 11
    CLOCK = 12
    CHARACTERS = 13
    IDENTITY_KEY = 14


class Role(IntEnum):
    """Which of the things that can be wrong with a field a check is about."""

    VALUE = 0
    MISSING = 1
    KIND = 2
    TWICE = 3
    ONEOF = 4
    ZERO_DATE = 5


@dataclass(frozen=True, slots=True)
class Check:
    """One thing a field, or with `Role.ONEOF` a oneof, is held to."""

    field: str
    role: Role
    op: Op = Op.NONE
    argument: int = 0


def by_name(name: str) -> tuple[int, bool]:
    """Find the slot of a field, and whether it is on the wire when it has its default value."""
    slot = SLOT_BY_NAME[name]
    return slot, bool(tables.SHAPES[slot] & tables.KEPT)


def values(op: Op, argument: int, fields: Iterable[str], *, may_miss: bool = False) -> tuple[Check, ...]:
    """Check values; a field that is left out when it has its default is then missing, which is the same fault."""
    made: list[Check] = []
    for name in fields:
        made.append(Check(name, Role.VALUE, op, argument))
        if not may_miss and not by_name(name)[1]:
            made.append(Check(name, Role.MISSING))
    return tuple(made)


def required(*fields: str) -> tuple[Check, ...]:
    """Fields that must be there and, where their default is not written, not have it."""
    return tuple(Check(name, Role.MISSING) for name in fields)


def length(size: int, *fields: str) -> tuple[Check, ...]:
    """Bytes of one exact length."""
    return values(Op.LENGTH, size, fields)


def filled(*fields: str) -> tuple[Check, ...]:
    """Text or bytes that, if they are there, are not empty."""
    return values(Op.AT_LEAST, 1, fields, may_miss=True)


def nonzero(*fields: str) -> tuple[Check, ...]:
    """Numbers that, if they are there, are not 0."""
    return values(Op.NONZERO, 0, fields)


def known(*fields: str) -> tuple[Check, ...]:
    """Enums that must not be unknown: neither 0 nor a number without a name."""
    return values(Op.NONZERO, 0, fields)


def among(numbers: Iterable[int], *fields: str) -> tuple[Check, ...]:
    """Enums that have one of these numbers, below 64; 0 may be missing if it is among them."""
    allowed = set(numbers)
    return values(Op.AMONG, sum(1 << number for number in allowed), fields, may_miss=0 in allowed)


def date(*fields: str) -> tuple[Check, ...]:
    """Dates, of which 0 is worth a warning."""
    made: list[Check] = []
    for name in fields:
        made.append(Check(name, Role.VALUE, Op.DATE, 1))
        if not by_name(name)[1]:
            made.append(Check(name, Role.ZERO_DATE))
    return tuple(made)


def date_or_none(*fields: str) -> tuple[Check, ...]:
    """Dates, of which 0 says that there is none."""
    return values(Op.DATE, 0, fields, may_miss=True)


def date_or_forever(*fields: str) -> tuple[Check, ...]:
    """Dates, of which the largest number says that it never comes."""
    return values(Op.DATE_OR_FOREVER, 1, fields, may_miss=True)


def refers(*fields: str) -> tuple[Check, ...]:
    """Ids of recipients that must have appeared."""
    return tuple(
        check
        for name in fields
        for check in values(Op.REFERS, 0, [name], may_miss=bool(tables.SHAPES[by_name(name)[0]] & tables.REPEATED))
    )


def of_kind(kinds: int, *fields: str) -> tuple[Check, ...]:
    """Ids of recipients that must be of one of these kinds; the fields must also be in a `refers`."""
    return tuple(Check(name, Role.KIND, argument=kinds) for name in fields)


def unique(*fields: str) -> tuple[Check, ...]:
    """Ids of recipients that may stand only once in their list."""
    return tuple(Check(name, Role.TWICE) for name in fields)


def one_of_fields(*oneofs: str) -> tuple[Check, ...]:
    """Oneofs of which a member must be set, each written as `Message.oneof`."""
    return tuple(Check(name, Role.ONEOF) for name in oneofs)


def service_id(*fields: str, pni: bool) -> tuple[Check, ...]:
    """Service ids in their binary form: of an account, or with `pni` also of a number."""
    return values(Op.SERVICE_ID, int(pni), fields)


def opaque(*fields: str) -> tuple[Check, ...]:
    """Colours through which nothing shows."""
    return values(
        Op.OPAQUE, 0, fields, may_miss=any(tables.SHAPES[by_name(name)[0]] & tables.REPEATED for name in fields)
    )


def decimal(*fields: str) -> tuple[Check, ...]:
    """Decimal numbers as text."""
    return values(Op.DECIMAL, 0, fields)


def username(*fields: str) -> tuple[Check, ...]:
    """User names: a nickname, a dot and digits."""
    return values(Op.USERNAME, 0, fields)


def clock(*fields: str) -> tuple[Check, ...]:
    """Clock times as the number HHMM."""
    return values(Op.CLOCK, 0, fields, may_miss=True)


def characters(most: int, *fields: str) -> tuple[Check, ...]:
    """Text of one to so many characters, as people count them."""
    return values(Op.CHARACTERS, most, fields)


def identity_key(*fields: str) -> tuple[Check, ...]:
    """Public keys with the byte before them that tells their kind."""
    return values(Op.IDENTITY_KEY, 0, fields)


NEWER: Final = 1
RETIRED: Final = 2

# What the format got after its specification was written, and what it lost.
ADDITIONS: Final = (
    "AccountData.iosSpecificSettings",
    "AccountData.AccountSettings.appTheme",
    "AccountData.AccountSettings.callsUseLessDataSetting",
    "AccountData.AccountSettings.allowSealedSenderFromAnyone",
    "AccountData.AccountSettings.allowAutomaticKeyVerification",
    "AccountData.AccountSettings.hasSeenAdminDeleteEducationDialog",
    "AccountData.PlatformASpecificSettings.navigationBarSize",
    "Contact.keyTransparencyData",
    "Contact.blockedAtTimestamp",
    "Group.blockedAtTimestamp",
    "Group.GroupSnapshot.terminated",
    "Group.Member.labelEmoji",
    "Group.Member.labelString",
    "Group.AccessControl.memberLabel",
    "ChatItem.pinDetails",
    "ChatItem.adminDeletedMessage",
    "ChatUpdateMessage.pinMessage",
    "GroupChangeChatUpdate.Update.groupMemberLabelAccessLevelChangeUpdate",
    "GroupChangeChatUpdate.Update.groupTerminateChangeUpdate",
)
LOSSES: Final = ("CallLink.epoch",)


def slots_of_oneof(name: str) -> tuple[int, int]:
    """Find the message of a oneof, and the set of its members' numbers."""
    message, _, oneof = name.rpartition(".")
    index = MESSAGE_BY_NAME[message]
    return index, sum(1 << field.number for field in tables.MESSAGES[index].oneofs_by_name[oneof].fields)


class CheckTables:
    """All checks of all rules, laid out for the core; rules are given by their numbers."""

    def __init__(self, checks: Iterable[tuple[int, Check]]) -> None:
        slots, messages = tables.SLOTS, len(tables.MESSAGES)
        self.ops = array("B", bytes(slots))
        self.arguments = array("Q", [0] * slots)
        self.rules = array("I", [0] * slots)
        self.missing = array("I", [0] * slots)
        self.kinds = array("I", [0] * slots)
        self.kind_rules = array("I", [0] * slots)
        self.twice = array("I", [0] * slots)
        self.ages = array("B", bytes(slots))
        # The fields of a message that must be filled: those with a rule for when they are missing, and dates.
        self.wanted = array("Q", [0] * messages)
        self.oneofs = array("Q", [0] * (2 * messages))
        self.oneof_rules = array("I", [0] * (2 * messages))
        for name in ADDITIONS:
            self.ages[SLOT_BY_NAME[name]] = NEWER
        for name in LOSSES:
            self.ages[SLOT_BY_NAME[name]] = RETIRED
        for number, check in checks:
            self._add(number, check)
        self.shapes = array("Q", map(self._shape, range(slots)))

    def _shape(self, slot: int) -> int:
        """Put what is checked of a field, and what it leads to, into its shape."""
        return (
            tables.SHAPES[slot]
            | (CHECKED if self.ops[slot] else 0)
            | (AGED if self.ages[slot] else 0)
            | (DATED if self.ops[slot] in (Op.DATE, Op.DATE_OR_FOREVER) else 0)
            | (REFERRING if self.ops[slot] == Op.REFERS else 0)
            | tables.TARGETS[slot] << TARGET_AT
        )

    def _add(self, number: int, check: Check) -> None:
        if check.role is Role.ONEOF:
            message, members = slots_of_oneof(check.field)
            place = 2 * message + (1 if self.oneofs[2 * message] else 0)
            put(self.oneofs, place, members, check)
            self.oneof_rules[place] = number
            return
        slot = SLOT_BY_NAME[check.field]
        bit = 1 << tables.FIELDS[slot].number
        message = MESSAGE_BY_NAME[check.field.rpartition(".")[0]]
        if check.role is Role.VALUE:
            put(self.ops, slot, check.op, check)
            self.arguments[slot] = check.argument
            self.rules[slot] = number
        elif check.role is Role.MISSING:
            put(self.missing, slot, number, check)
            self.wanted[message] |= bit
        elif check.role is Role.KIND:
            put(self.kind_rules, slot, number, check)
            self.kinds[slot] = check.argument
        elif check.role is Role.TWICE:
            put(self.twice, slot, number, check)
        else:
            self.wanted[message] |= bit


def put(column: "array[int]", place: int, value: int, check: Check) -> None:
    """Write a value where there is none yet: the core looks at one check of each role only."""
    if column[place]:
        raise ValueError(f"{check.field} is checked twice in the role {check.role.name}")
    column[place] = value
