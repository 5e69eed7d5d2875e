"""Webhook payloads of pushes, branches and tags."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.git.program import run
from holdfast.hosting.services import ref_updates, repositories
from holdfast.hosting.store.events import record
from holdfast.hosting.store.repositories import Repository, find_repository
from holdfast.hosting.webhooks.payloads import payload_of
from holdfast.hosting.webhooks.payloads.pushes import short
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address
from tests.hosting.webhooks.event_helpers import add_hook, last, recorded

ZERO = "0" * 40
ROOT = "http://localhost:3000"
PAGE = f"{ROOT}/ada/ship"


class PushedRepository:
    """A repository of Ada's on a service, her working copy, and the payloads of its events."""

    def __init__(self, clients: ServiceClients, app: App, folder: Path) -> None:
        self.clients, self.host, self.git = clients, app, Git(folder)
        self.ada = clients.account("ada")
        repositories.create(app, self.ada, self.ada, repositories.NewRepository(name="ship"))
        self.git("init", "-q", "-b", "main")
        self.git("remote", "add", "origin", address(clients.service.url, "ada", PASSWORD, "ada/ship"))

    @property
    def repository(self) -> Repository:
        """The repository's row."""
        return find_repository(self.host.database, "ada", "ship")

    def push(self, *arguments: str) -> dict[str, Any]:
        """Push, and return its payload."""
        self.git("push", "-q", "origin", *arguments)
        return self.payload_of_last("push")

    def payload_of_last(self, kind: str) -> dict[str, Any]:
        """Return the payload of the newest event of a kind."""
        result: dict[str, Any] = json.loads(payload_of(self.host, last(self.host.database, kind)))
        return result


@pytest.fixture
def pushed(clients: ServiceClients, tmp_path: Path) -> Iterator[PushedRepository]:
    """Give Ada an empty repository."""
    host = App.open(clients.service.settings)
    yield PushedRepository(clients, host, tmp_path / "work")
    host.close()


def test_the_first_push_of_a_repository(pushed: PushedRepository) -> None:
    """The first push has no commit to compare with, and lists every file as added."""
    first = pushed.git.commit("a b/ä.txt", "one\n", "First\n\nwith more to say")
    payload = pushed.push("main")
    assert list(payload) == [
        *("ref", "before", "after", "compare_url", "commits", "total_commits", "head_commit"),
        *("repository", "pusher", "sender"),
    ]
    assert (payload["ref"], payload["before"], payload["after"]) == ("refs/heads/main", ZERO, first)
    assert (payload["compare_url"], payload["total_commits"]) == (ROOT, 1)
    (commit,) = payload["commits"]
    assert commit == payload["head_commit"]
    assert list(commit) == [
        *("id", "message", "url", "author", "committer", "verification", "timestamp"),
        *("added", "removed", "modified"),
    ]
    assert commit["message"] == "First\n\nwith more to say\n"
    assert commit["url"] == f"{PAGE}/commit/{first}"
    assert commit["author"] == {"name": "Ada", "email": "ada@example.org", "username": "ada"}
    assert commit["verification"] is None
    assert (commit["added"], commit["removed"], commit["modified"]) == (["a b/ä.txt"], [], [])
    assert payload["repository"]["full_name"] == "ada/ship"
    assert payload["pusher"] == payload["sender"]
    assert payload["sender"]["email"] == f"{pushed.ada.id}+ada@noreply.localhost"
    made = pushed.payload_of_last("create")
    assert list(made) == ["sha", "ref", "ref_type", "repository", "sender"]
    assert (made["sha"], made["ref"], made["ref_type"]) == (first, "main", "branch")
    assert [event.kind for event in recorded(pushed.host.database)] == ["repository", "create", "push"]


def test_payloads_have_push_options(pushed: PushedRepository) -> None:
    """The push options are in the payload, in the order in which they were given."""
    pushed.git.commit("a.txt", "one\n", "First")
    assert pushed.push("-o", "ci.skip", "-o", "a=b", "main")["push_options"] == ["ci.skip", "a=b"]


def test_the_commits_of_a_large_push_are_limited(pushed: PushedRepository) -> None:
    """A push lists its newest five commits and their total; a rename is a removed and an added file."""
    base = pushed.git.commit("a", "one\n")
    pushed.push("main")
    for number in range(6):
        pushed.git.commit("a", f"{number}\n", f"change {number}")
    pushed.git("mv", "a", "b")
    pushed.git("commit", "-q", "-m", "move")
    payload = pushed.push("main")
    head = pushed.git("rev-parse", "HEAD")
    assert [commit["message"] for commit in payload["commits"]] == [
        *("move\n", "change 5\n", "change 4\n", "change 3\n", "change 2\n"),
    ]
    assert payload["total_commits"] == 7
    assert payload["compare_url"] == f"{PAGE}/compare/{base}...{head}"
    newest, changed = payload["commits"][:2]
    assert (newest["added"], newest["removed"], newest["modified"]) == (["b"], ["a"], [])
    assert (changed["added"], changed["removed"], changed["modified"]) == ([], [], ["a"])
    assert payload["head_commit"]["id"] == head


