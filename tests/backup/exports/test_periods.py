"""Partitions of chats by calendar period."""

from holdfast.backup.archives import Archive
from holdfast.backup.dates import END, HOUR_MS
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.periods import UNDATED, periods, split_hours, years


def largest_chat(opened: Archive) -> int:
    """Find the chat with most messages."""
    return max(opened.chats(), key=lambda chat: chat.messages).id


def test_periods_hold_every_message_once(opened: Archive) -> None:
    """Periods of any maximum size have every message once, in order, under unique names."""
    chat = largest_chat(opened)
    ids = [message.id for message in opened.messages(chat)]
    for most in (1, 7, 50, 10_000):
        parts_found = periods(opened, chat, ChatSelection(), most)
        parts = [
            [message.id for message in opened.messages(chat, period.since_ms, period.until_ms)]
            for period in parts_found
        ]
        assert [number for part in parts for number in part] == ids
        assert [len(part) for part in parts] == [period.messages for period in parts_found]
        assert len({period.name for period in parts_found}) == len(parts_found)
        assert sorted(period.name for period in parts_found) == [period.name for period in parts_found]


def test_a_large_year_becomes_months_and_a_large_month_days() -> None:
    """A period with too many messages is split into months, days or hours, and not further."""
    busy = 500_000
    hours = [(busy, 10), (busy + 1, 1), (busy + 24, 1)]
    names = [period.name for period in split_hours(hours, ChatSelection(), 10, 0)]
    assert names == ["2027-01-15-08", "2027-01-15-09", "2027-01-16"]
    names = [period.name for period in split_hours([(busy, 10), (busy + 24 * 40, 1)], ChatSelection(), 10, 0)]
    assert names == ["2027-01", "2027-02"]


def test_a_later_message_leaves_earlier_periods_alone() -> None:
    """A new message in another year does not change the periods before it."""
    before = [(500_000, 10), (500_800, 10)]
    first = list(split_hours(before, ChatSelection(), 15, 0))
    assert list(split_hours([*before, (520_000, 9)], ChatSelection(), 15, 0))[: len(first)] == first


def test_what_lies_beyond_the_calendar_has_a_period_of_its_own() -> None:
    """Messages with a time beyond the calendar are in one undated period."""
    (period,) = split_hours([(END // HOUR_MS, 3)], ChatSelection(), 1, 0)
    assert (period.name, period.until_ms, period.messages) == (UNDATED, None, 3)


def test_a_choice_of_dates_narrows_periods(opened: Archive) -> None:
    """A selected period limits the periods to the millisecond."""
    chat = largest_chat(opened)
    times = [message.position.ms for message in opened.messages(chat)]
    since, until = times[5], times[-5]
    found_periods = periods(opened, chat, ChatSelection(since_ms=since, until_ms=until), 10)
    assert found_periods[0].since_ms == since
    assert sum(period.messages for period in found_periods) == sum(since <= time < until for time in times)


def test_years_list_the_chats_that_have_something_in_them(opened: Archive) -> None:
    """Each year lists its chats in their order, and all years together have every message."""
    chats = [chat.id for chat in opened.chats()]
    found_years = years(opened, chats, ChatSelection())
    assert list(found_years) == sorted(found_years)
    for parts in found_years.values():
        order = [chats.index(chat) for chat, _ in parts]
        assert order == sorted(order)
    assert sum(period.messages for parts in found_years.values() for _, period in parts) == 400
