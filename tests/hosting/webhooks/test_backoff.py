"""Backoff between delivery attempts."""

import random
import subprocess
import sys
from itertools import pairwise

import pytest

from holdfast.hosting.webhooks.backoff import retry_delay


def test_eight_tries_take_about_a_day() -> None:
    """Seven delays grow from about ten seconds to hours, and are together about a day."""
    middle = [sum(retry_delay(tries) for _ in range(200)) / 200 for tries in range(1, 8)]
    assert 20 * 3600 < sum(middle) < 28 * 3600
    assert 8 < middle[0] < 12
    assert all(2 < later / earlier < 6 for earlier, later in pairwise(middle))


def test_retries_are_spread_over_time() -> None:
    """Delays after the same number of attempts differ randomly by less than 40 percent."""
    pauses = {retry_delay(3, source=random.Random(seed)) for seed in range(50)}
    assert len(pauses) == 50
    assert max(pauses) / min(pauses) < 1.4


FORKED = """
import os
from holdfast.hosting.webhooks.backoff import retry_delay
child = os.fork()
if child:
    os.waitpid(child, 0)
print(retry_delay(1), flush=True)
"""


def test_processes_that_are_forked_do_not_retry_together() -> None:
    """A process and its child, which has a copy of its memory, have different delays."""
    completed = subprocess.run([sys.executable, "-c", FORKED], check=True, capture_output=True, text=True)
    assert len(set(completed.stdout.split())) == 2


def test_a_pause_never_grows_beyond_a_day() -> None:
    """The delay after a thousand attempts is less than a day."""
    assert retry_delay(1000) < 86_400


@pytest.mark.parametrize(
    ("wish", "least"),
    [
        ("120", 120),
        ("999999", 3600),
        ("9" * 8, 3600),
        ("9" * 9, 0),
        ("9" * 50, 0),
        ("", 0),
        ("soon", 0),
        ("-5", 0),
        ("²", 0),
    ],
)
def test_a_receiver_may_ask_for_more_time(wish: str, least: int) -> None:
    """Retry-After is respected up to an hour, and ignored when it is no number of seconds."""
    assert max(8.5, least) <= retry_delay(1, retry_after=wish) <= max(11.5, least)
