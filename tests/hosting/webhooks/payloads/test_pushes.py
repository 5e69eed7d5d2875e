"""What is told of real pushes."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.git.program import run
from holdfast.hosting.services import ref_changes, repositories
from holdfast.hosting.store.events import record
from holdfast.hosting.store.repositories import Repository, find_repository
from holdfast.hosting.webhooks.payloads import payload_of
from holdfast.hosting.webhooks.payloads.pushes import short
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address
from tests.hosting.webhooks.telling import add_hook, last, recorded

ZERO = "0" * 40
ROOT = "http://localhost:3000"
PAGE = f"{ROOT}/ada/ship"


class Harbour:
    """A repository of Ada's on a service, her working copy, and what others are told."""

    def __init__(self, world: ServiceClients, app: App, folder: Path) -> None:
        self.world, self.host, self.git = world, app, Git(folder)
        self.ada = world.account("ada")
        repositories.create(app, self.ada, self.ada, repositories.NewRepository(name="ship"))
        self.git("init", "-q", "-b", "main")
        self.git("remote", "add", "origin", address(world.service.url, "ada", PASSWORD, "ada/ship"))

    @property
    def repository(self) -> Repository:
        """The repository's row."""
        return find_repository(self.host.database, "ada", "ship")

    def push(self, *arguments: str) -> dict[str, Any]:
        """Push, and return what is told of it."""
        self.git("push", "-q", "origin", *arguments)
        return self.told("push")

    def told(self, kind: str) -> dict[str, Any]:
        """Return what is told of the newest event of a kind."""
        found: dict[str, Any] = json.loads(payload_of(self.host, last(self.host.database, kind)))
        return found


@pytest.fixture
def harbour(world: ServiceClients, tmp_path: Path) -> Iterator[Harbour]:
    """Give Ada an empty repository."""
    host = App.open(world.service.settings)
    yield Harbour(world, host, tmp_path / "work")
    host.close()


def test_the_first_push_of_a_repository(harbour: Harbour) -> None:
    """There is nothing to compare with, and every file is added."""
    first = harbour.git.commit("a b/ä.txt", "one\n", "First\n\nwith more to say")
    told = harbour.push("main")
    assert list(told) == [
        *("ref", "before", "after", "compare_url", "commits", "total_commits", "head_commit"),
        *("repository", "pusher", "sender"),
    ]
    assert (told["ref"], told["before"], told["after"]) == ("refs/heads/main", ZERO, first)
    assert (told["compare_url"], told["total_commits"]) == (ROOT, 1)
    (commit,) = told["commits"]
    assert commit == told["head_commit"]
    assert list(commit) == [
        *("id", "message", "url", "author", "committer", "verification", "timestamp"),
        *("added", "removed", "modified"),
    ]
    assert commit["message"] == "First\n\nwith more to say\n"
    assert commit["url"] == f"{PAGE}/commit/{first}"
    assert commit["author"] == {"name": "Ada", "email": "ada@example.org", "username": "ada"}
    assert commit["verification"] is None
    assert (commit["added"], commit["removed"], commit["modified"]) == (["a b/ä.txt"], [], [])
    assert told["repository"]["full_name"] == "ada/ship"
    assert told["pusher"] == told["sender"]
    assert told["sender"]["email"] == f"{harbour.ada.id}+ada@noreply.localhost"
    made = harbour.told("create")
    assert list(made) == ["sha", "ref", "ref_type", "repository", "sender"]
    assert (made["sha"], made["ref"], made["ref_type"]) == (first, "main", "branch")
    assert [event.kind for event in recorded(harbour.host.database)] == ["repository", "create", "push"]


def test_push_options_are_told(harbour: Harbour) -> None:
    """As they were given; whoever gives none finds no such field in what is told."""
    harbour.git.commit("a.txt", "one\n", "First")
    assert harbour.push("-o", "ci.skip", "-o", "a=b", "main")["push_options"] == ["ci.skip", "a=b"]


