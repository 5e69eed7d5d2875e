"""Collecting and checking repositories, with others at work in them."""

import fcntl
import os
import threading
from pathlib import Path

import pytest

from holdfast.hosting.errors import NoSuchFolder
from holdfast.hosting.git import gc
from holdfast.hosting.git.commits import Signature, build_tree, read_commit, write_commit
from holdfast.hosting.git.gc import FsckResult, collect_garbage, fsck
from holdfast.hosting.git.history import commit_range, count
from holdfast.hosting.git.ref_store import create, delete, update
from holdfast.hosting.git.refs import branches, target
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.git.trees import walk
from tests.hosting.git.oracle import commit, git, line, loose, new_repository, unpack

ADA = Signature("Ada", "ada@example.org", 1_700_000_000)
MAIN = "refs/heads/main"


def test_a_collected_repository_is_one_pack_with_all_that_makes_it_quick(folder: Path) -> None:
    """A bitmap, a graph with filters, packed refs, and nothing missing."""
    for number in range(5):
        commit(folder, {b"%d" % number: b"x"}, branch=f"b{number}")
    before = git(folder, "for-each-ref")
    assert collect_garbage(folder)
    packs = folder / "objects" / "pack"
    assert len(list(packs.glob("*.pack"))) == len(list(packs.glob("*.bitmap"))) == 1
    assert (folder / "objects" / "info" / "commit-graphs" / "commit-graph-chain").exists()
    assert git(folder, "for-each-ref") == before
    assert fsck(folder) == FsckResult((), 0)
    assert fsck(folder).whole


def test_what_nothing_leads_to_goes_after_the_grace_period(folder: Path) -> None:
    """And not before: a push that is on its way may be about to name it."""
    commit(folder, {b"a": b"1"})
    fresh, old = (
        git(folder, "hash-object", "-w", "--stdin", input=text).decode().strip() for text in (b"n", b"o")
    )
    os.utime(loose(folder, old), (1, 1))
    collect_garbage(folder)
    repo = open_repository(folder)
    assert (repo.header(fresh), repo.header(old)) == (("blob", 1), None)
    collect_garbage(folder, grace=0)
    assert repo.header(fresh) is None


def test_an_empty_repository_can_be_collected_and_checked(folder: Path) -> None:
    """There is nothing to do, and nothing wrong."""
    assert collect_garbage(folder)
    assert fsck(folder).whole


def test_two_do_not_collect_at_once(folder: Path) -> None:
    """The second leaves it to the first."""
    descriptor = os.open(folder / "objects", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert not collect_garbage(folder)
    os.close(descriptor)
    assert collect_garbage(folder)


def test_what_is_no_repository_cannot_be_collected(tmp_path: Path) -> None:
    """And its check says so."""
    with pytest.raises(NoSuchFolder):
        collect_garbage(tmp_path / "none")
    assert not fsck(tmp_path / "none").whole


def test_a_check_finds_what_is_wrong(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing objects, damaged ones, refs that lead nowhere; and it does not drown in them."""
    commit(folder, {b"%d" % number: b"%d" % number for number in range(9)})
    unpack(folder)
    missing = line(folder, "rev-parse", "main:1")
    loose(folder, missing).unlink()
    found = fsck(folder)
    assert any(missing in problem for problem in found.problems)
    cut = loose(folder, line(folder, "rev-parse", "main:2"))
    cut.write_bytes(cut.read_bytes()[:5])
    (folder / "refs" / "heads" / "lost").write_text("1" * 40 + "\n")
    worse = fsck(folder)
    assert worse.count > found.count
    monkeypatch.setattr(gc, "PROBLEMS_KEPT", 2)
    assert len(fsck(folder).problems) == 2


def test_readers_and_writers_do_not_notice_a_collection(tmp_path: Path) -> None:
    """Commits made and refs deleted meanwhile are all there, and every object can be read at every moment."""
    folder = new_repository(tmp_path / "busy.git")
    commit(folder, {b"start": b"x"})
    faults: list[BaseException] = []
    done = threading.Event()

    def write() -> None:
        repo = open_repository(folder)
        for number in range(60):
            tip = target(repo, MAIN)
            assert tip is not None
            tree = build_tree(repo, {"start": b"x", "n": b"%d" % number})
            made = write_commit(repo, tree, (tip,), author=ADA, committer=ADA, message=str(number))
            update(repo, MAIN, tip, made)
            create(repo, f"refs/heads/b{number}", made)
            if number % 2:
                delete(repo, f"refs/heads/b{number}", made)

    def read() -> None:
        repo = open_repository(folder)
        while not done.is_set():
            for ref in branches(repo)[0]:
                list(walk(repo, read_commit(repo, ref.id).tree))

    def guarded(work: object) -> None:
        try:
            assert callable(work)
            work()
        except BaseException as error:  # noqa: BLE001  # told to the test below
            faults.append(error)

    reader = threading.Thread(target=guarded, args=(read,))
    writer = threading.Thread(target=guarded, args=(write,))
    reader.start()
    writer.start()
    while writer.is_alive():
        collect_garbage(folder)
    writer.join()
    done.set()
    reader.join()
    assert faults == []
    repo = open_repository(folder)
    tip = target(repo, MAIN)
    assert tip is not None
    assert count(repo, commit_range(repo, tip)) == 61
    assert branches(repo)[1] == 31
    assert fsck(folder).whole
