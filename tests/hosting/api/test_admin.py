"""The admin endpoints of users: create, list, edit, rename and delete."""

import pytest

from holdfast.hosting.store import accounts, sessions
from tests.hosting.api_clients import PASSWORD, ServiceClients

NEW = {"username": "ada", "email": "ada@example.org", "password": PASSWORD}


def test_only_administrators_are_allowed(clients: ServiceClients) -> None:
    """Other users and tokens without the scope are refused, even for users that do not exist."""
    bob = clients.user("bob")
    for method, path in (
        ("GET", "/admin/users"),
        ("POST", "/admin/users"),
        ("PATCH", "/admin/users/bob"),
        ("DELETE", "/admin/users/nobody"),
        ("POST", "/admin/users/bob/rename"),
        ("GET", "/admin/orgs"),
    ):
        assert clients.anonymous.request(method, path).status_code == 401
        assert bob.request(method, path).status_code == 403
    narrow = clients.with_token(accounts.find_user(clients.database, "admin"), "write:user")
    assert narrow.get("/admin/users").status_code == 403


def test_a_new_user_has_to_change_their_password_first(clients: ServiceClients) -> None:
    """A new user gets 403 until they change their password, unless `must_change_password` is false.

    Fields that only other services use, such as `source_id`, are accepted.
    """
    response = clients.admin.post(
        "/admin/users", json={**NEW, "login_name": "x", "source_id": 0, "send_notify": True}
    )
    assert response.status_code == 201
    assert (response.json()["login"], response.json()["email"]) == ("ada", "ada@example.org")
    refused = clients.anonymous.get("/user", auth=("ada", PASSWORD))
    assert (refused.status_code, list(refused.json())) == (403, ["message"])
    body = {
        **NEW,
        "username": "bob",
        "email": "bob@example.org",
        "must_change_password": False,
        "restricted": True,
        "visibility": "limited",
        "full_name": "Bob B.",
        "created_at": "2020-01-01T00:00:00Z",
    }
    shown = clients.admin.post("/admin/users", json=body).json()
    assert (shown["restricted"], shown["visibility"], shown["full_name"]) == (True, "limited", "Bob B.")
    assert clients.anonymous.get("/user", auth=("bob", PASSWORD)).json()["login"] == "bob"


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"username": None}, 422, "[Username]: Required"),
        ({"email": ""}, 422, "[Email]: Required"),
        ({"email": "nobody"}, 422, "that is not an e-mail address"),
        ({"username": "Bob", "email": "b@example.org"}, 422, "user already exists [name: Bob]"),
        ({"email": "BOB@example.org"}, 422, "e-mail already exists [email: BOB@example.org]"),
        ({"password": "short"}, 400, "a password must have at least 8 characters"),
        ({"password": None}, 400, "a password must have at least 8 characters"),
        ({"password": "x" * 256}, 422, "[Password]: MaxSize"),
        ({"username": "a/b"}, 422, None),
        ({"username": "ghost"}, 422, "the name ghost is reserved"),
        ({"visibility": "secret"}, 422, "[Visibility]: Invalid enum value 'secret'"),
        ({"source_id": 2**64}, 422, "[SourceID]: a number must fit into 64 bits"),
        ({"full_name": "a\0b"}, 422, "[FullName]: the character NUL is not allowed"),
    ],
)
def test_a_bad_user_is_refused(
    clients: ServiceClients, change: dict[str, object], status: int, message: str | None
) -> None:
    """An invalid user is refused with a message, and no user is created."""
    clients.account("bob")
    response = clients.admin.post("/admin/users", json={**NEW, **change})
    assert response.status_code == status
    if message is not None:
        assert response.json()["message"] == message
    assert clients.admin.get("/admin/users").headers["x-total-count"] == "2"


def test_everybody_is_listed_in_pages(clients: ServiceClients) -> None:
    """The pages of all users include private users and no organizations, and the page after the last is empty."""
    clients.user("ada", visibility="private").post("/orgs", json={"username": "guild"})
    pages = [clients.admin.get("/admin/users", params={"limit": "1", "page": str(page)}) for page in (1, 2, 3)]
    assert [[user["login"] for user in page.json()] for page in pages] == [["ada"], ["admin"], []]
    assert {page.headers["x-total-count"] for page in pages} == {"2"}


def test_an_edit_changes_only_the_given_fields_of_an_account(clients: ServiceClients) -> None:
    """An edit with one invalid field changes nothing, and a new password ends the sessions of the user."""
    clients.account("bob")
    ada = clients.account("ada", full_name="Ada")
    cookie = sessions.start_session(clients.database, ada, days=1)
    changed = clients.admin.patch("/admin/users/ada", json={"admin": True, "location": "London", "source_id": 0})
    assert changed.status_code == 200
    assert (changed.json()["is_admin"], changed.json()["full_name"]) == (True, "Ada")
    assert sessions.user_of(clients.database, cookie) is not None
    before = clients.admin.get("/users/ada").json()
    assert (before["location"], before["email"]) == ("London", "ada@example.org")
    for body, status in (
        ({"email": "bob@example.org", "location": "Paris"}, 422),
        ({"email": "", "location": "Paris"}, 422),
        ({"password": "short", "location": "Paris"}, 400),
        ({"website": "javascript:x", "location": "Paris"}, 422),
        ({"visibility": "secret", "location": "Paris"}, 422),
    ):
        assert clients.admin.patch("/admin/users/ada", json=body).status_code == status
    assert clients.admin.get("/users/ada").json() == before
    assert clients.admin.patch("/admin/users/ada", json={"email": "ADA@example.org"}).status_code == 200
    assert clients.admin.patch("/admin/users/ada", json={"password": "another password"}).status_code == 200
    assert sessions.user_of(clients.database, cookie) is None
    assert clients.anonymous.get("/user", auth=("ada", "another password")).status_code == 200
    assert clients.admin.patch("/admin/users/ada", json={"prohibit_login": True}).json()["prohibit_login"] is True
    assert clients.anonymous.get("/user", auth=("ada", "another password")).status_code == 403
    assert clients.admin.patch("/admin/users/nobody", json={}).status_code == 404