def test_many_commits(harbour: Harbour) -> None:
    """The newest five are told, newest first, and how many there are; a rename is a file less and one more."""
    base = harbour.git.commit("a", "one\n")
    harbour.push("main")
    for number in range(6):
        harbour.git.commit("a", f"{number}\n", f"change {number}")
    harbour.git("mv", "a", "b")
    harbour.git("commit", "-q", "-m", "move")
    told = harbour.push("main")
    head = harbour.git("rev-parse", "HEAD")
    assert [commit["message"] for commit in told["commits"]] == [
        *("move\n", "change 5\n", "change 4\n", "change 3\n", "change 2\n"),
    ]
    assert told["total_commits"] == 7
    assert told["compare_url"] == f"{PAGE}/compare/{base}...{head}"
    newest, changed = told["commits"][:2]
    assert (newest["added"], newest["removed"], newest["modified"]) == (["b"], ["a"], [])
    assert (changed["added"], changed["removed"], changed["modified"]) == ([], [], ["a"])
    assert told["head_commit"]["id"] == head


def test_a_new_branch(harbour: Harbour) -> None:
    """Brings what is on no other branch, ten commits at most; it is compared with where it left."""
    base = harbour.git.commit("a", "one\n")
    harbour.push("main")
    harbour.git("checkout", "-q", "-b", "feature/x")
    first = harbour.git.commit("b", "1\n", "first")
    head = harbour.git.commit("b", "2\n", "second")
    told = harbour.push("feature/x")
    assert [commit["id"] for commit in told["commits"]] == [head, first]
    assert (told["total_commits"], told["compare_url"]) == (2, f"{PAGE}/compare/{base}...{head}")
    for number in range(12):
        head = harbour.git.commit("c", f"{number}\n", str(number))
    harbour.git("branch", "long")
    told = harbour.push("long")
    oldest = harbour.git("rev-parse", "long~9")
    assert (told["total_commits"], len(told["commits"])) == (10, 5)
    assert told["compare_url"] == f"{PAGE}/compare/{harbour.git('rev-parse', oldest + '~1')}...{head}"


def test_a_new_branch_without_commits(harbour: Harbour) -> None:
    """Is compared with the default branch, and still has a head."""
    head = harbour.git.commit("a", "one\n")
    harbour.push("main")
    told = harbour.push("main:refs/heads/same")
    assert (told["commits"], told["total_commits"]) == ([], 0)
    assert told["compare_url"] == f"{PAGE}/compare/main...{head}"
    assert told["head_commit"]["id"] == head


def test_a_history_that_is_pushed_over(harbour: Harbour) -> None:
    """What is new is told; what was before may be collected by then, and the push is told all the same."""
    harbour.git.commit("a", "one\n")
    old = harbour.git.commit("a", "two\n")
    harbour.push("main")
    harbour.git("reset", "-q", "--hard", "HEAD~1")
    new = harbour.git.commit("a", "three\n")
    told = harbour.push("--force", "main")
    assert [commit["id"] for commit in told["commits"]] == [new]
    assert told["compare_url"] == f"{PAGE}/compare/{old}...{new}"
    run(harbour.host.folders.existing(harbour.repository.id), "gc", "--prune=now", "-q")
    told = harbour.told("push")
    assert (told["before"], told["after"], told["head_commit"]["id"]) == (old, new, new)
    assert told["commits"][0]["id"] == new


def test_tags(harbour: Harbour) -> None:
    """A tag brings no commits, but the one it is on is told; a deleted one leads nowhere."""
    head = harbour.git.commit("a", "one\n")
    harbour.push("main")
    harbour.git("tag", "-a", "-m", "Release", "v1/é")
    tag = harbour.git("rev-parse", "v1/é")
    told = harbour.push("v1/é")
    assert (told["ref"], told["after"], told["total_commits"]) == ("refs/tags/v1/é", tag, 0)
    assert (told["head_commit"]["id"], told["compare_url"]) == (head, f"{PAGE}/compare/{ZERO}...{tag}")
    made = harbour.told("create")
    assert (made["sha"], made["ref"], made["ref_type"]) == (tag, "v1/é", "tag")
    told = harbour.push("--delete", "v1/é")
    assert (told["before"], told["after"], told["head_commit"], told["commits"]) == (tag, ZERO, None, [])
    assert told["compare_url"] == ROOT
    gone = harbour.told("delete")
    assert list(gone) == ["ref", "ref_type", "pusher_type", "repository", "sender"]
    assert (gone["ref"], gone["ref_type"], gone["pusher_type"]) == ("v1/é", "tag", "user")


