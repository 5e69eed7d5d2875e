"""Archives and bundles of commits."""

import io
import tarfile
import tempfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from holdfast.hosting.errors import ArchiveTooLarge, BodyDamaged, GitFailed
from holdfast.hosting.git import archives, trees
from holdfast.hosting.git.archives import ArchiveLimits, archive, bundle, requested_trees, tree_size
from holdfast.hosting.git.refs import ResolvedRef
from holdfast.hosting.git.repository import Repo
from tests.hosting.git.oracle import commit, git, new_repository
from tests.hosting.git.serving import pkt


def read(pieces: AsyncGenerator[bytes, None]) -> bytes:
    """Return all chunks joined."""

    async def run() -> bytes:
        return b"".join([piece async for piece in pieces])

    return anyio.run(run)


def test_paths_are_names_not_patterns(tmp_path: Path) -> None:
    """The paths of an archive are literal: `*` and `:(glob)x` name files; an unknown path is an error."""
    folder = new_repository(tmp_path / "a.git")
    commit_id = commit(folder, {b"*": b"star", b":(glob)x": b"magic", b"a": b"plain", b"d/b": b"deep"})
    result = read(archive(folder, commit_id, "tar.gz", prefix="p", paths=["*", ":(glob)x", "d"]))
    with tarfile.open(fileobj=io.BytesIO(result), mode="r:gz") as opened:
        assert {item.name for item in opened if item.isfile()} == {"p/*", "p/:(glob)x", "p/d/b"}
    with pytest.raises(GitFailed):
        read(archive(folder, commit_id, "zip", prefix="p", paths=["nothing"]))


def test_a_bundle_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle has HEAD and its ref, and no temporary file is left, even if its reader stops early."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = new_repository(tmp_path / "a.git")
    made = commit(folder, {b"a": b"1"})
    for named in (
        ResolvedRef("branch", "a/b", made),
        ResolvedRef("tag", "v1", made),
        ResolvedRef("commit", made, made),
    ):
        (tmp_path / "file").write_bytes(read(bundle(folder, named)))
        heads = git(folder, "bundle", "list-heads", str(tmp_path / "file")).decode().split("\n")
        name = {"branch": "refs/heads/a/b", "tag": "refs/tags/v1", "commit": "refs/heads/bundle"}[named.kind]
        assert set(heads) - {""} == {f"{made} HEAD", f"{made} {name}"}

    async def leave() -> None:
        async with aclosing(bundle(folder, ResolvedRef("branch", "main", made))) as pieces:
            await anext(pieces)

    anyio.run(leave)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.git", "file"]


def tree_of(folder: Path, revision: str) -> str:
    """Return the tree of a commit."""
    return git(folder, "rev-parse", f"{revision}^{{tree}}").decode().strip()


def nest(folder: Path, tree: str, times: int, deep: int) -> str:
    """Return a tree with folders that contain a tree, each several times."""
    for _ in range(deep):
        rows = b"".join(b"040000 tree %s\t%d\n" % (tree.encode(), number) for number in range(times))
        tree = git(folder, "mktree", input=rows).decode().strip()
    return tree


def test_the_size_of_an_archive_is_that_of_its_files_and_directories(tmp_path: Path) -> None:
    """A file counts each time that it occurs; submodules have no content, and an empty tree has nothing."""
    folder = new_repository(tmp_path / "a.git")
    made = commit(folder, {b"a": b"1234", b"b/c": b"1234", b"b/d/e": b"12"})
    assert tree_size(folder, tree_of(folder, made)) == archives.TreeSize(entries=5, size=10)
    submodule = git(folder, "mktree", "--missing", input=b"160000 commit %s\tlib\n" % (b"1" * 40)).decode().strip()
    assert tree_size(folder, submodule) == archives.TreeSize(entries=1, size=0)
    empty = git(folder, "mktree").decode().strip()
    assert tree_size(folder, empty) == archives.TreeSize(entries=0, size=0)


def test_folders_that_contain_each_other_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """30^40 files have a size within a moment, which is remembered, and so has a deeply nested folder."""
    folder = new_repository(tmp_path / "a.git")
    single = tree_of(folder, commit(folder, {b"a": b"x" * 100}))
    reads: list[str] = []
    real = trees.children

    def children(repo: Repo, tree: str) -> list[trees.Node]:
        reads.append(tree)
        return real(repo, tree)

    monkeypatch.setattr(trees, "children", children)
    wide, deep = nest(folder, single, 30, 40), nest(folder, single, 1, 1500)
    for _ in range(2):
        assert tree_size(folder, wide) == archives.TreeSize(archives.MOST, archives.MOST)
    assert len(reads) == 41
    assert tree_size(folder, deep) == archives.TreeSize(1501, 100)


def test_an_archive_up_to_the_limits_is_allowed(tmp_path: Path) -> None:
    """The limits hold for all its trees together, and the error says which one is exceeded."""
    folder = new_repository(tmp_path / "a.git")
    tree = nest(folder, tree_of(folder, commit(folder, {b"a": bytes(2**20)})), 3, 1)
    ArchiveLimits(6, 3 * 2**20).check(folder, [tree])
    ArchiveLimits(12, 6 * 2**20).check(folder, [tree, tree])
    for most, size, count, message in (
        (5, 3 * 2**20, 1, "more than 5 files and directories"),
        (11, 6 * 2**20, 2, "more than 11 files and directories"),
        (6, 2 * 2**20, 1, "more than 2 MiB of files"),
        (12, 5 * 2**20, 2, "more than 5 MiB of files"),
    ):
        with pytest.raises(ArchiveTooLarge, match=message):
            ArchiveLimits(most, size).check(folder, [tree] * count)


def test_the_trees_of_a_remote_archive_are_found_in_its_arguments(tmp_path: Path) -> None:
    """The revision may be a branch, a tag or a folder, after options with or without a value."""
    folder = new_repository(tmp_path / "a.git")
    made = commit(folder, {b"d /f": b"1", b"g": b"2"})
    git(folder, "tag", "-a", "-m", "x", "v1", made)
    whole, part = tree_of(folder, made), git(folder, "rev-parse", f"{made}:d ").decode().strip()
    for arguments, expected in (
        ((b"--format=zip", made.encode(), b"d "), [whole]),
        ((b"--prefix", b"x", b"v1"), [whole]),
        ((b"v1:d ",), [part]),
        ((b"nothing", b"v1:g"), []),
        ((b"v1", b"v1:d "), [whole, part]),
    ):
        request = b"".join(pkt(b"argument %s\n" % argument) for argument in arguments) + b"0000"
        assert requested_trees(folder, request) == expected
    assert requested_trees(folder, pkt(b"argument v1") + pkt(b"else v1\n") + b"0001" + b"nonsense") == [whole]
    with pytest.raises(BodyDamaged):
        requested_trees(folder, pkt(b"argument v1:a\nb\n"))
