"""Comments on issues."""

from collections.abc import Collection

import httpx
import pytest
from sqlalchemy import Connection, insert, update

from holdfast.hosting.http import long_lists, pagination
from holdfast.hosting.store import comments as comment_rows
from holdfast.hosting.store.accounts import find_user
from holdfast.hosting.store.comments import Comment
from holdfast.hosting.store.tables import comments, issues
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import make_repository, with_branches

ISSUES = "/repos/ada/ship/issues"


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with an issue and a pull request, and return her client."""
    account = clients.account("ada")
    with_branches(clients, make_repository(clients.database, account))
    client = clients.with_token(account)
    client.post(ISSUES, json={"title": "It leaks"})
    client.post("/repos/ada/ship/pulls", json={"title": "Plug it", "head": "fix", "base": "main"})
    return client


def test_comments_are_listed_whole_or_by_page(clients: ServiceClients, ada: httpx.Client) -> None:
    """Without a page the list of an issue has all comments, and never other timeline entries."""
    for number in range(35):
        ada.post(f"{ISSUES}/1/comments", json={"body": str(number)})
    ada.patch(f"{ISSUES}/1", json={"state": "closed"})
    whole = clients.anonymous.get(f"{ISSUES}/1/comments")
    assert [item["body"] for item in whole.json()] == [str(number) for number in range(35)]
    assert (whole.headers["X-Total-Count"], "Link" in whole.headers) == ("35", False)
    page = clients.anonymous.get(f"{ISSUES}/1/comments", params={"page": 4, "limit": 10})
    assert [item["body"] for item in page.json()] == ["30", "31", "32", "33", "34"]
    assert 'rel="prev"' in page.headers["Link"]
    everywhere = clients.anonymous.get(f"{ISSUES}/comments")
    assert (len(everywhere.json()), everywhere.headers["X-Total-Count"]) == (30, "35")
    later = {"since": "2100-01-01T00:00:00Z"}
    assert clients.anonymous.get(f"{ISSUES}/1/comments", params=later).json() == []
    assert clients.anonymous.get(f"{ISSUES}/comments", params=later).json() == []
    assert clients.anonymous.get(f"{ISSUES}/1/comments", params={"since": "x"}).status_code == 422


def test_a_list_too_long_for_one_answer_goes_on_in_pages(
    clients: ServiceClients, ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list beyond the limit has a link to the next page, which begins after its last comment."""
    monkeypatch.setattr(pagination, "ALL", 100)
    row = {"issue_id": ada.get(f"{ISSUES}/1").json()["id"], "kind": "comment"}
    with clients.database.write() as connection:
        connection.execute(insert(comments), [{**row, "body": str(number)} for number in range(120)])
    first = ada.get(f"{ISSUES}/1/comments")
    assert [item["body"] for item in first.json()] == [str(number) for number in range(100)]
    rest = ada.get(first.links["next"]["url"])
    assert [item["body"] for item in rest.json()] == [str(number) for number in range(100, 120)]


