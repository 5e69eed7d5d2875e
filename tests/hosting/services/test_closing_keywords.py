"""Commits that come to the default branch close the issues they say they do, once, and as whoever brought them."""

import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from holdfast.hosting.app import Host
from holdfast.hosting.git.commits import Signature
from holdfast.hosting.services import ref_changes, repositories
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import CommitRequest, commit_files
from holdfast.hosting.services.file_contents import Content
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import dependencies, issues, pending_ref_updates
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Branches, Changes, Issue, NewIssue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.webhooks.payloads import payload_of
from tests.hosting.client import Git, address
from tests.hosting.places import READ, WRITE, let_in, make_people, told
from tests.hosting.webhooks.outboxes import Outbox, sending
from tests.hosting.webhooks.receivers import receiving
from tests.hosting.world import PASSWORD, World

CLOCK = 1_700_000_000


@pytest.fixture
def ada(host: Host) -> Account:
    """Make Ada."""
    return make_people(host.database, "ada")[0]


@pytest.fixture
def ship(host: Host, ada: Account) -> Repository:
    """Make a repository of Ada's with one commit."""
    return repositories.create(host, ada, ada, NewRepository(name="ship"), {"a.txt": b"one\n"})


def open_issues(host: Host, repository: Repository, count: int = 1) -> list[Issue]:
    """Open some issues of the owner's."""
    new = NewIssue(title="It leaks")
    return [issues.open_issue(host.database, repository, repository.owner, new) for _ in range(count)]


def say(host: Host, repository: Repository, actor: Account, message: str, **more: Any) -> str:
    """Commit something with a message as the API does, and return the commit."""
    who = Signature(actor.name, "who@example.org", CLOCK)
    change = FileChange(operation="upload", path="a.txt", content=Content(message.encode()))
    request = CommitRequest(
        repository=repository, actor=actor, changes=[change], author=who, committer=who, message=message, **more
    )
    return commit_files(host, request).commit.id


def is_closed(host: Host, repository: Repository, number: int = 1) -> bool:
    """Tell whether an issue is closed."""
    return issues.find_issue(host.database, repository, number).is_closed


def states(host: Host) -> list[tuple[str, int, str]]:
    """Return what others were told of issues that were closed and opened again, in order."""
    return [
        (facts["action"], facts["number"], facts.get("commit_id", ""))
        for kind, facts in told(host.database)
        if kind == "issues" and facts["action"] in {"closed", "reopened"}
    ]


def test_a_commit_closes_and_another_opens_again(host: Host, ship: Repository, ada: Account) -> None:
    """Counted, told after the push with the commit, and once however often it is said."""
    open_issues(host, ship, 3)
    first = say(host, ship, ada, "Stop the leak\n\nFixes #1, closes ada/ship#2")
    assert [is_closed(host, ship, number) for number in (1, 2, 3)] == [True, True, False]
    assert store.repository_by_id(host.database, ship.id).open_issues == 1
    assert states(host) == [("closed", 1, first), ("closed", 2, first)]
    assert [kind for kind, _ in told(host.database)][-3:] == ["push", "issues", "issues"]
    say(host, ship, ada, "fixes #1 again, and again #1; fixes #77, fixes nobody/nothing#1")
    assert len(states(host)) == 2
    second = say(host, ship, ada, "reopens #2, #3")
    assert states(host)[2:] == [("reopened", 2, second)]
    assert store.repository_by_id(host.database, ship.id).open_issues == 2


def test_what_others_see(host: Host, ship: Repository, ada: Account) -> None:
    """The payload of a webhook names the commit and whoever brought it, and so does the timeline."""
    open_issues(host, ship)
    made = say(host, ship, ada, "fixes #1")
    outbox = Outbox(host)
    with receiving() as receiver:
        hook = outbox.hook(receiver.url(), events="issues")
        again = say(host, ship, ada, "reopens #1")
        with sending(host, payload_of=payload_of):
            outbox.drained()
        (seen,) = receiver.seen
    payload = json.loads(seen.body)
    assert outbox.rows(hook)[0].kind == "issues"
    assert (payload["action"], payload["number"], payload["commit_id"]) == ("reopened", 1, again)
    assert (payload["sender"]["login"], payload["issue"]["state"]) == ("ada", "open")
    with host.database.read() as connection:
        rows = connection.exec_driver_sql("SELECT kind, details FROM comments ORDER BY id").all()
    expected = [("close", made), ("reopen", again)]
    assert [(kind, json.loads(details)["commit_id"]) for kind, details in rows] == expected