def test_a_new_branch(pushed: PushedRepository) -> None:
    """A new branch has its commits that no other branch has, at most ten, and is compared with its base."""
    base = pushed.git.commit("a", "one\n")
    pushed.push("main")
    pushed.git("checkout", "-q", "-b", "feature/x")
    first = pushed.git.commit("b", "1\n", "first")
    head = pushed.git.commit("b", "2\n", "second")
    payload = pushed.push("feature/x")
    assert [commit["id"] for commit in payload["commits"]] == [head, first]
    assert (payload["total_commits"], payload["compare_url"]) == (2, f"{PAGE}/compare/{base}...{head}")
    for number in range(12):
        head = pushed.git.commit("c", f"{number}\n", str(number))
    pushed.git("branch", "long")
    payload = pushed.push("long")
    oldest = pushed.git("rev-parse", "long~9")
    assert (payload["total_commits"], len(payload["commits"])) == (10, 5)
    assert payload["compare_url"] == f"{PAGE}/compare/{pushed.git('rev-parse', oldest + '~1')}...{head}"


def test_a_new_branch_without_commits(pushed: PushedRepository) -> None:
    """A new branch without new commits is compared with the default branch, and has a head commit."""
    head = pushed.git.commit("a", "one\n")
    pushed.push("main")
    payload = pushed.push("main:refs/heads/same")
    assert (payload["commits"], payload["total_commits"]) == ([], 0)
    assert payload["compare_url"] == f"{PAGE}/compare/main...{head}"
    assert payload["head_commit"]["id"] == head


def test_a_force_push_has_its_payload(pushed: PushedRepository) -> None:
    """A forced push lists the new commits, also after the old ones were garbage-collected."""
    pushed.git.commit("a", "one\n")
    old = pushed.git.commit("a", "two\n")
    pushed.push("main")
    pushed.git("reset", "-q", "--hard", "HEAD~1")
    new = pushed.git.commit("a", "three\n")
    payload = pushed.push("--force", "main")
    assert [commit["id"] for commit in payload["commits"]] == [new]
    assert payload["compare_url"] == f"{PAGE}/compare/{old}...{new}"
    run(pushed.host.copies.path(pushed.repository), "gc", "--prune=now", "-q")
    payload = pushed.payload_of_last("push")
    assert (payload["before"], payload["after"], payload["head_commit"]["id"]) == (old, new, new)
    assert payload["commits"][0]["id"] == new


def test_payloads_of_tags(pushed: PushedRepository) -> None:
    """A tag has a head commit but no list of commits, and a deleted tag has neither."""
    head = pushed.git.commit("a", "one\n")
    pushed.push("main")
    pushed.git("tag", "-a", "-m", "Release", "v1/é")
    tag = pushed.git("rev-parse", "v1/é")
    payload = pushed.push("v1/é")
    assert (payload["ref"], payload["after"], payload["total_commits"]) == ("refs/tags/v1/é", tag, 0)
    assert (payload["head_commit"]["id"], payload["compare_url"]) == (head, f"{PAGE}/compare/{ZERO}...{tag}")
    created_payload = pushed.payload_of_last("create")
    assert (created_payload["sha"], created_payload["ref"], created_payload["ref_type"]) == (tag, "v1/é", "tag")
    payload = pushed.push("--delete", "v1/é")
    assert (payload["before"], payload["after"], payload["head_commit"], payload["commits"]) == (
        tag,
        ZERO,
        None,
        [],
    )
    assert payload["compare_url"] == ROOT
    gone = pushed.payload_of_last("delete")
    assert list(gone) == ["ref", "ref_type", "pusher_type", "repository", "sender"]
    assert (gone["ref"], gone["ref_type"], gone["pusher_type"]) == ("v1/é", "tag", "user")


