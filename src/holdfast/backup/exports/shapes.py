"""What an export says of an archive: the records of the JSON form, from which all other data is made.

The JSON Schema is made from these; `VERSION` grows when a reader of the last version would misread the next one.
What is not known is left out. Times are milliseconds since 1970, ids are the same in every archive. Keys are not
part of an export: who is given one cannot read or join anything with it.
"""

import inspect
from typing import Any, Final

import msgspec

from holdfast.backup.exports.account_shapes import (
    Account,
    CallLink,
    CallLinkCall,
    Chat,
    ChatFolder,
    DistributionList,
    Export,
    Group,
    Member,
    Named,
    NotificationProfile,
    Other,
    Person,
    Snapshot,
    StickerPack,
)
from holdfast.backup.exports.message_shapes import (
    Attachment,
    Call,
    Change,
    ContactCard,
    ContactField,
    Event,
    GiftBadge,
    Link,
    Message,
    Payment,
    Poll,
    PollOption,
    PollVote,
    Quote,
    Reaction,
    Receipt,
    Revision,
    Sticker,
    TextRange,
)

__all__ = [
    "FORMAT",
    "VERSION",
    "Account",
    "Attachment",
    "Call",
    "CallLink",
    "CallLinkCall",
    "Change",
    "Chat",
    "ChatFolder",
    "ContactCard",
    "ContactField",
    "DistributionList",
    "Event",
    "Export",
    "GiftBadge",
    "Group",
    "Line",
    "Link",
    "Member",
    "Message",
    "Named",
    "NotificationProfile",
    "Other",
    "Payment",
    "Person",
    "Poll",
    "PollOption",
    "PollVote",
    "Quote",
    "Reaction",
    "Receipt",
    "Recipient",
    "Revision",
    "Snapshot",
    "Sticker",
    "StickerPack",
    "TextRange",
    "json_schema",
]

FORMAT: Final = "holdfast-export"
VERSION: Final = 1
SCHEMA_ID: Final = f"urn:holdfast:export:{VERSION}"

Recipient = Person | Group | DistributionList | CallLink | Other
Line = Message | Chat | Recipient | CallLinkCall | StickerPack | NotificationProfile | ChatFolder | Export


def json_schema() -> dict[str, Any]:
    """Describe every record as a JSON Schema (2020-12); a record's `record` says which it is."""
    schema = msgspec.json.schema(Line)
    for definition in schema["$defs"].values():
        definition["description"] = inspect.cleandoc(definition["description"])
    title = f"Records of a Holdfast export, version {VERSION}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, "title": title, **schema}
