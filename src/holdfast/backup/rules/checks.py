"""The checks that rules can declare for single fields."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Final

from holdfast.backup.schema import backup_pb2
from holdfast.backup.wire import tables
from holdfast.backup.wire.collect import name_of

__all__ = [
    "ADDITIONS",
    "LOSSES",
    "LOW_ARGUMENT",
    "MESSAGE_BY_NAME",
    "NEWER",
    "RETIRED",
    "SECOND_ARGUMENT_AT",
    "SLOT_BY_NAME",
    "UUID_SIZE",
    "CheckRole",
    "FieldCheck",
    "Op",
    "among",
    "apart",
    "by_name",
    "characters",
    "clock",
    "date",
    "date_or_forever",
    "date_or_none",
    "decimal",
    "field",
    "filled",
    "known",
    "length",
    "nonzero",
    "of_kind",
    "one_of_fields",
    "opaque",
    "prefixed",
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


# Two arguments of a check are packed into one number: the shift of the second, and the mask of the first.
SECOND_ARGUMENT_AT: Final = 32
LOW_ARGUMENT: Final = (1 << SECOND_ARGUMENT_AT) - 1
# The size of a UUID in bytes.
UUID_SIZE: Final = 16


def field(name: str) -> int:
    """Return the number of a field."""
    return tables.FIELDS[SLOT_BY_NAME[name]].number


class Op(IntEnum):
    """The operation that checks the value of a field."""

    NONE = 0
    LENGTH = auto()
    AT_LEAST = auto()
    NONZERO = auto()
    AMONG = auto()
    DATE = auto()
    DATE_OR_FOREVER = auto()
    REFERS = auto()
    SERVICE_ID = auto()
    OPAQUE = auto()
    DECIMAL = auto()
    USERNAME = auto()
    CLOCK = auto()
    CHARACTERS = auto()
    PREFIXED = auto()


class CheckRole(IntEnum):
    """The aspect of a field that a check is about; a field has at most one check per role."""

    VALUE = auto()
    MISSING = auto()
    KIND = auto()
    TWICE = auto()
    APART = auto()
    ONEOF = auto()
    ZERO_DATE = auto()


@dataclass(frozen=True, slots=True)
class FieldCheck:
    """A check of a field, or with `CheckRole.ONEOF` of a oneof."""

    field: str
    role: CheckRole
    op: Op = Op.NONE
    argument: int = 0


def by_name(name: str) -> tuple[int, bool]:
    """Return the slot of a field, and whether it has presence."""
    slot = SLOT_BY_NAME[name]
    return slot, bool(tables.SHAPES[slot] & tables.KEPT)


def values(op: Op, argument: int, fields: Iterable[str], *, may_miss: bool = False) -> tuple[FieldCheck, ...]:
    """Return checks of values; for a field without presence, the default value is checked as a missing field."""
    made: list[FieldCheck] = []
    for name in fields:
        made.append(FieldCheck(name, CheckRole.VALUE, op, argument))
        if not may_miss and not by_name(name)[1]:
            made.append(FieldCheck(name, CheckRole.MISSING))
    return tuple(made)


def required(*fields: str) -> tuple[FieldCheck, ...]:
    """Fields that must be set; those without presence to another value than their default."""
    return tuple(FieldCheck(name, CheckRole.MISSING) for name in fields)


def length(size: int, *fields: str) -> tuple[FieldCheck, ...]:
    """Bytes of one exact length."""
    return values(Op.LENGTH, size, fields)


def filled(*fields: str) -> tuple[FieldCheck, ...]:
    """Text or bytes that, if set, are not empty."""
    return values(Op.AT_LEAST, 1, fields, may_miss=True)


def nonzero(*fields: str) -> tuple[FieldCheck, ...]:
    """Numbers that, if set, are not 0."""
    return values(Op.NONZERO, 0, fields)


def known(*fields: str) -> tuple[FieldCheck, ...]:
    """Enums that must have a known value: neither 0 nor a number without a name."""
    return values(Op.NONZERO, 0, fields)


def among(numbers: Iterable[int], *fields: str) -> tuple[FieldCheck, ...]:
    """Enums that must have one of these values, below 64; if 0 is one of them, the field may be missing."""
    allowed = set(numbers)
    return values(Op.AMONG, sum(1 << number for number in allowed), fields, may_miss=0 in allowed)


def date(*fields: str) -> tuple[FieldCheck, ...]:
    """Dates; 0 is a warning."""
    made: list[FieldCheck] = []
    for name in fields:
        made.append(FieldCheck(name, CheckRole.VALUE, Op.DATE, 1))
        if not by_name(name)[1]:
            made.append(FieldCheck(name, CheckRole.ZERO_DATE))
    return tuple(made)


def date_or_none(*fields: str) -> tuple[FieldCheck, ...]:
    """Dates; 0 means none."""
    return values(Op.DATE, 0, fields, may_miss=True)


def date_or_forever(*fields: str) -> tuple[FieldCheck, ...]:
    """Dates; the largest number means never."""
    return values(Op.DATE_OR_FOREVER, 1, fields, may_miss=True)


def refers(*fields: str) -> tuple[FieldCheck, ...]:
    """Ids of recipients, which must come earlier in the backup."""
    return tuple(
        check
        for name in fields
        for check in values(Op.REFERS, 0, [name], may_miss=bool(tables.SHAPES[by_name(name)[0]] & tables.REPEATED))
    )


def of_kind(kinds: int, *fields: str) -> tuple[FieldCheck, ...]:
    """Ids of recipients that must be of one of these kinds; the fields must also be in a `refers`."""
    return tuple(FieldCheck(name, CheckRole.KIND, argument=kinds) for name in fields)


def unique(*fields: str) -> tuple[FieldCheck, ...]:
    """Ids of recipients that must be unique in their list."""
    return tuple(FieldCheck(name, CheckRole.TWICE) for name in fields)


def apart(*fields: str) -> tuple[FieldCheck, ...]:
    """Ids of recipients that may be in only one of these lists; the fields must also be in a `unique`."""
    return tuple(FieldCheck(name, CheckRole.APART) for name in fields)


def one_of_fields(*oneofs: str) -> tuple[FieldCheck, ...]:
    """Oneofs that must be set, each written as `Message.oneof`."""
    return tuple(FieldCheck(name, CheckRole.ONEOF) for name in oneofs)


def service_id(*fields: str, pni: bool) -> tuple[FieldCheck, ...]:
    """Service ids in binary form: an ACI, or with `pni` also a PNI."""
    return values(Op.SERVICE_ID, int(pni), fields)


def opaque(*fields: str) -> tuple[FieldCheck, ...]:
    """Colours without transparency."""
    return values(
        Op.OPAQUE, 0, fields, may_miss=any(tables.SHAPES[by_name(name)[0]] & tables.REPEATED for name in fields)
    )


def decimal(*fields: str) -> tuple[FieldCheck, ...]:
    """Decimal numbers as text."""
    return values(Op.DECIMAL, 0, fields)


def username(*fields: str, longest: int, digits: int) -> tuple[FieldCheck, ...]:
    """Usernames: a nickname of at most `longest` bytes, a dot and at least `digits` digits."""
    return values(Op.USERNAME, two_arguments(longest, digits), fields)


def clock(*fields: str) -> tuple[FieldCheck, ...]:
    """Clock times as the number HHMM."""
    return values(Op.CLOCK, 0, fields, may_miss=True)


def characters(most: int, *fields: str) -> tuple[FieldCheck, ...]:
    """Text of one to `most` characters (grapheme clusters)."""
    return values(Op.CHARACTERS, most, fields)


def prefixed(*fields: str, first: int, size: int) -> tuple[FieldCheck, ...]:
    """Bytes of at least `size`, of which the first is `first`."""
    return values(Op.PREFIXED, two_arguments(size, first), fields)


def two_arguments(low: int, high: int) -> int:
    """Pack two arguments of a check into one number."""
    return high << SECOND_ARGUMENT_AT | low


NEWER: Final = 1
RETIRED: Final = 2

# Fields that were added to the format after its specification was published, and fields that were removed.
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
