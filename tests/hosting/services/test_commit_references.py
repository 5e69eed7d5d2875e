"""Issues closed and reopened by commits on the default branch."""

import json
import threading
from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from holdfast.hosting.app import App
from holdfast.hosting.errors import GitDamaged
from holdfast.hosting.services import commit_references, ref_updates, repositories
from holdfast.hosting.services.closing_keywords import MessageReference
from holdfast.hosting.services.commit_references import MOST_REFERENCES, CommitReference, newest
from holdfast.hosting.services.ref_updates import ActorUpdates
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import dependencies, issues, repository_log
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Branches, IssueChanges, NewIssue
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.webhooks.payloads import payload_of
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address
from tests.hosting.repository_helpers import READ, WRITE, let_in, make_people, recorded_events
from tests.hosting.services.commit_helpers import COMMIT_TIME, commit_as, is_closed, open_issues
from tests.hosting.webhooks.outboxes import Outbox, sending
from tests.hosting.webhooks.receivers import receiving


@pytest.fixture
def ada(app: App) -> Account:
    """Make Ada."""
    return make_people(app.database, "ada")[0]


@pytest.fixture
def ship(app: App, ada: Account) -> Repository:
    """Make a repository of Ada's with one commit."""
    return repositories.create(app, ada, ada, NewRepository(name="ship"), {"a.txt": b"one\n"})


def states(app: App) -> list[tuple[str, int, str]]:
    """Return the events of issues that were closed and reopened, in order."""
    return [
        (facts["action"], facts["number"], facts.get("commit_id", ""))
        for kind, facts in recorded_events(app.database)
        if kind == "issues" and facts["action"] in {"closed", "reopened"}
    ]


def test_a_commit_closes_and_another_opens_again(app: App, ship: Repository, ada: Account) -> None:
    """The count of open issues follows, and each change is one event with the commit, after the push.

    Repeated keywords and unknown issues have no effect.
    """
    open_issues(app, ship, 3)
    first = commit_as(app, ship, ada, "Stop the leak\n\nFixes #1, closes ada/ship#2")
    assert [is_closed(app, ship, number) for number in (1, 2, 3)] == [True, True, False]
    assert store.repository_by_id(app.database, ship.id).open_issues == 1
    assert states(app) == [("closed", 1, first), ("closed", 2, first)]
    assert [kind for kind, _ in recorded_events(app.database)][-3:] == ["push", "issues", "issues"]
    commit_as(app, ship, ada, "fixes #1 again, and again #1; fixes #77, fixes nobody/nothing#1")
    assert len(states(app)) == 2
    second = commit_as(app, ship, ada, "reopens #2, #3")
    assert states(app)[2:] == [("reopened", 2, second)]
    assert store.repository_by_id(app.database, ship.id).open_issues == 2


def test_the_payload_and_the_timeline_name_the_commit(app: App, ship: Repository, ada: Account) -> None:
    """The payload of a webhook has the commit and its actor, and the timeline has the commit."""
    open_issues(app, ship)
    created = commit_as(app, ship, ada, "fixes #1")
    outbox = Outbox(app)
    with receiving() as receiver:
        hook = outbox.hook(receiver.url(), events="issues")
        again = commit_as(app, ship, ada, "reopens #1")
        with sending(app, payload_of=payload_of):
            outbox.drained()
        (seen,) = receiver.seen
    payload = json.loads(seen.body)
    assert outbox.rows(hook)[0].kind == "issues"
    assert (payload["action"], payload["number"], payload["commit_id"]) == ("reopened", 1, again)
    assert (payload["sender"]["login"], payload["issue"]["state"]) == ("ada", "open")
    with app.database.read() as connection:
        rows = connection.exec_driver_sql("SELECT kind, details FROM comments ORDER BY id").all()
    expected = [("close", created), ("reopen", again)]
    assert [(kind, json.loads(details)["commit_id"]) for kind, details in rows] == expected


def test_only_the_default_branch_counts(app: App, ship: Repository, ada: Account) -> None:
    """Closing keywords on another branch take effect when its commits reach the default branch."""
    open_issues(app, ship, 2)
    commit_as(app, ship, ada, "fixes #1", new_branch="other")
    assert not is_closed(app, ship)
    commit_as(app, ship, ada, "fixes #2", branch="other", new_branch="main", force=True)
    assert (is_closed(app, ship, 1), is_closed(app, ship, 2)) == (True, True)


