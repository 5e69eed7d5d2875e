"""The output of git commands, whole and in chunks."""

import sys
from pathlib import Path

import pytest

from holdfast.hosting.errors import GitDamaged, GitFailed, GitTimedOut
from holdfast.hosting.git.command_output import git_output, stream_output
from tests.hosting.git.oracle import commit, git


def test_chunks_join_to_the_whole_output(folder: Path) -> None:
    """The output of git is the same whether it is read in chunks or all at once."""
    commit(folder, {b"a": b"x" * 1_000_000})
    assert b"".join(stream_output(folder, "show", "main:a")) == git(folder, "show", "main:a")
    assert git_output(folder, "show", "main:a") == b"x" * 1_000_000


def test_a_reader_that_has_enough_ends_the_command(folder: Path) -> None:
    """A stream can be closed before its end without an error, and its process does not run on."""

    def children() -> set[str]:
        return {pid for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()}

    commit(folder, {b"a": b"x" * 5_000_000})
    before = children()
    pieces = stream_output(folder, "show", "main:a")
    assert next(pieces)
    assert children() - before
    pieces.close()  # type: ignore[attr-defined]  # it is a generator
    assert children() <= before


def test_a_failed_command_raises_an_error(folder: Path) -> None:
    """A git command that fails raises `GitFailed` when streamed and `GitDamaged` when read at once."""
    with pytest.raises(GitFailed):
        list(stream_output(folder, "show", "none"))
    with pytest.raises(GitDamaged):
        git_output(folder, "show", "none")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can limit the memory of another process")
def test_a_command_is_stopped_at_its_memory_limit(folder: Path) -> None:
    """A command that needs more memory than it may allocate is stopped, which is no damage of the repository."""
    tree = git(folder, "rev-parse", commit(folder, {b"%d" % number: b"x" for number in range(30)}) + "^{tree}")
    for _ in range(3):
        entries = b"".join(b"040000 tree %s\t%d\n" % (tree.strip(), number) for number in range(30))
        tree = git(folder, "mktree", input=entries)
    compared = ("diff-tree", "-r", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", tree.decode().strip())
    with pytest.raises(GitTimedOut, match="more than 64 MiB"):
        git_output(folder, *compared, memory=2**26)
    with pytest.raises(GitFailed):
        list(stream_output(folder, *compared, "-p", memory=2**26))


def test_a_stream_that_stands_still_is_ended(folder: Path) -> None:
    """A command that writes nothing for too long is killed; one that writes is not."""
    commit(folder, {b"a": b"x" * 1_000_000})
    assert len(b"".join(stream_output(folder, "show", "main:a", idle_timeout=60))) == 1_000_000
    with pytest.raises(GitTimedOut, match="wrote nothing"):
        list(stream_output(folder, "-c", "alias.wait=!sleep 60", "wait", idle_timeout=0.3))
