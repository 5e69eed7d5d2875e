"""Notification profiles (`NotificationProfile`)."""

from typing import Final

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import (
    UUID_SIZE,
    CheckRole,
    FieldCheck,
    Op,
    clock,
    filled,
    length,
    of_kind,
    opaque,
    refers,
    required,
    unique,
)
from holdfast.backup.rules.repairs import DROP_DUPLICATE, DROP_ELEMENT, DROP_RECORD, MOVE_UP, clear, put
from holdfast.backup.rules.rule import Breach, Rule, rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "notification-profile.name",
        "The notification profile has no name.",
        "Write its name.",
        "contract 5.12",
        Breach.CARE,
        required("NotificationProfile.name"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "notification-profile.emoji.empty",
        "The emoji of the notification profile is present but empty.",
        "Leave it out.",
        "contract 5.12",
        Breach.CARE,
        filled("NotificationProfile.emoji"),
        repairs=(clear("The empty emoji is left out."),),
    ),
    rule(
        "notification-profile.color.opaque",
        "The colour of the notification profile is not opaque.",
        "Write 0xFF as its highest byte.",
        "contract 5.12",
        Breach.CARE,
        opaque("NotificationProfile.color"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "notification-profile.member.known",
        "An allowed member of the notification profile is not defined earlier.",
        "Write the recipient before the profile.",
        "spec 1 rule 2, contract 5.12",
        Breach.REFERENCE,
        refers("NotificationProfile.allowedMembers"),
        repairs=(MOVE_UP, DROP_ELEMENT),
    ),
    rule(
        "notification-profile.member.kind",
        "An allowed member of the notification profile is neither a contact nor a group.",
        "Name only contacts and groups.",
        "spec 2, contract 5.12",
        Breach.REFERENCE,
        of_kind(kinds.CONTACTS | kinds.one_of(kinds.GROUP), "NotificationProfile.allowedMembers"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "notification-profile.member.unique",
        "An allowed member of the notification profile is listed twice.",
        "Name each once.",
        "contract 5.12",
        Breach.CARE,
        unique("NotificationProfile.allowedMembers"),
        repairs=(DROP_DUPLICATE,),
    ),
    rule(
        "notification-profile.schedule.time",
        "The time of day does not exist.",
        "Write it as the number HHMM, up to 2359.",
        "spec 2, spec 8, contract 5.12",
        Breach.FORMAT,
        clock("NotificationProfile.scheduleStartTime", "NotificationProfile.scheduleEndTime"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "notification-profile.day.known",
        "A day of the schedule is unknown.",
        "Write 1 for Monday to 7 for Sunday.",
        "spec 2, contract 5.12",
        Breach.DEFAULTED,
        (FieldCheck("NotificationProfile.scheduleDaysEnabled", CheckRole.VALUE, Op.NONZERO),),
        importer="An importer treats it as Monday.",
        repairs=(put("The day is Monday.", scheduleDaysEnabled=1),),
    ),
    rule(
        "notification-profile.day.unique",
        "A day is in the schedule twice.",
        "Name each once.",
        "contract 5.12",
        Breach.CARE,
        unique("NotificationProfile.scheduleDaysEnabled"),
        repairs=(DROP_DUPLICATE,),
    ),
    rule(
        "notification-profile.id.length",
        "The id of the notification profile does not have 16 bytes.",
        "Write the 16 bytes of the UUID.",
        "spec 2, spec 8, contract 5.12",
        Breach.FORMAT,
        length(UUID_SIZE, "NotificationProfile.id"),
        repairs=(DROP_RECORD,),
    ),
)
