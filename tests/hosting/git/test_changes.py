"""Changed files between two trees, compared with `git diff`."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from holdfast.hosting.errors import GitDamaged
from holdfast.hosting.git import changes, history_cache, stats_cache
from holdfast.hosting.git.changes import (
    changed_files,
    changes_between,
    diff_text,
    patch_text,
    stats,
    stats_between,
    stats_of,
)
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.repository import open_repository
from tests.examples import examples
from tests.hosting.git.histories import Step, histories, write
from tests.hosting.git.oracle import commit, git, line, loose, new_repository, unpack, write_object

STATUS = {b"A": "added", b"D": "removed", b"M": "modified", b"T": "modified"}


def git_diff(folder: Path, old: str, new: str) -> list[tuple[bytes, str]]:
    """Return the changed files and their states according to `git diff-tree`."""
    parts = git(folder, "diff-tree", "-r", "-z", "--name-status", "--no-renames", old, new).split(b"\0")[:-1]
    return [(path, STATUS[status]) for status, path in zip(parts[::2], parts[1::2], strict=True)]


def git_numstat(folder: Path, old: str, new: str) -> tuple[int, int]:
    """Return the numbers of added and deleted lines according to `git diff-tree --numstat`."""
    rows = git(folder, "diff-tree", "-r", "--numstat", "--no-renames", old, new).splitlines()
    pairs = [row.split(b"\t")[:2] for row in rows if not row.startswith(b"-")]
    return sum(int(pair[0]) for pair in pairs), sum(int(pair[1]) for pair in pairs)


@settings(
    max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(steps=histories())
def test_changed_files_equal_those_of_git_diff(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    """Files and line counts against the first parent equal those of git, for root and merge commits too."""
    folder = tmp_path_factory.mktemp("drawn") / "1.git"
    ids = write(folder, steps)
    repo = open_repository(folder)
    for created_commit_id in ids:
        found_commit = read_commit(repo, created_commit_id)
        before = found_commit.parents[0] if found_commit.parents else changes.EMPTY_TREE
        expected = git_diff(folder, before, created_commit_id)
        assert [(change.raw_path, change.status) for change in changed_files(repo, found_commit).files] == expected
        numbers = stats(repo, found_commit)
        assert (numbers.additions, numbers.deletions) == git_numstat(folder, before, created_commit_id)
        assert numbers.changed_files == len(expected)
        cut = changed_files(repo, found_commit, most=2)
        assert [(change.raw_path, change.status) for change in cut.files] == expected[:2]
        assert cut.truncated == (len(expected) > 2)
    assert stats_of(repo, [read_commit(repo, commit_id) for commit_id in ids]) == {
        commit_id: stats(repo, read_commit(repo, commit_id)) for commit_id in ids
    }


def test_a_file_that_replaces_a_directory_adds_one_and_deletes_all(folder: Path) -> None:
    """A file may replace a directory or a directory a file, as in `git diff`; a new mode is a change."""
    one = commit(folder, {b"x/a": b"1", b"x/b/c": b"1", b"y": b"1", b"z": b"1", b"l": b"1"})
    modes = {b"z": b"100755", b"l": b"120000"}
    new = {b"x/a": None, b"x/b/c": None, b"x": b"1", b"y": None, b"y/d": b"1", b"z": b"1", b"l": b"1"}
    two = commit(folder, new, modes=modes)
    repo = open_repository(folder)
    tree_changes = changed_files(repo, read_commit(repo, two))
    assert [(change.raw_path, change.status) for change in tree_changes.files] == git_diff(folder, one, two)
    assert tree_changes.paths("removed") == ["x/a", "x/b/c", "y"]
    mode = next(change for change in tree_changes.files if change.raw_path == b"z")
    assert (mode.old_mode, mode.new_mode) == (0o100644, 0o100755)


def test_binary_files_have_no_lines(folder: Path) -> None:
    """A binary file counts as a changed file and adds no lines."""
    commit_id = commit(folder, {b"bin": b"\0\1\2", b"text": b"1\n2\n"})
    repo = open_repository(folder)
    numbers = stats(repo, read_commit(repo, commit_id))
    assert (numbers.additions, numbers.deletions, numbers.total) == (2, 0, 2)
    assert numbers.changed_files == 2


def test_trees_that_hold_themselves_many_times_over_are_cut(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison stops at the limit of entries even if the nested trees contain no file."""
    monkeypatch.setattr(changes, "MOST_ENTRIES", 1000)
    at = write_object(folder, "tree", b"")
    for _ in range(10):
        rows = (b"40000 %d\0%s" % (number, bytes.fromhex(at)) for number in range(10))
        at = write_object(folder, "tree", b"".join(rows))
    tree_changes = changes_between(open_repository(folder), None, at)
    assert (tree_changes.files, tree_changes.truncated) == ((), True)


