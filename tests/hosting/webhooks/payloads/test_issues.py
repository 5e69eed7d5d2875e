"""Webhook payloads of issues, pull requests, reviews and comments."""

import json
from typing import Any

import pytest
from sqlalchemy import delete, insert

from holdfast.hosting.app import App
from holdfast.hosting.store import comments, issues, labels, milestones, review_changes
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Branches, Issue, IssueChanges, NewIssue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.review_changes import NewReview
from holdfast.hosting.store.reviews import ReviewState
from holdfast.hosting.store.tables import hooks, reviews
from holdfast.hosting.webhooks.payloads import payload_of
from tests.hosting.repository_helpers import make_branches, make_repository
from tests.hosting.schemas.issue_fields import ISSUE_FIELDS
from tests.hosting.webhooks.event_helpers import payload, recorded

PAGE = "http://localhost:3000/Ada/ship"


@pytest.fixture
def repository(app: App, ada: Account) -> Repository:
    """Give Ada a repository."""
    return make_repository(app.database, ada)


@pytest.fixture
def issue(app: App, ada: Account, repository: Repository) -> Issue:
    """Open an issue."""
    return issues.open_issue(app.database, repository, ada, NewIssue(title="It leaks", body="Below."))


@pytest.fixture
def pull(app: App, ada: Account, repository: Repository) -> Issue:
    """Open a pull request."""
    make_branches(app.database, repository, "1" * 40, "fix", "main", "stable")
    new = NewIssue(title="Plug it", branches=Branches("fix", "main", "1" * 40, "2" * 40))
    return issues.open_issue(app.database, repository, ada, new)


def payloads(app: App) -> list[dict[str, Any]]:
    """Return all payloads, in order."""
    return [json.loads(payload_of(app, event)) for event in recorded(app.database)]


def test_the_payload_of_an_issue_is_complete(app: App, ada: Account, issue: Issue) -> None:
    """The payload of an opened issue has every key of the API in the same order."""
    (opened,) = payloads(app)
    assert list(opened) == ["action", "number", "issue", "repository", "sender", "commit_id"]
    assert (opened["action"], opened["number"], opened["commit_id"]) == ("opened", 1, "")
    assert [key for key in opened["issue"] if key in ISSUE_FIELDS] == ISSUE_FIELDS
    assert (opened["issue"]["body"], opened["issue"]["html_url"]) == ("Below.", f"{PAGE}/issues/1")
    assert opened["issue"]["user"]["email"] == f"{ada.id}+ada@noreply.localhost"
    assert opened["repository"]["full_name"] == "Ada/ship"


def test_the_payload_of_an_edit_has_the_former_values(
    app: App, ada: Account, repository: Repository, issue: Issue
) -> None:
    """The changes have only the edited fields, also where the old value was empty."""
    issues.change_issue(app.database, repository, issue, ada, IssueChanges(title="It sinks", body="Deep."))
    issues.change_issue(app.database, repository, issue, ada, IssueChanges(ref="v1"))
    _, words, ref = payloads(app)
    assert list(words)[-1] == "changes"
    assert words["changes"] == {"title": {"from": "It leaks"}, "body": {"from": "Below."}}
    assert (words["issue"]["title"], ref["changes"]) == ("It sinks", {"ref": {"from": ""}})


def test_labels_are_shown_after_their_deletion(
    app: App, ada: Account, repository: Repository, issue: Issue
) -> None:
    """A payload names the labels that were added and removed, even those that were deleted since."""
    bug, pump = (labels.add_label(app.database, repository, name, "f00") for name in ("bug", "pump"))
    for wanted in ([bug], [pump], []):
        issues.change_issue(app.database, repository, issue, ada, IssueChanges(labels=wanted))
    labels.delete_label(app.database, repository, bug.id)
    events = payloads(app)[1:]
    assert [event["action"] for event in events] == ["label_updated", "label_updated", "label_cleared"]
    changes = [
        {key: [label["name"] for label in item] for key, item in event["changes"].items()} for event in events
    ]
    assert changes == [
        {"added_labels": ["bug"]},
        {"added_labels": ["pump"], "removed_labels": ["bug"]},
        {"removed_labels": ["pump"]},
    ]
    assert events[0]["changes"]["added_labels"][0]["url"].endswith(f"/repos/Ada/ship/labels/{bug.id}")


def test_payloads_have_assignees_and_milestones(
    app: App, ada: Account, repository: Repository, issue: Issue
) -> None:
    """The issue in the payload has its assignee and its milestone after the change."""
    goal = milestones.add_milestone(app.database, repository, ada, "1.0")
    issues.change_issue(app.database, repository, issue, ada, IssueChanges(assignees=[ada], milestone_id=goal.id))
    assigned, reached = payload(app, "issue_assign"), payload(app, "issue_milestone")
    assert (assigned["action"], assigned["issue"]["assignee"]["login"]) == ("assigned", "Ada")
    assert (reached["action"], reached["issue"]["milestone"]["title"]) == ("milestoned", "1.0")
    issues.change_issue(app.database, repository, issue, ada, IssueChanges(assignees=[], milestone_id=0))
    assert payload(app, "issue_assign")["action"] == "unassigned"
    left = payload(app, "issue_milestone")
    assert (left["action"], left["issue"]["milestone"]) == ("demilestoned", None)


