"""The output of git commands, whole and in chunks."""

from pathlib import Path

import pytest

from holdfast.hosting.errors import GitDamaged, GitFailed
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