def test_the_first_commit_closes_nothing(app: App, ada: Account) -> None:
    """Keywords in the first commit of a repository are ignored, as it may be a history from elsewhere."""
    empty = repositories.create(app, ada, ada, NewRepository(name="empty"), {})
    open_issues(app, empty)
    with capture_logs() as lines:
        commit_as(app, empty, ada, "fixes #1")
    assert (is_closed(app, empty), lines) == (False, [])
    commit_as(app, store.repository_by_id(app.database, empty.id), ada, "fixes #1")
    assert is_closed(app, empty)


def test_a_blocked_issue_stays_open(app: App, ship: Repository, ada: Account) -> None:
    """The log names the blocked issue and the commit, but not the message.

    One commit can close an issue and its blockers in any order.
    """
    first, second, third = open_issues(app, ship, 3)
    dependencies.add_dependency(app.database, ship, first, second, actor=ada)
    dependencies.add_dependency(app.database, ship, second, third, actor=ada)
    with capture_logs() as lines:
        created = commit_as(app, ship, ada, "fixes #1, a secret")
    assert not is_closed(app, ship)
    (line,) = [line for line in lines if "dependencies" in line["event"]]
    assert (line["issue"], line["repository_id"], line["commit"]) == (1, ship.id, created)
    assert "secret" not in str(lines)
    commit_as(app, ship, ada, "fixes #1, #2, #3")
    assert [number for _, number, _ in states(app)] == [3, 2, 1]
    unblocked = [facts["issue_id"] for kind, facts in recorded_events(app.database) if kind == "issue_unblocked"]
    assert unblocked == [second.id, first.id]


def test_commits_of_users_without_write_access_close_no_issues(app: App, ship: Repository, ada: Account) -> None:
    """Writers close issues of other repositories, unless those are archived or have no issues; readers do not."""
    bob, eve = make_people(app.database, "bob", "eve")
    let_in(app.database, ship, bob, WRITE)
    bobs = repositories.create(app, bob, bob, NewRepository(name="boat", is_private=True), {"a.txt": b"one\n"})
    eves = repositories.create(app, eve, eve, NewRepository(name="raft", is_private=True), {"a.txt": b"one\n"})
    let_in(app.database, ship, eve, READ)
    for target_repository in (ship, bobs, eves):
        open_issues(app, target_repository, 3)
    commit_as(app, eves, eve, "fixes ada/ship#1, bob/boat#1, #1")
    assert [is_closed(app, repository) for repository in (ship, bobs, eves)] == [False, False, True]
    created = commit_as(app, ship, bob, "Fixes BOB/Boat#1 and eve/raft#2")
    assert (is_closed(app, bobs), is_closed(app, eves, 2)) == (True, False)
    assert states(app)[-1] == ("closed", 1, created)
    with app.database.write() as connection:
        store.change_repository(connection, bobs, archived_at=COMMIT_TIME)
        store.change_repository(connection, ship, has_issues=False)
    commit_as(app, ship, bob, "fixes bob/boat#2, #2")
    assert not is_closed(app, bobs, 2)
    assert not is_closed(app, ship, 2)


def test_pull_requests_are_not_closed(app: App, ship: Repository, ada: Account) -> None:
    """A closing keyword with the number of a pull request has no effect."""
    pull = NewIssue(title="It floats", branches=Branches("other", "main"))
    issues.open_issue(app.database, ship, ada, pull)
    commit_as(app, ship, ada, "fixes #1")
    assert not is_closed(app, ship)


def test_each_update_closes_issues_with_the_permissions_of_its_actor(
    app: App, ship: Repository, ada: Account
) -> None:
    """An actor without write access closes none, and neither does a new branch."""
    (bob,) = make_people(app.database, "bob")
    open_issues(app, ship, 3)
    zero = ref_updates.zero_id(ship)
    head = commit_as(app, ship, ada, "nothing")
    created = [commit_as(app, ship, ada, f"fixes #{number}", new_branch=f"b{number}") for number in (1, 2, 3)]
    ref = "refs/heads/main"
    updates = [
        ActorUpdates(bob.id, [RefUpdate(ref, head, created[0])]),
        ActorUpdates(ada.id, [RefUpdate(ref, created[0], created[1])]),
        ActorUpdates(None, [RefUpdate(ref, created[1], created[2])]),
        ActorUpdates(ada.id, [RefUpdate(ref, created[2], zero)]),
        # Like a branch that is new: what it says is about issues elsewhere.
        ActorUpdates(ada.id, [RefUpdate(ref, zero, created[0])]),
    ]
    for update in updates:
        ref_updates.record(app, ship, [update], [], may_delete_default=True)
    assert states(app) == [("closed", 2, created[1])]


