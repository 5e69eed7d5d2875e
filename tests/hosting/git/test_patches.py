"""Patches between two trees, compared with `git diff`."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosting.errors import GitError
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.patches import DiffLine, Hunk, diff_trees, hunks_between, hunks_of
from holdfast.hosting.git.program import environment
from holdfast.hosting.git.repository import open_repository
from tests.hosting.git.oracle import commit, new_repository

texts = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"+ a\n", b"@@\n", b"\xff\n", b"no end"]), max_size=12)


def written(hunks: list[Hunk]) -> list[str]:
    """Return the lines of hunks with their signs, as in `git diff`."""
    return [f"{line.sign}{line.text}" for hunk in hunks for line in hunk.lines if line.sign != "\\"]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(old=texts, new=texts)
def test_lines_equal_those_of_git_diff(tmp_path: Path, old: list[bytes], new: list[bytes]) -> None:
    """The lines of a diff have the order and the signs of `git diff --text` for any content."""
    (tmp_path / "old").write_bytes(b"".join(old))
    (tmp_path / "new").write_bytes(b"".join(new))
    command = ["git", "diff", "--no-index", "--text", str(tmp_path / "old"), str(tmp_path / "new")]
    response = subprocess.run(command, env=environment(), capture_output=True, check=False).stdout
    told = response.decode(errors="replace").split("\n")[:-1]
    body = [line for line in told[4:] if not line.startswith(("@@ ", "\\"))]
    hunks, more = hunks_between(b"".join(old), b"".join(new), most=1000)
    assert not more
    assert written(hunks) == body


def test_numbers_are_those_of_both_sides() -> None:
    """Lines are numbered on both sides, and a missing final line break is a line with a backslash."""
    (hunk,), more = hunks_between(b"a\nb\nc", b"a\nx\nc\n", most=100)
    assert not more
    assert hunk.lines == (
        DiffLine(" ", 1, 1, "a"),
        DiffLine("-", 2, None, "b"),
        DiffLine("-", 3, None, "c"),
        DiffLine("\\", None, None, "No newline at the end of the file"),
        DiffLine("+", None, 2, "x"),
        DiffLine("+", None, 3, "c"),
    )


def test_a_long_difference_is_cut() -> None:
    """A diff is cut at a number of lines, within a hunk or between two hunks."""
    old, new = b"".join(b"%d\n" % n for n in range(200)), b"".join(b"%d\n" % (n + n // 100) for n in range(200))
    hunks, more = hunks_between(old, new, most=5)
    assert more
    assert sum(len(hunk.lines) for hunk in hunks) == 5
    apart = old.replace(b"\n5\n", b"\nfive\n").replace(b"\n150\n", b"\nmore\n")
    hunks, more = hunks_between(old, apart, most=8)
    assert (len(hunks), more) == (1, True)


def test_files_come_with_their_renames_and_counts(folder: Path) -> None:
    """Files of any name and change have their status, old path and line counts."""
    odd = b'odd "\n\t\xff'
    first = commit(
        folder,
        {
            b"a": b"1\n2\n3\n4\n",
            b"gone": b"x\n",
            odd: b"1\n",
            b"run": b"#!/bin/sh\n",
            b"p": b"\0old",
            b":1 2 3": b"x",
        },
    )
    second = commit(
        folder,
        {
            b"a": None,
            b"moved": b"1\n2\n3\nfour\n",
            b"gone": None,
            odd: b"1\n2\n",
            b"run": b"#!/bin/sh\n",
            b"p": b"\0new",
            b"new": b"",
            b"sub": b"1" * 40,
        },
        modes={b"run": b"100755", b"sub": b"160000"},
    )
    repo = open_repository(folder)
    tree_diff = diff_trees(repo, read_commit(repo, first).tree, read_commit(repo, second).tree)
    received = {
        file.new_path: (file.status, file.old_path, file.additions, file.deletions, file.is_binary)
        for file in tree_diff.files
    }
    assert received == {
        b"moved": ("renamed", b"a", 1, 1, False),
        b"gone": ("removed", b"gone", 0, 1, False),
        odd: ("modified", odd, 1, 0, False),
        b"run": ("modified", b"run", 0, 0, False),
        b"p": ("modified", b"p", 0, 0, True),
        b"new": ("added", b"new", 0, 0, False),
        b"sub": ("added", b"sub", 1, 0, False),
    }
    assert (tree_diff.additions, tree_diff.deletions) == (3, 2)
    by_name = {file.new_path: file for file in tree_diff.files}
    (hunk,), _ = hunks_of(repo, by_name[b"sub"], most=9) or ([], False)
    assert hunk.lines[0].text == f"Subproject commit {'1' * 40}"
    everything = diff_trees(repo, None, read_commit(repo, second).tree)
    assert {file.status for file in everything.files} == {"added"}
    assert diff_trees(repo, None, None).files == ()


def test_large_files_are_not_compared(folder: Path) -> None:
    """A large file has no hunks, because computing them would take too long for a page."""
    at = commit(folder, {b"large": b"line\n" * 300_000})
    repo = open_repository(folder)
    (file,) = diff_trees(repo, None, read_commit(repo, at).tree).files
    assert file.additions == 300_000
    assert hunks_of(repo, file, most=10) is None


def test_patches_of_two_repositories_are_cached_apart(tmp_path: Path) -> None:
    """A cached diff of one repository is not returned for another one, which may not have its trees."""
    one, other = (open_repository(new_repository(tmp_path / f"{name}.git")) for name in ("one", "other"))
    tree = read_commit(one, commit(one.folder, {b"a": b"x\n"})).tree
    (file,) = diff_trees(one, None, tree).files
    assert file.path == "a"
    with pytest.raises(GitError):
        diff_trees(other, None, tree)
