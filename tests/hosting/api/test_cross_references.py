"""Cross-references between issues on their timelines, and who may see them."""

from typing import Any

import httpx
import pytest

from holdfast.hosting.renderer import issue_links, outside_code
from holdfast.hosting.renderer.markdown import SMALL
from holdfast.hosting.renderer.render_process import RenderProcess
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import READ, let_in, make_people, make_repository, post_issue, with_branches

AT = "/repos/ada/ship"


def timeline(client: httpx.Client, number: int = 1, **query: str) -> list[dict[str, Any]]:
    """Return the timeline of an issue."""
    response = client.get(f"{AT}/issues/{number}/timeline", params=query)
    entries: list[dict[str, Any]] = response.json()
    if not query:
        assert response.headers["X-Total-Count"] == str(len(entries))
    return entries


def test_each_text_that_mentions_an_issue_is_on_its_timeline(clients: ServiceClients, ada: httpx.Client) -> None:
    """Each entry has the issue, pull request or comment that mentions the issue, which itself is unchanged."""
    issue = post_issue(ada)
    post_issue(ada, title="Pump", body="Because of #1")
    pull = {"title": "Plug", "body": "Fixes #1", "head": "fix", "base": "main"}
    assert ada.post(f"{AT}/pulls", json=pull).status_code == 201
    post_issue(ada, title="Paint")
    comment = ada.post(f"{AT}/issues/4/comments", json={"body": "After #1, I think"}).json()
    entries = timeline(ada)
    assert [(entry["type"], entry["ref_issue"]["number"], entry["ref_action"]) for entry in entries] == [
        ("issue_ref", 2, "none"),
        ("pull_ref", 3, "closes"),
        ("comment_ref", 4, "none"),
    ]
    assert [entry["ref_comment"] for entry in entries] == [None, None, comment]
    assert entries[1]["ref_issue"] == ada.get(f"{AT}/issues/3").json()
    assert {entry["user"]["login"] for entry in entries} == {"ada"}
    assert {(entry["body"], entry["ref_commit_sha"], entry["dependent_issue"]) for entry in entries} == {
        ("", "", None)
    }
    assert ada.get(f"{AT}/issues/1").json() == issue
    assert ada.get(f"{AT}/issues/1/comments").json() == []
    assert timeline(ada, 2) == []
    anybody = timeline(clients.open("/api/v1"))
    assert [entry["ref_issue"]["title"] for entry in anybody] == ["Pump", "Plug", "Paint"]


def test_a_pull_request_closes_issues_from_the_default_branch_alone(ada: httpx.Client) -> None:
    """A closing keyword of a pull request has an effect only while its base is the default branch."""
    post_issue(ada)
    pull = {"title": "Fixes #1", "head": "fix", "base": "other"}
    assert ada.post(f"{AT}/pulls", json=pull).status_code == 201
    assert [entry["ref_action"] for entry in timeline(ada)] == ["none"]
    assert ada.patch(f"{AT}/pulls/2", json={"base": "main"}).status_code == 201
    assert [entry["ref_action"] for entry in timeline(ada)] == ["closes"]
    assert ada.patch(f"{AT}/pulls/2", json={"title": "See #1"}).status_code == 201
    assert [entry["ref_action"] for entry in timeline(ada)] == ["none"]


