"""Frames and JSON documents at the edges of the mapping between them."""

from tests.backup.wire.encoding import delimited, fixed32, gradient, group, nested_items, number, tag, varint

__all__ = ["MERGED_FRAMES", "NONCANONICAL_FRAMES", "SIGNAL_SPELLINGS", "UNFIT_DOCUMENTS", "Json", "chat_document"]

Json = dict[str, object]

# A name of the specification: what Signal calls it, and a frame that has it.
SIGNAL_SPELLINGS = {
    "platformASpecificSettings": ("androidSpecificSettings", delimited(1, delimited(12, b""))),
    "announcements_only": ("announcementsOnly", delimited(2, delimited(3, delimited(5, number(12, 1))))),
    "members_banned": ("membersBanned", delimited(2, delimited(3, delimited(5, delimited(13, b""))))),
    "amountCoin": ("amountMob", delimited(4, delimited(16, delimited(1, b"1")))),
    "feeCoin": ("feeMob", delimited(4, delimited(16, delimited(2, b"1")))),
    "coinIdentification": (
        "mobileCoinIdentification",
        delimited(4, delimited(16, delimited(4, delimited(1, delimited(2, b""))))),
    ),
    "JOINED_SERVICE": ("JOINED_SIGNAL", delimited(4, delimited(15, delimited(1, number(1, 1))))),
}
# Frames with fields that a reader has to merge.
MERGED_FRAMES = {
    "a number twice": delimited(3, number(1, 1) + number(1, 2)),
    "a text twice": delimited(8, delimited(1, b"a") + number(2, 1) + delimited(1, b"b")),
    "a message twice": delimited(3, delimited(9, number(1, 1)) + delimited(9, number(7, 1))),
    "a record twice": delimited(3, number(1, 1)) + delimited(3, number(2, 2)),
    "two records": delimited(3, number(1, 1)) + delimited(2, number(1, 5)),
    "two of a oneof, out of order": delimited(4, delimited(21, number(3, 1) + number(2, 1))),
    "two of a oneof, in order": delimited(4, delimited(21, number(2, 1) + number(3, 1))),
    "a list in two places": nested_items(1, delimited(6, b"") + number(1, 1) + delimited(6, number(1, 2))),
    "a packed list in two places": delimited(7, delimited(7, b"\x01") + number(5, 1) + delimited(7, b"\x02")),
    "an empty packed list": delimited(7, delimited(7, b"")),
    "a list twice, once empty": delimited(7, delimited(7, b"\x01") + delimited(7, b"")),
    "a field twice and an unknown one": delimited(3, number(1, 1) + number(99, 1) + number(1, 2)),
    "a field twice as deep as can be": nested_items(100, number(1, 1) + number(1, 2)),
}
# Frames with unknown fields or an unusual encoding, which JSON does not show.
NONCANONICAL_FRAMES = {
    "an unknown field": delimited(3, number(1, 1) + number(99, 1)),
    "an unknown field inside a list": nested_items(1, delimited(6, b"") + number(99, 1) + delimited(6, b"")),
    "a group": delimited(3, group(99, number(1, 1))) + group(50, b""),
    "another wire type": delimited(3, delimited(1, b"x") + number(2, 1)),
    "a list that is not packed": delimited(7, number(7, 1) + number(7, 2)),
    "a list half packed": delimited(7, number(7, 1) + delimited(7, b"\x02\x03") + number(7, 4)),
    "four bytes that are not packed": gradient(fixed32(2, b"abcd") + fixed32(3, b"\0\0\x80?")),
    "padded numbers": delimited(3, varint(8, size=3) + varint(7, size=4) + tag(9, 2) + varint(0, size=3)),
    "a number over 32 bits": delimited(3, number(4, 1 << 32)),
    "a default number over 32 bits": delimited(3, number(10, 1 << 32)),
    "a truth of 256": delimited(3, number(3, 256)),
    "defaults": delimited(3, number(1, 0) + number(3, 0)) + number(90, 0),
    "an empty text": delimited(8, delimited(1, b"") + number(2, 1)),
    "nothing but an unknown field": number(99, 1),
}


def chat_document(**fields: object) -> Json:
    """Return the JSON of a frame that holds a chat."""
    return {"chat": fields}


# Documents that are no frames, each with the path and the problem that the error names.
UNFIT_DOCUMENTS: dict[str, tuple[object, str, str]] = {
    "an unknown key": ({"chat": {"colour": 1}}, "chat.colour", "is not a field the format has"),
    "an unknown key at the top": ({"chats": {}}, "chats", "is not a field the format has"),
    "raw below the top": ({"chat": {"@raw": "AA=="}}, "chat.@raw", "is not a field the format has"),
    "a null for an unknown key": ({"colour": None}, "colour", "is not a field the format has"),
    "both spellings": (
        {"account": {"androidSpecificSettings": {}, "platformASpecificSettings": {}}},
        "account.platformASpecificSettings",
        "cannot stand beside androidSpecificSettings",
    ),
    "two of a oneof": ({"chat": {}, "recipient": {}}, "recipient", "cannot stand beside chat"),
    "text for an object": ({"chat": "secret"}, "chat", "is not an object"),
    "an object for a list": ({"chatItem": {"revisions": {}}}, "chatItem.revisions", "is not a list"),
    "text in a list of objects": (
        {"chatItem": {"revisions": [{}, "secret"]}},
        "chatItem.revisions[1]",
        "an object",
    ),
    "text for a number": (chat_document(id="secret"), "chat.id", "is not an integer"),
    "a truth for a number": (chat_document(id=True), "chat.id", "is not an integer"),
    "half a number": (chat_document(id=1.5), "chat.id", "is not an integer"),
    "infinity for a number": (chat_document(id=float("inf")), "chat.id", "is not an integer"),
    "a number below 0": (chat_document(id=-1), "chat.id", "is not between 0 and 18446744073709551615"),
    "a number over 64 bits": (chat_document(id=1 << 64), "chat.id", "is not between"),
    "a number over 32 bits": (
        chat_document(pinnedOrder="4294967296"),
        "chat.pinnedOrder",
        "is not between 0 and 4294967295",
    ),
    "digits of another script": (chat_document(id="\u0661"), "chat.id", "is not an integer"),
    "far too many digits": (chat_document(id="9" * 5000), "chat.id", "is not an integer"),
    "a number for a truth": (chat_document(archived=1), "chat.archived", "is neither true nor false"),
    "a number for text": ({"chatFolder": {"name": 5}}, "chatFolder.name", "is not text"),
    "half a surrogate pair": ({"chatFolder": {"name": "\ud83d"}}, "chatFolder.name", "surrogate"),
    "a name no enum has": (
        {"chatFolder": {"folderType": "SECRET"}},
        "chatFolder.folderType",
        "not a value its enum has",
    ),
    "an enum over 32 bits": ({"chatFolder": {"folderType": 1 << 31}}, "chatFolder.folderType", "is not between"),
    "no base64": ({"chatFolder": {"id": "secret!"}}, "chatFolder.id", "is not base64"),
    "base64 of no length": ({"chatFolder": {"id": "AAAAA"}}, "chatFolder.id", "is not base64"),
    "a number for bytes": ({"chatFolder": {"id": 5}}, "chatFolder.id", "is not base64"),
    "padding inside base64": ({"chatFolder": {"id": "AA==AAAA"}}, "chatFolder.id", "is not base64"),
    "raw that is no base64": ({"@raw": "secret!"}, "@raw", "is not base64"),
    "raw that is no frame": ({"@raw": "/////w=="}, "@raw", "does not hold a record"),
}
