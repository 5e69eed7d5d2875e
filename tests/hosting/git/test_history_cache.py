"""The cache of path histories of a repository."""

from pathlib import Path

from holdfast.hosting.git import history_cache


def test_recent_results_for_a_path_are_cached(tmp_path: Path) -> None:
    """The last four results of a path are kept, and those of other paths are not affected."""
    assert history_cache.load(tmp_path, b"a") == {}
    history_cache.save(tmp_path, b"b", "start", b"other")
    for number in range(10):
        history_cache.save(tmp_path, b"a", f"start {number}", b"%d" % number)
    assert history_cache.load(tmp_path, b"a") == {f"start {number}": b"%d" % number for number in range(6, 10)}
    assert history_cache.load(tmp_path, b"b") == {"start": b"other"}
    history_cache.save(tmp_path, b"b", "start", b"again")
    assert history_cache.load(tmp_path, b"b") == {"start": b"again"}


def test_a_damaged_cache_file_is_rebuilt(tmp_path: Path) -> None:
    """A cache file with invalid content counts as empty and can be written again."""
    history_cache.save(tmp_path, b"a", "start", b"x")
    (tmp_path / history_cache.PLACE).write_bytes(b"nonsense" * 100)
    assert history_cache.load(tmp_path, b"a") == {}
    history_cache.save(tmp_path, b"a", "start", b"x")
    assert history_cache.load(tmp_path, b"a") == {"start": b"x"}


def test_a_cache_that_cannot_be_written_is_ignored(tmp_path: Path) -> None:
    """A result that cannot be written or read is not cached, without an error."""
    (tmp_path / "holdfast").write_bytes(b"")
    history_cache.save(tmp_path, b"a", "start", b"x")
    assert history_cache.load(tmp_path, b"a") == {}
    assert history_cache.load(tmp_path / "nowhere", b"a") == {}
