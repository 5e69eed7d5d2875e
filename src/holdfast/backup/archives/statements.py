"""How the rows of messages are written: every column gets a number or a text, and SQL makes of it what is stored.

The driver binds None, bool and bytes ten times slower than numbers and text. Rows therefore have -1 and the empty
text where a column stays empty; a statement puts it right, which costs it next to nothing.
"""

from typing import Final

from holdfast.backup.archives import item_rows

__all__ = ["CHILDREN", "INSERT"]


def number(place: int) -> str:
    """Write a number that may be missing."""
    return f"CASE WHEN ?{place} >= 0 THEN ?{place} END"


def text(place: int) -> str:
    """Write a text that may be missing."""
    return f"CASE WHEN ?{place} <> '' THEN ?{place} END"


def blob(place: int) -> str:
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
    text(12),
    blob(24),
    *(number(place) for place in range(13, 17)),
    *(f"?{place}" for place in range(17, 21)),
    number(21),
    "?22",
    "?23",
)
ATTACHMENT: Final = (
    *(f"?{place}" for place in range(1, 5)),
    text(5),
    text(6),
    "?7",
    number(8),
    number(9),
    *(text(place) for place in range(10, 15)),
    blob(15),
)


def plain(columns: int) -> tuple[str, ...]:
    """Write every column as it is."""
    return tuple(f"?{place}" for place in range(1, columns + 1))


# Every table with rows that belong to one message.
CHILDREN: Final = {
    "reaction": plain(6),
    "revision": plain(5),
    "attachment": ATTACHMENT,
    "quote": plain(6),
    "text_range": plain(9),
    "link_preview": plain(7),
    "sticker": plain(5),
    "poll_vote": plain(5),
    "poll_option": plain(3),
    "poll": plain(4),
    "payment": plain(9),
    "gift_badge": plain(3),
    "admin_deletion": plain(2),
    "contact_card_field": plain(6),
    "contact_card": plain(9),
    "update_event": plain(4),
    "call": plain(11),
}
INSERT: Final = {
    table: f"INSERT INTO {table} VALUES ({', '.join(columns)})"
    for table, columns in {"stored_message": MESSAGE, **CHILDREN}.items()
}
