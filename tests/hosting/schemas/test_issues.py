"""The JSON fields of an issue."""

import httpx

from holdfast.hosting.store.tables import users
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import post_issue
from tests.hosting.schemas.issue_fields import ISSUE_FIELDS

ISSUES = "/repos/ada/ship/issues"


def test_an_issue_has_every_key_in_order(clients: ServiceClients, ada: httpx.Client) -> None:
    """A new issue has empty lists and nulls as clients expect them, also for anonymous users."""
    issue = post_issue(ada, body="Below the waterline.")
    assert list(issue) == ISSUE_FIELDS
    root = clients.service.url
    assert (issue["url"], issue["html_url"]) == (f"{root}/api/v1{ISSUES}/1", f"{root}/ada/ship/issues/1")
    assert issue["repository"]["full_name"] == "ada/ship"
    assert (issue["assets"], issue["labels"]) == ([], [])
    for key in ("milestone", "projects", "assignee", "assignees", "closed_at", "due_date", "pull_request"):
        assert issue[key] is None, key
    assert (issue["state"], issue["comments"], issue["user"]["login"]) == ("open", 0, "ada")
    assert clients.anonymous.get(f"{ISSUES}/1").json() == {**issue, "user": issue["user"] | ANYBODY}


ANYBODY = {"email": "2+ada@noreply.localhost", "active": False, "last_login": "0001-01-01T00:00:00Z"}


def test_an_issue_outlives_its_author(clients: ServiceClients, ada: httpx.Client) -> None:
    """The author of an issue whose user was deleted is `Ghost`, and other users may not edit it."""
    bob = clients.account("bob")
    post_issue(clients.with_token(bob))
    with clients.database.write() as connection:
        connection.execute(users.delete().where(users.c.id == bob.id))
    assert ada.get(f"{ISSUES}/1").json()["user"]["login"] == "Ghost"
    assert clients.user("eve").patch(f"{ISSUES}/1", json={"title": "mine"}).status_code == 403
