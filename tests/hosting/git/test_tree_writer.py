"""Editing trees, compared with `git write-tree`."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosting.errors import GitDamaged
from holdfast.hosting.git.commits import Signature, build_tree
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.git.tree_writer import Draft, Nowhere, PathEntry
from tests.hosting.git.oracle import new_repository

ADA = Signature("Ada", "ada@example.org", 1)
NAMES = st.sampled_from(["a", "a.b", "a-b", "a0", "b", "ab", "é", "Z"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


def git(folder: Path, *arguments: str, given: bytes = b"") -> str:
    """Run git with an index of its own, and return its output."""
    index = {"GIT_INDEX_FILE": str(folder / "scratch-index"), "PATH": os.environ["PATH"]}
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, input=given, check=True, capture_output=True, env=index).stdout.decode().strip()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.tuples(PATHS, st.booleans(), st.sampled_from([0o100644, 0o100755, 0o120000])), max_size=12))
def test_trees_equal_those_of_git(folder: Path, steps: list[tuple[str, bool, int]]) -> None:
    """Files put and removed in any order give the tree `write-tree` gives for the same files."""
    repo = open_repository(folder)
    blob = repo.write("blob", b"x")
    draft = Draft(repo)
    root = draft.empty()
    files: dict[str, int] = {}
    for path, puts, mode in steps:
        above = {"/".join(path.split("/")[:count]) for count in range(1, path.count("/") + 1)}
        if above & files.keys() or any(name.startswith(f"{path}/") for name in files):
            continue
        if puts:
            root = draft.put(root, path, mode, blob)
            files[path] = mode
        else:
            root = draft.remove(root, path)
            files.pop(path, None)
    created = draft.tree(root)
    (folder / "scratch-index").unlink(missing_ok=True)
    lines = "".join(f"{mode:o} {blob}\t{path}\0" for path, mode in files.items())
    git(folder, "update-index", "-z", "--add", "--index-info", given=lines.encode())
    assert created == git(folder, "write-tree")
    for path, mode in files.items():
        assert draft.find(root, path) == PathEntry(mode, blob)


def test_only_what_changed_is_written(folder: Path) -> None:
    """A change deep in a large tree writes the directories above it and nothing else."""
    repo = open_repository(folder)
    before = build_tree(repo.write, {f"d{a}/e{b}/f": b"%d" % (a * 10 + b) for a in range(5) for b in range(5)})
    draft = Draft(repo)
    root = draft.put(draft.folder(before), "d1/e1/g", 0o100644, repo.write("blob", b"new"))
    after = draft.tree(root)
    commit = draft.commit(after, (), author=ADA, committer=ADA, message="m")
    assert [packed_object.kind for packed_object in draft.objects()] == ["tree", "tree", "tree", "commit"]
    assert repo.header(commit) is None
    draft.add_to_copy()
    draft.add_to_copy()
    assert git(folder, "diff-tree", "-r", "--name-only", before, commit) == "d1/e1/g"
    assert git(folder, "fsck", "--strict", "--no-dangling") == ""


def test_a_failed_change_changes_nothing(folder: Path) -> None:
    """A folder is not modified by changes based on it or by a change that fails."""
    repo = open_repository(folder)
    before = build_tree(repo.write, {"d/a": b"a"})
    draft = Draft(repo)
    root = draft.folder(before)
    draft.put(root, "d/b", 0o100644, repo.write("blob", b"b"))
    draft.remove(root, "d/a")
    assert draft.tree(root) == before
    with pytest.raises(GitDamaged):
        draft.put(root, "d/a/x", 0o100644, "0" * 40)
    assert draft.tree(root) == before


def test_conflicting_and_missing_paths_are_reported(folder: Path) -> None:
    """The result is the missing part of the path, or the whole path if only its last part is missing."""
    repo = open_repository(folder)
    draft = Draft(repo)
    root = draft.folder(build_tree(repo.write, {"d/a": b"a"}))
    assert draft.find(root, "d/x") == Nowhere("d/x")
    assert draft.find(root, "x/y") == Nowhere("x")
    assert draft.find(root, "d/a/b") == Nowhere("a")


def test_a_copy_that_is_older_is_updated_when_an_object_is_missing(folder: Path, tmp_path: Path) -> None:
    """The copy is updated for an object it lacks, and not for objects that are in memory."""
    newer = open_repository(new_repository(tmp_path / "newer.git"))
    tree = build_tree(newer.write, {"d/a": b"a"})
    updates: list[str] = []

    def refresh() -> Repo:
        updates.append("updated")
        return newer

    draft = Draft(open_repository(folder), refresh)
    created = draft.tree(draft.put(draft.empty(), "b", 0o100644, draft.blob(b"b")))
    assert draft.find(draft.folder(created), "b") != Nowhere("b")
    assert updates == []
    assert draft.find(draft.folder(tree), "d/a") != Nowhere("d/a")
    assert updates == ["updated"]


def test_cached_trees_need_no_local_copy(folder: Path, tmp_path: Path) -> None:
    """A cached commit can be the base of another before the local copy has it, in its own repository only."""
    repo = open_repository(folder)
    draft = Draft(repo)
    tree = draft.tree(draft.put(draft.empty(), "d/a", 0o100644, draft.blob(b"a")))
    commit = draft.commit(tree, (), author=ADA, committer=ADA, message="m")
    with pytest.raises(GitDamaged):
        Draft(repo).root(commit)
    draft.keep_recent()
    assert repo.header(commit) is None
    assert Draft(repo).root(commit).id == tree
    elsewhere = open_repository(new_repository(tmp_path / "another.git"))
    with pytest.raises(GitDamaged):
        Draft(elsewhere).root(commit)
