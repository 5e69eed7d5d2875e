"""Webhook payloads of deleted repositories, issues, comments and users."""

import json
from typing import Any

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.services import repositories
from holdfast.hosting.store import account_administration, comments, issues, repository_log
from holdfast.hosting.store.accounts import Account, find_user
from holdfast.hosting.store.events import record
from holdfast.hosting.store.hooks import Hook
from holdfast.hosting.store.issues import IssueChanges, NewIssue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.webhooks.payloads import DeletedEntity, before_deleting, payload_of
from holdfast.hosting.webhooks.payloads.before_delete import BATCH
from tests.hosting.repository_helpers import make_people, make_repository
from tests.hosting.webhooks.event_helpers import add_hook, last, queue_all_events, recorded, stored_payloads


@pytest.fixture
def system_hook(app: App, ada: Account) -> Hook:
    """Make a hook of the whole service, which is deleted with no user."""
    return add_hook(app.database, ada, scope="system", owner_id=None)


@pytest.fixture
def home(app: App, ada: Account) -> Repository:
    """Give Ada a repository with a commit."""
    return repositories.create(app, ada, ada, repositories.NewRepository(name="ship"), {"a": b"a"})


def payload_of_next(app: App) -> dict[str, Any]:
    """Return the newest payload of each kind and action."""
    return {
        f"{event.kind} {json.loads(event.details).get('action', '')}".strip(): json.loads(payload_of(app, event))
        for event in recorded(app.database)
    }


def test_the_payload_of_a_deleted_repository_describes_it(
    app: App, ada: Account, home: Repository, system_hook: Hook
) -> None:
    """Queued events get payloads with the repository before its deletion; others get none."""
    database = app.database
    issue = issues.open_issue(database, home, ada, NewIssue(title="It leaks"))
    comments.add_comment(database, home, issue, ada, "Pump!")
    head = repository_log.find_ref(database, home.id, "refs/heads/main")
    with database.write() as connection:
        details = {"ref": "refs/heads/main", "before": "0" * 40, "after": head, "ref_type": "branch"}
        record(connection, "push", owner_id=ada.id, repository_id=home.id, actor_id=ada.id, details=details)
    queue_all_events(database, system_hook)
    issues.change_issue(database, home, issue, ada, IssueChanges(is_closed=True))
    repositories.remove(app, home, ada)
    events = payload_of_next(app)
    assert events["issue_comment created"]["comment"]["body"] == "Pump!"
    assert events["push"]["commits"][0]["message"] == "Initial commit\n"
    for name in ("repository created", "repository deleted", "issues opened", "push"):
        assert events[name]["repository"]["full_name"] == "Ada/ship", name
    assert events["issues closed"]["repository"] is None
    assert set(stored_payloads(database)) == {event.id for event in recorded(database)[:4]}


def test_the_payload_of_a_deleted_issue_describes_it(
    app: App, ada: Account, home: Repository, system_hook: Hook
) -> None:
    """Payloads about a deleted issue, and about one it blocks elsewhere, are rendered before the deletion."""
    database = app.database
    issue, other = (issues.open_issue(database, home, ada, NewIssue(title=title)) for title in ("a", "b"))
    repository = make_repository(database, ada, "boat")
    waiting = issues.open_issue(database, repository, ada, NewIssue(title="c"))
    with database.write() as connection:
        record(
            connection,
            "issue_dependency",
            owner_id=ada.id,
            repository_id=repository.id,
            actor_id=ada.id,
            details={"action": "added", "issue_id": waiting.id, "blocker_id": issue.id},
        )
    queue_all_events(database, system_hook)
    first = before_deleting(app, DeletedEntity(issue_id=issue.id))
    issues.delete_issue(database, home, issue, ada, first=first)
    payloads = [json.loads(text) for text in stored_payloads(database).values()]
    assert [item["issue"]["title"] for item in payloads] == ["a", "c"]
    assert payloads[1]["blocker"]["title"] == "a"
    assert payload_of_next(app)["issues deleted"]["issue"]["title"] == "a"
    assert other.number == 2


def test_the_payload_of_a_deleted_comment_describes_it(
    app: App, ada: Account, home: Repository, system_hook: Hook
) -> None:
    """Of many queued events only the one of the deleted comment has its payload rendered."""
    database = app.database
    issue = issues.open_issue(database, home, ada, NewIssue(title="It leaks"))
    comment = comments.add_comment(database, home, issue, ada, "Pump!")
    for _ in range(12):
        comments.add_comment(database, home, issue, ada, "Yes!")
    queue_all_events(database, system_hook)
    first = before_deleting(app, DeletedEntity(comment_id=comment.id))
    comments.delete_comment(database, home, issue, comment, actor=ada, first=first)
    (payload,) = stored_payloads(database).values()
    assert (json.loads(payload)["action"], json.loads(payload)["comment"]["body"]) == ("created", "Pump!")


def test_events_before_the_deletion_are_not_missed(
    app: App, ada: Account, home: Repository, system_hook: Hook
) -> None:
    """Events recorded after the first rendering are rendered in the deleting transaction."""
    database = app.database
    issue = issues.open_issue(database, home, ada, NewIssue(title="It leaks"))
    first = before_deleting(app, DeletedEntity(issue_id=issue.id))
    issues.change_issue(database, home, issue, ada, IssueChanges(title="It sinks"))
    queue_all_events(database, system_hook)
    assert stored_payloads(database) == {}
    with database.write() as connection:
        first(connection)
    assert [json.loads(text)["issue"]["title"] for text in stored_payloads(database).values()] == ["It sinks"] * 2


def test_payloads_describe_a_deleted_user(app: App, ada: Account, system_hook: Hook) -> None:
    """Events in the user's repositories, and by the user in others, are rendered before the deletion."""
    database = app.database
    (bob,) = make_people(database, "bob")
    mine = make_repository(database, bob, "boat", description="small")
    issues.open_issue(database, mine, ada, NewIssue(title="Ada's"))
    issues.open_issue(database, make_repository(database, ada), bob, NewIssue(title="Bob's"))
    queue_all_events(database, system_hook)
    first = before_deleting(app, DeletedEntity(owner_id=bob.id))
    admin = find_user(database, "admin")
    assert account_administration.delete_user(database, bob, actor=admin, purge=True, first=first) == (mine.id,)
    payloads = [json.loads(text) for text in stored_payloads(database).values()]
    senders = [(item["issue"]["title"], item["sender"]["login"]) for item in payloads]
    assert senders == [("Ada's", "Ada"), ("Bob's", "bob")]
    assert payloads[0]["repository"]["full_name"] == "bob/boat"
    gone = payload_of_next(app)["repository deleted"]
    assert (gone["repository"]["description"], gone["organization"]["login"]) == ("small", "bob")
    assert "bob@" not in last(database, "repository").details


def test_a_long_queue_is_made_in_steps(app: App, ada: Account, home: Repository, system_hook: Hook) -> None:
    """All queued events are rendered when there are more than one batch."""
    database = app.database
    for number in range(BATCH + 5):
        issues.open_issue(database, home, ada, NewIssue(title=str(number)))
    queue_all_events(database, system_hook)
    before_deleting(app, DeletedEntity(repository_id=home.id))
    assert len(stored_payloads(database)) == BATCH + 6