def test_only_the_default_branch_counts(host: Host, ship: Repository, ada: Account) -> None:
    """Until what was said elsewhere comes there; a branch that is put on top of another brings all of it."""
    open_issues(host, ship, 2)
    say(host, ship, ada, "fixes #1", new_branch="other")
    assert not is_closed(host, ship)
    say(host, ship, ada, "fixes #2", branch="other", new_branch="main", force=True)
    assert (is_closed(host, ship, 1), is_closed(host, ship, 2)) == (True, True)


def test_the_first_commit_closes_nothing(host: Host, ada: Account) -> None:
    """A history that comes from elsewhere has nothing to do with the issues here."""
    empty = repositories.create(host, ada, ada, NewRepository(name="empty"), {})
    open_issues(host, empty)
    with capture_logs() as lines:
        say(host, empty, ada, "fixes #1")
    assert (is_closed(host, empty), lines) == (False, [])
    say(host, store.repository_by_id(host.database, empty.id), ada, "fixes #1")
    assert is_closed(host, empty)


def test_an_issue_that_waits_stays_open(host: Host, ship: Repository, ada: Account) -> None:
    """That is in the log without a word of the message; with what it waits for it is closed, in any order."""
    first, second, third = open_issues(host, ship, 3)
    dependencies.add_dependency(host.database, ship, first, second, actor=ada)
    dependencies.add_dependency(host.database, ship, second, third, actor=ada)
    with capture_logs() as lines:
        made = say(host, ship, ada, "fixes #1, a secret")
    assert not is_closed(host, ship)
    (line,) = [line for line in lines if "dependencies" in line["event"]]
    assert (line["issue"], line["repository_id"], line["commit"]) == (1, ship.id, made)
    assert "secret" not in str(lines)
    assert pending_ref_updates.pending_updates(host.database) == []
    say(host, ship, ada, "fixes #1, #2, #3")
    assert [number for _, number, _ in states(host)] == [3, 2, 1]
    unblocked = [facts["issue_id"] for kind, facts in told(host.database) if kind == "issue_unblocked"]
    assert unblocked == [second.id, first.id]


def test_whoever_may_not_change_issues_closes_none(host: Host, ship: Repository, ada: Account) -> None:
    """Writers do, readers do not, archived repositories and those without issues stay as they are."""
    bob, eve = make_people(host.database, "bob", "eve")
    let_in(host.database, ship, bob, WRITE)
    bobs = repositories.create(host, bob, bob, NewRepository(name="boat", is_private=True), {"a.txt": b"one\n"})
    eves = repositories.create(host, eve, eve, NewRepository(name="raft", is_private=True), {"a.txt": b"one\n"})
    let_in(host.database, ship, eve, READ)
    for place in (ship, bobs, eves):
        open_issues(host, place, 3)
    say(host, eves, eve, "fixes ada/ship#1, bob/boat#1, #1")
    assert [is_closed(host, place) for place in (ship, bobs, eves)] == [False, False, True]
    made = say(host, ship, bob, "Fixes BOB/Boat#1 and eve/raft#2")
    assert (is_closed(host, bobs), is_closed(host, eves, 2)) == (True, False)
    assert states(host)[-1] == ("closed", 1, made)
    with host.database.write() as connection:
        store.change_repository(connection, bobs, archived_at=CLOCK)
        store.change_repository(connection, ship, has_issues=False)
    say(host, ship, bob, "fixes bob/boat#2, #2")
    assert not is_closed(host, bobs, 2)
    assert not is_closed(host, ship, 2)


