"""Webhook payloads, rendered in the transaction of their event."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from sqlalchemy.exc import OperationalError

from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchRepository
from holdfast.hosting.git.commits import Signature
from holdfast.hosting.services import file_commits, ref_updates, repositories
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import CommitRequest
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.store import (
    accounts,
    assignees,
    comments,
    dependencies,
    issue_labels,
    issues,
    labels,
    milestones,
    repository_log,
)
from holdfast.hosting.store import repositories as stored
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.event_types import EVENTS
from holdfast.hosting.store.events import Event
from holdfast.hosting.store.hooks import Hook
from holdfast.hosting.store.issues import Branches, IssueChanges, NewIssue
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.repository_events import record_changed, record_renamed
from holdfast.hosting.webhooks.payloads import payload_of
from tests.hosting.repository_helpers import make_people
from tests.hosting.webhooks.event_helpers import add_hook, recorded


@pytest.fixture
def ada(app: App) -> Account:
    """Make Ada."""
    return make_people(app.database, "Ada", email="ada@example.org")[0]


@pytest.fixture
def system_hook(app: App, ada: Account) -> Hook:
    """Make a hook of the whole service that is subscribed to all events."""
    return add_hook(app.database, ada, scope="system", owner_id=None, events=",".join(EVENTS))


@pytest.fixture
def home(app: App, ada: Account, system_hook: Hook) -> Repository:
    """Give Ada a repository with one commit, created after the hook."""
    del system_hook
    return repositories.create(app, ada, ada, repositories.NewRepository(name="ship"), {"a": b"a"})


def commit(app: App, home: Repository, ada: Account, path: str, message: str = "", **more: Any) -> str:
    """Commit a file through what the API calls, and return the commit's id."""
    who = Signature("Ada", "ada@example.org", 1_700_000_000)
    change = FileChange(operation="create", path=path, content=FileContent(b"x"))
    request = CommitRequest(
        repository=home, actor=ada, changes=[change], author=who, committer=who, message=message, **more
    )
    return file_commits.commit_files(app, request).commit.id


def payloads(app: App) -> dict[str, Any]:
    """Return the newest stored payload of each kind and action."""
    return {
        f"{event.kind} {payload.get('action', '')}".strip(): payload
        for event in recorded(app.database)
        for payload in [json.loads(event.payload)]
    }


def render_again(app: App, event: Event) -> Any:
    """Render the payload of an event again, from the current state."""
    return json.loads(payload_of(app, replace(event, payload="")))


def test_each_event_of_an_issue_has_the_state_of_its_time(app: App, ada: Account, home: Repository) -> None:
    """The payload of an event does not change with later edits, renames and deletions."""
    database = app.database
    bug = labels.add_label(database, home, "bug", "f00")
    goal = milestones.add_milestone(database, home, ada, "1.0")
    new = NewIssue(title="It leaks", labels=[bug], assignees=[ada], milestone_id=goal.id)
    issue = issues.open_issue(database, home, ada, new)
    comment = comments.add_comment(database, home, issue, ada, "Pump!")
    comments.edit_comment(database, home, issue, comment, actor=ada, body="Pump faster!")
    issues.change_issue(database, home, issue, ada, IssueChanges(title="It sinks"))
    issues.change_issue(database, home, issue, ada, IssueChanges(labels=[], assignees=[], is_closed=True))
    comments.delete_comment(database, home, issue, comment, actor=ada)
    with database.write() as connection:
        stored.rename_repository(connection, home, "wreck")
        record_renamed(connection, home, ada)
    accounts.rename_account(database, ada, "Countess")
    before = [event.payload for event in recorded(database)]
    issues.delete_issue(database, home, issue, ada)
    repositories.remove(app, stored.repository_by_id(database, home.id), ada)
    assert [event.payload for event in recorded(database)][: len(before)] == before

    told = payloads(app)
    opened = told["issues opened"]
    assert (opened["issue"]["title"], opened["issue"]["state"], opened["issue"]["comments"]) == (
        "It leaks",
        "open",
        0,
    )
    assert [label["name"] for label in opened["issue"]["labels"]] == ["bug"]
    assert [assignee["login"] for assignee in opened["issue"]["assignees"]] == ["Ada"]
    assert opened["issue"]["milestone"]["open_issues"] == 1
    assert opened["repository"]["open_issues_count"] == 1
    assert told["issue_comment created"]["comment"]["body"] == "Pump!"
    assert told["issue_comment created"]["issue"]["comments"] == 1
    assert told["issue_comment created"]["issue"]["title"] == "It leaks"
    edited = told["issue_comment edited"]
    assert (edited["comment"]["body"], edited["changes"]["body"]["from"]) == ("Pump faster!", "Pump!")
    assert (told["issues edited"]["issue"]["title"], told["issues edited"]["issue"]["state"]) == (
        "It sinks",
        "open",
    )
    cleared = told["issue_label label_cleared"]
    assert (cleared["issue"]["labels"], cleared["issue"]["state"]) == ([], "open")
    assert [assignee["login"] for assignee in cleared["issue"]["assignees"]] == ["Ada"]
    assert told["issue_assign unassigned"]["issue"]["assignees"] is None
    closed = told["issues closed"]
    assert (closed["issue"]["state"], closed["issue"]["comments"]) == ("closed", 1)
    assert (closed["issue"]["milestone"]["open_issues"], closed["repository"]["open_issues_count"]) == (0, 0)
    assert told["issue_comment deleted"]["issue"]["comments"] == 0
    assert told["issue_comment deleted"]["comment"]["body"] == "Pump faster!"
    assert {told[name]["repository"]["full_name"] for name in ("issues opened", "issues closed")} == {"Ada/ship"}
    assert told["repository renamed"]["repository"]["full_name"] == "Ada/wreck"
    assert (told["issues deleted"]["sender"]["login"], told["issues deleted"]["number"]) == ("Countess", 1)
    assert told["repository deleted"]["repository"]["full_name"] == "Countess/wreck"