@pytest.mark.parametrize("change", [{"admin": False}, {"active": False}, {"prohibit_login": True}])
def test_the_last_administrator_stays_one(clients: ServiceClients, change: dict[str, bool]) -> None:
    """The last active administrator can be neither demoted, locked nor deleted; with a second one this works."""
    clients.account("ada", is_admin=True, may_not_log_in=True)
    refused = clients.admin.patch("/admin/users/admin", json=change)
    assert refused.status_code == 422
    assert "last administrator" in refused.json()["message"]
    assert clients.admin.delete("/admin/users/admin").status_code == 422
    assert clients.admin.get("/admin/users").status_code == 200
    assert clients.admin.patch("/admin/users/ada", json={"prohibit_login": False}).status_code == 200
    assert clients.admin.patch("/admin/users/admin", json=change).status_code == 200
    assert clients.admin.get("/admin/users").status_code == 403


def test_a_renamed_user_is_found_by_both_names(clients: ServiceClients) -> None:
    """The former name of a user redirects to the current one; a taken name is refused."""
    clients.account("ada")
    assert clients.admin.post("/admin/users/ada/rename", json={"new_username": "ADMIN"}).status_code == 422
    assert clients.admin.post("/admin/users/ada/rename", json={}).json()["message"] == "[NewName]: Required"
    assert clients.admin.post("/admin/users/ada/rename", json={"new_username": "lovelace"}).status_code == 204
    assert clients.admin.get("/users/lovelace").json()["login"] == "lovelace"
    moved = clients.admin.get("/users/ada")
    assert (moved.status_code, moved.headers["location"]) == (
        307,
        f"{clients.service.url}/api/v1/users/lovelace",
    )


def test_deleting_a_user_deletes_tokens_and_requires_purge_for_what_they_own(clients: ServiceClients) -> None:
    """A user with repositories or memberships is deleted only with `purge`, which deletes these too."""
    ada = clients.user("ada")
    number = ada.post("/user/repos", json={"name": "notes"}).json()["id"]
    clients.user("bob").post("/orgs", json={"username": "guild"})
    team = clients.admin.post("/orgs/guild/teams", json={"name": "readers"}).json()["id"]
    clients.admin.put(f"/teams/{team}/members/ada")
    refused = clients.admin.delete("/admin/users/ada")
    assert (refused.status_code, refused.json()["message"]) == (
        422,
        "ada still owns a repository and is in an organization; remove them first, or use purge",
    )
    assert clients.admin.delete("/admin/users/guild").status_code == 404
    assert clients.admin.delete("/admin/users/ada", params={"purge": "true"}).status_code == 204
    assert clients.admin.get("/users/ada").status_code == 404
    assert clients.admin.get(f"/repositories/{number}").status_code == 404
    assert not list(clients.service.settings.data.glob(f"repositories/*/{number}.git"))
    assert ada.get("/user").status_code == 401
    assert [user["login"] for user in clients.admin.get("/orgs/guild/members").json()] == ["bob"]


def test_the_last_owner_of_an_organization_cannot_be_purged(clients: ServiceClients) -> None:
    """Purging the last owner of an organization is refused, and nothing of the user is deleted."""
    ada = clients.user("ada")
    ada.post("/orgs", json={"username": "guild"})
    ada.post("/user/repos", json={"name": "notes"})
    refused = clients.admin.delete("/admin/users/ada", params={"purge": "true"})
    assert refused.status_code == 422
    assert refused.json()["message"].startswith("ada is the last owner of guild")
    assert ada.get("/repos/ada/notes").status_code == 200
    assert clients.admin.delete("/admin/users/ada", params={"purge": "perhaps"}).status_code == 422


def test_a_new_password_by_an_administrator_revokes_tokens(clients: ServiceClients) -> None:
    """A password set by an administrator revokes the tokens of the user; a change of the full name does not."""
    ada = clients.user("ada")
    assert clients.admin.patch("/admin/users/ada", json={"full_name": "Ada A."}).status_code == 200
    assert ada.get("/user").status_code == 200
    assert clients.admin.patch("/admin/users/ada", json={"password": "another-password"}).status_code == 200
    assert ada.get("/user").status_code == 401
    assert clients.admin.get("/user").status_code == 200
    auth = ("ada", "another-password")
    assert clients.anonymous.get("/users/ada/tokens", auth=auth).json() == []