def test_pull_requests_are_left_alone(host: Host, ship: Repository, ada: Account) -> None:
    """Only issues are closed."""
    pull = NewIssue(title="It floats", branches=Branches("other", "main"))
    issues.open_issue(host.database, ship, ada, pull)
    say(host, ship, ada, "fixes #1")
    assert not is_closed(host, ship)


def test_many_at_once_are_each_heard(host: Host, ship: Repository, ada: Account) -> None:
    """What several people's commits of one batch ask for is done as each of them may."""
    (bob,) = make_people(host.database, "bob")
    open_issues(host, ship, 3)
    zero = ref_changes.zero_id(ship)
    head = say(host, ship, ada, "nothing")
    made = [say(host, ship, ada, f"fixes #{number}", new_branch=f"b{number}") for number in (1, 2)]
    ref = "refs/heads/main"
    announced = [
        ref_changes.Announced(bob.id, [], [pending_ref_updates.Move(ref, head, made[0])]),
        ref_changes.Announced(
            ada.id,
            [],
            [pending_ref_updates.Move(ref, head, made[1]), pending_ref_updates.Move(ref, zero, made[0])],
        ),
        ref_changes.Announced(
            None, [], [pending_ref_updates.Move(ref, head, made[0]), pending_ref_updates.Move(ref, made[0], zero)]
        ),
    ]
    ref_changes.settle_all(host, ship, announced)
    assert states(host) == [("closed", 2, made[1])]