def test_a_tag_that_moves_is_compared_with_where_it_was(harbour: Harbour) -> None:
    """Also one of something that is no commit, which has no history."""
    old = harbour.git.commit("a", "one\n")
    new = harbour.git.commit("a", "two\n")
    harbour.git("tag", "v1", old)
    harbour.push("main", "v1")
    harbour.git("tag", "-f", "v1", new)
    told = harbour.push("--force", "v1")
    assert (told["before"], told["after"], told["compare_url"]) == (old, new, f"{PAGE}/compare/{old}...{new}")
    blob = harbour.git("rev-parse", "HEAD:a")
    harbour.git("tag", "file", blob)
    told = harbour.push("file")
    assert (told["head_commit"], told["compare_url"]) == (None, f"{PAGE}/compare/{ZERO}...{blob}")


def test_of_very_many_refs_the_last_are_told_briefly(harbour: Harbour) -> None:
    """A webhook must not make a push of thousands of branches wait for git thousands of times."""
    add_hook(harbour.host.database, harbour.ada, events="push")
    old = harbour.git.commit("a", "one\n")
    names = [f"refs/heads/b{number:03}" for number in range(ref_changes.WHOLE + 1)]
    harbour.push(*(f"main:{name}" for name in names))
    harbour.git.commit("b", "two\n")
    new = harbour.git.commit("b", "three\n")
    harbour.push(*(f"main:{name}" for name in names), f"main:{names[-1]}-too")
    pushes = [event for event in recorded(harbour.host.database) if event.kind == "push"]
    told = {one["ref"]: one for event in pushes for one in [json.loads(event.payload)]}
    whole, brief, made = told[names[0]], told[names[-1]], told[f"{names[-1]}-too"]
    assert (whole["before"], whole["total_commits"]) == (old, 2)
    assert whole["commits"][0]["modified"] == ["b"]
    for one, page in ((brief, f"{PAGE}/compare/{old}...{new}"), (made, ROOT)):
        assert ([commit["id"] for commit in one["commits"]], one["total_commits"]) == ([new], 1)
        assert (one["head_commit"]["id"], one["head_commit"]["modified"]) == (new, [])
        assert one["compare_url"] == page


def test_a_deleted_branch_is_no_push(harbour: Harbour) -> None:
    """It is told by its short name."""
    harbour.git.commit("a", "one\n")
    harbour.push("main", "main:refs/heads/feature/x")
    harbour.git("push", "-q", "origin", "--delete", "feature/x")
    assert recorded(harbour.host.database)[-1].kind == "delete"
    assert harbour.told("delete")["ref"] == "feature/x"


def test_a_branch_that_is_gone_when_it_is_told(harbour: Harbour) -> None:
    """Its commits are told as long as git has them; without them, and without a folder, the ids are."""
    harbour.git.commit("a", "one\n")
    harbour.push("main")
    harbour.git("checkout", "-q", "-b", "fix")
    fix = harbour.git.commit("b", "one\n")
    harbour.push("fix")
    harbour.git("push", "-q", "origin", "--delete", "fix")
    assert [commit["id"] for commit in harbour.told("push")["commits"]] == [fix]
    folder = harbour.host.folders.existing(harbour.repository.id)
    run(folder, "gc", "--prune=now", "-q")
    without = harbour.told("push")
    assert (without["after"], without["commits"], without["head_commit"]) == (fix, [], None)
    shutil.rmtree(folder)
    assert harbour.told("push") == without


def test_a_test_shows_one_commit_and_its_signature(harbour: Harbour) -> None:
    """It is a push from a commit to itself."""
    harbour.git.commit("a", "one\n")
    head = harbour.git.commit("a", "two\n")
    harbour.push("main")
    details = {"ref": "refs/heads/main", "before": head, "after": head, "ref_type": "branch"}
    with harbour.host.database.write() as connection:
        record(
            connection,
            "push",
            owner_id=harbour.ada.id,
            repository_id=harbour.repository.id,
            actor_id=harbour.ada.id,
            details=details,
        )
    told = harbour.told("push")
    assert [commit["id"] for commit in told["commits"]] == [head]
    assert told["total_commits"] == 1
    assert told["commits"][0]["verification"]["reason"] == "gpg.error.not_signed_commit"


@pytest.mark.parametrize(
    ("ref", "name"),
    [("refs/heads/a/b", "a/b"), ("refs/tags/refs/heads/x", "refs/heads/x"), ("refs/pull/1", "refs/pull/1")],
)
def test_short_names(ref: str, name: str) -> None:
    """Only what says which kind of ref it is is left out, and only once."""
    assert short(ref) == name
