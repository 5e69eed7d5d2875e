"""Comparisons of two commits, compared with `git diff` and `git log`."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from holdfast.hosting.errors import NoSuchObject
from holdfast.hosting.git.compare import compare
from holdfast.hosting.git.repository import open_repository
from tests.examples import examples
from tests.hosting.git.histories import Step, histories, write
from tests.hosting.git.oracle import commit, git


def git_changed_files(folder: Path, *arguments: str) -> list[bytes]:
    """Return the changed files according to `git diff`."""
    return git(folder, "diff", "--name-only", "-z", "--no-renames", *arguments).split(b"\0")[:-1]


@settings(
    max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(steps=histories())
def test_any_two_commits_compare_as_git_compares_them(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    """Two dots compare the commits themselves, and three compare head with the merge base, as in git."""
    folder = tmp_path_factory.mktemp("drawn") / "1.git"
    commit_ids = write(folder, steps)
    repo = open_repository(folder)
    base, head = commit_ids[len(commit_ids) // 2], commit_ids[-1]
    both = compare(repo, base, head, from_merge_base=False)
    assert [change.raw_path for change in both.changes.files] == git_changed_files(folder, base, head)
    assert [commit.id for commit in both.commits] == git(folder, "rev-list", f"{base}..{head}").decode().split()
    since = compare(repo, base, head)
    assert since.ahead == len(since.commits)
    if since.merge_base is not None:
        assert [change.raw_path for change in since.changes.files] == git_changed_files(
            folder, since.merge_base, head
        )
        assert since.merge_base in git(folder, "merge-base", "--all", base, head).decode().split()


def test_both_sides_are_counted(folder: Path) -> None:
    """Ahead counts commits only head has, behind those only base has; line counts are since the merge base."""
    one = commit(folder, {b"a": b"1\n"})
    main = commit(folder, {b"b": b"1\n"})
    commit(folder, {b"c": b"1\n2\n"}, branch="side", parents=[one])
    side = commit(folder, {b"a": b"2\n"}, branch="side")
    repo = open_repository(folder)
    comparison = compare(repo, main, side)
    assert (comparison.merge_base, comparison.ahead, comparison.behind) == (one, 2, 1)
    assert (comparison.changes.paths("added"), comparison.changes.paths("modified")) == (["c"], ["a"])
    assert (comparison.stats.additions, comparison.stats.deletions) == (3, 1)
    assert compare(repo, main, side, from_merge_base=False).changes.paths("removed") == ["b"]
    assert [commit.id for commit in compare(repo, main, side, limit=1).commits] == [side]
    same = compare(repo, main, main)
    assert (same.commits, same.changes.files, same.stats.total) == ([], (), 0)
    with pytest.raises(NoSuchObject):
        compare(repo, "main", side)
