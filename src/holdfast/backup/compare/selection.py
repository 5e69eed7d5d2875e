"""Parses what users enter: dates and periods, and chats by name, phone number, username or id."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Self
from uuid import UUID

from holdfast.backup.compare.recipient_pairs import RecipientPairs
from holdfast.backup.compare.roster import Roster
from holdfast.backup.errors import UnknownChat
from holdfast.backup.public import public
from holdfast.backup.schema.backup_pb2 import Recipient

__all__ = ["DateRange", "Window", "choose_pairs", "find_chats", "parse_period"]

DATE: Final = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
MILLISECOND: Final = timedelta(milliseconds=1)
# Maximum number of chats that an error names.
MAX_SHOWN: Final = 5
UUID_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class DateRange:
    """A year, a month, a day or a moment, as its first and last millisecond."""

    first_ms: int
    last_ms: int


@public
@dataclass(frozen=True, slots=True)
class Window:
    """The time range to keep, both ends included; None for no limit."""

    first_ms: int | None = None
    last_ms: int | None = None

    @classmethod
    def between(cls, since: str | None, until: str | None) -> Self:
        """Return the window between two dates: `2024`, `2024-03` or `2024-03-09`; `until` is included."""
        return cls(
            None if since is None else parse_period(since).first_ms,
            None if until is None else parse_period(until).last_ms,
        )

    def holds(self, ms: int) -> bool:
        """Return whether a time is within the window."""
        return (self.first_ms is None or ms >= self.first_ms) and (self.last_ms is None or ms <= self.last_ms)

    @property
    def open(self) -> bool:
        """Whether the window has no limits."""
        return self.first_ms is None and self.last_ms is None


def parse_period(text: str) -> DateRange:
    """Parse `2024`, `2024-03`, `2024-03-09` or `2024-03-09T18:30`, in UTC unless it has an offset."""
    match = DATE.fullmatch(text.strip())
    if match is None:
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            raise ValueError(
                f"{text!r} is not a date; write 2024, 2024-03, 2024-03-09 or 2024-03-09T18:30"
            ) from None
        begin = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return DateRange(milliseconds(begin), milliseconds(begin))
    year, month, day = (int(part) if part else None for part in match.groups())
    try:
        begin = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
        if day:
            end = begin + timedelta(days=1)
        elif month:
            end = (begin + timedelta(days=31)).replace(day=1)
        else:
            end = begin.replace(year=begin.year + 1)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is not in the calendar") from None
    return DateRange(milliseconds(begin), milliseconds(end) - 1)


def milliseconds(moment: datetime) -> int:
    """Return the milliseconds since 1970."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // MILLISECOND


def find_chats(roster: Roster, queries: Iterable[str]) -> set[int]:
    """Return chats by name, phone number, username, account id, or `#` and the chat's id in the file."""
    chosen: set[int] = set()
    for query in queries:
        chats = matching_chats(roster, query)
        if not chats:
            raise unknown_chat(query, [roster])
        if len(chats) > 1:
            raise UnknownChat(
                f"{len(chats)} chats match {query!r}: {format_chats(roster, chats)}; name one of these"
            )
        chosen |= chats
    return chosen


def choose_pairs(pairing: RecipientPairs, queries: Iterable[str]) -> set[int]:
    """Return the common numbers of the chats that match in either of two backups."""
    chosen: set[int] = set()
    for query in queries:
        sides = [
            {numbers[chat] for chat in matching_chats(roster, query)}
            for roster, numbers in (
                (pairing.before, pairing.chats_before),
                (pairing.after, pairing.chats_after),
            )
        ]
        if not any(sides):
            raise unknown_chat(query, [pairing.before, pairing.after])
        chosen |= sides[0] | sides[1]
    return chosen


def unknown_chat(query: str, rosters: list[Roster]) -> UnknownChat:
    """Return the error for an unknown chat, with similar names."""
    names = sorted({roster.chat_name(chat) for roster in rosters for chat in roster.chats})
    folded = {name.casefold(): name for name in names}
    near = [folded[name] for name in difflib.get_close_matches(query.casefold(), folded, MAX_SHOWN, 0.5)]
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return UnknownChat(f"there is no chat {query!r}{hint}")


def format_chats(roster: Roster, chats: set[int]) -> str:
    """Format chats for an error message, with their ids."""
    texts = [f"#{chat} ({roster.chat_name(chat)})" for chat in sorted(chats)]
    return ", ".join(texts[:MAX_SHOWN]) + (" ..." if len(texts) > MAX_SHOWN else "")


def matching_chats(roster: Roster, query: str) -> set[int]:
    """Return the chats with exactly this name or identifier; if none, those whose names contain it."""
    text = query.strip().casefold()
    if text.startswith("#") and text[1:].isdecimal():
        return {int(text[1:])} & roster.chats.keys()
    exact: set[int] = set()
    partial: set[int] = set()
    for number, chat in roster.chats.items():
        recipient = roster.recipients.get(chat.recipientId)
        if recipient is not None and text in identifiers_of(recipient):
            exact.add(number)
        name = roster.chat_name(number).casefold()
        if name == text:
            exact.add(number)
        elif text and text in name:
            partial.add(number)
    return exact or partial


def identifiers_of(recipient: Recipient) -> set[str]:
    """Return the username, phone number and account id of a recipient, as text."""
    contact = recipient.contact
    identifiers = {
        contact.username.casefold(),
        f"+{contact.e164}" if contact.e164 else "",
        str(contact.e164 or ""),
    }
    if len(contact.aci) == UUID_BYTES:
        identifiers.add(str(UUID(bytes=contact.aci)))
    return identifiers - {""}
