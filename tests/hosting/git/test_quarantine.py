"""Looking at a push before it happens."""

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
    """Look at the repository as if it were in quarantine."""
    return Push(work.folder / ".git", (), {})


def test_an_update_that_keeps_history_is_a_fast_forward(work: Client) -> None:
    """Forward keeps it, backward and sideways do not; new keeps, deleted does not."""
    old, new, side = work.head("main~1"), work.head("main"), work.head("side")
    changes = [(old, new), (new, new), (ZERO, new), (new, old), (new, side), (new, ZERO)]
    stored = [push(work).is_fast_forward(RefUpdate("refs/heads/x", *change)) for change in changes]
    assert stored == [True, True, True, False, False, False]


def test_replacing_a_tag_of_a_blob_is_not_a_fast_forward(work: Client) -> None:
    """What is no commit has no history to go forward in."""
    blob = work.head("main:first.txt")
    assert not push(work).is_fast_forward(RefUpdate("refs/tags/x", blob, work.head("main")))
    assert push(work).changed_paths(RefUpdate("refs/tags/x", ZERO, blob)) == set()
    assert push(work).commits(RefUpdate("refs/tags/x", ZERO, blob)) == []


def test_changed_paths_are_those_that_differ(work: Client) -> None:
    """A new branch is compared with where it left its base, or with nothing; deleting changes no path."""
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
    """Protecting a path protects it from being moved away, too."""
    old = work.head()
    work.git("mv", "first.txt", "renamed.txt")
    work.git("commit", "--quiet", "--message", "move")
    moved = push(work).changed_paths(RefUpdate("refs/heads/side", old, work.head()))
    assert moved == {"first.txt", "renamed.txt"}


def test_new_commits_are_listed(work: Client) -> None:
    """Between old and new, or, for a new reference, those no reference had; an option-like name is no option."""
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
    """Through the tag, the paths and commits are those of what it names."""
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
    """Each by itself and with a reason; the others go through."""
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
    """Whatever folder of refs somebody uses."""
    assert refused_names([RefUpdate(name, ZERO, "1" * 40)]) == []


@pytest.mark.parametrize("name", ["refs/heads/HEAD", "refs/tags/@", "refs/heads/refs/heads/main"])
def test_an_existing_ref_of_any_name_can_be_deleted(name: str) -> None:
    """Earlier versions let some in."""
    assert refused_names([RefUpdate(name, "1" * 40, ZERO)]) == []


WHO = {f"GIT_{role}_{what}": "ada@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