def steps(app: App, home: Repository, ada: Account) -> list[Callable[[], object]]:
    """Return actions to be run in order, each with an event of another kind or action at its end."""
    database = app.database
    bug = labels.add_label(database, home, "bug", "f00")
    goal = milestones.add_milestone(database, home, ada, "1.0")
    one, other = (issues.open_issue(database, home, ada, NewIssue(title=title)) for title in "ab")
    pull = issues.open_issue(database, home, ada, NewIssue(title="c", branches=Branches("fix", "main")))

    def now() -> Repository:
        return stored.repository_by_id(database, home.id)

    def move(ref: str, old: str, new: str) -> None:
        none = "0" * 40
        ref_updates.update_refs(app, now(), ada, [RefUpdate(ref, old or none, new or none)])

    def target(branch: str) -> str:
        return repository_log.find_ref(database, home.id, f"refs/heads/{branch}") or ""

    def settings(**columns: str | bool | int) -> None:
        repository = now()
        with database.write() as connection:
            stored.change_repository(connection, repository, **columns)
            record_changed(connection, repository, ada, columns)

    head = target("main")
    return [
        *(
            (lambda wanted=wanted, issue=issue: issues.change_issue(database, home, issue, ada, wanted))
            for issue in (one, pull)
            for wanted in (
                IssueChanges(title="d"),
                IssueChanges(labels=[bug]),
                IssueChanges(labels=[]),
                IssueChanges(assignees=[ada]),
                IssueChanges(assignees=[]),
                IssueChanges(milestone_id=goal.id),
                IssueChanges(milestone_id=0),
                IssueChanges(is_closed=True),
                IssueChanges(is_closed=False),
            )
        ),
        lambda: comments.add_comment(database, home, pull, ada, "e"),
        lambda: issue_labels.add_labels(database, home, pull, ada, [bug]),
        lambda: assignees.add_assignees(database, home, one, ada, [ada]),
        lambda: dependencies.add_dependency(database, home, one, other, actor=ada),
        lambda: issues.change_issue(database, home, other, ada, IssueChanges(is_closed=True)),
        lambda: dependencies.remove_dependency(database, home, one, other, actor=ada),
        lambda: move("refs/heads/fix", "", head),
        lambda: move("refs/tags/v1", "", head),
        lambda: commit(app, now(), ada, "first"),
        lambda: commit(app, now(), ada, "second", message=f"Fixes #{one.number}"),
        lambda: move("refs/heads/fix", head, target("main")),
        lambda: move("refs/heads/fix", target("fix"), ""),
        lambda: move("refs/tags/v1", head, ""),
        lambda: settings(description="f"),
        lambda: settings(is_private=True),
        lambda: settings(archived_at=1),
    ]