def test_a_branch_that_another_request_updated_closes_nothing(app: App, ship: Repository, ada: Account) -> None:
    """A stale update of the default branch closes nothing, even if other refs of the same push are updated."""
    open_issues(app, ship)
    base = commit_as(app, ship, ada, "nothing")
    created = commit_as(app, ship, ada, "fixes #1", new_branch="side")
    before = commit_as(app, ship, ada, "more")
    stale = RefUpdate("refs/heads/main", base, created)
    fine = RefUpdate("refs/heads/new", ref_updates.zero_id(ship), created)
    rejected = ref_updates.record(app, ship, [ActorUpdates(ada.id, [stale, fine])], [], atomic=False)
    assert rejected == [stale]
    assert repository_log.find_ref(app.database, ship.id, "refs/heads/main") == before
    assert repository_log.find_ref(app.database, ship.id, "refs/heads/new") == created
    assert states(app) == []


def test_repositories_that_close_issues_of_each_other_do_not_deadlock(
    app: App, ship: Repository, ada: Account
) -> None:
    """Commits and users close the same issues concurrently; each is closed once, and no call fails."""
    boat = repositories.create(app, ada, ada, NewRepository(name="boat"), {"a.txt": b"one\n"})
    for place in (ship, boat):
        open_issues(app, place, 6)
    failed: list[Exception] = []

    def write(here: Repository, there: Repository) -> None:
        try:
            for number in range(1, 7):
                commit_as(app, here, ada, f"fixes #{number}, ada/{there.name}#{number}")
        except Exception as error:  # noqa: BLE001  # whatever it is, the test fails with it
            failed.append(error)

    def close_by_hand(place: Repository) -> None:
        try:
            for number in range(6, 0, -1):
                issue = issues.find_issue(app.database, place, number)
                issues.change_issue(app.database, place, issue, ada, IssueChanges(is_closed=True))
        except Exception as error:  # noqa: BLE001  # whatever it is, the test fails with it
            failed.append(error)

    threads = [threading.Thread(target=write, args=pair) for pair in ((ship, boat), (boat, ship))]
    threads += [threading.Thread(target=close_by_hand, args=(repository,)) for repository in (ship, boat)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(number for _, number, _ in states(app)) == sorted([*range(1, 7)] * 2)
    assert [store.repository_by_id(app.database, place.id).open_issues for place in (ship, boat)] == [0, 0]


def test_commits_that_cannot_be_read_keep_no_push_from_being_recorded(
    app: App, ship: Repository, ada: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If commit messages cannot be read, the push is recorded, the failure is logged, and no issue is closed."""
    open_issues(app, ship)
    base = commit_as(app, ship, ada, "nothing")
    created = commit_as(app, ship, ada, "fixes #1", new_branch="other")
    issue = issues.find_issue(app.database, ship, 1)

    def fail(*_arguments: object) -> None:
        raise GitDamaged("the object cannot be read")

    monkeypatch.setattr(commit_references, "read_added", fail)
    with capture_logs() as lines:
        ref_updates.update_refs(app, ship, ada, [RefUpdate("refs/heads/main", base, created)])
    assert recorded_events(app.database)[-1][1]["after"] == created
    assert issues.find_issue(app.database, ship, 1) == issue
    assert [line["event"] for line in lines] == ["commit message parsing failed"]


def test_a_push_that_fails_while_closing_issues_changes_nothing(
    app: App, ship: Repository, ada: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash rolls back the branch, its events and the issues, because they are one transaction."""
    open_issues(app, ship, 2)
    before = repository_log.find_ref(app.database, ship.id, "refs/heads/main")
    events = recorded_events(app.database)

    class Crash(BaseException):
        """An exception that `except Exception` does not catch."""

    def crash(*_arguments: object, **_named: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(dependencies, "record_unblocked", crash)
        with pytest.raises(Crash):
            commit_as(app, ship, ada, "fixes #1, #2")
    assert repository_log.find_ref(app.database, ship.id, "refs/heads/main") == before
    assert (is_closed(app, ship, 1), recorded_events(app.database)) == (False, events)
    created = commit_as(app, ship, ada, "fixes #1, #2")
    assert states(app) == [("closed", 1, created), ("closed", 2, created)]


@pytest.fixture
def work(clients: ServiceClients, tmp_path: Path) -> Git:
    """Make a working copy of a repository of Ada's with three issues."""
    clients.account("ada")
    client = clients.open("/api/v1", "ada")
    response = client.post("/user/repos", json={"name": "ship", "auto_init": True, "default_branch": "main"})
    assert response.status_code == 201
    for _ in range(3):
        assert client.post("/repos/ada/ship/issues", json={"title": "It leaks"}).status_code == 201
    git = Git(tmp_path / "work")
    git("clone", "-q", address(clients.service.url, "ada", PASSWORD, "ada/ship"), ".")
    return git


def closed(clients: ServiceClients) -> list[int]:
    """Return the numbers of Ada's closed issues."""
    response = clients.open("/api/v1", "ada").get("/repos/ada/ship/issues", params={"state": "closed"})
    return sorted(item["number"] for item in response.json())


def closing(clients: ServiceClients) -> list[tuple[int, str]]:
    """Return which issues have close events, and by which commits."""
    facts = [
        facts
        for kind, facts in recorded_events(clients.database)
        if kind == "issues" and facts["action"] == "closed"
    ]
    return [(fact["number"], fact["commit_id"]) for fact in facts]


def test_a_push_closes_what_its_commits_say(clients: ServiceClients, work: Git) -> None:
    """The commits of a merged branch close issues when the merge is pushed.

    A commit that is pushed again by force closes no issue twice.
    """
    work("checkout", "-q", "-b", "topic")
    topic = work.commit("b.txt", "b\n", "Fixes #1")
    work("push", "-q", "origin", "topic")
    assert closed(clients) == []
    work("checkout", "-q", "main")
    mine = work.commit("c.txt", "c\n", "Closes: #2")
    work("merge", "-q", "--no-ff", "-m", "Merge topic", "topic")
    work("push", "-q", "origin", "main")
    assert closed(clients) == [1, 2]
    assert set(closing(clients)) == {(1, topic), (2, mine)}
    work("reset", "-q", "--hard", "HEAD~1")
    amended = work.commit("d.txt", "d\n", "closes #2, #3")
    work("push", "-q", "-f", "origin", "main")
    assert closing(clients)[2:] == [(3, amended)]


def test_in_a_long_push_the_last_keyword_wins(clients: ServiceClients, work: Git) -> None:
    """The commits of a push are applied in order, oldest first."""
    tree = work("rev-parse", "HEAD^{tree}")
    at = work("rev-parse", "HEAD")
    for message in (
        "fixes #1, #2, #3",
        *("nothing #1" for _ in range(40)),
        "reopens #2",
        "reopens #3",
        "fixes #3",
    ):
        at = work("commit-tree", tree, "-p", at, "-m", message)
    work("push", "-q", "origin", f"{at}:refs/heads/main")
    assert closed(clients) == [1, 3]
    assert [number for number, _ in closing(clients)] == [1, 3]


def test_every_commit_through_the_api_closes_issues(clients: ServiceClients, work: Git) -> None:
    """Writing a file and moving the default branch close issues, and the timeline has the commits."""
    del work
    client = clients.open("/api/v1", "ada")
    created = client.post(
        "/repos/ada/ship/contents/n.txt", json={"content": "", "message": "fix #1", "new_branch": "side"}
    ).json()
    assert closed(clients) == []
    side = created["commit"]["sha"]
    moved = client.put("/repos/ada/ship/branches/main", json={"new_commit_id": side})
    assert moved.status_code == 204, moved.text
    assert closed(clients) == [1]
    written = client.post("/repos/ada/ship/contents/m.txt", json={"content": "", "message": "fix #2"}).json()
    assert closed(clients) == [1, 2]
    assert commits_of(client, 1) == [side]
    assert commits_of(client, 2) == [written["commit"]["sha"]]


def commits_of(client: httpx.Client, number: int) -> list[str]:
    """Return the commits an issue's timeline says it was closed by."""
    entries = client.get(f"/repos/ada/ship/issues/{number}/timeline").json()
    return [entry["ref_commit_sha"] for entry in entries if entry["type"] == "close"]


def test_references_without_a_keyword_do_not_displace_those_with_one() -> None:
    """The limit applies to references with and without keywords separately, and the newest are kept."""
    closing = CommitReference(1, "a", MessageReference(1, True))
    others = [CommitReference(1, "a", MessageReference(number, None)) for number in range(2 * MOST_REFERENCES)]
    assert newest([closing, *others]) == [closing, *others[-MOST_REFERENCES:]]