def test_a_list_of_long_comments_is_streamed(
    clients: ServiceClients, ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond a size, the comments are loaded and sent in batches, as the same list with the same headers."""
    row = {"issue_id": ada.get(f"{ISSUES}/1").json()["id"], "kind": "comment"}
    with clients.database.write() as connection:
        connection.execute(insert(comments), [{**row, "body": f"é{number}"} for number in range(125)])
    # With another URL than below, whose response is then not a cached one.
    whole = ada.get(f"{ISSUES}/1/comments?whole")
    assert "Content-Length" in whole.headers
    loaded: list[int] = []
    by_id = comment_rows.comments_by_id

    def count(connection: Connection, ids: Collection[int]) -> dict[int, Comment]:
        loaded.append(len(ids))
        return by_id(connection, ids)

    monkeypatch.setattr(comment_rows, "comments_by_id", count)
    monkeypatch.setattr(long_lists, "IN_MEMORY", 10)
    streamed = ada.get(f"{ISSUES}/1/comments")
    assert "Content-Length" not in streamed.headers
    assert streamed.json() == whole.json()
    assert [item["body"] for item in streamed.json()] == [f"é{number}" for number in range(125)]
    for name in ("Content-Type", "X-Total-Count"):
        assert streamed.headers[name] == whole.headers[name]
    assert loaded == [50, 50, 25]
    assert ada.head(f"{ISSUES}/1/comments").status_code == 200
    assert loaded == [50, 50, 25, 50]


def test_authors_and_writers_change_a_comment_and_nobody_else(clients: ServiceClients, ada: httpx.Client) -> None:
    """Other users get 403 for an edit or a deletion, and a deletion updates the number of comments."""
    bob, eve = clients.user("bob"), clients.user("eve")
    number = bob.post(f"{ISSUES}/1/comments", json={"body": "Hm"}).json()["id"]
    there = f"{ISSUES}/comments/{number}"
    assert bob.patch(there, json={"body": "Ahem"}).json()["body"] == "Ahem"
    assert ada.patch(there, json={"body": "Ahem."}).json()["body"] == "Ahem."
    assert eve.patch(there, json={"body": "Ha"}).status_code == 403
    assert eve.delete(there).status_code == 403
    assert clients.anonymous.delete(there).status_code == 401
    assert ada.get(there).json()["body"] == "Ahem."
    assert bob.patch(there, json={"body": ""}).json()["message"] == "[Body]: Required"
    assert bob.patch(there, json={"body": "a\0"}).status_code == 422
    assert bob.delete(there).status_code == 204
    assert bob.delete(there).status_code == 404
    assert ada.get(f"{ISSUES}/1").json()["comments"] == 0


def test_comments_of_other_repositories_and_other_entries_are_not_found(
    clients: ServiceClients, ada: httpx.Client
) -> None:
    """A comment of another repository and an entry that is no comment are not found by their ids."""
    account = find_user(clients.database, "ada")
    make_repository(clients.database, account, "secret", is_private=True)
    ada.post("/repos/ada/secret/issues", json={"title": "t"})
    hidden = ada.post("/repos/ada/secret/issues/1/comments", json={"body": "b"}).json()["id"]
    ada.patch(f"{ISSUES}/1", json={"state": "closed"})
    closing = ada.get(f"{ISSUES}/1/timeline").json()[0]["id"]
    for number in (hidden, closing, 2**62):
        assert ada.get(f"{ISSUES}/comments/{number}").status_code == 404
        assert ada.patch(f"{ISSUES}/comments/{number}", json={"body": "b"}).status_code == 404


def test_comments_on_pull_requests_need_their_unit(clients: ServiceClients, ada: httpx.Client) -> None:
    """If pull requests are disabled, their comments are neither listed nor found."""
    ada.post(f"{ISSUES}/1/comments", json={"body": "on the issue"})
    number = ada.post(f"{ISSUES}/2/comments", json={"body": "on the pull"}).json()["id"]
    with clients.database.write() as connection:
        connection.exec_driver_sql("UPDATE repositories SET has_pulls = false")
    assert [comment["body"] for comment in ada.get(f"{ISSUES}/comments").json()] == ["on the issue"]
    assert ada.get(f"{ISSUES}/comments/{number}").status_code == 404
    assert ada.get(f"{ISSUES}/2").status_code == 404
    assert ada.post(f"{ISSUES}/2/comments", json={"body": "b"}).status_code == 404
    assert [item["number"] for item in ada.get(ISSUES).json()] == [1]


def test_a_body_has_a_limit(clients: ServiceClients, ada: httpx.Client) -> None:
    """Longer texts of issues, pull requests, comments and reviews give 422; an imported one may stay."""
    longest, longer = "x" * 2**20, "x" * (2**20 + 1)
    pull = {"title": "Plug it again", "head": "main", "base": "fix"}
    created = ada.post(ISSUES, json={"title": "Long", "body": longest})
    assert created.status_code == 201
    issue = f"{ISSUES}/{created.json()['number']}"
    comment = ada.post(f"{ISSUES}/1/comments", json={"body": "y" * 65_536})
    assert comment.status_code == 201
    comment_path = f"{ISSUES}/comments/{comment.json()['id']}"
    line = {"path": "a.txt", "new_position": 1, "body": "y" * 65_537}
    for refused in (
        ada.post(ISSUES, json={"title": "Long", "body": longer}),
        ada.patch(issue, json={"body": longer}),
        ada.post("/repos/ada/ship/pulls", json={**pull, "body": longer}),
        ada.patch("/repos/ada/ship/pulls/2", json={"body": longer}),
        ada.post(f"{ISSUES}/1/comments", json={"body": "y" * 65_537}),
        ada.patch(comment_path, json={"body": "z" * 65_537}),
        ada.post("/repos/ada/ship/pulls/2/reviews", json={"event": "COMMENT", "body": "y" * 65_537}),
        ada.post("/repos/ada/ship/pulls/2/reviews", json={"event": "COMMENT", "comments": [line]}),
    ):
        assert (refused.status_code, "Body]: MaxSize" in refused.json()["message"]) == (422, True), refused.request
    with clients.database.write() as connection:
        connection.execute(update(issues).where(issues.c.body == longest).values(body=longer))
        connection.execute(update(comments).where(comments.c.body == "y" * 65_536).values(body="y" * 65_537))
    assert ada.patch(issue, json={"title": "Longer", "body": longer}).status_code == 201
    assert ada.patch(comment_path, json={"body": "y" * 65_537}).status_code == 200