def test_a_tag_that_moves_is_compared_with_where_it_was(pushed: PushedRepository) -> None:
    """A moved tag is compared with its old commit, and a tag of a blob has no head commit."""
    old = pushed.git.commit("a", "one\n")
    new = pushed.git.commit("a", "two\n")
    pushed.git("tag", "v1", old)
    pushed.push("main", "v1")
    pushed.git("tag", "-f", "v1", new)
    payload = pushed.push("--force", "v1")
    assert (payload["before"], payload["after"], payload["compare_url"]) == (
        old,
        new,
        f"{PAGE}/compare/{old}...{new}",
    )
    blob = pushed.git("rev-parse", "HEAD:a")
    pushed.git("tag", "file", blob)
    payload = pushed.push("file")
    assert (payload["head_commit"], payload["compare_url"]) == (None, f"{PAGE}/compare/{ZERO}...{blob}")


def test_of_very_many_refs_the_last_have_short_payloads(pushed: PushedRepository) -> None:
    """Payloads beyond a number of refs have only the head commit, so that a large push is not slow."""
    add_hook(pushed.host.database, pushed.ada, events="push")
    old = pushed.git.commit("a", "one\n")
    names = [f"refs/heads/b{number:03}" for number in range(ref_updates.DETAILED_REFS + 1)]
    pushed.push(*(f"main:{name}" for name in names))
    pushed.git.commit("b", "two\n")
    new = pushed.git.commit("b", "three\n")
    pushed.push(*(f"main:{name}" for name in names), f"main:{names[-1]}-too")
    pushes = [event for event in recorded(pushed.host.database) if event.kind == "push"]
    payload = {item["ref"]: item for event in pushes for item in [json.loads(event.payload)]}
    whole, brief, created_payload = payload[names[0]], payload[names[-1]], payload[f"{names[-1]}-too"]
    assert (whole["before"], whole["total_commits"]) == (old, 2)
    assert whole["commits"][0]["modified"] == ["b"]
    for one, page in ((brief, f"{PAGE}/compare/{old}...{new}"), (created_payload, ROOT)):
        assert ([commit["id"] for commit in one["commits"]], one["total_commits"]) == ([new], 1)
        assert (one["head_commit"]["id"], one["head_commit"]["modified"]) == (new, [])
        assert one["compare_url"] == page


def test_a_deleted_branch_has_no_push_payload(pushed: PushedRepository) -> None:
    """A deleted branch has only a delete event, with its short name."""
    pushed.git.commit("a", "one\n")
    pushed.push("main", "main:refs/heads/feature/x")
    pushed.git("push", "-q", "origin", "--delete", "feature/x")
    assert recorded(pushed.host.database)[-1].kind == "delete"
    assert pushed.payload_of_last("delete")["ref"] == "feature/x"


def test_a_branch_deleted_before_its_payload_is_rendered(pushed: PushedRepository) -> None:
    """Its commits are listed until they are garbage-collected, and afterwards only the ids remain."""
    pushed.git.commit("a", "one\n")
    pushed.push("main")
    pushed.git("checkout", "-q", "-b", "fix")
    fix = pushed.git.commit("b", "one\n")
    pushed.push("fix")
    pushed.git("push", "-q", "origin", "--delete", "fix")
    assert [commit["id"] for commit in pushed.payload_of_last("push")["commits"]] == [fix]
    pushed.host.copies.discard(pushed.repository.id)
    assert [commit["id"] for commit in pushed.payload_of_last("push")["commits"]] == [fix]
    assert pushed.host.compactor.collect_garbage(pushed.repository.id, retention_seconds=-10)
    pushed.host.copies.discard(pushed.repository.id)
    without = pushed.payload_of_last("push")
    assert (without["after"], without["commits"], without["head_commit"]) == (fix, [], None)


def test_a_test_shows_one_commit_and_its_signature(pushed: PushedRepository) -> None:
    """A test of a hook is a push from a commit to itself, which lists that commit with its verification."""
    pushed.git.commit("a", "one\n")
    head = pushed.git.commit("a", "two\n")
    pushed.push("main")
    details = {"ref": "refs/heads/main", "before": head, "after": head, "ref_type": "branch"}
    with pushed.host.database.write() as connection:
        record(
            connection,
            "push",
            owner_id=pushed.ada.id,
            repository_id=pushed.repository.id,
            actor_id=pushed.ada.id,
            details=details,
        )
    payload = pushed.payload_of_last("push")
    assert [commit["id"] for commit in payload["commits"]] == [head]
    assert payload["total_commits"] == 1
    assert payload["commits"][0]["verification"]["reason"] == "gpg.error.not_signed_commit"


@pytest.mark.parametrize(
    ("ref", "name"),
    [("refs/heads/a/b", "a/b"), ("refs/tags/refs/heads/x", "refs/heads/x"), ("refs/pull/1", "refs/pull/1")],
)
def test_short_names(ref: str, name: str) -> None:
    """A short name is the ref without the prefix of its kind, which is removed once."""
    assert short(ref) == name
