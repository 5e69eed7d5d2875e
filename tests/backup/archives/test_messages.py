"""Messages of several backups, each stored once."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.backup import archives
from holdfast.backup.schema import Frame
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, import_backups, items, write, write_later
from tests.examples import examples


def test_messages_of_one_moment_are_all_kept(tmp_path: Path) -> None:
    """Messages of one author in one millisecond are all kept, even with the same text."""
    header, frames = copies()
    original = next(item for item in items(frames) if item.standardMessage.text.body)
    duplicates = []
    for text in ("first", "second", "second"):
        frame = Frame()
        frame.chatItem.CopyFrom(original)
        frame.chatItem.standardMessage.text.body = text
        duplicates.append(frame)
    path = write(tmp_path / "one", header, [*frames, *duplicates])
    header.backupTimeMs += 1
    repeated = write(tmp_path / "two", header, [*frames, *duplicates])
    first, second = import_backups(tmp_path / "a.db", path, repeated)
    assert first.new == 63
    assert (second.new, second.changed, second.vanished) == (0, 0, 0)
    with archives.open(tmp_path / "a.db") as opened:
        rows = opened.connection.execute(
            "SELECT text FROM message WHERE text IN ('first', 'second') ORDER BY order_n"
        )
        assert [text for (text,) in rows] == ["first", "second", "second"]


def test_thousands_of_one_moment_stay_apart(tmp_path: Path) -> None:
    """3,000 messages without a time, as a broken export writes them, are all kept and recognised again."""
    header, frames = copies()
    original = next(item for item in items(frames) if item.standardMessage.text.body)
    duplicates = []
    for number in range(3000):
        frame = Frame()
        frame.chatItem.CopyFrom(original)
        frame.chatItem.dateSent = 0
        frame.chatItem.standardMessage.text.body = f"twin {number}"
        duplicates.append(frame)
    path = write(tmp_path / "one", header, [*frames, *duplicates])
    header.backupTimeMs += 1
    repeated = write(tmp_path / "two", header, [*frames, *duplicates])
    first, second = import_backups(tmp_path / "a.db", path, repeated)
    assert (first.new, second.new, second.changed, second.vanished) == (3060, 0, 0, 0)


@settings(max_examples=examples(6), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False), st.integers(2, 3))
def test_messages_of_one_moment_are_the_same_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, dice: random.Random, count: int
) -> None:
    """Backups with some or all messages of one millisecond give the same archive in any order of imports."""
    folder = tmp_path_factory.mktemp("twins")
    sources = [
        write_later(
            folder / f"{number}",
            dice,
            days=dice.randrange(3),
            messages=20,
            duplicates=True,
            half_known=dice.random() < 0.5,
        )
        for number in range(count)
    ]
    import_backups(folder / "a.db", *sources)
    mixed = [*sources, dice.choice(sources)]
    dice.shuffle(mixed)
    import_backups(folder / "b.db", *mixed)
    assert dump(folder / "a.db") == dump(folder / "b.db")