def test_the_patch_can_be_applied(folder: Path, tmp_path: Path) -> None:
    """`git apply` of the diff and `git am` of the patch give the tree of the commit."""
    one = commit(folder, {b"a": b"1\n2\n", b"sp ace": b"x\n"})
    two = commit(folder, {b"a": b"1\n3\n", b"new": b"n\n", b"sp ace": None}, message=b"change it\n\nwhy\n")
    repo = open_repository(folder)
    found_commit = read_commit(repo, two)
    diff = b"".join(diff_text(repo, read_commit(repo, one).tree, found_commit.tree))
    patch = b"".join(patch_text(repo, found_commit))
    assert diff == git(folder, "diff", "-M", one, two)
    assert b"Subject: [PATCH] change it" in patch
    for number, (command, text) in enumerate([(("apply", "--index"), diff), (("am", "-q"), patch)]):
        clone = tmp_path / str(number)
        git(folder, "clone", "-q", str(folder), str(clone))
        git(clone / ".git", "-C", str(clone), "--work-tree", str(clone), "reset", "-q", "--hard", one)
        git(clone / ".git", "-C", str(clone), "--work-tree", str(clone), *command, input=text)
        assert line(clone / ".git", "-C", str(clone), "write-tree") == found_commit.tree


def test_root_and_merge_commits_have_patches(folder: Path) -> None:
    """The patch of a root adds all its files, and that of a merge shows what differs from its first parent."""
    one = commit(folder, {b"a": b"1\n"})
    two = commit(folder, {b"b": b"2\n"}, branch="other", parents=[])
    three = commit(folder, {b"b": b"2\n"}, parents=[one, two])
    repo = open_repository(folder)
    assert b"+1\n" in b"".join(patch_text(repo, read_commit(repo, one)))
    merged = b"".join(patch_text(repo, read_commit(repo, three)))
    assert b"+2\n" in merged
    assert b"+1\n" not in merged
    assert b"+1\n" in b"".join(diff_text(repo, None, read_commit(repo, one).tree))


def test_a_damaged_object_raises_an_error(tmp_path: Path) -> None:
    """A missing blob fails only the line counts; a damaged tree fails the list of changes as well."""
    folder = new_repository(tmp_path / "1.git")
    one = commit(folder, {b"a": b"1\n", b"d/x": b"1"})
    two = commit(folder, {b"a": b"2\n", b"d/x": b"2"})
    unpack(folder)
    loose(folder, line(folder, "rev-parse", "main:a")).unlink()
    repo = open_repository(folder)
    old, new = (read_commit(repo, commit_id).tree for commit_id in (one, two))
    assert len(changes_between(repo, old, new).files) == 2
    with pytest.raises(GitDamaged):
        stats_between(repo, old, new)
    loose(folder, line(folder, "rev-parse", "main:d")).write_bytes(b"")
    with pytest.raises(GitDamaged):
        changes_between(repo, old, new)


def test_line_counts_are_cached(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each diff is counted once for any set of commits; memory keeps a limited number, a file the rest."""
    ids = [commit(folder, {b"a": b"%d\n" % number}) for number in range(4)]
    repo = open_repository(folder)
    commits = [read_commit(repo, commit_id) for commit_id in ids]
    asked: list[int] = []
    count = changes.count_lines

    def counting(where: Path, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], changes.DiffStats]:
        asked.append(len(pairs))
        return count(where, pairs)

    monkeypatch.setattr(changes, "count_lines", counting)
    monkeypatch.setattr(changes, "kept", changes.DiffStatsCache(3))
    stats_of(repo, commits[:2])
    stats_of(repo, commits[:3])
    assert [stats(repo, commit_id).total for commit_id in commits[:3]] == [1, 2, 2]
    assert asked == [2, 1]
    stats(repo, commits[3])
    # Memory has lost it, and the file beside the repository has not; another process finds it there too.
    assert stats(repo, commits[0]).total == 1
    monkeypatch.setattr(changes, "kept", changes.DiffStatsCache(3))
    assert stats(repo, commits[3]).total == 2
    assert asked == [2, 1, 1]
    history_cache.forget(folder / stats_cache.PLACE)
    stats(repo, commits[2])
    assert asked == [2, 1, 1, 1]


def test_concurrent_requests_count_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads that request the counts of a commit cause one count, since a large one takes seconds."""
    made = commit(folder, {b"a": b"1\n"})
    asked: list[int] = []
    count = changes.count_lines
    both = threading.Barrier(2)

    def counting(where: Path, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], changes.DiffStats]:
        asked.append(len(pairs))
        return count(where, pairs)

    def ask() -> int:
        repo = open_repository(folder)
        both.wait(60)
        return stats(repo, read_commit(repo, made)).total

    monkeypatch.setattr(changes, "count_lines", counting)
    monkeypatch.setattr(changes, "kept", changes.DiffStatsCache(3))
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda _: ask(), range(2))) == [1, 1]
    assert asked == [1]
