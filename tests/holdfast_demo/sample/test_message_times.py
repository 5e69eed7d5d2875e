"""Timestamps of a sample: ascending, mostly by day, and before the time of the backup."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from holdfast_demo.sample.message_times import MessageTimes
from holdfast_demo.sample.seeded_random import SeededRandom
from tests.holdfast_demo.sample.sample_parts import header, items

BACKUP_TIME = 1_763_640_000_000
HOUR = 3_600_000


@given(st.integers(0, 2**32), st.integers(1, 10**10), st.integers(1, 60))
def test_every_time_is_later_than_the_one_before(seed: int, messages: int, asked: int) -> None:
    """Messages arrive after they are sent and before the next one is sent, however many there are."""
    times = MessageTimes(SeededRandom(seed), messages, BACKUP_TIME)
    last = 0
    for number in range(asked):
        if number % 7 == 0:
            times.advance(min(number, messages - 1))
        sent, arrived = times.next_message()
        assert last < sent < arrived
        last = arrived


def test_a_history_ends_before_its_backup_begins() -> None:
    """The last message arrives before the backup is made, and the first is some years older."""
    for messages in (1, 50, 5000):
        times = [item.dateSent for item in items(messages)]
        backup_time = header(messages).backupTimeMs
        assert times == sorted(set(times))
        assert times[-1] < backup_time
        if messages > 1:
            assert backup_time - times[0] > 3 * 365 * 24 * HOUR


def test_a_dense_history_keeps_to_its_schedule() -> None:
    """A clock with a million messages and more is not late at the end of its history."""
    messages = 20_000
    times = MessageTimes(SeededRandom(1), messages * 1000, BACKUP_TIME)
    arrived = 0
    for number in range(messages * 999, messages * 1000):
        if number % 8 == 0:
            times.advance(number)
        _, arrived = times.next_message()
    assert BACKUP_TIME - 14 * HOUR < arrived < BACKUP_TIME


def test_nights_are_quiet() -> None:
    """Few messages are sent between two and five, and many in the evening."""
    hours = Counter(item.dateSent // HOUR % 24 for item in items(5000))
    assert sum(hours[hour] for hour in (2, 3, 4)) < 50
    assert sum(hours[hour] for hour in (18, 19, 20)) > 900