def test_repositories_that_close_each_others_issues_do_not_wait_in_a_circle(
    host: Host, ship: Repository, ada: Account
) -> None:
    """While people close by hand as well; each issue is closed once, and nobody fails."""
    boat = repositories.create(host, ada, ada, NewRepository(name="boat"), {"a.txt": b"one\n"})
    for place in (ship, boat):
        open_issues(host, place, 6)
    failed: list[Exception] = []

    def write(here: Repository, there: Repository) -> None:
        try:
            for number in range(1, 7):
                say(host, here, ada, f"fixes #{number}, ada/{there.name}#{number}")
        except Exception as error:  # noqa: BLE001  # whatever it is, the test fails with it
            failed.append(error)

    def close_by_hand(place: Repository) -> None:
        try:
            for number in range(6, 0, -1):
                issue = issues.find_issue(host.database, place, number)
                issues.change_issue(host.database, place, issue, ada, Changes(is_closed=True))
        except Exception as error:  # noqa: BLE001  # whatever it is, the test fails with it
            failed.append(error)

    threads = [threading.Thread(target=write, args=pair) for pair in ((ship, boat), (boat, ship))]
    threads += [threading.Thread(target=close_by_hand, args=(place,)) for place in (ship, boat)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(number for _, number, _ in states(host)) == sorted([*range(1, 7)] * 2)
    assert [store.repository_by_id(host.database, place.id).open_issues for place in (ship, boat)] == [0, 0]
    assert pending_ref_updates.pending_updates(host.database) == []


def test_commits_that_are_gone_keep_no_push_from_being_told(host: Host, ship: Repository, ada: Account) -> None:
    """The branch has moved, whatever its messages say."""
    open_issues(host, ship)
    made = say(host, ship, ada, "fixes #1", new_branch="other")
    issue = issues.find_issue(host.database, ship, 1)
    move = pending_ref_updates.Move("refs/heads/main", "1" * 40, made)
    with capture_logs() as lines:
        ref_changes.settle(host, ship, ada.id, [], [move])
    assert told(host.database)[-1][1]["after"] == made
    assert issues.find_issue(host.database, ship, 1) == issue
    assert [line["event"] for line in lines] == ["new commits cannot be read"]


@pytest.mark.parametrize("midway", [False, True])
def test_what_a_crash_left_is_closed_once(
    host: Host, ship: Repository, ada: Account, *, midway: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies after the branch moved, perhaps while it closes: the next start does all of it."""
    open_issues(host, ship, 2)

    class Crash(BaseException):
        """Ends a process without any of its clean-up."""

    def crash(*_arguments: object, **_named: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        if midway:
            patch.setattr(dependencies, "tell_unblocked", crash)
        else:
            patch.setattr(ref_changes, "settle_all", crash)
        with pytest.raises(Crash):
            say(host, ship, ada, "fixes #1, #2")
    (pending,) = pending_ref_updates.pending_updates(host.database)
    assert (is_closed(host, ship, 1), states(host)) == (False, [])
    assert ref_changes.recover(host) == 1
    assert states(host) == [("closed", 1, pending.move.new), ("closed", 2, pending.move.new)]
    assert ref_changes.recover(host) == 0
    issues.change_issue(
        host.database, ship, issues.find_issue(host.database, ship, 1), ada, Changes(is_closed=False)
    )
    assert ref_changes.recover(host) == 0
    assert not is_closed(host, ship)


@pytest.fixture
def work(world: World, tmp_path: Path) -> Git:
    """Make a working copy of a repository of Ada's with three issues."""
    world.account("ada")
    client = world.open("/api/v1", "ada")
    made = client.post("/user/repos", json={"name": "ship", "auto_init": True, "default_branch": "main"})
    assert made.status_code == 201
    for _ in range(3):
        assert client.post("/repos/ada/ship/issues", json={"title": "It leaks"}).status_code == 201
    git = Git(tmp_path / "work")
    git("clone", "-q", address(world.service.url, "ada", PASSWORD, "ada/ship"), ".")
    return git


def closed(world: World) -> list[int]:
    """Return the numbers of Ada's closed issues."""
    found = world.open("/api/v1", "ada").get("/repos/ada/ship/issues", params={"state": "closed"})
    return sorted(one["number"] for one in found.json())


def closing(world: World) -> list[tuple[int, str]]:
    """Return which issues were told to be closed, by which commits."""
    facts = [facts for kind, facts in told(world.database) if kind == "issues" and facts["action"] == "closed"]
    return [(one["number"], one["commit_id"]) for one in facts]


def test_a_push_closes_what_its_commits_say(world: World, work: Git) -> None:
    """Merged branches count once they are merged, and what is pushed again by force closes nothing twice."""
    work("checkout", "-q", "-b", "topic")
    topic = work.commit("b.txt", "b\n", "Fixes #1")
    work("push", "-q", "origin", "topic")
    assert closed(world) == []
    work("checkout", "-q", "main")
    mine = work.commit("c.txt", "c\n", "Closes: #2")
    work("merge", "-q", "--no-ff", "-m", "Merge topic", "topic")
    work("push", "-q", "origin", "main")
    assert closed(world) == [1, 2]
    assert set(closing(world)) == {(1, topic), (2, mine)}
    work("reset", "-q", "--hard", "HEAD~1")
    amended = work.commit("d.txt", "d\n", "closes #2, #3")
    work("push", "-q", "-f", "origin", "main")
    assert closing(world)[2:] == [(3, amended)]


def test_a_long_push_is_heard_and_the_last_word_counts(world: World, work: Git) -> None:
    """Commit for commit, oldest first."""
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
    assert closed(world) == [1, 3]
    assert [number for number, _ in closing(world)] == [1, 3]


def test_everything_that_commits_through_the_api_closes(world: World, work: Git) -> None:
    """A file that is written, a branch that is moved; the timeline names the commit."""
    del work
    client = world.open("/api/v1", "ada")
    made = client.post(
        "/repos/ada/ship/contents/n.txt", json={"content": "", "message": "fix #1", "new_branch": "side"}
    ).json()
    assert closed(world) == []
    side = made["commit"]["sha"]
    moved = client.put("/repos/ada/ship/branches/main", json={"new_commit_id": side})
    assert moved.status_code == 204, moved.text
    assert closed(world) == [1]
    written = client.post("/repos/ada/ship/contents/m.txt", json={"content": "", "message": "fix #2"}).json()
    assert closed(world) == [1, 2]
    assert commits_of(client, 1) == [side]
    assert commits_of(client, 2) == [written["commit"]["sha"]]


def commits_of(client: httpx.Client, number: int) -> list[str]:
    """Return the commits an issue's timeline says it was closed by."""
    entries = client.get(f"/repos/ada/ship/issues/{number}/timeline").json()
    return [entry["ref_commit_sha"] for entry in entries if entry["type"] == "close"]
