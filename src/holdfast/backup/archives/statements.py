"""How the rows of messages are written: every column gets a number or a text, and SQL makes of it what is stored.

The driver binds None, bool and bytes ten times slower than numbers and text. Rows therefore have -1 and the empty
text where a column stays empty; a statement puts it right, which costs it next to nothing.
"""

from typing import Final

from holdfast.backup.archives import item_rows

__all__ = ["CHILDREN", "INSERT"]


def nullable_number(place: int) -> str:
    """Write a number that may be missing."""
    return f"CASE WHEN ?{place} >= 0 THEN ?{place} END"


def nullable_text(place: int) -> str:
    """Write a text that may be missing."""
    return f"CASE WHEN ?{place} <> '' THEN ?{place} END"


def nullable_blob(place: int) -> str:
    """Write bytes that may be missing."""
    return f"CASE WHEN ?{place} <> x'' THEN ?{place} END"


LOOK: Final = 10

# From the first time it was seen on it is what the archive adds; the last is what `pack_receipts` makes.
MESSAGE: Final = (
    "?1",
    "?2",
    "?3",
    "?8",
    "?9",
    "?8 - ?4",
    "?4 - ?5",
    "CASE WHEN ?6 >= 0 THEN ?8 - ?6 END",
    "CASE WHEN ?7 >= 0 THEN ?7 - ?4 END",
    f"?{LOOK}",
    f"CASE WHEN ?{LOOK} & {item_rows.HAS_TEXT} THEN ?11 END",
    nullable_text(12),
    nullable_blob(24),
    *(nullable_number(place) for place in range(13, 17)),
    *(f"?{place}" for place in range(17, 21)),
    nullable_number(21),
    "?22",
    "?23",
)
ATTACHMENT: Final = (
    *(f"?{place}" for place in range(1, 5)),
    nullable_text(5),
    nullable_text(6),
    "?7",
    nullable_number(8),
    nullable_number(9),
    *(nullable_text(place) for place in range(10, 15)),
    nullable_blob(15),
)


def plain_columns(columns: int) -> tuple[str, ...]:
    """Write every column as it is."""
    return tuple(f"?{place}" for place in range(1, columns + 1))


# Every table with rows that belong to one message.
CHILDREN: Final = {
    "reaction": plain_columns(6),
    "revision": plain_columns(5),
    "attachment": ATTACHMENT,
    "quote": plain_columns(6),
    "text_range": plain_columns(9),
    "link_preview": plain_columns(7),
    "sticker": plain_columns(5),
    "poll_vote": plain_columns(5),
    "poll_option": plain_columns(3),
    "poll": plain_columns(4),
    "payment": plain_columns(9),
    "gift_badge": plain_columns(3),
    "admin_deletion": plain_columns(2),
    "contact_card_field": plain_columns(6),
    "contact_card": plain_columns(9),
    "update_event": plain_columns(4),
    "call": plain_columns(11),
}
INSERT: Final = {
    table: f"INSERT INTO {table} VALUES ({', '.join(columns)})"
    for table, columns in {"stored_message": MESSAGE, **CHILDREN}.items()
}
