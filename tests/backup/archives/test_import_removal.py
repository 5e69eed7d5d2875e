"""Removing an import: the archive equals one without that import."""

import random
from pathlib import Path

import pytest

from holdfast.backup.archives.import_removal import IdMap
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, imported, later, write
from tests.backup.archives.removals import comparable, number_of, query, removed


@pytest.mark.parametrize("seed", range(4))
def test_an_import_in_the_middle_leaves_nothing_behind(tmp_path: Path, seed: int) -> None:
    """The archive says what one says that the backup was never imported into, in whatever order they came."""
    dice = random.Random(seed)
    sources = [later(tmp_path / f"{day}", dice, days=day, half_known=seed > 1) for day in (0, 1, 2)]
    order = dice.sample(sources, 3)
    imported(tmp_path / "all.db", *order)
    imported(tmp_path / "without.db", *(one for one in order if one != sources[1]))
    header, _frames = copies()
    done = removed(tmp_path / "all.db", snapshot=number_of(tmp_path / "all.db", header.backupTimeMs + 86_400_000))
    assert done.imports == 1
    assert comparable(tmp_path / "all.db") == comparable(tmp_path / "without.db")


@pytest.mark.parametrize("day", [0, 1])
def test_of_two_imports_either_can_be_removed(tmp_path: Path, day: int) -> None:
    """The records that were read from it stay where the other has them, and are read with the other's ids."""
    dice = random.Random(5)
    sources = [later(tmp_path / f"{number}", dice, days=number) for number in (0, 1)]
    imported(tmp_path / "both.db", *sources)
    imported(tmp_path / "one.db", sources[1 - day])
    header, _frames = copies()
    removed(tmp_path / "both.db", snapshot=number_of(tmp_path / "both.db", header.backupTimeMs + day * 86_400_000))
    assert comparable(tmp_path / "both.db") == comparable(tmp_path / "one.db")


def test_the_only_import_leaves_an_empty_archive(tmp_path: Path) -> None:
    """It can be imported again, and gives the same."""
    one, place = write(tmp_path / "one", *copies()), tmp_path / "a.db"
    imported(place, one)
    before = dump(place)
    assert removed(place, snapshot=1).messages == 60
    assert dump(place) == []
    imported(place, one)
    assert dump(place) == before


def test_the_only_import_takes_what_is_known_of_duplicates_along(tmp_path: Path) -> None:
    """Nothing of the account is left."""
    place = tmp_path / "a.db"
    imported(place, later(tmp_path / "one", random.Random(2), days=0, twins=True))
    assert query(place, "SELECT count(*) > 0 FROM twin") == [(1,)]
    removed(place, snapshot=1)
    assert dump(place) == []


def test_an_account_is_known_by_what_the_imports_that_are_left_say(tmp_path: Path) -> None:
    """Its key of the removed one is forgotten."""
    header, frames = copies()
    account = next(frame.account for frame in frames if frame.HasField("account"))
    one = write(tmp_path / "one", header, frames)
    header.backupTimeMs += 86_400_000
    account.profileKey = b"k" * 32
    two = write(tmp_path / "two", header, frames)
    imported(tmp_path / "both.db", one, two)
    imported(tmp_path / "one.db", one)
    removed(tmp_path / "both.db", snapshot=number_of(tmp_path / "both.db", header.backupTimeMs))
    assert comparable(tmp_path / "both.db") == comparable(tmp_path / "one.db")


def test_calls_of_a_link_that_only_the_removed_import_had_are_gone(tmp_path: Path) -> None:
    """The others have been made by a link that is still there."""
    header, frames = copies()
    links = {frame.recipient.id for frame in frames if frame.recipient.HasField("callLink")}
    one = write(tmp_path / "one", header, frames)
    header.backupTimeMs += 86_400_000
    without = [
        frame
        for frame in frames
        if frame.recipient.id not in links
        and frame.adHocCall.recipientId not in links
        and frame.chat.recipientId not in links
    ]
    imported(tmp_path / "both.db", one, write(tmp_path / "two", header, without))
    assert query(tmp_path / "both.db", "SELECT count(*) > 0 FROM ad_hoc_call") == [(1,)]
    removed(tmp_path / "both.db", snapshot=1)
    assert query(tmp_path / "both.db", "SELECT * FROM ad_hoc_call") == []
    dump(tmp_path / "both.db")


def test_an_id_that_names_nobody_leads_to_nobody() -> None:
    """And is not remembered."""
    ids = IdMap({1: 2})
    assert (ids[1], ids[5], len(ids)) == (2, 0, 1)
