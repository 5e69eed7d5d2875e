"""The last commit of each path, compared with `git rev-list`."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosting.git import history, history_cache, last_commits
from holdfast.hosting.git.history import refresh_commit_graph
from holdfast.hosting.git.last_commits import knows_directory, knows_path, of_directory, of_path
from holdfast.hosting.git.repository import Repo, open_repository
from tests.examples import examples
from tests.hosting.git.histories import Step, histories, write
from tests.hosting.git.oracle import git

DIRECTORIES = [b"", b"dir", b"dir/deep"]


def clear_caches() -> None:
    """Empty the caches in memory, as in a new process."""
    last_commits.directories = last_commits.LastCommitCache(last_commits.KEPT_ENTRIES)
    last_commits.paths = last_commits.LastCommitCache(last_commits.KEPT_PATHS)


def expected(folder: Path, commit: str, directory: bytes) -> dict[bytes, str]:
    """Return the newest commit of each entry of a directory as git computes it."""
    below = [directory + b"/"] if directory else []
    paths = [
        path for path in git(folder, "ls-tree", "-z", "--name-only", commit, "--", *below).split(b"\0") if path
    ]
    return {path: git(folder, "rev-list", "-1", commit, "--", path).decode().strip() for path in paths}


def expected_commits(repo: Repo, commit: str, directory: bytes) -> dict[bytes, str]:
    """Return the newest commit of each entry of a directory as the module computes it."""
    return {path: item.id for path, item in of_directory(repo, commit, directory).items()}


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(histories(), st.booleans(), st.sampled_from([0, 2, 48]), st.booleans())
def test_results_match_git(tmp_path: Path, steps: list[Step], filtered: bool, near: int, backwards: bool) -> None:  # noqa: FBT001  # hypothesis fills it
    """The newest commits of all paths and directories equal those of git, with and without cached results."""
    folder = tmp_path / "drawn.git"
    shutil.rmtree(folder, ignore_errors=True)
    clear_caches()
    ids = write(folder, steps)
    if filtered:
        refresh_commit_graph(folder)
    repo = open_repository(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(last_commits, "NEAR", near)
        patch.setattr(last_commits, "FAR", near)
        patch.setattr(last_commits, "FEW", near // 2)
        for commit in reversed(ids) if backwards else ids:
            for directory in DIRECTORIES:
                other_expected_commits = expected(folder, commit, directory)
                for path, newest in other_expected_commits.items():
                    found_commit = of_path(repo, commit, path)
                    assert found_commit is not None
                    assert found_commit.id == newest
                if directory == b"" or other_expected_commits:
                    assert expected_commits(repo, commit, directory) == other_expected_commits
        clear_caches()
        # What was kept beside the repository is as good.
        for commit in ids[-3:]:
            assert expected_commits(repo, commit, b"") == expected(folder, commit, b"")


@pytest.fixture
def linear(tmp_path: Path) -> tuple[Repo, list[str]]:
    """Make a plain history: ten commits that change one of five files each."""
    clear_caches()
    names = [b"dir/%d" % number for number in range(5)]
    files: list[dict[bytes, bytes | None]] = [dict.fromkeys(names, b"start")]
    files += [{names[number % 4]: b"%d" % number} for number in range(1, 10)]
    steps = [Step((number - 1,) if number else (), number, changed) for number, changed in enumerate(files)]
    ids = write(tmp_path / "linear.git", steps)
    return open_repository(tmp_path / "linear.git"), ids


def test_a_commit_on_top_costs_only_what_it_changed(
    linear: tuple[Repo, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results for later commits are derived from cached ones without another call of git."""
    repo, ids = linear
    assert not knows_directory(repo, ids[5], b"dir")
    expected_commits(repo, ids[5], b"dir")
    assert knows_directory(repo, ids[5], b"dir")
    assert knows_path(repo, ids[5], b"dir/1")
    assert not knows_path(repo, ids[6], b"dir/1")
    of_path(repo, ids[5], b"dir")
    monkeypatch.setattr(last_commits, "log_changes", None)
    monkeypatch.setattr(history, "last_commit", None)
    for commit in ids[6:]:
        assert expected_commits(repo, commit, b"dir") == expected(repo.folder, commit, b"dir")
        found_commit = of_path(repo, commit, b"dir")
        assert found_commit is not None
        assert found_commit.id == commit
    clear_caches()
    assert expected_commits(repo, ids[9], b"dir") == expected(repo.folder, ids[9], b"dir")


def test_a_deleted_or_damaged_cache_is_rebuilt(linear: tuple[Repo, list[str]]) -> None:
    """Results equal those of git after the cache file was deleted, damaged or emptied."""
    repo, ids = linear
    file = repo.folder / history_cache.PLACE
    for spoil in (file.unlink, lambda: file.write_bytes(b"nonsense" * 1000), lambda: file.write_bytes(b"")):
        assert expected_commits(repo, ids[9], b"dir") == expected(repo.folder, ids[9], b"dir")
        history_cache.save(repo.folder, b"dir/", ids[3], b"\xff")
        clear_caches()
        assert expected_commits(repo, ids[4], b"dir") == expected(repo.folder, ids[4], b"dir")
        assert file.exists()
        spoil()
        clear_caches()
    assert expected_commits(repo, ids[9], b"dir") == expected(repo.folder, ids[9], b"dir")


def test_a_path_nobody_touched_has_no_commit(linear: tuple[Repo, list[str]]) -> None:
    """An unknown path has no commit, and an unknown directory or a file has no entries."""
    repo, ids = linear
    assert of_path(repo, ids[9], b"nothing") is None
    assert expected_commits(repo, ids[9], b"nothing") == {}
    assert expected_commits(repo, ids[9], b"dir/1") == {}


def test_the_root_was_touched_by_the_commit_itself(linear: tuple[Repo, list[str]]) -> None:
    """The last commit of the root is the given commit, also after its entries have been cached."""
    repo, ids = linear
    for commit in ids[:2]:
        for _ in range(2):
            found_commit = of_path(repo, commit, b"")
            assert found_commit is not None
            assert found_commit.id == commit
            of_directory(repo, commit, b"")


def test_memory_is_bounded() -> None:
    """The oldest entries are evicted, and a limited number of commits is kept for each path."""
    memory = last_commits.LastCommitCache(10)
    for number in range(20):
        memory.put((Path("a"), b"%d" % number), "start", {b"x": "1"})
    assert memory.get((Path("a"), b"0"), "start") is None
    assert memory.get((Path("a"), b"19"), "start") == {b"x": "1"}
    for number in range(20):
        memory.put((Path("a"), b"19"), f"start {number}", {b"x": "1"})
    assert len(memory.around((Path("a"), b"19"))) == history_cache.KEPT_PER_PATH
