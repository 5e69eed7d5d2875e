"""The cache of line counts of a repository."""

from pathlib import Path

import pytest

from holdfast.hosting.git import stats_cache


def test_the_counts_of_two_trees_are_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts are kept for each ordered pair of trees, and the oldest are removed above the limit."""
    assert stats_cache.load(tmp_path, [("a", "b")]) == {}
    stats_cache.save(tmp_path, {("a", "b"): (1, 2, 3), ("b", "a"): (2, 1, 3)})
    assert stats_cache.load(tmp_path, [("a", "b"), ("a", "c")]) == {("a", "b"): (1, 2, 3)}
    monkeypatch.setattr(stats_cache, "KEPT", 2)
    stats_cache.save(tmp_path, {("c", "d"): (4, 5, 6)})
    every = [("a", "b"), ("b", "a"), ("c", "d")]
    assert stats_cache.load(tmp_path, every) == {("b", "a"): (2, 1, 3), ("c", "d"): (4, 5, 6)}


def test_a_damaged_cache_file_is_rebuilt(tmp_path: Path) -> None:
    """A cache file with invalid content counts as empty and can be written again."""
    stats_cache.save(tmp_path, {("a", "b"): (1, 2, 3)})
    (tmp_path / stats_cache.PLACE).write_bytes(b"nonsense" * 100)
    assert stats_cache.load(tmp_path, [("a", "b")]) == {}
    stats_cache.save(tmp_path, {("a", "b"): (1, 2, 3)})
    assert stats_cache.load(tmp_path, [("a", "b")]) == {("a", "b"): (1, 2, 3)}


def test_a_cache_that_cannot_be_written_is_ignored(tmp_path: Path) -> None:
    """Counts are not cached, without an error, if a file is in the place of the cache folder."""
    (tmp_path / "holdfast").write_bytes(b"")
    stats_cache.save(tmp_path, {("a", "b"): (1, 2, 3)})
    assert stats_cache.load(tmp_path, [("a", "b")]) == {}
