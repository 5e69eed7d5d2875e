"""Checks of repositories with `git fsck`."""

from pathlib import Path

import pytest

from holdfast.hosting.git.fsck import FsckResult, fsck
from tests.hosting.git.oracle import commit, line, loose, unpack


def test_an_intact_repository_has_no_errors(folder: Path) -> None:
    """`fsck` finds nothing wrong with an empty repository or with an intact commit."""
    assert fsck(folder).whole
    commit(folder, {b"a": b"x"})
    assert fsck(folder) == FsckResult((), 0)


def test_a_folder_that_is_not_a_repository_is_reported(tmp_path: Path) -> None:
    """The check of a missing folder has problems."""
    assert not fsck(tmp_path / "none").whole


def test_damage_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing objects, truncated objects and dangling refs are problems; the list of them is limited."""
    commit(folder, {b"%d" % number: b"%d" % number for number in range(9)})
    unpack(folder)
    missing = line(folder, "rev-parse", "main:1")
    loose(folder, missing).unlink()
    fsck_result = fsck(folder)
    assert any(missing in problem for problem in fsck_result.problems)
    cut = loose(folder, line(folder, "rev-parse", "main:2"))
    cut.write_bytes(cut.read_bytes()[:5])
    (folder / "refs" / "heads" / "lost").write_text("1" * 40 + "\n")
    worse = fsck(folder)
    assert worse.count > fsck_result.count
    for name in (missing, cut.name, "refs/heads/lost"):
        assert any(name in problem for problem in worse.problems), name
    monkeypatch.setattr("holdfast.hosting.git.fsck.PROBLEMS_KEPT", 2)
    assert len(fsck(folder).problems) == 2
