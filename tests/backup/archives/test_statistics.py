"""Statistics of an archive."""

from collections import Counter
from datetime import datetime
from itertools import pairwise
from statistics import median_low
from zoneinfo import ZoneInfo

import pytest

from holdfast.backup.archives import Archive


def test_all_counts_add_up(opened: Archive) -> None:
    """Months, hours, kinds and chats each count every message once."""
    statistics = opened.statistics()
    assert statistics.messages == 400
    assert sum(count for _, count in statistics.months) == 400
    assert sum(sum(day) for day in statistics.hours) == 400
    assert sum(count for _, count in statistics.kinds) == 400
    assert sum(row.messages for row in statistics.chats) == 400
    assert statistics.media
    assert all(0 <= reply.median_s <= 12 * 3600 for reply in statistics.replies)


def test_counts_are_ranked_and_have_their_times(opened: Archive) -> None:
    """Kinds, chats and people are sorted by their messages; the times are those of the first and last message."""
    messages = [row for chat in opened.chats() for row in opened.messages(chat.id)]
    statistics = opened.statistics()
    times = [row.sent_ms for row in messages]
    assert (statistics.first_ms, statistics.last_ms) == (min(times), max(times))
    for counted, values in (
        (statistics.kinds, [row.kind for row in messages]),
        ([(row.id, row.messages) for row in statistics.chats], [row.chat_id for row in messages]),
        ([(row.id, row.messages) for row in statistics.people], [row.author_id for row in messages]),
    ):
        ranked = sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))
        assert list(counted) == ranked[: len(counted)]
        assert len(counted) > 5
    words = {row.id: row.words for row in statistics.chats}
    chat = statistics.chats[0].id
    texts = [row.text for row in messages if row.chat_id == chat and row.text is not None]
    assert words[chat] == sum(text.count(" ") + 1 for text in texts)


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns"])
def test_months_and_hours_are_those_of_the_time_zone(opened: Archive, name: str) -> None:
    """Each message is counted at its local time, also where the offset has quarters of an hour."""
    zone = ZoneInfo(name)
    hours = [[0] * 24 for _ in range(7)]
    months: Counter[str] = Counter()
    for (sent_ms,) in opened.connection.execute("SELECT sent_ms FROM message"):
        local = datetime.fromtimestamp(sent_ms / 1000, zone)
        hours[local.weekday()][local.hour] += 1
        months[f"{local:%Y-%m}"] += 1
    statistics = opened.statistics(zone=zone)
    assert [list(day) for day in statistics.hours] == hours
    assert dict(statistics.months) == months
    assert (statistics == opened.statistics()) is (name == "UTC")


def test_one_chat_is_counted_alone(opened: Archive) -> None:
    """The statistics of one chat have its messages only."""
    chat = max(opened.chats(), key=lambda row: row.messages)
    statistics = opened.statistics(chat.id)
    assert statistics.messages == chat.messages
    assert [row.id for row in statistics.chats] == [chat.id]


def test_answers_are_timed_from_the_last_message_of_the_other(opened: Archive) -> None:
    """The median delay of replies in one-to-one chats is counted, of those within twelve hours."""
    delays: dict[int, list[int]] = {}
    for chat in opened.chats():
        messages = (
            [row for row in opened.messages(chat.id) if row.direction != "none"] if chat.kind == "contact" else []
        )
        for question, reply in pairwise(messages):
            waited = reply.sent_ms - question.sent_ms
            if question.author_id != reply.author_id and 0 <= waited <= 12 * 3_600_000:
                delays.setdefault(reply.author_id, []).append(waited)
    assert delays
    assert {row.id: (row.answers, row.median_s) for row in opened.statistics().replies} == {
        author: (len(times), median_low(times) // 1000) for author, times in delays.items()
    }
