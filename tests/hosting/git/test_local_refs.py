"""Writing refs and HEAD to a local copy."""

from pathlib import Path

import pytest

from holdfast.hosting.errors import GitError
from holdfast.hosting.git import refs
from holdfast.hosting.git.local_refs import MANY, set_head, write_refs
from holdfast.hosting.git.repository import Repo, open_repository
from tests.hosting.git import oracle


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Make a repository with two commits on main."""
    folder = oracle.new_repository(tmp_path / "1.git")
    for number in range(2):
        oracle.commit(folder, {b"a": b"%d" % number})
    return open_repository(folder)


def written(repo: Repo) -> dict[bytes, str]:
    """Return the refs as git reads them."""
    lines = oracle.git(repo.folder, "for-each-ref", "--format=%(objectname) %(refname)").splitlines()
    return {name: target.decode() for target, _, name in (line.partition(b" ") for line in lines)}


@pytest.mark.parametrize("count", [1, MANY - 1, MANY])
def test_refs_are_created_moved_and_deleted(repo: Repo, count: int) -> None:
    """Refs are written the same way in small numbers, by the library, and in large ones, by git."""
    old, new = oracle.line(repo.folder, "rev-parse", "main~1"), oracle.line(repo.folder, "rev-parse", "main")
    names = [f"refs/heads/b{number:03}" for number in range(count)]
    before = written(repo)
    for target in (old, new):
        write_refs(repo, dict.fromkeys(names, target))
        assert written(repo) == {**before, **{name.encode(): target for name in names}}
    write_refs(repo, dict.fromkeys(names))
    assert written(repo) == before


def test_a_name_that_becomes_free_can_be_a_folder_at_once(repo: Repo) -> None:
    """A branch can be deleted and replaced by one below its name in the same update."""
    head = oracle.line(repo.folder, "rev-parse", "main")
    write_refs(repo, {"refs/heads/a": head})
    write_refs(repo, {"refs/heads/a/b": head, "refs/heads/a": None})
    assert b"refs/heads/a/b" in written(repo)


def test_a_name_that_is_not_utf8_is_written(repo: Repo) -> None:
    """A ref name that is not UTF-8 is written with its original bytes."""
    head = oracle.line(repo.folder, "rev-parse", "main")
    write_refs(repo, {"refs/heads/caf\udce9": head, "refs/heads/x": head})
    assert {b"refs/heads/caf\xe9", b"refs/heads/x"} <= written(repo).keys()


def test_a_ref_whose_lock_was_left_is_an_error(repo: Repo) -> None:
    """A lock file that is left over raises `GitError`."""
    (repo.folder / "refs" / "heads" / "main.lock").write_bytes(b"")
    with pytest.raises(GitError):
        write_refs(repo, {"refs/heads/main": oracle.line(repo.folder, "rev-parse", "main~1")})


def test_head_names_a_branch_whether_or_not_it_exists(repo: Repo) -> None:
    """HEAD can be set to a branch that does not exist, and again to the branch it names already."""
    for name in ("trunk", "trunk", "main"):
        set_head(repo, name)
        assert refs.head(repo) == name
