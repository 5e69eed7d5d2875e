"""Parsing of chats and dates in the arguments of commands."""

import pytest

from holdfast.backup.compare.recipient_pairs import pair_recipients
from holdfast.backup.compare.roster import Roster
from holdfast.backup.compare.selection import DateRange, Window, choose_pairs, find_chats, parse_period
from holdfast.backup.errors import UnknownChat
from holdfast.backup.schema import BackupInfo
from holdfast.backup.schema.backup_pb2 import Chat, Contact, Recipient

DAY = 86_400_000
JANUARY = 1_704_067_200_000


def roster(*names: str) -> Roster:
    """Return a roster of contacts with chats."""
    result = Roster(BackupInfo())
    for number, name in enumerate(names, 1):
        contact = Contact(e164=4915550100 + number, aci=bytes([number]) * 16, username=f"user.{number:02}")
        contact.profileGivenName = name
        result.recipients[number] = Recipient(id=number, contact=contact)
        result.chats[number + 10] = Chat(id=number + 10, recipientId=number)
    return result


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2024", JANUARY, JANUARY + 366 * DAY - 1),
        ("2024-01", JANUARY, JANUARY + 31 * DAY - 1),
        ("2024-1-1", JANUARY, JANUARY + DAY - 1),
        ("2024-01-01T01:00", JANUARY + 3_600_000, JANUARY + 3_600_000),
        ("2024-01-01T01:00+01:00", JANUARY, JANUARY),
    ],
)
def test_times_are_read_as_people_write_them(text: str, first: int, last: int) -> None:
    """A year, a month, a day and a moment with or without an offset are parsed."""
    assert parse_period(text) == DateRange(first, last)


@pytest.mark.parametrize("text", ["", "yesterday", "2024-13", "2024-02-30", "0000", "9999", "24"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """Words, impossible dates and the years 0000 and 9999 raise an error."""
    with pytest.raises(ValueError, match=r"is not a date|not in the calendar"):
        parse_period(text)


def test_a_window_holds_its_ends() -> None:
    """A window includes both its ends, and an open one includes everything."""
    assert [Window(2, 4).holds(ms) for ms in (1, 2, 4, 5)] == [False, True, True, False]
    assert Window().open
    assert Window().holds(0)


@pytest.mark.parametrize("word", ["ada lovelace", "Ada L", "+4915550101", "4915550101", "USER.01", "#11"])
def test_a_chat_goes_by_name_number_username_and_place(word: str) -> None:
    """A chat is found by name, phone number, username, id or an unambiguous part of its name."""
    assert find_chats(roster("Ada Lovelace", "Bob"), [word]) == {11}


def test_a_chat_goes_by_the_id_of_its_account() -> None:
    """A chat is found by the ACI of its contact."""
    assert find_chats(roster("Ada"), ["01010101-0101-0101-0101-010101010101"]) == {11}


def test_a_whole_name_goes_before_a_part() -> None:
    """A whole name is preferred to a part of another, so that Ann is found beside Anna."""
    assert find_chats(roster("Ann", "Anna"), ["ann"]) == {11}


def test_an_unknown_chat_is_refused_with_a_guess() -> None:
    """The error of an unknown chat suggests a name, and that of an ambiguous one lists the matches."""
    with pytest.raises(UnknownChat, match="no chat 'Adda'; did you mean Ada"):
        find_chats(roster("Ada", "Bob"), ["Adda"])
    with pytest.raises(UnknownChat, match=r"2 chats match 'An': #11 \(Ann\), #12 \(Anna\)"):
        find_chats(roster("Ann", "Anna"), ["An"])


def test_in_two_backups_a_name_of_either_counts() -> None:
    """A chat that was renamed is found by both names."""
    pairing = pair_recipients(roster("Ada"), roster("Countess"))
    assert choose_pairs(pairing, ["ada"]) == choose_pairs(pairing, ["countess"]) == {1}
    with pytest.raises(UnknownChat):
        choose_pairs(pairing, ["bob"])
