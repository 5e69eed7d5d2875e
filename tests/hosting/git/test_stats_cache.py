"""Line counts kept beside a repository."""

from pathlib import Path

import pytest

from holdfast.hosting.git import stats_cache


def test_the_counts_of_two_trees_are_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest go beyond the limit."""
    assert stats_cache.load(tmp_path, [("a", "b")]) == {}
    stats_cache.save(tmp_path, {("a", "b"): (1, 2, 3), ("b", "a"): (2, 1, 3)})
    assert stats_cache.load(tmp_path, [("a", "b"), ("a", "c")]) == {("a", "b"): (1, 2, 3)}
    monkeypatch.setattr(stats_cache, "KEPT", 2)
    stats_cache.save(tmp_path, {("c", "d"): (4, 5, 6)})
    every = [("a", "b"), ("b", "a"), ("c", "d")]
    assert stats_cache.load(tmp_path, every) == {("b", "a"): (2, 1, 3), ("c", "d"): (4, 5, 6)}


def test_a_damaged_cache_file_is_rebuilt(tmp_path: Path) -> None:
    """Nobody has to look after it."""
    stats_cache.save(tmp_path, {("a", "b"): (1, 2, 3)})
    (tmp_path / stats_cache.PLACE).write_bytes(b"nonsense" * 100)
    assert stats_cache.load(tmp_path, [("a", "b")]) == {}
    stats_cache.save(tmp_path, {("a", "b"): (1, 2, 3)})
    assert stats_cache.load(tmp_path, [("a", "b")]) == {("a", "b"): (1, 2, 3)}


def test_a_cache_that_cannot_be_written_is_ignored(tmp_path: Path) -> None:
    """A file where the folder should be is no trouble."""
    (tmp_path / "holdfast").write_bytes(b"")
    stats_cache.save(tmp_path, {("a", "b"): (1, 2, 3)})
    assert stats_cache.load(tmp_path, [("a", "b")]) == {}
