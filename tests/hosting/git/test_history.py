"""Commit histories, compared with `git log`."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosting.errors import GitDamaged, NoSuchObject
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.history import (
    ahead_behind,
    commit_ids,
    commit_range,
    commits,
    count,
    last_commit,
    merge_base,
    new_commits,
    only_on_branch,
    refresh_commit_graph,
)
from holdfast.hosting.git.repository import open_repository
from tests.examples import examples
from tests.hosting.git.histories import NAMES, START, Step, histories, write
from tests.hosting.git.oracle import commit, git, line, loose, unpack, write_object


def git_lines(folder: Path, *arguments: str | bytes) -> list[str]:
    """Return a history according to `git log`."""
    return git(folder, "log", "--format=%H", *arguments).decode().split()


@settings(
    max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    steps=histories(),
    path=st.sampled_from([*NAMES, b"dir", b"none"]),
    cut=st.integers(0, 100),
    graph=st.booleans(),
)
def test_any_history_equals_that_of_git_log(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step], path: bytes, cut: int, *, graph: bool
) -> None:
    """Commits and counts equal those of git: whole, of a path, by time, and without those of another commit."""
    folder = tmp_path_factory.mktemp("drawn") / "1.git"
    created_commit_ids = write(folder, steps)
    if graph:
        refresh_commit_graph(folder)
    repo = open_repository(folder)
    start, other = created_commit_ids[-1], created_commit_ids[len(created_commit_ids) // 2]
    cases = [
        (commit_range(repo, start), git_lines(folder, start)),
        (commit_range(repo, start, path=path), git_lines(folder, start, "--", path)),
        (commit_range(repo, start, since=START + cut), git_lines(folder, f"--since={START + cut}", start)),
        (commit_range(repo, start, until=START + cut), git_lines(folder, f"--until={START + cut}", start)),
        (commit_range(repo, start, exclude=[other]), git_lines(folder, start, f"^{other}")),
        (commit_range(repo, start, path=path, exclude=[other]), git_lines(folder, start, f"^{other}", "--", path)),
    ]
    for wanted, expected in cases:
        assert commit_ids(repo, wanted) == tuple(expected)
        assert count(repo, wanted) == len(expected)
        assert commit_ids(repo, wanted, skip=1, limit=2) == tuple(expected[1:3])
    for begin in (other, start):
        new = tuple(git_lines(folder, start, f"^{begin}"))
        assert (new_commits(repo, begin, start, limit=99), new_commits(repo, begin, start, limit=1)) == (
            new,
            new[:1],
        )
    touched = git_lines(folder, "-1", start, "--", path)
    assert last_commit(repo, start, path) == (touched[0] if touched else None)
    left, right = line(folder, "rev-list", "--left-right", "--count", f"{start}...{other}").split()
    assert ahead_behind(repo, start, other) == (int(left), int(right))


def test_commits_are_returned_with_all_fields(folder: Path) -> None:
    """Commits are returned newest first, with an offset and a limit."""
    created_commit_ids = [commit(folder, {b"a": b"%d" % number}, when=START + number) for number in range(5)]
    repo = open_repository(folder)
    wanted = commit_range(repo, created_commit_ids[-1])
    expected = [read_commit(repo, at) for at in reversed(created_commit_ids)]
    assert commits(repo, wanted) == expected
    assert commits(repo, wanted, skip=1, limit=3) == expected[1:4]
    for skip in (99, 2**31, 2**32, 2**62):
        assert commits(repo, wanted, skip=skip, limit=3) == []
    assert commits(repo, wanted, limit=0) == []


@pytest.mark.parametrize("wrong", ["main", "--all", "0" * 40, "", "HEAD~1", "-1"])
def test_an_unknown_commit_has_no_history(folder: Path, wrong: str) -> None:
    """A branch, an option or an unknown id in place of a commit id raises `NoSuchObject`."""
    commit_id = commit(folder, {b"a": b"1"})
    repo = open_repository(folder)
    for ask in (
        lambda: commit_range(repo, wrong),
        lambda: commit_range(repo, commit_id, exclude=[wrong]),
        lambda: ahead_behind(repo, commit_id, wrong),
        lambda: merge_base(repo, wrong, commit_id),
    ):
        with pytest.raises(NoSuchObject):
            ask()


@pytest.mark.parametrize(
    "path",
    [
        b":(glob)*",
        b"*",
        b"--all",
        b"a\0b",
        b"x" * 10_000,
        b"..",
        b"a/../a",
        b"a//b",
        b"./a",
        b":/",
        b"-",
        "\ud800",
    ],
)
def test_a_path_is_not_parsed_as_a_pattern_or_an_option(folder: Path, path: bytes | str) -> None:
    """A path that looks like a pathspec or an option, or is invalid, has no commits."""
    commit_id = commit(folder, {b"a": b"1"})
    repo = open_repository(folder)
    assert commit_ids(repo, commit_range(repo, commit_id, path=path)) == ()
    assert count(repo, commit_range(repo, commit_id, path=path)) == 0


def test_slashes_around_a_path_do_not_matter(folder: Path) -> None:
    """A path has the same history with a slash before or after it, and the root has all commits."""
    commit_id = commit(folder, {b"d/a": b"1"})
    repo = open_repository(folder)
    for path in ("d", "d/", "/d", "", "/"):
        assert commit_ids(repo, commit_range(repo, commit_id, path=path)) == (commit_id,)


def test_histories_may_have_nothing_in_common(folder: Path) -> None:
    """Two branches have the commit they forked from as merge base, and unrelated histories have none."""
    one = commit(folder, {b"a": b"1"})
    two = commit(folder, {b"a": b"2"})
    side = commit(folder, {b"b": b"2"}, branch="side", parents=[one])
    alone = commit(folder, {b"c": b"1"}, branch="alone", parents=[])
    repo = open_repository(folder)
    assert merge_base(repo, two, side) == one
    assert merge_base(repo, two, alone) is None
    assert ahead_behind(repo, two, alone) == (2, 1)


def test_a_missing_parent_raises_an_error(folder: Path) -> None:
    """A history with a missing parent raises an error and does not end before that commit."""
    one = commit(folder, {b"a": b"1"})
    commit(folder, {b"a": b"2"})
    three = commit(folder, {b"a": b"3"})
    unpack(folder)
    loose(folder, one).unlink()
    repo = open_repository(folder)
    with pytest.raises(GitDamaged):
        commit_ids(repo, commit_range(repo, three))
    with pytest.raises(GitDamaged):
        count(repo, commit_range(repo, three))


def test_the_graph_has_filters_even_after_one_without(folder: Path) -> None:
    """A refresh writes Bloom filters even if an earlier graph, as of `git gc`, has none."""
    commit(folder, {b"a": b"1"})
    git(folder, "commit-graph", "write", "--reachable")
    for _ in range(2):
        refresh_commit_graph(folder)
        commit(folder, {b"a": b"2"})
    graphs = list((folder / "objects" / "info" / "commit-graphs").glob("*.graph"))
    assert graphs
    assert all(b"BDAT" in graph.read_bytes()[:200] for graph in graphs)
    git(folder, "commit-graph", "verify")


def test_an_empty_repository_has_a_graph_of_nothing(folder: Path) -> None:
    """The commit graph of an empty repository can be refreshed without an error."""
    refresh_commit_graph(folder)


def test_a_commit_whose_clock_is_wrong_is_listed(folder: Path) -> None:
    """Commits dated 1970 or 9999 are listed in the order of `git log`."""
    tree = write_object(folder, "tree", b"")
    parent = commit_id = ""
    for when in (0, 253_402_300_799, 5):
        who = f"A <a> {when} +0000"
        content = f"tree {tree}\n{parent}author {who}\ncommitter {who}\n\nx\n"
        commit_id = write_object(folder, "commit", content.encode())
        parent = f"parent {commit_id}\n"
    repo = open_repository(folder)
    assert commit_ids(repo, commit_range(repo, commit_id)) == tuple(git_lines(folder, commit_id))


def test_commits_of_one_branch_only_are_listed(folder: Path) -> None:
    """Commits of no other branch are listed newest first; `main-2` is not taken for a part of `main`."""
    first = commit(folder, {b"a": b"1"}, when=START)
    second = commit(folder, {b"a": b"2"}, when=START + 2)
    third = commit(folder, {b"a": b"3"}, when=START + 3)
    git(folder, "update-ref", "refs/heads/fix", first)
    repo = open_repository(folder)
    assert only_on_branch(repo, "main", third, limit=10) == (third, second)
    assert only_on_branch(repo, "main", third, limit=1) == (third,)
    git(folder, "update-ref", "refs/heads/main-2", second)
    assert only_on_branch(repo, "main", third, limit=10) == (third,)
    assert only_on_branch(repo, "fix", first, limit=10) == ()
    git(folder, "update-ref", "-d", "refs/heads/main")
    assert only_on_branch(repo, "main", third, limit=10) == (third,)
    with pytest.raises(NoSuchObject):
        only_on_branch(repo, "main", "0" * 40, limit=1)
