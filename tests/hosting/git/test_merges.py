"""Whether two commits merge, held against git's own merge."""

from pathlib import Path

import pytest

from holdfast.hosting.errors import GitTimedOut
from holdfast.hosting.git import merges
from holdfast.hosting.git.merges import merges_cleanly
from holdfast.hosting.git.repository import open_repository
from tests.hosting.git_client import Git


@pytest.fixture
def work(tmp_path: Path) -> Git:
    """Make a history whose branches change the same file, another one, and nothing."""
    git = Git(tmp_path / "work")
    git("init", "-q", "-b", "main")
    git.commit("a", "1\n2\n3\n")
    for branch, name, content in (("same", "a", "1\nhere\n3\n"), ("other", "b", "new\n")):
        git("checkout", "-q", "-b", branch, "main")
        git.commit(name, content)
    git("checkout", "-q", "main")
    git.commit("a", "1\nthere\n3\n")
    git("checkout", "-q", "--orphan", "alone")
    git.commit("c", "x")
    return git


@pytest.mark.parametrize(
    ("base", "head", "clean"),
    [
        ("main", "same", False),
        ("same", "main", False),
        ("main", "other", True),
        ("other", "main", True),
        ("main", "main", True),
        ("main~1", "main", True),
        ("main", "main~1", True),
        ("main", "alone", False),
    ],
)
def test_two_commits_merge_or_they_do_not(work: Git, base: str, head: str, *, clean: bool) -> None:
    """Ahead, behind, apart and with nothing in common; nothing is written for finding out."""
    folder = work.folder / ".git"
    before = sorted(path for path in (folder / "objects").rglob("*"))
    repo = open_repository(folder)
    ids = [work("rev-parse", name) for name in (base, head)]
    assert merges_cleanly(repo, *ids) is clean
    assert sorted(path for path in (folder / "objects").rglob("*")) == before


def test_what_takes_too_long_is_not_waited_for(work: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts as not mergeable, and is tried again the next time."""
    repo = open_repository(work.folder / ".git")
    ids = [work("rev-parse", name) for name in ("main", "other")]
    merges.merged.cache_clear()

    def late(*_: object, **__: object) -> bytes:
        raise GitTimedOut("merge-tree", "timed out after 5 seconds")

    with monkeypatch.context() as patched:
        patched.setattr(merges, "run", late)
        assert not merges_cleanly(repo, *ids)
    assert merges_cleanly(repo, *ids)
