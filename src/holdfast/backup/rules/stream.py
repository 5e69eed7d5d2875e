"""The frame stream: framing, header, dates, unknown fields and values."""

from typing import Final

import cython

from holdfast.backup.rules.checks import date, date_or_forever, date_or_none, length, one_of_fields
from holdfast.backup.rules.repairs import DROP_RECORD, RepairAction
from holdfast.backup.rules.rule import CURRENT, SPEC, Breach, Rule, rule

__all__ = ["RULES"]

if not cython.compiled:
    # The range of plausible dates, from 2000 to 2100; the largest date of JavaScript; and the number that means
    # never. All are in milliseconds since 1970.
    USUAL_FROM = 946_684_800_000
    USUAL_TO = 4_102_444_800_000
    LAST_DATE = 8_640_000_000_000_000
    FOREVER = (1 << 63) - 1

# Every field that is a date, in milliseconds since 1970.
DATES: Final = (
    date(
        "BackupInfo.backupTimeMs",
        "Group.MemberPendingProfileKey.timestamp",
        "Group.MemberPendingAdminApproval.timestamp",
        "Group.MemberBanned.timestamp",
        "DistributionListItem.deletionTimestamp",
        "CallLink.expirationMs",
        "ChatItem.dateSent",
        "ChatItem.expireStartDate",
        "ChatItem.IncomingMessageDetails.dateReceived",
        "ChatItem.IncomingMessageDetails.dateServerSent",
        "ChatItem.OutgoingMessageDetails.dateReceived",
        "SendStatus.timestamp",
        "Quote.targetSentTimestamp",
        "LinkPreview.date",
        "Reaction.sentTimestamp",
        "PaymentNotification.TransactionDetails.Transaction.timestamp",
        "PaymentNotification.TransactionDetails.Transaction.blockTimestamp",
        "FilePointer.LocatorInfo.transitTierUploadTimestamp",
        "IndividualCall.startedCallTimestamp",
        "GroupCall.startedCallTimestamp",
        "GroupCall.endedCallTimestamp",
        "AdHocCall.callTimestamp",
        "PollTerminateUpdate.targetSentTimestamp",
        "PinMessageUpdate.targetSentTimestamp",
        "ChatItem.PinDetails.pinnedAtTimestamp",
        "ChatItem.PinDetails.pinExpiresAtTimestamp",
        "NotificationProfile.createdAtMs",
    )
    + date_or_none(
        "Contact.NotRegistered.unregisteredTimestamp", "Contact.blockedAtTimestamp", "Group.blockedAtTimestamp"
    )
    + date_or_forever("Chat.muteUntilMs")
)
DATE_FIELDS: Final = tuple(dict.fromkeys(check.field for check in DATES))

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "stream.whole",
        "The data here cannot be read: the backup ends in the middle of a record, or this is not a record.",
        "Make the backup again, or let `repair --drop` remove this part; what follows was validated.",
        "contract 5.3",
        Breach.FORMAT,
        importer="An importer stops here.",
        file_repair=RepairAction.DROP_BYTES,
    ),
    rule(
        "frame.readable",
        "The record cannot be decoded.",
        "Write the record again; nothing in it could be checked.",
        "contract 5.3",
        Breach.FORMAT,
        importer="An importer stops here.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "frame.item.set",
        "The frame has no record, or one of an unknown type.",
        "Leave the frame out.",
        "spec 1, spec 7, contract 5.3",
        Breach.SKIPPED,
        one_of_fields("Frame.item"),
        importer="An importer skips the frame.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "frame.crowded",
        "The record has more findings than are listed.",
        "Fix the listed ones, and validate again.",
        "contract 5.1",
        Breach.FORMAT,
    ),
    rule(
        "header.media-key.length",
        "The media root key does not have 32 bytes.",
        "Write the 32 bytes that were made when the backup was first uploaded.",
        "spec 8, contract 5.3",
        Breach.FORMAT,
        length(32, "BackupInfo.mediaRootBackupKey"),
    ),
    rule(
        "date.limit",
        "The date is out of range.",
        "Write milliseconds since 1970.",
        "contract 5.2",
        Breach.FORMAT,
        DATES,
    ),
    rule(
        "date.zero",
        "The date is 0.",
        "Write when it happened, if that is known.",
        "contract 5.2",
        Breach.TIME,
        fields=DATE_FIELDS,
    ),
    rule(
        "date.past",
        "The date is before the year 2000.",
        "Check that it counts milliseconds, not seconds.",
        "contract 5.2",
        Breach.TIME,
        fields=DATE_FIELDS,
    ),
    rule(
        "date.future",
        "The date is after the year 2100.",
        "Check that it counts milliseconds, not microseconds.",
        "contract 5.2",
        Breach.TIME,
        fields=DATE_FIELDS,
    ),
    rule(
        "schema.field.unknown",
        "The field is unknown.",
        "Nothing needs to be done; it may be newer than these rules.",
        "spec 9, contract 5.1",
        Breach.NEWS,
    ),
    rule(
        "schema.value.unknown",
        "The enum value is unknown.",
        "Nothing needs to be done; it may be newer than these rules.",
        "spec 9, contract 5.1",
        Breach.NEWS,
        importer="An importer reads it as 0.",
    ),
    rule(
        "schema.field.newer",
        "The field was added to the format after its specification.",
        "Nothing needs to be done; use `--edition current` to check it against its rules.",
        "contract 1.1",
        Breach.NEWS,
        editions=SPEC,
    ),
    rule(
        "schema.field.retired",
        "The field was removed from the format.",
        "Nothing needs to be done; current exporters omit it.",
        "spec 9, contract 1.2",
        Breach.NEWS,
        editions=CURRENT,
    ),
)
