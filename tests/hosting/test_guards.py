"""Lookup and permission checks of requests: 404 before 403, former names and the number of queries."""

import pytest

from holdfast.hosting.store.database import Database
from tests.hosting.api_clients import ServiceClients


def test_permission_and_lookup_take_three_queries(
    clients: ServiceClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request takes three queries: for the user, the repository, and the user's permissions there."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "notes", "private": True})
    eve = clients.user("eve")
    ada.put("/repos/ada/notes/collaborators/eve", json={"permission": "read"})
    asked: list[str] = []
    rows, read = Database.rows, Database.read

    def counted_rows(self: Database, statement, **binds):  # type: ignore[no-untyped-def]  # replaces an overloaded method
        asked.append(statement.text("sqlite"))
        return rows(self, statement, **binds)

    def counted_read(self: Database):  # type: ignore[no-untyped-def]  # replaces an overloaded method
        asked.append("a transaction")
        return read(self)

    monkeypatch.setattr(Database, "rows", counted_rows)
    monkeypatch.setattr(Database, "read", counted_read)
    assert eve.get("/repos/ada/notes").status_code == 200
    # Whether it is being transferred is a part of the response.
    assert len([query for query in asked if "FROM repository_transfers" not in query]) == 3


def test_not_found_comes_before_forbidden(clients: ServiceClients) -> None:
    """The repository is checked first, then the unit, archiving, log-in, permission and the body."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "notes", "auto_init": True})
    path = "/repos/ada/notes/branches"
    assert clients.anonymous.post(path, content=b"not json").status_code == 401
    assert clients.user("eve").post(path, content=b"not json").status_code == 403
    assert ada.post(path, content=b"not json").status_code == 422
    ada.patch("/repos/ada/notes", json={"archived": True})
    assert clients.anonymous.post(path, content=b"not json").status_code == 423
    ada.patch("/repos/ada/notes", json={"archived": False, "has_code": False})
    for who in (clients.anonymous, ada, clients.admin):
        assert who.get(path).status_code == 403
    ada.patch("/repos/ada/notes", json={"private": True})
    assert clients.anonymous.post(path, content=b"not json").status_code == 404


def test_a_renamed_owner_is_found_by_the_old_name(clients: ServiceClients) -> None:
    """The old name is redirected with 307 to the new one, with the rest of the URL unchanged."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "notes"})
    assert clients.admin.post("/admin/users/ada/rename", json={"new_username": "lovelace"}).status_code == 204
    for path, leads_to in (
        ("/repos/ada/notes", "/repos/lovelace/notes"),
        ("/users/ada", "/users/lovelace"),
        ("/repos/ada/notes/raw/a%2Fb/caf%E9?ref=x%26y", "/repos/lovelace/notes/raw/a%2Fb/caf%E9?ref=x%26y"),
    ):
        moved = clients.anonymous.get(path)
        assert moved.status_code == 307
        assert moved.headers["location"] == f"{clients.service.url}/api/v1{leads_to}"
