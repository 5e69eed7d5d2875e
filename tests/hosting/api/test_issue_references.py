"""References to another issue in the bodies of dependency requests."""

import itertools

import httpx
import pytest

from holdfast.hosting.store.accounts import find_user
from tests.hosting.api_clients import ServiceClients
from tests.hosting.dependency_helpers import (
    SHIP,
    counting_queries,
    linked,
    message,
    open_many,
    removed,
    with_issues,
)
from tests.hosting.repository_helpers import make_organization, make_repository


@pytest.fixture
def ada(ada: httpx.Client) -> httpx.Client:
    """Let Ada open five issues."""
    return with_issues(ada)


def test_bodies_name_the_other_issue_in_several_ways(clients: ServiceClients, ada: httpx.Client) -> None:
    """`name` is preferred to `repo`, and without both it is the repository of the path."""
    make_repository(clients.database, find_user(clients.database, "ada"), "boat")
    ada.post("/repos/ada/boat/issues", json={"title": "Elsewhere"})
    for body in (
        {},
        {"owner": "ada", "repo": "ship"},
        {"owner": "ada", "name": "ship"},
        {"owner": "ADA", "name": "Ship"},
        {"owner": "ada", "name": "ship", "repo": "nowhere"},
        {"owner": None, "name": None, "unknown": [1]},
    ):
        assert linked(ada, f"{SHIP}/1", 2, **body).status_code == 201, body
        assert removed(ada, f"{SHIP}/1/dependencies", index=2, **body).status_code == 201, body
    assert linked(ada, f"{SHIP}/1", 1, owner="ada", repo="boat").status_code == 201
    [other] = ada.get(f"{SHIP}/1/dependencies").json()
    assert (other["title"], other["repository"]["full_name"]) == ("Elsewhere", "ada/boat")
    for kind, status in (("text/plain;charset=UTF-8", 201), ("image/png", 422)):
        content = {"content": b'{"index": 2}', "headers": {"Content-Type": kind}}
        assert ada.post(f"{SHIP}/1/dependencies", **content).status_code == status  # type: ignore[arg-type]  # json= or content=
    form = ada.post(f"{SHIP}/1/dependencies", data={"index": "3", "owner": "ada", "repo": "ship"})
    assert form.status_code == 201
    assert ada.delete(f"{SHIP}/1/dependencies", params={"index": "3"}).status_code == 201


BAD_BODIES = (
    (b'{"index": "two"}', 422, "[Index]:"),
    (b'{"index": 2.5}', 422, "[Index]:"),
    (b'{"index": true}', 422, "[Index]:"),
    (b'{"index": 99999999999999999999}', 422, "[Index]:"),
    (b'{"index": 2, "owner": 7}', 422, "[Owner]:"),
    (b'{"index": 2, "name": {}}', 422, "[Name]:"),
    (b'{"index": 2, "repo": ["ship"]}', 422, "[Repo]:"),
    (b'{"index": 2, "owner": "a\\u0000b", "repo": "x"}', 422, "[Owner]:"),
    (b'{"index": 2, "owner": "\\ud800", "repo": "x"}', 422, "[]:"),
    (b"[2]", 422, "[]:"),
    (b"{", 422, "[]:"),
    (b"{}", 404, "issue does not exist [id: 0, repo_id: "),
    (b'{"index": 99}', 404, "issue does not exist [id: 0, repo_id: "),
    (b'{"index": -1}', 404, "issue does not exist [id: 0, repo_id: "),
    (b'{"index": 9223372036854775807}', 404, "issue does not exist [id: 0, repo_id: "),
    (b'{"index": 2, "owner": "ada"}', 404, "repository does not exist [id: 0, uid: 0, owner_name: ada, name: ]"),
    (b'{"index": 2, "repo": "ship"}', 404, "repository does not exist [id: 0, uid: 0, owner_name: , name: ship]"),
    (b'{"index": 2, "owner": "../..", "repo": "%"}', 404, "repository does not exist"),
)


def test_a_body_that_names_no_issue_is_refused(ada: httpx.Client) -> None:
    """The error names the invalid field at all four endpoints."""
    json = {"Content-Type": "application/json"}
    for body, status, said in BAD_BODIES:
        for method, side in itertools.product(("POST", "DELETE"), ("dependencies", "blocks")):
            response = ada.request(method, f"{SHIP}/1/{side}", content=body, headers=json)
            assert message(response, status).startswith(said)


def test_a_hidden_repository_cannot_be_told_from_a_missing_one(
    clients: ServiceClients, ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hidden and a missing repository give equal responses and run the same queries."""
    bob, cabal = (
        clients.account("bob"),
        make_organization(clients.database, "cabal", find_user(clients.database, "admin"), visibility="private"),
    )
    for owner in (bob, cabal):
        repository = make_repository(clients.database, owner, "secret", is_private=True)
        open_many(clients.database, repository, bob, 1)
    responses, asked = [], []
    for side in ("dependencies", "blocks"):
        for whose, repo, index in (
            ("bob", "secret", 1),
            ("bob", "secret", 2),
            ("bob", "nosuch", 1),
            ("cabal", "secret", 1),
            ("nobody", "secret", 1),
        ):
            with counting_queries(clients.database, monkeypatch) as queries:
                answer = ada.post(f"{SHIP}/1/{side}", json={"index": index, "owner": whose, "repo": repo})
            posted_message = message(answer, 404).replace(whose, "OWNER").replace(f"name: {repo}]", "name: REPO]")
            headers = {
                name: value
                for name, value in answer.headers.items()
                if name not in {"date", "content-length", "x-request-id"}
            }
            responses.append((posted_message, headers))
            # Whose token it is is asked for once, and then in a cache.
            asked.append([text.split("IN (")[0] for text in queries if "tokens.token_hash" not in text])
    assert all(response == responses[0] for response in responses)
    assert all(item == asked[0] for item in asked)
    assert len(asked[0]) == 5
    assert responses[0][0] == "repository does not exist [id: 0, uid: 0, owner_name: OWNER, name: REPO]"
