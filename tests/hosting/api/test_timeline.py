"""The timeline of an issue."""

from typing import Any

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import make_repository

ISSUES = "/repos/ada/ship/issues"
KEYS = [
    "id",
    "type",
    "html_url",
    "pull_request_url",
    "issue_url",
    "user",
    "body",
    "created_at",
    "updated_at",
    "old_project_id",
    "project_id",
    "old_milestone",
    "milestone",
    "tracked_time",
    "old_title",
    "new_title",
    "old_ref",
    "new_ref",
    "ref_issue",
    "ref_comment",
    "ref_action",
    "ref_commit_sha",
    "review_id",
    "label",
    "assignee",
    "assignee_team",
    "removed_assignee",
    "resolve_doer",
    "dependent_issue",
]


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with an issue, a label and a milestone, and return her client."""
    account = clients.account("ada")
    make_repository(clients.database, account)
    client = clients.with_token(account)
    client.post("/repos/ada/ship/labels", json={"name": "bug", "color": "f00"})
    client.post("/repos/ada/ship/milestones", json={"title": "1.0"})
    client.post(ISSUES, json={"title": "It leaks"})
    return client


def timeline_of(client: httpx.Client) -> list[dict[str, Any]]:
    """Return the timeline of the first issue."""
    entries: list[dict[str, Any]] = client.get(f"{ISSUES}/1/timeline").json()
    return entries


def test_every_change_is_on_the_timeline_once(clients: ServiceClients, ada: httpx.Client) -> None:
    """Changes are listed in order, and an edit that changes nothing adds no entry."""
    milestone = ada.get("/repos/ada/ship/milestones").json()[0]["id"]
    for body in (
        {"title": "It sinks"},
        {"title": "It sinks", "body": "quiet", "state": "open"},
        {"labels": ["bug"], "assignees": ["ada"], "milestone": milestone},
        {"labels": [], "assignees": [], "milestone": 0},
        {"state": "closed"},
        {"state": "open"},
        {"due_date": "2030-01-01T00:00:00Z"},
        {"due_date": "2031-01-01T00:00:00Z"},
        {"unset_due_date": True},
        {"ref": "main"},
    ):
        assert ada.patch(f"{ISSUES}/1", json=body).status_code == 201
    ada.put(f"{ISSUES}/1/lock", json={"lock_reason": "Spam"})
    ada.delete(f"{ISSUES}/1/lock")
    ada.post(f"{ISSUES}/1/comments", json={"body": "Done."})
    entries = timeline_of(clients.anonymous)
    assert [entry["type"] for entry in entries] == [
        "change_title",
        "milestone",
        "label",
        "assignees",
        "milestone",
        "label",
        "assignees",
        "close",
        "reopen",
        "added_deadline",
        "modified_deadline",
        "removed_deadline",
        "change_issue_ref",
        "lock",
        "unlock",
        "comment",
    ]
    assert all(list(entry) == KEYS for entry in entries)
    by_type: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        by_type.setdefault(entry["type"], []).append(entry)
    title = by_type["change_title"][0]
    assert (title["old_title"], title["new_title"], title["user"]["login"]) == ("It leaks", "It sinks", "ada")
    assert [(item["label"]["name"], item["body"]) for item in by_type["label"]] == [("bug", "1"), ("bug", "")]
    assert [(one["assignee"]["login"], one["removed_assignee"]) for one in by_type["assignees"]] == [
        ("ada", False),
        ("ada", True),
    ]
    first, second = by_type["milestone"]
    assert (first["old_milestone"], first["milestone"]["title"]) == (None, "1.0")
    assert (second["old_milestone"]["title"], second["milestone"]) == ("1.0", None)
    assert by_type["modified_deadline"][0]["body"] == "2031-01-01|2030-01-01"
    assert (by_type["lock"][0]["body"], by_type["comment"][0]["body"]) == ("Spam", "Done.")


def test_an_entry_outlives_the_thing_it_names(ada: httpx.Client) -> None:
    """Entries of a deleted label and a deleted milestone stay on the timeline."""
    milestone = ada.get("/repos/ada/ship/milestones").json()[0]["id"]
    ada.patch(f"{ISSUES}/1", json={"labels": ["bug"], "milestone": milestone})
    ada.delete(f"/repos/ada/ship/milestones/{milestone}")
    label = ada.get("/repos/ada/ship/labels").json()[0]["id"]
    ada.delete(f"/repos/ada/ship/labels/{label}")
    assert [(entry["type"], entry["label"], entry["milestone"]) for entry in timeline_of(ada)] == [
        ("milestone", None, None),
        ("label", None, None),
    ]
    shown = ada.get(f"{ISSUES}/1").json()
    assert (shown["labels"], shown["milestone"]) == ([], None)


def test_a_timeline_has_pages(ada: httpx.Client) -> None:
    """A page of a timeline has the total of all entries in its header."""
    for number in range(5):
        ada.post(f"{ISSUES}/1/comments", json={"body": str(number)})
    page = ada.get(f"{ISSUES}/1/timeline", params={"limit": 2, "page": 2})
    assert [entry["body"] for entry in page.json()] == ["2", "3"]
    assert page.headers["X-Total-Count"] == "5"
    assert ada.get(f"{ISSUES}/9/timeline").status_code == 404
