"""Merge bases, compared with `git merge-base`."""

import tempfile
from itertools import combinations_with_replacement
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from holdfast.hosting.errors import NoSuchObject
from holdfast.hosting.git import merge_bases
from holdfast.hosting.git.repository import open_repository
from tests.hosting.git.histories import Step, histories, write
from tests.hosting.git.oracle import git


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=histories())
def test_merge_bases_equal_those_of_git(steps: list[Step]) -> None:
    """Merge bases equal those of git across roots, criss-cross merges and commits with wrong clocks."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "1.git")
        ids = write(folder, steps)
        repo = open_repository(folder)
        pairs = list(combinations_with_replacement(range(len(ids)), 2))[-12:]
        for one, other in pairs:
            result = merge_bases.merge_bases(repo, ids[one], ids[other])
            near = merge_bases.search(repo, ids[one], ids[other]) if one != other else result
            expected = set(merge_bases.ask_git(folder, ids[one], ids[other]))
            assert set(result) == expected
            assert near is None or set(near) == expected


def make_linear_history(length: int) -> list[Step]:
    """Make a history with two branches that part at the first commit."""
    trunk = [Step((number - 1,) if number else (), number * 10, {}) for number in range(length)]
    return [*trunk, Step((0,), length * 10, {})]


def test_git_computes_a_distant_merge_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above a limit of commits, `git merge-base` is called instead, with the same result."""
    folder = tmp_path / "1.git"
    ids = write(folder, make_linear_history(20))
    repo = open_repository(folder)
    assert merge_bases.search(repo, ids[-2], ids[-1]) == (ids[0],)
    monkeypatch.setattr(merge_bases, "MOST_COMMITS", 10)
    assert merge_bases.search(repo, ids[-2], ids[-1]) is None
    assert merge_bases.merge_bases(repo, ids[-2], ids[-1]) == (ids[0],)


def test_unrelated_histories_have_no_base(tmp_path: Path) -> None:
    """Unrelated commits have no merge base; an id that is not a commit raises `NoSuchObject`."""
    folder = tmp_path / "1.git"
    one, other = write(folder, [Step((), 0, {b"a": b"1"}), Step((), 10, {})])
    repo = open_repository(folder)
    assert merge_bases.merge_bases(repo, one, other) == ()
    assert merge_bases.ask_git(folder, one, other) == ()
    blob = git(folder, "rev-parse", f"{one}:a").decode().strip()
    with pytest.raises(NoSuchObject):
        merge_bases.merge_bases(repo, one, blob)
    with pytest.raises(NoSuchObject):
        merge_bases.merge_bases(repo, "0" * 40, one)
