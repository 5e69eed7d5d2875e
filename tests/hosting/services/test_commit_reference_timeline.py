"""Timeline entries of commits that refer to issues."""

import json
import threading
from pathlib import Path

import pytest
from sqlalchemy import event

from holdfast.hosting.app import App
from holdfast.hosting.services import ref_updates, repositories
from holdfast.hosting.services.commit_references import MOST_COMMITS_ON_ISSUE
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import issues, repository_log
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Branches, NewIssue
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address
from tests.hosting.repository_helpers import READ, WRITE, let_in, make_people, recorded_events
from tests.hosting.services.commit_helpers import commit_as, is_closed, open_issues

Entry = tuple[str, int, str, str]


@pytest.fixture
def ada(app: App) -> Account:
    """Make Ada."""
    return make_people(app.database, "ada")[0]


@pytest.fixture
def ship(app: App, ada: Account) -> Repository:
    """Make a repository of Ada's with one commit."""
    return repositories.create(app, ada, ada, NewRepository(name="ship"), {"a.txt": b"one\n"})


def entries(app: App) -> list[Entry]:
    """Return the entries of all timelines: the repository, the issue, the kind and the commit."""
    asked = (
        "SELECT r.name, i.number, c.kind, c.details FROM comments c JOIN issues i ON i.id = c.issue_id "
        "JOIN repositories r ON r.id = i.repository_id ORDER BY c.id"
    )
    with app.database.read() as connection:
        rows = connection.exec_driver_sql(asked).all()
    return [(name, number, kind, json.loads(details)["commit_id"]) for name, number, kind, details in rows]


def test_a_commit_is_on_the_timelines_of_the_issues_it_names(app: App, ship: Repository, ada: Account) -> None:
    """Each issue or pull request that a commit message names gets one timeline entry for the commit.

    The issue counts as updated, its comment count stays, and the push is the only event.
    """
    open_issues(app, ship, 2)
    pull = NewIssue(title="It floats", branches=Branches("other", "main"))
    issues.open_issue(app.database, ship, ada, pull)
    with app.database.write() as connection:
        connection.exec_driver_sql("UPDATE issues SET updated_at = 5")
    before = len(recorded_events(app.database))
    created = commit_as(app, ship, ada, "Look at #1, #1 and #3\n\nAlso ADA/Ship#1, #9 and #0")
    assert entries(app) == [("ship", 1, "commit_ref", created), ("ship", 3, "commit_ref", created)]
    changed = [issues.find_issue(app.database, ship, number).updated_at > 5 for number in (1, 2, 3)]
    assert changed == [True, False, True]
    assert [kind for kind, _ in recorded_events(app.database)[before:]] == ["push"]
    assert [issues.find_issue(app.database, ship, number).comment_count for number in (1, 3)] == [0, 0]


def test_a_closing_commit_has_one_entry(app: App, ship: Repository, ada: Account) -> None:
    """A commit that closes an issue has a close entry only; for a closed issue it has a reference entry."""
    open_issues(app, ship)
    first = commit_as(app, ship, ada, "fixes #1")
    second = commit_as(app, ship, ada, "fixes #1 for good")
    assert entries(app) == [("ship", 1, "close", first), ("ship", 1, "commit_ref", second)]


def test_only_the_default_branch_counts_and_each_commit_once(app: App, ship: Repository, ada: Account) -> None:
    """A branch that is reset and moved forward again adds no second entry for the same commit."""
    open_issues(app, ship)
    base = commit_as(app, ship, ada, "begin")
    side = commit_as(app, ship, ada, "see #1", new_branch="side")
    assert entries(app) == []
    for old, new in ((base, side), (side, base), (base, side)):
        ref_updates.update_refs(app, ship, ada, [RefUpdate("refs/heads/main", old, new)])
    assert entries(app) == [("ship", 1, "commit_ref", side)]


