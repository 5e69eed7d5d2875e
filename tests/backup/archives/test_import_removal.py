"""Removing an import: the archive says what it would say without it."""

import random
from pathlib import Path

import pytest

from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, imported, later, write
from tests.backup.archives.removals import comparable, number_of, removed


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
