"""How the rows of messages are written: every column gets a number or a text, and SQL makes of it what is stored.

The driver binds None, bool and bytes ten times slower than numbers and text. Rows therefore have -1 and the empty
text where a column stays empty, and one number for what comes from a few words; a statement puts it right, which
costs it next to nothing.
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


def bit(place: int, mask: int) -> str:
    """Write one bit of a number."""
    return f"(?{place} & {mask}) <> 0"


def word(value: str, names: tuple[str, ...]) -> str:
    """Write the name of a value; the common ones stand first."""
    cases = " ".join(f"WHEN {n} THEN '{name}'" for n, name in enumerate(names) if name)
    return f"CASE {value} {cases} END"


INCOMING: Final = item_rows.DIRECTIONS.index("incoming")
LOOK: Final = 10

# The last four are what the archive adds: where it was first and last seen, and where its record lies.
MESSAGE: Final = (
    "?1",
    "?2",
    "?3",
    "?4",
    "?5",
    number(6),
    number(7),
    "?8",
    "?9",
    word(f"?{LOOK} & 15", item_rows.DIRECTIONS),
    word(f"?{LOOK} >> 4 & 31", item_rows.KINDS),
    f"CASE WHEN ?{LOOK} & {item_rows.HAS_TEXT} THEN ?11 END",
    text(12),
    text(13),
    bit(LOOK, item_rows.HAS_MEDIA),
    bit(LOOK, item_rows.HAS_LINK),
    f"CASE WHEN ?{LOOK} & 15 = {INCOMING} THEN {bit(LOOK, item_rows.IS_READ)} END",
    f"CASE WHEN ?{LOOK} & 15 = {INCOMING} THEN {bit(LOOK, item_rows.IS_SEALED)} END",
    bit(LOOK, item_rows.IS_SMS),
    number(14),
    number(15),
    number(16),
    number(17),
    "?18",
    "?19",
    "?20",
    "?21",
    number(22),
    "?23",
    "?24",
)
STATUS: Final = (
    "?1",
    "?2",
    "?3",
    word("?5 & 15", item_rows.STATUSES),
    "?4",
    f"CASE WHEN ?5 & 15 BETWEEN 4 AND 7 THEN {bit(5, 16)} END",
    f"CASE WHEN ?5 & 15 = 9 THEN {word('?5 >> 5', item_rows.REASONS)} END",
)
ATTACHMENT: Final = (
    *(f"?{place}" for place in range(1, 5)),
    text(5),
    text(6),
    "?7",
    number(8),
    number(9),
    *(text(place) for place in range(10, 13)),
    number(13),
    *(text(place) for place in range(14, 18)),
    blob(18),
    blob(19),
    text(20),
    number(21),
    number(22),
    number(23),
)


def plain(columns: int) -> tuple[str, ...]:
    """Write every column as it is."""
    return tuple(f"?{place}" for place in range(1, columns + 1))


# Every table with rows that belong to one message.
CHILDREN: Final = {
    "send_status": STATUS,
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
    for table, columns in {"message": MESSAGE, **CHILDREN}.items()
}
