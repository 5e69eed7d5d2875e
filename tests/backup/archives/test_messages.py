"""Messages of several backups, each stored once."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.backup import archives
from holdfast.backup.schema import Frame
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, imported, items, later, write
from tests.examples import examples


def test_messages_of_one_moment_are_all_kept(tmp_path: Path) -> None:
    """The same author twice in one millisecond, even with the same words."""
    header, frames = copies()
    one = next(item for item in items(frames) if item.standardMessage.text.body)
    twins = []
    for text in ("first", "second", "second"):
        frame = Frame()
        frame.chatItem.CopyFrom(one)
        frame.chatItem.standardMessage.text.body = text
        twins.append(frame)
    path = write(tmp_path / "one", header, [*frames, *twins])
    header.backupTimeMs += 1
    again = write(tmp_path / "two", header, [*frames, *twins])
    first, second = imported(tmp_path / "a.db", path, again)
    assert first.new == 63
    assert (second.new, second.changed, second.vanished) == (0, 0, 0)
    with archives.open(tmp_path / "a.db") as opened:
        rows = opened.connection.execute(
            "SELECT text FROM message WHERE text IN ('first', 'second') ORDER BY order_n"
        )
        assert [text for (text,) in rows] == ["first", "second", "second"]


def test_thousands_of_one_moment_stay_apart(tmp_path: Path) -> None:
    """As a broken export writes them: all without a time."""
    header, frames = copies()
    one = next(item for item in items(frames) if item.standardMessage.text.body)
    twins = []
    for number in range(3000):
        frame = Frame()
        frame.chatItem.CopyFrom(one)
        frame.chatItem.dateSent = 0
        frame.chatItem.standardMessage.text.body = f"twin {number}"
        twins.append(frame)
    path = write(tmp_path / "one", header, [*frames, *twins])
    header.backupTimeMs += 1
    again = write(tmp_path / "two", header, [*frames, *twins])
    first, second = imported(tmp_path / "a.db", path, again)
    assert (first.new, second.new, second.changed, second.vanished) == (3060, 0, 0, 0)


@settings(max_examples=examples(6), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False), st.integers(2, 3))
def test_messages_of_one_moment_are_the_same_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, dice: random.Random, count: int
) -> None:
    """Some files have one of them, some have several, in one order or another."""
    home = tmp_path_factory.mktemp("twins")
    sources = [
        later(
            home / f"{number}",
            dice,
            days=dice.randrange(3),
            messages=20,
            twins=True,
            half_known=dice.random() < 0.5,
        )
        for number in range(count)
    ]
    imported(home / "a.db", *sources)
    mixed = [*sources, dice.choice(sources)]
    dice.shuffle(mixed)
    imported(home / "b.db", *mixed)
    assert dump(home / "a.db") == dump(home / "b.db")
