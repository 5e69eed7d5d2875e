"""Assignees of issues, and the users who can be assigned."""

from holdfast.hosting.store.accounts import find_user
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import READ, WRITE, let_in, make_repository


def test_who_may_write_can_be_assigned(clients: ServiceClients) -> None:
    """Users with write access can be assigned; a reader cannot be assigned, and cannot assign others."""
    ada, bob, eve = (clients.account(name) for name in ("ada", "bob", "eve"))
    ship = make_repository(clients.database, ada)
    let_in(clients.database, ship, bob, WRITE)
    let_in(clients.database, ship, eve, READ)
    client = clients.with_token(ada)
    listed = clients.anonymous.get("/repos/ada/ship/assignees")
    assert [item["login"] for item in listed.json()] == ["ada", "admin", "bob"]
    assert listed.headers["X-Total-Count"] == "3"
    page = clients.anonymous.get("/repos/ada/ship/assignees", params={"limit": 1, "page": 2})
    assert [item["login"] for item in page.json()] == ["admin"]

    client.post("/repos/ada/ship/issues", json={"title": "t"})
    there = "/repos/ada/ship/issues/1/assignees"
    assigned = client.post(there, json={"assignees": ["bob", "ADA", "bob"]})
    assert assigned.status_code == 201
    assert [assignee["login"] for assignee in assigned.json()["assignees"]] == ["ada", "bob"]
    assert client.post(there, json={"assignees": ["eve"]}).status_code == 422
    assert clients.with_token(eve).post(there, json={"assignees": ["bob"]}).status_code == 403
    freed = client.request("DELETE", there, json={"assignees": ["Ada", "nobody"]})
    assert (freed.status_code, [assignee["login"] for assignee in freed.json()["assignees"]]) == (200, ["bob"])
    assert client.request("DELETE", there, json={"assignees": ["bob"]}).json()["assignees"] is None


def test_assignees_of_a_private_repository_are_hidden_from_others(clients: ServiceClients) -> None:
    """The assignees of a private repository are not found by other users."""
    clients.account("ada")
    make_repository(clients.database, find_user(clients.database, "ada"), is_private=True)
    assert clients.user("bob").get("/repos/ada/ship/assignees").status_code == 404
