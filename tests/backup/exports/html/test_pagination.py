"""Pages of a chat."""

from datetime import timedelta, timezone

import pytest

from holdfast.backup.archives import Archive, Position
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.html import pagination
from holdfast.backup.exports.html.clock import TimeFormatter
from holdfast.backup.exports.html.pagination import PageBreaks, find_breaks_and_days, find_page_breaks


def test_pages_are_counted_from_the_oldest(opened: Archive) -> None:
    """Pages begin at every n-th message from the oldest, so that new messages move no page."""
    chat = max(opened.chats(), key=lambda chat: chat.messages)
    messages = list(opened.messages(chat.id))
    complete, _days = find_breaks_and_days(opened, chat.id, ChatSelection(), TimeFormatter())
    assert complete.starts == [message.position for message in messages[:: pagination.PAGE_MESSAGES]]
    narrowed, _days = find_breaks_and_days(
        opened, chat.id, ChatSelection(until_ms=messages[-1].position.ms), TimeFormatter()
    )
    assert narrowed.starts == complete.starts[: len(narrowed.starts)]
    none, days = find_breaks_and_days(
        opened, chat.id, ChatSelection(since_ms=messages[-1].position.ms + 1), TimeFormatter()
    )
    assert (none.starts, days) == ([], {})


def test_pages_begin_at_the_same_places_whoever_looks(opened: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to find page breaks agree, for whole chats and for selected periods."""
    monkeypatch.setattr(pagination, "PAGE_MESSAGES", 7)
    times = sorted(message.position.ms for chat in opened.chats() for message in opened.messages(chat.id))
    middle = (times[len(times) // 3], times[len(times) // 2])
    for chat in opened.chats():
        for choice in (
            ChatSelection(),
            ChatSelection(since_ms=middle[0]),
            ChatSelection(until_ms=middle[1]),
            ChatSelection((), *middle),
        ):
            expected, _days = find_breaks_and_days(opened, chat.id, choice, TimeFormatter())
            assert find_page_breaks(opened, chat.id, choice) == expected


def test_days_are_those_of_the_zone(opened: Archive) -> None:
    """Each day of the zone has the position of its first message and its number of messages."""
    chat = max(opened.chats(), key=lambda chat: chat.messages)
    clock = TimeFormatter(timezone(timedelta(hours=9)))
    _cuts, days = find_breaks_and_days(opened, chat.id, ChatSelection(), clock)
    expected: dict[int, list[Position]] = {}
    for entry in opened.messages(chat.id):
        expected.setdefault(clock.day(entry.position.ms), []).append(entry.position)
    assert {day: (entry.start, entry.messages) for day, entry in days.items()} == {
        day: (positions[0], len(positions)) for day, positions in expected.items()
    }


def test_a_page_that_is_split_moves_no_other() -> None:
    """The rest of a split page gets a name like "2-2", and the other pages keep theirs."""
    cuts = PageBreaks([Position(0, 0, 0), Position(100, 0, 0), Position(200, 0, 0)])
    assert cuts.split("2", Position(150, 0, 0)) == "2-2"
    assert cuts.split("2-2", Position(160, 0, 0)) == "2-3"
    assert cuts.names == ["1", "2", "2-2", "2-3", "3"]
    assert [cuts.page(Position(ms, 0, 0)) for ms in (0, 99, 100, 155, 160, 250)] == [
        "1",
        "1",
        "2",
        "2-2",
        "2-3",
        "3",
    ]
    assert (cuts.before("1"), cuts.after("1"), cuts.before("2-2"), cuts.after("3")) == (None, "2", "2", None)
    cuts.undo_split("2", 3)
    assert (cuts.names, [start.ms for start in cuts.starts]) == (["1", "2", "3"], [0, 100, 200])


def test_a_stretch_goes_from_one_page_to_the_next() -> None:
    """The range of a page ends where the next page begins, and that of the last page is open."""
    starts = [Position(0, 0, 0), Position(10, 0, 0)]
    assert PageBreaks(starts).ranges() == [("1", starts[0], starts[1]), ("2", starts[1], None)]
    assert PageBreaks([]).ranges() == []
