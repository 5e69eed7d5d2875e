"""The two spellings of the format's names: the specification's, and the one Signal's own clients write.

Field numbers and types are the same, so the spelling matters in JSON only.
"""

from typing import Final, Literal, TypeAlias

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor

__all__ = ["SPELLINGS", "Names", "field_name", "value_name"]

Names: TypeAlias = Literal["spec", "signal"]

SPELLINGS: Final[tuple[Names, Names]] = ("spec", "signal")

SIGNAL_FIELDS: Final = {
    "AccountData.platformASpecificSettings": "androidSpecificSettings",
    "Group.GroupSnapshot.announcements_only": "announcementsOnly",
    "Group.GroupSnapshot.members_banned": "membersBanned",
    "PaymentNotification.amountCoin": "amountMob",
    "PaymentNotification.feeCoin": "feeMob",
    "PaymentNotification.TransactionDetails.Transaction.coinIdentification": "mobileCoinIdentification",
}
SIGNAL_VALUES: Final = {"SimpleChatUpdate.Type.JOINED_SERVICE": "JOINED_SIGNAL"}


def local(full_name: str) -> str:
    """Remove the package from a full name."""
    return full_name.removeprefix("holdfast.backup.")


def field_name(field: FieldDescriptor, names: Names) -> str:
    """Return the name of a field."""
    return field.name if names == "spec" else SIGNAL_FIELDS.get(local(field.full_name), field.name)


def value_name(enum: EnumDescriptor, number: int, names: Names) -> str:
    """Return the name of an enum value, empty if the number has none."""
    value = enum.values_by_number.get(number)
    if value is None:
        return ""
    return (
        value.name if names == "spec" else SIGNAL_VALUES.get(f"{local(enum.full_name)}.{value.name}", value.name)
    )
