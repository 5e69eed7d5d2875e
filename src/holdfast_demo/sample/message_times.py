"""Timestamps of messages: in bursts, mostly by day, over four years."""

from holdfast_demo.sample.people import DAY
from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = ["MessageTimes"]

DAYS = 1461
HOUR, MINUTE = 3_600_000, 60_000

# The relative activity of each hour; their sum is the number of slots of a day.
ACTIVITY = (2, 1, 0, 0, 0, 1, 4, 9, 10, 8, 7, 8, 11, 9, 7, 7, 8, 11, 13, 14, 14, 12, 8, 4)
SLOTS = tuple(
    hour * HOUR + HOUR * slot // activity for hour, activity in enumerate(ACTIVITY) for slot in range(activity)
)


class MessageTimes:
    """Generates the times of messages: ascending, and before the time of the backup."""

    def __init__(self, rng: SeededRandom, messages: int, backup_time: int) -> None:
        self._rng = rng
        self._messages = messages
        self._start = backup_time - backup_time % DAY - DAYS * DAY
        self._now = self._start
        # No hour has more than twice the average activity, so a quarter of the average time per message keeps
        # every burst within its slot.
        share = DAYS * DAY // messages
        self._pace = min(25_000, share // 4)
        self._transit = max(1, min(900, share // 16))

    def advance(self, done: int) -> None:
        """Advance to the time at which the message after the first `done` is due."""
        slot = (done + 1) * DAYS * len(SLOTS) // (self._messages + 1)
        due = self._start + slot // len(SLOTS) * DAY + SLOTS[slot % len(SLOTS)] + self._rng.below(MINUTE)
        self._now = max(self._now, due)

    def next_message(self) -> tuple[int, int]:
        """Return the times at which the next message is sent and received."""
        sent = self._now + 1 + self._rng.below(2 * self._pace)
        self._now = arrived = sent + 1 + self._rng.below(self._transit)
        return sent, arrived