def test_a_long_text_is_not_stored_without_its_mentions(
    ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While too many long texts wait to be parsed, writes of long texts and merges get 503 and change nothing."""
    post_issue(ada)
    long = "Fixes #1 and `fixes #2` " + "word " * SMALL
    pull = {"title": "Plug", "body": long, "head": "fix", "base": "main"}
    with monkeypatch.context() as busy:
        for module in (issue_links, outside_code):
            busy.setattr(module, "PARSER_PROCESS", RenderProcess(most_waiting=0))
        for path, body in (("issues", {"title": "Long", "body": long}), ("pulls", pull)):
            response = ada.post(f"{AT}/{path}", json=body)
            assert response.status_code == 503
            assert response.headers["Retry-After"] == "5"
            assert "parsed" in response.json()["message"]
        assert ada.post(f"{AT}/issues/1/comments", json={"body": long}).status_code == 503
        assert ada.post(f"{AT}/issues/1/comments", json={"body": "Short, see #1"}).status_code == 201
    assert [issue["number"] for issue in ada.get(f"{AT}/issues").json()] == [1]
    assert [item["body"] for item in ada.get(f"{AT}/issues/1/comments").json()] == ["Short, see #1"]
    change = {"content": "Yg==", "branch": "fix", "message": "Add b"}
    assert ada.post(f"{AT}/contents/b", json=change).status_code == 201
    assert ada.post(f"{AT}/pulls", json=pull).status_code == 201
    with monkeypatch.context() as busy:
        busy.setattr(outside_code, "PARSER_PROCESS", RenderProcess(most_waiting=0))
        assert ada.post(f"{AT}/pulls/2/merge", json={"Do": "merge"}).status_code == 503
    assert ada.get(f"{AT}/pulls/2").json()["merged"] is False
    assert ada.post(f"{AT}/pulls/2/merge", json={"Do": "merge"}).status_code == 200
    assert ada.get(f"{AT}/issues/1").json()["state"] == "closed"


def test_a_review_mentions_issues_on_its_lines(ada: httpx.Client, clients: ServiceClients) -> None:
    """Mentions in a review count once it is submitted; a timeline shows one of several, until it is deleted."""
    post_issue(ada)
    post_issue(ada)
    assert ada.post(f"{AT}/pulls", json={"title": "t", "head": "fix", "base": "main"}).status_code == 201
    line = {"path": "a", "body": "Like #1 ", "new_position": 1}
    review = ada.post(f"{AT}/pulls/3/reviews", json={"event": "", "comments": [line]})
    assert review.status_code == 200
    assert timeline(ada) == []
    at = f"{AT}/pulls/3/reviews/{review.json()['id']}"
    assert ada.post(at, json={"event": "COMMENT", "body": "Like #1 and #2"}).status_code == 200
    (first,), (second,) = timeline(ada, 1), timeline(ada, 2)
    assert (first["type"], first["ref_comment"]["body"]) == ("comment_ref", "Like #1")
    assert (second["type"], second["ref_comment"]["body"]) == ("comment_ref", "Like #1 and #2")
    assert first["ref_issue"]["number"] == second["ref_issue"]["number"] == 3
    assert first["ref_comment"]["html_url"].startswith(f"{clients.service.url}/ada/ship/pulls/3#issuecomment-")
    edited = ada.patch(f"{AT}/issues/comments/{first['ref_comment']['id']}", json={"body": "Like #2"})
    assert edited.status_code == 200
    assert [entry["ref_comment"]["body"] for entry in timeline(ada, 1)] == ["Like #1 and #2"]
    assert ada.delete(at).status_code == 204
    assert timeline(ada, 1) == timeline(ada, 2) == []
    review = ada.post(f"{AT}/pulls/3/reviews", json={"event": "COMMENT", "comments": [line]})
    assert review.status_code == 200
    assert [entry["ref_comment"]["body"] for entry in timeline(ada)] == ["Like #1"]


@pytest.mark.parametrize("as_comment", [False, True])
def test_mentions_in_private_repositories_are_hidden(
    clients: ServiceClients, ada: httpx.Client, *, as_comment: bool
) -> None:
    """Only users who may read the private repository see the mention; `updated_at` does not reveal it either."""
    bob, eve = make_people(clients.database, "bob", "eve")
    owner = clients.account("ida")
    secret = make_repository(clients.database, owner, "secret", is_private=True)
    let_in(clients.database, secret, bob, READ)
    assert ada.put(f"{AT}/collaborators/ida", json={"permission": "write"}).status_code == 204
    post_issue(ada)
    before = ada.get(f"{AT}/issues/1").json()
    ida = clients.with_token(owner)
    body = "Hush: ada/ship#1"
    title = {"title": "Hush", "body": "" if as_comment else body}
    assert ida.post("/repos/ida/secret/issues", json=title).status_code == 201
    if as_comment:
        assert ida.post("/repos/ida/secret/issues/1/comments", json={"body": body}).status_code == 201
    anybody = clients.open("/api/v1")
    for client in (ada, clients.with_token(eve), anybody):
        assert timeline(client) == []
        assert client.get(f"{AT}/issues/1").json()["updated_at"] == before["updated_at"]
    for client in (ida, clients.with_token(bob)):
        (entry,) = timeline(client)
        assert entry["ref_issue"]["title"] == "Hush"
        assert entry["ref_issue"]["repository"]["full_name"] == "ida/secret"
        assert entry["ref_comment"] is None or entry["ref_comment"]["body"] == body
    public = clients.with_token(owner, "public-only", "read:issue", "read:repository")
    assert timeline(public) == []
    assert ida.patch("/repos/ida/secret", json={"private": False}).status_code == 200
    assert len(timeline(ada)) == len(timeline(anybody)) == 1
    assert ida.delete("/repos/ida/secret").status_code == 204
    assert timeline(ida) == []


def test_pages_of_a_timeline_leave_out_what_is_hidden(clients: ServiceClients, ada: httpx.Client) -> None:
    """Hidden entries do not count towards a page, so every page but the last one is full."""
    owner = clients.account("ida")
    with_branches(clients, make_repository(clients.database, owner, "secret", is_private=True))
    assert ada.put(f"{AT}/collaborators/ida", json={"permission": "write"}).status_code == 204
    ida = clients.with_token(owner)
    post_issue(ada)
    for number in range(3):
        assert ida.post("/repos/ida/secret/issues", json={"title": "ada/ship#1"}).status_code == 201
        post_issue(ada, title=f"{number}: #1")
    pages = [timeline(ada, page=str(page), limit="2") for page in (1, 2, 3)]
    assert [[entry["ref_issue"]["title"] for entry in page] for page in pages] == [
        ["0: #1", "1: #1"],
        ["2: #1"],
        [],
    ]
    assert len(timeline(ida)) == 6