def test_references_to_other_repositories_require_write_access(app: App, ship: Repository, ada: Account) -> None:
    """A commit adds no entries where its author may only read, nor in repositories archived or without issues."""
    bob, eve = make_people(app.database, "bob", "eve")
    boat = repositories.create(app, bob, bob, NewRepository(name="boat"), {"a.txt": b"one\n"})
    raft = repositories.create(app, eve, eve, NewRepository(name="raft"), {"a.txt": b"one\n"})
    let_in(app.database, boat, eve, READ)
    let_in(app.database, ship, eve, WRITE)
    for repository in (ship, boat, raft):
        open_issues(app, repository)
    created = commit_as(app, raft, eve, "see ada/ship#1, bob/boat#1, no/body#1 and #1")
    assert sorted(entries(app)) == [("raft", 1, "commit_ref", created), ("ship", 1, "commit_ref", created)]
    with app.database.write() as connection:
        store.change_repository(connection, ship, archived_at=1)
        store.change_repository(connection, raft, has_issues=False)
    commit_as(app, store.repository_by_id(app.database, raft.id), eve, "again ada/ship#1 and #1")
    assert len(entries(app)) == 2


def test_of_many_commits_the_newest_have_entries(app: App, ship: Repository, ada: Account) -> None:
    """An issue has entries of the newest commits only, and a commit that is pushed again adds none."""
    open_issues(app, ship)
    commits = [commit_as(app, ship, ada, "0 of #1", new_branch="side")]
    commits += [
        commit_as(app, ship, ada, f"{number} of #1", branch="side")
        for number in range(1, MOST_COMMITS_ON_ISSUE + 3)
    ]
    base = repository_log.find_ref(app.database, ship.id, "refs/heads/main") or ""
    for old, new in ((base, commits[-1]), (commits[-1], base), (base, commits[-1])):
        ref_updates.update_refs(app, ship, ada, [RefUpdate("refs/heads/main", old, new)])
    assert [commit for _, _, _, commit in entries(app)] == commits[-MOST_COMMITS_ON_ISSUE:]


def test_a_message_without_a_number_sign_runs_no_further_queries(app: App, ship: Repository, ada: Account) -> None:
    """A commit message without a number sign adds no queries for closing or referencing issues."""
    open_issues(app, ship)
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        seen.append(statement)

    event.listen(app.database.engine, "before_cursor_execute", note)
    try:
        commit_as(app, ship, ada, "nothing of that kind")
        # Every write asks which open pull requests have the branch as their head, by an index.
        rest = [request for request in seen if "issues.head_repository_id = " not in request]
        assert len(seen) - len(rest) <= 1
        assert not [item for item in rest if "comments" in item or "issues" in item]
        commit_as(app, ship, ada, "see #1")
        assert [request for request in seen if "comments" in request]
    finally:
        event.remove(app.database.engine, "before_cursor_execute", note)


def test_concurrent_commits_reference_one_issue(app: App, ship: Repository, ada: Account) -> None:
    """Commits of three threads in two repositories have one entry each on both issues."""
    boat = repositories.create(app, ada, ada, NewRepository(name="boat"), {"a.txt": b"one\n"})
    for target_repository in (ship, boat):
        open_issues(app, target_repository)
    created: list[str] = []

    def write(here: Repository, who: int) -> None:
        texts = (f"{who}, {number}: see ada/ship#1, ada/boat#1" for number in range(5))
        created.extend(commit_as(app, here, ada, message) for message in texts)

    threads = [
        threading.Thread(target=write, args=(repository, who)) for who, repository in enumerate((ship, boat, ship))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(created)) == 15
    expected = [(name, 1, "commit_ref", commit) for name in ("boat", "ship") for commit in sorted(created)]
    assert sorted(entries(app)) == expected
    assert not is_closed(app, ship)


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_push_shows_on_the_timeline(clients: ServiceClients, tmp_path: Path) -> None:
    """The timeline in the API has the commit and the user who pushed it; the comments do not."""
    clients.account("ada")
    client = clients.open("/api/v1", "ada")
    response = client.post("/user/repos", json={"name": "ship", "auto_init": True, "default_branch": "main"})
    assert response.status_code == 201
    assert client.post("/repos/ada/ship/issues", json={"title": "It leaks"}).status_code == 201
    git = Git(tmp_path / "work")
    git("clone", "-q", address(clients.service.url, "ada", PASSWORD, "ada/ship"), ".")
    commit = git.commit("b.txt", "b\n", "Look into #1")
    git("push", "-q", "origin", "main")
    (entry,) = client.get("/repos/ada/ship/issues/1/timeline").json()
    assert (entry["type"], entry["ref_commit_sha"], entry["user"]["login"]) == ("commit_ref", commit, "ada")
    assert client.get("/repos/ada/ship/issues/1/comments").json() == []
    assert client.get("/repos/ada/ship/issues/1").json()["comments"] == 0
