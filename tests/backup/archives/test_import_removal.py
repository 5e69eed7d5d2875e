"""Removing an import: the archive equals one without that import."""

import random
from pathlib import Path

import pytest

from holdfast.backup.archives.import_removal import IdMap
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, import_backups, write, write_later
from tests.backup.archives.removals import comparable_rows, import_id, query, remove_content


@pytest.mark.parametrize("seed", range(4))
def test_an_import_in_the_middle_leaves_nothing_behind(tmp_path: Path, seed: int) -> None:
    """The archive equals one that the backup was never imported into, in any order of imports."""
    rng = random.Random(seed)
    sources = [write_later(tmp_path / f"{day}", rng, days=day, half_known=seed > 1) for day in (0, 1, 2)]
    order = rng.sample(sources, 3)
    import_backups(tmp_path / "all.db", *order)
    import_backups(tmp_path / "without.db", *(source for source in order if source != sources[1]))
    header, _frames = copies()
    snapshot = import_id(tmp_path / "all.db", header.backupTimeMs + 86_400_000)
    removal = remove_content(tmp_path / "all.db", snapshot=snapshot)
    assert removal.imports == 1
    assert comparable_rows(tmp_path / "all.db") == comparable_rows(tmp_path / "without.db")


@pytest.mark.parametrize("day", [0, 1])
def test_of_two_imports_either_can_be_removed(tmp_path: Path, day: int) -> None:
    """The archive equals one with the other import alone, whichever of the two is removed."""
    rng = random.Random(5)
    sources = [write_later(tmp_path / f"{number}", rng, days=number) for number in (0, 1)]
    import_backups(tmp_path / "both.db", *sources)
    import_backups(tmp_path / "one.db", sources[1 - day])
    header, _frames = copies()
    snapshot = import_id(tmp_path / "both.db", header.backupTimeMs + day * 86_400_000)
    remove_content(tmp_path / "both.db", snapshot=snapshot)
    assert comparable_rows(tmp_path / "both.db") == comparable_rows(tmp_path / "one.db")


def test_the_only_import_leaves_an_empty_archive(tmp_path: Path) -> None:
    """The archive is empty after the removal, and importing the backup again gives the same archive."""
    source, path = write(tmp_path / "one", *copies()), tmp_path / "a.db"
    import_backups(path, source)
    before = dump(path)
    assert remove_content(path, snapshot=1).messages == 60
    assert dump(path) == []
    import_backups(path, source)
    assert dump(path) == before


def test_the_only_import_takes_what_is_known_of_duplicates_along(tmp_path: Path) -> None:
    """Removing the only import also removes the rows about duplicate messages."""
    path = tmp_path / "a.db"
    import_backups(path, write_later(tmp_path / "one", random.Random(2), days=0, duplicates=True))
    assert query(path, "SELECT count(*) > 0 FROM twin") == [(1,)]
    remove_content(path, snapshot=1)
    assert dump(path) == []


def test_an_account_is_known_by_what_the_imports_that_are_left_say(tmp_path: Path) -> None:
    """A profile key that only the removed import has is removed with it."""
    header, frames = copies()
    account = next(frame.account for frame in frames if frame.HasField("account"))
    source = write(tmp_path / "one", header, frames)
    header.backupTimeMs += 86_400_000
    account.profileKey = b"k" * 32
    two = write(tmp_path / "two", header, frames)
    import_backups(tmp_path / "both.db", source, two)
    import_backups(tmp_path / "one.db", source)
    remove_content(tmp_path / "both.db", snapshot=import_id(tmp_path / "both.db", header.backupTimeMs))
    assert comparable_rows(tmp_path / "both.db") == comparable_rows(tmp_path / "one.db")


def test_calls_of_a_link_that_only_the_removed_import_had_are_gone(tmp_path: Path) -> None:
    """Ad hoc calls are removed with the import that has their call link."""
    header, frames = copies()
    links = {frame.recipient.id for frame in frames if frame.recipient.HasField("callLink")}
    source = write(tmp_path / "one", header, frames)
    header.backupTimeMs += 86_400_000
    without = [
        frame
        for frame in frames
        if frame.recipient.id not in links
        and frame.adHocCall.recipientId not in links
        and frame.chat.recipientId not in links
    ]
    import_backups(tmp_path / "both.db", source, write(tmp_path / "two", header, without))
    assert query(tmp_path / "both.db", "SELECT count(*) > 0 FROM ad_hoc_call") == [(1,)]
    remove_content(tmp_path / "both.db", snapshot=1)
    assert query(tmp_path / "both.db", "SELECT * FROM ad_hoc_call") == []
    dump(tmp_path / "both.db")


def test_an_id_that_names_nobody_leads_to_nobody() -> None:
    """An unknown id is read as 0 and is not added to the mapping."""
    ids = IdMap({1: 2})
    assert (ids[1], ids[5], len(ids)) == (2, 0, 1)
