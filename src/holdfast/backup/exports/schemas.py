"""The records of exports to JSON Lines, from which CSV and Parquet are derived, and their JSON Schema.

`VERSION` is incremented when a reader of the previous version would misread the new one. Unknown values are
omitted. Times are milliseconds since 1970, ids are the same in every archive. Exports contain no keys: they give
no access to an account, a group or a call.
"""

import inspect
from typing import Any, Final

import msgspec

from holdfast.backup.exports.account_schemas import (
    Export,
    ExportedAccount,
    ExportedCallLink,
    ExportedCallLinkCall,
    ExportedChat,
    ExportedChatFolder,
    ExportedDistributionList,
    ExportedGroup,
    ExportedMember,
    ExportedNotificationProfile,
    ExportedOther,
    ExportedPerson,
    ExportedSnapshot,
    ExportedStickerPack,
    NamePeriod,
)
from holdfast.backup.exports.message_schemas import (
    ExportedAttachment,
    ExportedCall,
    ExportedChange,
    ExportedContactCard,
    ExportedContactField,
    ExportedEvent,
    ExportedGiftBadge,
    ExportedLink,
    ExportedMessage,
    ExportedPayment,
    ExportedPoll,
    ExportedPollOption,
    ExportedPollVote,
    ExportedQuote,
    ExportedReaction,
    ExportedReceipt,
    ExportedRevision,
    ExportedSticker,
    ExportedTextRange,
)

__all__ = [
    "FORMAT",
    "VERSION",
    "Export",
    "ExportedAccount",
    "ExportedAttachment",
    "ExportedCall",
    "ExportedCallLink",
    "ExportedCallLinkCall",
    "ExportedChange",
    "ExportedChat",
    "ExportedChatFolder",
    "ExportedContactCard",
    "ExportedContactField",
    "ExportedDistributionList",
    "ExportedEvent",
    "ExportedGiftBadge",
    "ExportedGroup",
    "ExportedLink",
    "ExportedMember",
    "ExportedMessage",
    "ExportedNotificationProfile",
    "ExportedOther",
    "ExportedPayment",
    "ExportedPerson",
    "ExportedPoll",
    "ExportedPollOption",
    "ExportedPollVote",
    "ExportedQuote",
    "ExportedReaction",
    "ExportedReceipt",
    "ExportedRevision",
    "ExportedSnapshot",
    "ExportedSticker",
    "ExportedStickerPack",
    "ExportedTextRange",
    "Line",
    "NamePeriod",
    "Recipient",
    "definition_name",
    "json_schema",
]

FORMAT: Final = "holdfast-export"
VERSION: Final = 1
PREFIX: Final = "Exported"
SCHEMA_ID: Final = f"urn:holdfast:export:{VERSION}"

Recipient = ExportedPerson | ExportedGroup | ExportedDistributionList | ExportedCallLink | ExportedOther
Line = (
    ExportedMessage
    | ExportedChat
    | Recipient
    | ExportedCallLinkCall
    | ExportedStickerPack
    | ExportedNotificationProfile
    | ExportedChatFolder
    | Export
)


def definition_name(record: type[msgspec.Struct]) -> str:
    """Return the name of a record in the schema: that of its class without the prefix."""
    return record.__name__.removeprefix(PREFIX)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of all records; the key `record` is the discriminator."""
    text = msgspec.json.encode(msgspec.json.schema(Line))
    schema = msgspec.json.decode(text.replace(f'"{PREFIX}'.encode(), b'"').replace(f"/{PREFIX}".encode(), b"/"))
    for definition in schema["$defs"].values():
        definition["description"] = inspect.cleandoc(definition["description"])
    title = f"Records of a Holdfast export, version {VERSION}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, "title": title, **schema}