def test_a_stored_payload_shows_the_state_right_after_the_event(app: App, ada: Account, home: Repository) -> None:
    """The stored payload of each kind of event equals one that is rendered right after the transaction."""
    kinds = set()
    for do in steps(app, home, ada):
        count = len(recorded(app.database))
        with app.database.write() as connection:
            # A time that is written too late would otherwise be the same second.
            for table in ("repositories", "issues"):
                connection.exec_driver_sql(f"UPDATE {table} SET updated_at = 1")
        do()
        new = recorded(app.database)[count:]
        assert new
        assert all(event.payload for event in new)
        assert json.loads(new[-1].payload) == render_again(app, new[-1])
        kinds |= {event.kind for event in new}
    never = {"fork", "wiki", "release", "package", "status", "workflow_run", "workflow_job"}
    reviews = {"pull_request_review", "pull_request_review_request"}
    assert kinds | {"issue_comment"} == set(EVENTS) - never - reviews | {"issue_comment"}


def test_a_commit_records_its_push_and_closed_issues_in_order(app: App, ada: Account, home: Repository) -> None:
    """The payload of the push still counts the issue as open, and those of the later events as closed."""
    database = app.database
    first, second = (issues.open_issue(database, home, ada, NewIssue(title=title)) for title in "ab")
    dependencies.add_dependency(database, home, second, first, actor=ada)
    commit_id = commit(app, home, ada, "fix", message="Fixes #1")
    events = [(event.kind, json.loads(event.payload)) for event in recorded(database)][-3:]
    assert [kind for kind, _ in events] == ["push", "issues", "issue_unblocked"]
    push, closed, unblocked = (told for _, told in events)
    assert [commit["id"] for commit in push["commits"]] == [commit_id]
    assert push["commits"][0]["author"]["username"] == "Ada"
    assert push["commits"][0]["added"] == ["fix"]
    counts = [told["repository"]["open_issues_count"] for told in (push, closed, unblocked)]
    assert counts == [2, 1, 1]
    assert (closed["issue"]["state"], closed["commit_id"]) == ("closed", commit_id)
    assert (unblocked["blocker"]["state"], unblocked["issue"]["blocked_by_count"]) == ("closed", 0)


def test_the_files_of_a_push_equal_those_of_git(app: App, ada: Account, home: Repository) -> None:
    """Added, changed, executable, renamed and deleted files are in the payload as git compares the commits."""
    who = Signature("Ada", "ada@example.org", 1_700_000_000)

    def put(operation: Any, path: str, content: bytes | None = b"x", **more: Any) -> FileChange:
        return FileChange(
            operation=operation, path=path, content=None if content is None else FileContent(content), **more
        )

    def blob(content: bytes) -> str:
        return FileContent(content).blob_id

    for changes, expected in (
        ([put("create", "d/ä")], [["d/ä"], [], []]),
        ([put("upload", "d/ä", b"y")], [[], [], ["d/ä"]]),
        ([put("upload", "d/ä", b"y")], [[], [], []]),
        ([put("upload", "d/ä", b"y", mode=0o100755)], [[], [], ["d/ä"]]),
        ([put("update", "e", b"y", from_path="d/ä", sha=blob(b"y"))], [["e"], ["d/ä"], []]),
        ([put("rename", "f", None, from_path="e", sha=blob(b"y"))], [["f"], ["e"], []]),
        ([put("create", "g"), put("update", "a", b"z", sha=blob(b"a"))], [["g"], [], ["a"]]),
        ([put("delete", "f", None, sha=blob(b"y"))], [[], ["f"], []]),
    ):
        request = CommitRequest(repository=home, actor=ada, changes=changes, author=who, committer=who)
        file_commits.commit_files(app, request)
        event = recorded(app.database)[-1]
        payload = json.loads(event.payload)
        assert payload == render_again(app, event)
        assert [payload["head_commit"][name] for name in ("added", "removed", "modified")] == expected


