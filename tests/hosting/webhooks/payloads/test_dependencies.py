"""Webhook payloads of issue dependencies, and the private issues they hide."""

import json
from typing import Any

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.store import issues
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.events import record
from holdfast.hosting.store.issues import Branches, Issue, NewIssue
from holdfast.hosting.store.repositories import Repository
from tests.hosting.repository_helpers import make_organization, make_people, make_repository
from tests.hosting.webhooks.event_helpers import payload

SECRET = "where the treasure is"


def open_issue(app: App, home: Repository, author: Account, title: str, *, is_pull: bool = False) -> Issue:
    """Open an issue with a body that must not be shown to others."""
    branches = Branches("fix", "main") if is_pull else None
    return issues.open_issue(app.database, home, author, NewIssue(title=title, body=SECRET, branches=branches))


def dependency_payload(
    app: App, home: Repository, issue: Issue, blocker: Issue, action: str = "added"
) -> dict[str, Any]:
    """Record that an issue is blocked by another, and return the payload."""
    kind = "issue_dependency" if action else "issue_unblocked"
    with app.database.write() as connection:
        record(
            connection,
            kind,
            owner_id=home.owner.id,
            repository_id=home.id,
            actor_id=home.owner.id,
            details={"action": action, "issue_id": issue.id, "blocker_id": blocker.id},
        )
    return payload(app, kind)


def test_two_issues_of_one_repository_are_complete(app: App, ada: Account) -> None:
    """Both issues of one private repository are complete, as the hook's owner may read it."""
    home = make_repository(app.database, ada, is_private=True)
    issue, blocker = open_issue(app, home, ada, "a"), open_issue(app, home, ada, "b")
    event = dependency_payload(app, home, issue, blocker)
    assert list(event) == ["action", "issue", "blocker", "repository", "blocker_repository", "sender"]
    assert (event["action"], event["issue"]["number"], event["blocker"]["number"]) == ("added", 1, 2)
    assert event["issue"]["body"] == event["blocker"]["body"] == SECRET
    assert event["repository"] == event["blocker_repository"]
    assert dependency_payload(app, home, issue, blocker, "removed")["action"] == "removed"


def test_the_end_of_waiting(app: App, ada: Account) -> None:
    """The payload of an unblocked issue has the issue and its blocker like the other payloads."""
    home = make_repository(app.database, ada)
    issue, blocker = open_issue(app, home, ada, "a"), open_issue(app, home, ada, "b")
    event = dependency_payload(app, home, issue, blocker, "")
    assert (event["action"], event["issue"]["title"], event["blocker"]["title"]) == ("unblocked", "a", "b")


def test_an_issue_of_a_public_repository_is_complete(app: App, ada: Account) -> None:
    """A blocker in another public repository is complete, as everybody may read it."""
    home, other = make_repository(app.database, ada), make_repository(app.database, ada, "boat")
    event = dependency_payload(app, home, open_issue(app, home, ada, "a"), open_issue(app, other, ada, "b"))
    assert (event["blocker"]["body"], event["blocker_repository"]["full_name"]) == (SECRET, "Ada/boat")


@pytest.mark.parametrize("hidden", ["private", "another", "hidden owner", "issues off"])
def test_a_private_issue_is_shown_by_its_name_only(app: App, ada: Account, hidden: str) -> None:
    """A blocker in a repository that is not public is reduced to name and state, also for the same owner."""
    (bob,) = make_people(app.database, "bob")
    owner, columns = ada, {"is_private": True}
    if hidden == "another":
        owner = bob
    elif hidden == "hidden owner":
        owner, columns = make_organization(app.database, "guild", ada, visibility="private"), {}
    elif hidden == "issues off":
        columns = {"has_issues": False}
    home, other = make_repository(app.database, ada), make_repository(app.database, owner, "boat", **columns)
    event = dependency_payload(app, home, open_issue(app, home, ada, "a"), open_issue(app, other, ada, "b"))
    blocker = event["blocker"]
    assert SECRET not in json.dumps(blocker)
    assert list(blocker) == list(event["issue"])
    assert (blocker["number"], blocker["title"], blocker["state"]) == (1, "b", "open")
    assert blocker["repository"]["full_name"] == f"{owner.name}/boat"
    assert (blocker["id"], blocker["user"], blocker["labels"], blocker["html_url"]) == (0, None, None, "")
    assert event["blocker_repository"] is None
    assert event["issue"]["body"] == SECRET


def test_a_hidden_pull_request_is_one_still(app: App, ada: Account) -> None:
    """The reduced form of a hidden pull request still says that it is a pull request."""
    home, other = make_repository(app.database, ada), make_repository(app.database, ada, "b", is_private=True)
    event = dependency_payload(
        app, home, open_issue(app, home, ada, "a"), open_issue(app, other, ada, "b", is_pull=True)
    )
    assert event["blocker"]["pull_request"] == {"merged": False, "merged_at": None, "draft": False, "html_url": ""}
