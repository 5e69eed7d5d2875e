"""Parses search queries into FTS5 queries.

All words must occur; `"a phrase"` matches literally, `begin*` matches a prefix, `-word` must not occur, and `OR`
between two terms matches either. Filters are `chat:`, `from:`, `kind:`, `is:in`, `is:out`, `has:media`,
`has:link`, `since:2024-01-31` and `until:2024-12`. Terms are quoted, so that no input is interpreted as FTS5
syntax.
"""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from holdfast.backup.archives.item_rows import KINDS
from holdfast.backup.archives.signs import sign_query, split_signs
from holdfast.backup.dates import END
from holdfast.backup.errors import QueryRefused
from holdfast.backup.public import public
from holdfast.redacted_repr import redacted

__all__ = ["Filters", "Query", "parse_date", "parse_query"]

PART: Final = re.compile(
    r'(?P<no>-?)(?:(?P<name>[a-z]+):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))', re.IGNORECASE
)
DATE: Final = re.compile(r"(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:[T ](\d\d?):(\d\d)(?::(\d\d))?)?)?)?")
FILTERS: Final = frozenset({"chat", "from", "kind", "is", "has", "since", "after", "until", "before"})
ALL_KINDS: Final = tuple(kind for kind in KINDS if kind)
MAX_LENGTH: Final = 2000
MAX_PARTS: Final = 64


@public
@redacted
@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions besides the words of a query; names of chats and people are not resolved yet."""

    chat: str | None = None
    person: str | None = None
    direction: str | None = None
    kind: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    has_media: bool = False
    has_link: bool = False


@redacted
@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: `match` is the FTS5 query, empty if there are only filters; `words` are as typed."""

    match: str
    words: tuple[str, ...]
    filters: Filters


def parse_date(text: str, *, end: bool = False, zone: tzinfo | None = UTC) -> int:
    """Parse a date with the precision of a year, month, day or minute; `end` returns its end.

    It is a date in a time zone; None is the time zone of this machine.
    """
    match = DATE.fullmatch(text.strip())
    if match is None:
        raise QueryRefused(f"{text} is not a date; write 2024, 2024-05 or 2024-05-31")
    year, month, day, hour, minute, second = (int(part) if part else None for part in match.groups())
    try:
        date = datetime(  # noqa: DTZ001  # of a calendar: `milliseconds` applies the zone
            year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0
        )
        if not end:
            return milliseconds(date, zone)
        if month is None:
            date = date.replace(year=date.year + 1)
        elif day is None:
            date = date.replace(year=date.year + month // 12, month=month % 12 + 1)
        elif hour is None:
            # The next date, since a day on which the clocks change does not have 24 hours.
            date += timedelta(days=1)
        else:
            return milliseconds(date, zone) + 60_000
        return milliseconds(date, zone)
    except OverflowError:
        # The day after the last one of the calendar.
        return END
    except ValueError:
        raise QueryRefused(f"{text} is not a date; write 2024, 2024-05 or 2024-05-31") from None


def milliseconds(date: datetime, zone: tzinfo | None) -> int:
    """Convert a date and time in a time zone; None is the time zone of this machine.

    At the ends of the calendar, where the time in UTC can be out of range, it is taken for a time in UTC.
    """
    try:
        return int((date if zone is None else date.replace(tzinfo=zone)).timestamp() * 1000)
    except (OverflowError, ValueError, OSError):
        return int(date.replace(tzinfo=UTC).timestamp() * 1000)


def parse_query(
    text: str, filters: Filters | None = None, *, beginnings: bool = False, zone: tzinfo | None = UTC
) -> Query:
    """Parse a query; `filters` are combined with those in the text.

    With `beginnings` every required word matches as a prefix; phrases and excluded words match exactly. Dates in
    the text are in a time zone; None is the time zone of this machine.
    """
    if len(text) > MAX_LENGTH:
        raise QueryRefused(f"the query is too long: {len(text)} characters, {MAX_LENGTH} at most")
    chosen = filters or Filters()
    # Control characters would end the query early, or are not text.
    text = "".join(character if character.isprintable() else " " for character in text)
    wanted: list[str] = []
    unwanted: list[str] = []
    words: list[str] = []
    either = False
    for number, part in enumerate(PART.finditer(text)):
        if number >= MAX_PARTS:
            raise QueryRefused(f"the query has too many parts; {MAX_PARTS} at most")
        name, phrase, word = (part["name"] or "").lower(), part["phrase"], part["word"]
        value = phrase if phrase is not None else word
        if name in FILTERS and value:
            chosen = add_filter(chosen, name, value, zone=zone)
            continue
        if name:
            value = f"{name}:{value}"
        if word == "OR" and not name and wanted:
            either = True
            continue
        begins = beginnings and phrase is None and not part["no"]
        term = term_of(f"{value}*" if begins else value, whole=phrase is not None)
        if not term:
            continue
        if part["no"]:
            unwanted.append(term)
        elif either and wanted:
            wanted[-1] = f"({wanted[-1]} OR {term})"
        else:
            wanted.append(term)
        either = False
        if not part["no"]:
            words.append(value.rstrip("*"))
    if unwanted and not wanted:
        raise QueryRefused("the query only excludes words; add a word to search for")
    if not wanted and (text.strip() and chosen == (filters or Filters())):
        raise QueryRefused("the query has no word to search for")
    match = " AND ".join(wanted)
    if unwanted:
        match = f"({match}) NOT ({' OR '.join(unwanted)})"
    return Query(match, tuple(words), chosen)


def term_of(text: str, *, whole: bool) -> str:
    """Return the FTS5 term of a word or phrase; empty if it has nothing to search for."""
    prefix = not whole and text.endswith("*")
    words, signs = split_signs(text.rstrip("*") if not whole else text)
    terms = []
    plain = (
        " ".join(word for word in words if any(character.isalnum() for character in word))
        .replace('"', " ")
        .strip()
    )
    if plain:
        terms.append(f'{{text extra}} : "{plain}"{" *" if prefix else ""}')
    terms += [sign_query(run) for run in signs]
    return terms[0] if len(terms) == 1 else f"({' AND '.join(terms)})" if terms else ""


def add_filter(filters: Filters, name: str, value: str, *, zone: tzinfo | None = UTC) -> Filters:
    """Return the filters with one more; a date is in a time zone, None is that of this machine."""
    if name == "chat":
        return replace(filters, chat=value)
    if name == "from":
        return replace(filters, person=value)
    if name == "kind":
        if value not in ALL_KINDS:
            raise QueryRefused(f"there is no kind {value}; there are {', '.join(ALL_KINDS)}")
        return replace(filters, kind=value)
    if name == "is":
        directions = {"in": "incoming", "incoming": "incoming", "out": "outgoing", "outgoing": "outgoing"}
        if value.lower() not in directions:
            raise QueryRefused(f"there is no filter is:{value}; use is:in or is:out")
        return replace(filters, direction=directions[value.lower()])
    if name == "has":
        if value.lower() not in {"media", "link"}:
            raise QueryRefused(f"there is no filter has:{value}; use has:media or has:link")
        return replace(filters, has_media=True) if value.lower() == "media" else replace(filters, has_link=True)
    if name in {"since", "after"}:
        return replace(filters, since_ms=parse_date(value, zone=zone))
    return replace(filters, until_ms=parse_date(value, end=name == "until", zone=zone))
