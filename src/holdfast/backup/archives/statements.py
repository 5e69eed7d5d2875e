"""INSERT statements of message tables; SQL converts -1 and empty values to NULL.

The driver binds None, bool and bytes ten times slower than numbers and text. Rows therefore have -1 or an empty
text for NULL, which the statement converts at negligible cost.
"""

from typing import Final

from holdfast.backup.archives import item_rows

__all__ = ["CHILDREN", "INSERT", "PLAIN_COLUMNS", "insert_plain"]


def nullable_number(index: int) -> str:
    """Return an expression that is NULL for a negative parameter."""
    return f"CASE WHEN ?{index} >= 0 THEN ?{index} END"


def nullable_text(index: int) -> str:
    """Return an expression that is NULL for an empty parameter."""
    return f"CASE WHEN ?{index} <> '' THEN ?{index} END"


def nullable_blob(index: int) -> str:
    """Return an expression that is NULL for an empty blob."""
    return f"CASE WHEN ?{index} <> x'' THEN ?{index} END"


LOOK: Final = 10

# Parameters from ?20 on are the sightings and the record; the last one is the result of `pack_receipts`.
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
    *(nullable_number(index) for index in range(13, 17)),
    *(f"?{index}" for index in range(17, 21)),
    nullable_number(21),
    "?22",
    "?23",
)
# A short row of `plain_rows`: what most messages do not have is NULL or 0 in the statement, as binding a parameter
# takes as long as storing it. ?13 is the number of the block and, in the lower 32 bits, the offset in it.
PLAIN: Final = (
    "?1",
    "?2",
    "?3",
    "?7",
    "?8",
    "?7 - ?4",
    "0",
    "CASE WHEN ?5 >= 0 THEN ?7 - ?5 END",
    "CASE WHEN ?6 >= 0 THEN ?6 - ?4 END",
    "?9",
    f"CASE WHEN ?9 & {item_rows.HAS_TEXT} THEN ?10 END",
    nullable_text(11),
    nullable_blob(14),
    *("NULL" for _ in range(4)),
    "0",
    "0",
    "?12",
)
# The number of parameters of such a row; all others have more.
PLAIN_COLUMNS: Final = 14
ATTACHMENT: Final = (
    *(f"?{index}" for index in range(1, 5)),
    nullable_text(5),
    nullable_text(6),
    "?7",
    nullable_number(8),
    nullable_number(9),
    *(nullable_text(index) for index in range(10, 15)),
    nullable_blob(15),
)


def plain_columns(columns: int) -> tuple[str, ...]:
    """Return the parameters of a table without conversion."""
    return tuple(f"?{index}" for index in range(1, columns + 1))


# Tables with related rows of messages.
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


def insert_plain(first_seen: int, last_seen: int) -> str:
    """Return the statement for plain messages of one import; `last_seen` is -1 for NULL."""
    sightings = (str(first_seen), "NULL" if last_seen < 0 else str(last_seen))
    columns = (*PLAIN, *sightings, "?13 >> 32", "?13 & 0xffffffff")
    return f"INSERT INTO stored_message VALUES ({', '.join(columns)})"
