"""Blame, compared with `git blame`."""

from pathlib import Path

import pytest

from holdfast.hosting.errors import GitTimedOut
from holdfast.hosting.git import blame as module
from holdfast.hosting.git.blame import BlameHunk, blame
from holdfast.hosting.git.repository import open_repository
from tests.hosting.git.oracle import commit, git

ODD = b"odd \xff\n.txt"


def test_lines_lead_to_their_commits(folder: Path) -> None:
    """Hunks of adjacent lines are returned in file order, with the commits `git blame` prints."""
    first = commit(folder, {ODD: b"a\nb\nc\n"})
    second = commit(folder, {ODD: b"a\nB\nc\nd\n"})
    third = commit(folder, {b"other": b"x"})
    blame_hunks = blame(open_repository(folder), third, ODD, 1, 4)
    assert blame_hunks == (
        BlameHunk(first, 1, 1),
        BlameHunk(second, 2, 1),
        BlameHunk(first, 3, 1),
        BlameHunk(second, 4, 1),
    )
    output = git(folder, b"blame", b"-s", b"-l", third.encode(), b"--", ODD).decode().splitlines()
    assert [line.split()[0].lstrip("^")[:39] for line in output] == [
        origin.commit[:39] for origin in blame_hunks for _ in range(origin.count)
    ]


def test_adjacent_lines_of_a_commit_are_one_hunk(folder: Path) -> None:
    """Five adjacent lines of one commit are one hunk, and the changed line after them is another."""
    first = commit(folder, {b"a": b"1\n2\n3\n4\n5\n6\n"})
    second = commit(folder, {b"a": b"1\n2\n3\n4\n5\nsix\n"})
    assert blame(open_repository(folder), second, b"a", 1, 6) == (BlameHunk(first, 1, 5), BlameHunk(second, 6, 1))


def test_only_the_lines_of_a_page_are_blamed(folder: Path) -> None:
    """Hunks have the line numbers of the file, and a range may go beyond the end of the file."""
    first = commit(folder, {b"a": b"1\n2\n3\n4\n5\n6\n"})
    second = commit(folder, {b"a": b"1\n2\nthree\n4\n5\n6\n"})
    repo = open_repository(folder)
    assert blame(repo, second, b"a", 3, 4) == (BlameHunk(second, 3, 1), BlameHunk(first, 4, 1))
    assert blame(repo, second, b"a", 5, 50) == (BlameHunk(first, 5, 2),)


def test_an_unknown_path_has_no_lines(folder: Path) -> None:
    """A path that the commit does not have and an empty file give no hunks."""
    at = commit(folder, {b"empty": b""})
    repo = open_repository(folder)
    assert blame(repo, at, b"nothing", 1, 1) == ()
    assert blame(repo, at, b"empty", 1, 1) == ()


def test_a_slow_blame_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blame that times out has no result."""
    at = commit(folder, {b"a": b"1\n"})

    def never(*_arguments: object, **_more: object) -> bytes:
        raise GitTimedOut("blame", "took too long")

    monkeypatch.setattr(module, "run", never)
    assert blame(open_repository(folder), at, b"a", 1, 1) is None