def test_a_deleted_blocker_blocks_no_more(app: App, ada: Account, home: Repository) -> None:
    """The payload of an unblocked issue has its deleted blocker, deleted alone or with its repository."""
    database = app.database
    repository = repositories.create(app, ada, ada, repositories.NewRepository(name="dock"), {"a": b"a"})
    waiting, again = (issues.open_issue(database, home, ada, NewIssue(title=title)) for title in "ab")
    blocker, other = (issues.open_issue(database, repository, ada, NewIssue(title=title)) for title in "cd")
    dependencies.add_dependency(database, home, waiting, blocker, actor=ada)
    dependencies.add_dependency(database, home, again, other, actor=ada)
    issues.delete_issue(database, repository, blocker, ada)
    sent_payloads = payloads(app)
    assert (sent_payloads["issue_unblocked unblocked"]["blocker"]["title"]) == "c"
    assert sent_payloads["issue_unblocked unblocked"]["issue"]["blocked_by_count"] == 0
    assert sent_payloads["issues deleted"]["repository"]["open_issues_count"] == 1
    repositories.remove(app, repository, ada)
    sent_payloads = payloads(app)
    assert sent_payloads["issue_unblocked unblocked"]["blocker"]["title"] == "d"
    assert sent_payloads["issue_unblocked unblocked"]["issue"]["blocked_by_count"] == 0
    deleted = sent_payloads["repository deleted"]["repository"]
    assert (deleted["full_name"], deleted["open_issues_count"]) == ("Ada/dock", 1), (
        "as it was, not as it was found"
    )


def test_a_repository_is_deleted_once(app: App, ada: Account, home: Repository) -> None:
    """Deleting a deleted repository raises NoSuchRepository and records no second event."""
    repositories.remove(app, home, ada)
    with pytest.raises(NoSuchRepository):
        repositories.remove(app, home, ada)
    assert [event.kind for event in recorded(app.database)] == ["repository"] * 2


def test_payloads_are_rendered_only_for_subscribers(app: App, ada: Account) -> None:
    """No payload is rendered for hooks that are inactive, or subscribed to other events or other branches."""
    add_hook(app.database, ada, events="issue_label,push", branch_filter="other")
    add_hook(app.database, ada, events="issues", is_active=False)
    home = repositories.create(app, ada, ada, repositories.NewRepository(name="ship"), {"a": b"a"})
    issues.open_issue(app.database, home, ada, NewIssue(title="It leaks"))
    commit(app, home, ada, "b")
    assert [(event.kind, event.payload) for event in recorded(app.database)] == [
        ("repository", ""),
        ("issues", ""),
        ("push", ""),
    ]


def test_a_payload_that_cannot_be_rendered_fails_no_commit(app: App, ada: Account, home: Repository) -> None:
    """The payload is rendered when it is sent instead; an error of the database fails the transaction."""
    broken: list[Exception] = [RuntimeError("a defect")]

    def fail(_link: object, _event: Event, _known: object) -> str:
        raise broken[0]

    app.database.render_with(fail)
    commit(app, home, ada, "b")
    event = recorded(app.database)[-1]
    assert (event.kind, event.payload) == ("push", "")
    assert json.loads(payload_of(app, event))["total_commits"] == 1
    broken[0] = OperationalError("SELECT", {}, Exception("gone"))
    with pytest.raises(OperationalError):
        issues.open_issue(app.database, home, ada, NewIssue(title="It leaks"))
    assert recorded(app.database)[-1] == event


def test_a_hook_added_meanwhile_receives_the_whole_push(
    app: App, ada: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook that is added after the commits of a push were read gets a payload with them."""
    home = repositories.create(app, ada, ada, repositories.NewRepository(name="ship"), {"a": b"a"})
    finished = ref_updates.read_pushes

    def then_comes_a_hook(*given: Any) -> Any:
        results = finished(*given)
        add_hook(app.database, ada, events="push")
        return results

    monkeypatch.setattr(ref_updates, "read_pushes", then_comes_a_hook)
    commit_id = commit(app, home, ada, "b")
    payload = json.loads(recorded(app.database)[-1].payload)
    assert [commit["id"] for commit in payload["commits"]] == [commit_id]


def test_details_are_stored_beside_the_payload(app: App, ada: Account, home: Repository) -> None:
    """The row of an event has its details also when a payload is stored."""
    commit(app, home, ada, "b")
    event = recorded(app.database)[-1]
    assert msgspec.json.decode(event.details)["ref"] == json.loads(event.payload)["ref"] == "refs/heads/main"
