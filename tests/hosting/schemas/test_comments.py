"""The JSON fields of a comment."""

import httpx

from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import post_issue

ISSUES = "/repos/ada/ship/issues"


KEYS = [
    "id",
    "html_url",
    "pull_request_url",
    "issue_url",
    "user",
    "original_author",
    "original_author_id",
    "body",
    "assets",
    "created_at",
    "updated_at",
]


def test_a_comment_has_every_key_in_order(clients: ServiceClients, ada: httpx.Client) -> None:
    """A comment has the URL of its issue or of its pull request, and the other one is empty."""
    post_issue(ada)
    ada.post("/repos/ada/ship/pulls", json={"title": "Plug it", "head": "fix", "base": "main"})
    response = ada.post(f"{ISSUES}/1/comments", json={"body": "Pump!"})
    assert response.status_code == 201
    comment = response.json()
    assert list(comment) == KEYS
    page = f"{clients.service.url}/ada/ship/issues/1"
    assert comment["html_url"] == f"{page}#issuecomment-{comment['id']}"
    assert (comment["issue_url"], comment["pull_request_url"], comment["assets"]) == (page, "", [])
    on_pull = ada.post(f"{ISSUES}/2/comments", json={"body": "Good."}).json()
    pull_page = f"{clients.service.url}/ada/ship/pulls/2"
    assert (on_pull["issue_url"], on_pull["pull_request_url"]) == ("", pull_page)
    assert ada.get(f"{ISSUES}/comments/{comment['id']}").json() == comment
    assert ada.get(f"{ISSUES}/1").json()["comments"] == 1