def test_the_payload_of_a_deleted_issue_has_its_last_state(
    app: App, ada: Account, repository: Repository, issue: Issue
) -> None:
    """The payload of a deleted issue has its labels, its milestone and its assignees."""
    label = labels.add_label(app.database, repository, "bug", "f00")
    goal = milestones.add_milestone(app.database, repository, ada, "1.0")
    changes = IssueChanges(labels=[label], assignees=[ada], milestone_id=goal.id)
    issues.change_issue(app.database, repository, issue, ada, changes)
    before = payload(app, "issue_label")["issue"]
    issues.delete_issue(app.database, repository, issue, ada)
    gone = payload(app, "issues")
    assert gone["action"] == "deleted"
    milestone = before.pop("milestone") | {"open_issues": 0}
    assert gone["issue"].pop("milestone") == milestone
    assert gone["issue"] == before
    assert "changes" not in gone


def test_payloads_of_comments(app: App, ada: Account, repository: Repository, issue: Issue) -> None:
    """Created, edited and deleted comments have payloads, the last one with the text before the deletion."""
    comment = comments.add_comment(app.database, repository, issue, ada, "Pump!")
    made = payload(app, "issue_comment")
    assert list(made) == ["action", "issue", "comment", "repository", "sender", "is_pull"]
    assert (made["action"], made["comment"]["body"], made["is_pull"]) == ("created", "Pump!", False)
    assert made["comment"]["html_url"] == f"{PAGE}/issues/1#issuecomment-{comment.id}"
    comments.edit_comment(app.database, repository, issue, comment, actor=ada, body="Pump faster!")
    edited = payload(app, "issue_comment")
    assert list(edited) == ["action", "issue", "comment", "changes", "repository", "sender", "is_pull"]
    assert (edited["action"], edited["changes"]) == ("edited", {"body": {"from": "Pump!"}})
    comments.delete_comment(app.database, repository, issue, comment, actor=ada)
    gone = payload(app, "issue_comment")
    assert (gone["action"], gone["comment"]["body"]) == ("deleted", "Pump faster!")
    assert (gone["issue"]["number"], gone["issue"]["comments"]) == (1, 0)


def test_payloads_of_pull_requests(app: App, ada: Account, repository: Repository, pull: Issue) -> None:
    """A pull request has payloads of its own; a comment on one has both the issue and the pull request."""
    (opened,) = payloads(app)
    assert list(opened) == [
        *("action", "number", "pull_request", "requested_reviewer", "repository", "sender"),
        *("commit_id", "review"),
    ]
    assert opened["pull_request"]["head"]["label"] == "fix"
    assert opened["pull_request"]["url"] == "http://localhost:3000/api/v1/repos/Ada/ship/pulls/1"
    issues.change_issue(app.database, repository, pull, ada, IssueChanges(base_branch="stable"))
    assert payload(app, "pull_request")["changes"] == {"ref": {"from": "main"}}
    comments.add_comment(app.database, repository, pull, ada, "Good.")
    comment = payload(app, "pull_request_comment")
    assert list(comment)[-2:] == ["is_pull", "pull_request"]
    assert (comment["is_pull"], comment["pull_request"]["number"], comment["issue"]["number"]) == (True, 1, 1)
    issues.delete_issue(app.database, repository, pull, ada)
    gone = payload(app, "pull_request")
    assert (gone["action"], gone["pull_request"]["base"]["ref"]) == ("deleted", "stable")


def test_the_payload_of_a_review_has_its_kind_and_text(
    app: App, ada: Account, repository: Repository, pull: Issue
) -> None:
    """Payloads of review requests name the reviewer, and those of reviews have the kind and the text."""
    hooked = {"url": "https://ci.example", "scope": "repository", "content_type": "json"}
    hooked["events"] = "pull_request_review,pull_request_review_request"
    with app.database.write() as connection:
        connection.execute(
            insert(hooks), {"repository_id": repository.id, "is_active": True, "type": "gitea", **hooked}
        )
    new = NewReview(state=ReviewState.APPROVED, body="Good.", commit_id="1" * 40)
    review_changes.request_reviews(app.database, repository, pull, ada, users={ada.id: True}, teams={})
    review = review_changes.save_review(app.database, repository, pull, ada, new)
    with app.database.write() as connection:
        connection.execute(delete(reviews).where(reviews.c.id == review.id))
    _, asked, told = payloads(app)
    assert (asked["action"], asked["requested_reviewer"]["login"]) == ("review_requested", "Ada")
    assert [reviewer["login"] for reviewer in asked["pull_request"]["requested_reviewers"]] == ["Ada"]
    assert (told["action"], told["requested_reviewer"], told["number"]) == ("reviewed", None, 1)
    assert told["review"] == {"type": "pull_request_review_approved", "content": "Good."}
