"""Inspection of a push in quarantine: fast-forwards, changed paths, new commits and ref names."""

from pathlib import Path

import pytest

from holdfast.hosting.git.program import run
from holdfast.hosting.git.quarantine import Push, refused_names
from holdfast.hosting.store.ref_updates import RefUpdate
from tests.hosting.git.serving import Client

ZERO = "0" * 40


@pytest.fixture
def work(tmp_path: Path) -> Client:
    """Make a repository with two commits, and a side branch that left after the first."""
    Client(tmp_path).git("init", "--quiet", "--initial-branch=main", "work")
    mine = Client(tmp_path).within("work")
    mine.commit("first.txt")
    mine.git("branch", "side")
    mine.commit("second.txt")
    mine.git("checkout", "--quiet", "side")
    mine.commit("side/\N{SNOWMAN}.txt")
    return mine


def push(work: Client) -> Push:
    """Return a push whose quarantine is the repository itself."""
    return Push(work.folder / ".git", (), {})


def test_an_update_that_keeps_history_is_a_fast_forward(work: Client) -> None:
    """New refs and descendants are fast-forwards; ancestors, diverged commits and deletions are not."""
    old, new, side = work.head("main~1"), work.head("main"), work.head("side")
    changes = [(old, new), (new, new), (ZERO, new), (new, old), (new, side), (new, ZERO)]
    stored = [push(work).is_fast_forward(RefUpdate("refs/heads/x", *change)) for change in changes]
    assert stored == [True, True, True, False, False, False]


def test_replacing_a_tag_of_a_blob_is_not_a_fast_forward(work: Client) -> None:
    """A blob has no history, so that an update from one is forced, and it has no paths or commits."""
    blob = work.head("main:first.txt")
    assert not push(work).is_fast_forward(RefUpdate("refs/tags/x", blob, work.head("main")))
    assert push(work).changed_paths(RefUpdate("refs/tags/x", ZERO, blob)) == set()
    assert push(work).commits(RefUpdate("refs/tags/x", ZERO, blob)) == []


def test_changed_paths_are_those_that_differ(work: Client) -> None:
    """A new branch is compared with its merge base or with the empty tree; a deletion changes no path."""
    main, side = work.head("main"), work.head("side")
    snowman = "side/\N{SNOWMAN}.txt"
    here = push(work)
    assert here.changed_paths(RefUpdate("refs/heads/x", work.head("main~1"), main)) == {"second.txt"}
    assert here.changed_paths(RefUpdate("refs/heads/x", main, side)) == {"second.txt", snowman}
    assert here.changed_paths(RefUpdate("refs/heads/x", ZERO, side), base="refs/heads/main") == {snowman}
    assert here.changed_paths(RefUpdate("refs/heads/x", ZERO, side)) == {"first.txt", snowman}
    assert here.changed_paths(RefUpdate("refs/heads/x", ZERO, side), base="refs/heads/gone") == {
        "first.txt",
        snowman,
    }
    assert here.changed_paths(RefUpdate("refs/heads/x", side, ZERO)) == set()


def test_a_moved_file_changes_both_paths(work: Client) -> None:
    """A move changes the old and the new path, so that a protected path cannot be moved away."""
    old = work.head()
    work.git("mv", "first.txt", "renamed.txt")
    work.git("commit", "--quiet", "--message", "move")
    moved = push(work).changed_paths(RefUpdate("refs/heads/side", old, work.head()))
    assert moved == {"first.txt", "renamed.txt"}


def test_new_commits_are_listed(work: Client) -> None:
    """Commits between old and new are listed; for a new ref, those that no other ref reaches."""
    here = push(work)
    main, side = work.head("main"), work.head("side")
    assert here.commits(RefUpdate("refs/heads/x", main, side)) == [side]
    assert here.commits(RefUpdate("refs/heads/x", ZERO, side)) == []
    loose = run(work.folder / ".git", "commit-tree", f"{side}^{{tree}}", "-p", side, "-m", "x", variables=WHO)
    new = loose.decode().strip()
    assert here.commits(RefUpdate("refs/heads/x", ZERO, new)) == [new]
    assert here.commits(RefUpdate("refs/heads/x", main, new)) == [new, side]
    assert here.commits(RefUpdate("refs/heads/x", main, new), most=1) == [new]
    assert here.commits(RefUpdate("refs/heads/x", new, ZERO)) == []


def test_an_annotated_tag_is_peeled_to_its_commit(work: Client) -> None:
    """A tag object leads to its commit, and an option in place of an id to none."""
    work.git("tag", "--annotate", "--message", "x", "v1")
    assert push(work).commit(work.head("v1")) == work.head()
    assert push(work).commit("--all") is None


REFUSED_NAMES = [
    "HEAD",
    "refs/heads",
    "refs/headsa",
    "refs/pull/1/head",
    "refs/pull",
    "refs/for/main",
    "refs/holdfast/x",
    "refs/bisect/bad",
    "refs/worktree/x",
    "refs/heads/HEAD",
    "refs/tags/HEAD",
    "refs/heads/@",
    "refs/tags/@",
    "refs/heads/refs/heads/main",
    "refs/tags/refs/tags/v1",
    "refs/heads/-delete",
    "refs/heads/a..b",
    "refs/heads/../../config",
    "refs/heads/a b",
    "refs/heads/a\nb",
    "refs/heads/a.lock",
    "refs/heads/.a",
    "refs/heads/a/",
    "refs/heads/" + "x" * 251,
    "refs/heads/" + "x/" * 600 + "x",
]


@pytest.mark.parametrize("name", REFUSED_NAMES)
def test_names_that_cannot_be_pushed_to_are_refused(name: str) -> None:
    """An invalid ref name is refused without the other refs of the push."""
    ref_update = RefUpdate("refs/heads/kept", ZERO, "1" * 40)
    refused = refused_names((ref_update, RefUpdate(name, ZERO, "1" * 40)))
    assert [refusal.ref for refusal in refused] == [name]


@pytest.mark.parametrize(
    "name",
    [
        "refs/heads/a",
        "refs/tags/v1",
        "refs/notes/commits",
        "refs/changes/01/1/1",
        "refs/stash",
        "refs/pullover/x",
        "refs/remotes/origin/HEAD",
        "refs/heads/feature/HEAD",
        "refs/heads/a@b",
        "refs/heads/\udce9",
    ],
)
def test_every_other_name_can_be_pushed_to(name: str) -> None:
    """Refs of any other namespace, also those with bytes that are not UTF-8, are not refused."""
    assert refused_names([RefUpdate(name, ZERO, "1" * 40)]) == []


@pytest.mark.parametrize("name", ["refs/heads/HEAD", "refs/tags/@", "refs/heads/refs/heads/main"])
def test_an_existing_ref_of_any_name_can_be_deleted(name: str) -> None:
    """Invalid names that earlier versions accepted can be deleted."""
    assert refused_names([RefUpdate(name, "1" * 40, ZERO)]) == []


WHO = {f"GIT_{role}_{what}": "ada@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
